// SPDX-License-Identifier: Apache-2.0
// The flame graph. Names stand in text nodes and attributes only, escaped; the
// script is constant.

#include "export/flame.h"

#include <stdlib.h>

#include "analyse/fit.h"
#include "analyse/flat.h"

// flame.js, by tools/embed.
extern const char flame_script[];
extern const size_t flame_script_len;

enum {
    ROW_PX = 16,
    HEAD_PX = 58, // title, subtitle, search
    FOOT_PX = 44, // details, legend
    TITLE_BYTES_MAX = 1000,
    LEVELS_MAX = 2000,
    HUES = 8 // shades of each kind
};
static const double CHAR_PX = 7.25; // of the 12 px monospace font, as in flame.js

typedef struct Kind {
    const char *letter;
    const char *words;
    int hue, hue_range, saturation, lightness;
} Kind;

enum { KIND_USER, KIND_INLINED, KIND_KERNEL, KIND_JIT, KIND_CUT, KIND_GROUP, KIND_COUNT };

// Light enough for black text.
static const Kind kinds[KIND_COUNT] = {
    [KIND_USER] = {"u", "user", 16, 38, 86, 67},
    [KIND_INLINED] = {"i", "inlined", 172, 26, 48, 66},
    [KIND_KERNEL] = {"k", "kernel", 248, 34, 70, 78},
    [KIND_JIT] = {"j", "JIT", 92, 30, 52, 64},
    [KIND_CUT] = {"c", "cut stack", 0, 0, 0, 74},
    [KIND_GROUP] = {"g", "thread or process", 210, 10, 16, 84},
};

static int kind_of(const CallNode *n)
{
    if (n->flags & NODE_GROUP)
        return KIND_GROUP;
    if (n->flags & NODE_CUT)
        return KIND_CUT;
    if (n->flags & NODE_KERNEL)
        return KIND_KERNEL;
    if (n->flags & NODE_JIT)
        return KIND_JIT;
    return n->flags & NODE_INLINED ? KIND_INLINED : KIND_USER;
}

typedef struct Flame {
    const CallTree *tree;
    const FlameOptions *options;
    StrBuf *out;
    uint64_t whole;  // the root's total
    uint64_t cutoff; // frames with less are not drawn
    uint32_t levels; // rows
    bool has_kind[KIND_COUNT];
    FlameResult result;
    StrBuf name, form; // scratch
} Flame;

static bool is_drawn(const Flame *f, const CallNode *n, uint32_t level)
{
    return n->total >= f->cutoff && n->total_samples > 0 && level < LEVELS_MAX;
}

static int compare_descending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x > y ? -1 : x < y;
}

uint64_t flame_least(double min_px, double width_px, uint64_t whole)
{
    double least = min_px / width_px * (double)whole;
    return least >= 1 ? (uint64_t)least : 1;
}

// The value below which a frame is left out: by width, and so that no more than
// frames_max remain. A child is never wider than its parent, so what remains is
// still a tree.
static void find_cutoff(Flame *f)
{
    const CallTree *t = f->tree;
    f->cutoff = flame_least(f->options->min_px, f->options->width_px, f->whole);
    size_t max = f->options->frames_max;
    if (max && t->nodes.len > max) {
        U64Vec totals = {0};
        for (size_t i = 0; i < t->nodes.len; i++)
            if (t->nodes.at[i].total >= f->cutoff)
                vec_push(NULL, &totals, t->nodes.at[i].total);
        if (totals.len > max) {
            qsort(totals.at, totals.len, sizeof(uint64_t), compare_descending);
            f->cutoff = totals.at[max] + 1;
        }
        vec_free(&totals);
    }
    f->result.cut_px = f->whole ? (double)f->cutoff / (double)f->whole * f->options->width_px : 0;
}

// ---- Walking ---------------------------------------------------------------------

// A drawn node: where it begins, in the metric's value from the left.
typedef void DrawFrame(Flame *f, uint32_t node, uint32_t level, uint64_t from);

typedef struct Step {
    uint32_t node;
    uint32_t level;
    uint64_t from;
} Step;

// Parents before children, the left before the right.
static void each_drawn(Flame *f, DrawFrame *draw)
{
    const CallNode *nodes = f->tree->nodes.at;
    Vec(Step) todo = {0};
    U32Vec children = {0};
    f->result.dropped = f->tree->dropped_nodes;
    vec_push(NULL, &todo, (Step){0, 0, 0});
    while (todo.len) {
        Step s = vec_pop(&todo);
        draw(f, s.node, s.level, s.from);
        children.len = 0;
        if (f->tree->narrow.len)
            f->result.dropped += f->tree->narrow.at[s.node];
        for (uint32_t c = nodes[s.node].first_child; c != NODE_NONE; c = nodes[c].next) {
            if (is_drawn(f, &nodes[c], s.level + 1))
                vec_push(NULL, &children, c);
            else
                f->result.dropped++;
        }
        // Greatest first, so what is not drawn leaves its gap at the right.
        uint64_t from = s.from;
        size_t first = todo.len;
        for (size_t i = 0; i < children.len; i++) {
            vec_push(NULL, &todo, (Step){children.at[i], s.level + 1, from});
            from += nodes[children.at[i]].total;
        }
        for (size_t a = first, b = todo.len; a + 1 < b; a++, b--) {
            Step swap = todo.at[a];
            todo.at[a] = todo.at[b - 1];
            todo.at[b - 1] = swap;
        }
    }
    vec_free(&children);
    vec_free(&todo);
}

static void measure(Flame *f, uint32_t node, uint32_t level, uint64_t from)
{
    (void)from;
    f->levels = MAX(f->levels, level + 1);
    f->has_kind[kind_of(&f->tree->nodes.at[node])] = true;
    f->result.drawn++;
}

// ---- Drawing ---------------------------------------------------------------------

static void add_quantity(StrBuf *out, uint64_t value, Str unit)
{
    if (str_equal(unit, STR("ns")))
        strbuf_printf(out, "%.3f s", (double)value / 1e9);
    else if (unit.len)
        strbuf_printf(out, "%llu %" STR_FMT, (unsigned long long)value, STR_ARG(unit));
    else
        strbuf_add_u64(out, value);
}

// Text from the profile: what could reorder or hide text is shown, markup escaped.
static void add_text(StrBuf *out, Str text)
{
    StrBuf visible = {0};
    strbuf_add_terminal(&visible, text_prefix(text, TITLE_BYTES_MAX));
    strbuf_add_xml(out, strbuf_str(&visible));
    strbuf_deinit(&visible);
    if (text.len > TITLE_BYTES_MAX)
        strbuf_add(out, STR("…"));
}

// Line 1 is the name alone: the script takes it from here.
static void add_title(Flame *f, uint32_t node)
{
    StrBuf *out = f->out;
    const CallTree *t = f->tree;
    const CallNode *n = &t->nodes.at[node];
    const Profile *p = t->keys->profile;
    strbuf_add(out, STR("<title>"));
    add_text(out, strbuf_str(&f->name));
    strbuf_add_char(out, '\n');
    StrBuf amount = {0};
    add_quantity(&amount, n->total, f->options->unit);
    strbuf_printf(&amount, " (%.2f%%)", percent_of(n->total, f->whole));
    if (n->self && !t->inverted && !(n->flags & NODE_GROUP)) {
        strbuf_add(&amount, STR(", self "));
        add_quantity(&amount, n->self, f->options->unit);
        strbuf_printf(&amount, " (%.2f%%)", percent_of(n->self, f->whole));
    }
    strbuf_printf(&amount, ", %u samples", n->total_samples);
    strbuf_add_xml(out, strbuf_str(&amount));
    strbuf_deinit(&amount);
    if (n->flags & NODE_INLINED)
        strbuf_add(out, STR(", inlined"));
    if (n->flags & NODE_KERNEL)
        strbuf_add(out, STR(", kernel"));
    StrId file;
    uint32_t line;
    if (!(n->flags & NODE_GROUP) && keys_place(t->keys, n->key, &file, &line)) {
        strbuf_add_char(out, '\n');
        add_text(out, profile_text(p, file));
        if (line)
            strbuf_printf(out, ":%u", line);
    }
    strbuf_add(out, STR("</title>"));
}

static unsigned shade_of(const Flame *f, const CallNode *n)
{
    const Profile *p = f->tree->keys->profile;
    if (f->options->colour == FLAME_PLAIN || n->flags & NODE_GROUP)
        return 0;
    if (f->options->colour == FLAME_BY_MODULE) {
        Str path = profile_text(p, p->modules.path.at[p->frames.module.at[n->frame].v]);
        return (unsigned)(str_hash(path) % (HUES * KIND_CUT));
    }
    return (unsigned)(str_hash(strbuf_str(&f->name)) % HUES);
}

static void add_class(Flame *f, const CallNode *n)
{
    unsigned shade = shade_of(f, n);
    int kind = kind_of(n);
    if (f->options->colour == FLAME_BY_MODULE && kind < KIND_CUT) {
        kind = (int)(shade / HUES);
        shade %= HUES;
    }
    if (f->options->colour == FLAME_PLAIN && kind < KIND_CUT)
        kind = KIND_USER;
    strbuf_printf(f->out, " class=\"%s%u\"", kinds[kind].letter, shade);
}

// The longest form of the name that fits; "" when not even three letters do.
static void add_label(Flame *f, double width_px)
{
    size_t columns = width_px > 6 ? (size_t)((width_px - 6) / CHAR_PX) : 0;
    if (columns < 3)
        return;
    strbuf_clear(&f->form);
    name_add_fitting(&f->form, strbuf_str(&f->name), columns);
    strbuf_add_xml(f->out, strbuf_str(&f->form));
}

static void draw(Flame *f, uint32_t node, uint32_t level, uint64_t from)
{
    StrBuf *out = f->out;
    const CallTree *t = f->tree;
    const CallNode *n = &t->nodes.at[node];
    double x = percent_of(from, f->whole), w = percent_of(n->total, f->whole);
    if (f->whole == 0)
        w = 100;
    uint32_t row = f->options->icicle ? level : f->levels - 1 - level;
    uint32_t y = HEAD_PX + row * ROW_PX;
    strbuf_clear(&f->name);
    call_tree_add_name(t, node, &f->name);
    strbuf_add(out, STR("<g"));
    if (!(n->flags & NODE_GROUP) && t->keys->by == BY_FUNCTION) {
        Str name = text_prefix(strbuf_str(&f->name), NAME_SHOWN_MAX);
        strbuf_clear(&f->form);
        name_shorten(name, NAME_NO_TEMPLATES, &f->form);
        if (!str_equal(strbuf_str(&f->form), name)) {
            strbuf_add(out, STR(" data-s=\""));
            add_text(out, strbuf_str(&f->form));
            strbuf_add_char(out, '"');
        }
    }
    strbuf_add_char(out, '>');
    add_title(f, node);
    strbuf_printf(out, "<rect x=\"%.5f%%\" y=\"%u\" width=\"%.5f%%\" height=\"15\"", x, y, w);
    add_class(f, n);
    strbuf_printf(out, "/><text x=\"%.5f%%\" y=\"%u\">", x, y + 12);
    add_label(f, w / 100 * f->options->width_px);
    strbuf_add(out, STR("</text></g>\n"));
}

static void add_style(Flame *f)
{
    StrBuf *out = f->out;
    strbuf_add(out,
               STR("<style>\n"
                   "svg{background:#fff;font:12px ui-monospace,Menlo,Consolas,\"DejaVu Sans "
                   "Mono\",monospace}\n"
                   "text{fill:#000}#frames text{pointer-events:none;transform:translate(3px,0)}\n"
                   "#frames g{cursor:pointer}#frames g:focus{outline:none}\n"
                   "#frames g:hover rect,#frames g:focus rect{stroke:#000;stroke-width:1.5}\n"
                   "rect{stroke:#fff;stroke-width:.5}.above{opacity:.55}\n"
                   ".hit rect{fill:#e0f!important;fill-opacity:.55}\n"
                   "#search,#reset{cursor:pointer;fill:#06c;text-decoration:underline}\n"
                   "#title{font-size:16px;font-weight:bold}#sub,.legend{fill:#444}\n"));
    for (int k = 0; k < KIND_COUNT; k++)
        for (int i = 0; i < HUES; i++)
            strbuf_printf(out, ".%s%d{fill:hsl(%d,%d%%,%d%%)}", kinds[k].letter, i,
                          (kinds[k].hue + kinds[k].hue_range * i / (HUES - 1)) % 360,
                          kinds[k].saturation, kinds[k].lightness + (i * 5 % HUES) - 3);
    strbuf_add(out, STR("\n</style>\n"));
}

static void add_head(Flame *f)
{
    StrBuf *out = f->out;
    const FlameOptions *o = f->options;
    uint32_t height = HEAD_PX + f->levels * ROW_PX + FOOT_PX;
    strbuf_add(out, STR("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"));
    strbuf_printf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100%%\" height=\"%u\" "
                  "data-icicle=\"%d\" data-frames=\"%zu\" data-dropped=\"%llu\">\n",
                  height, o->icicle, f->result.drawn, (unsigned long long)f->result.dropped);
    add_style(f);
    size_t columns = (size_t)(o->width_px / CHAR_PX);
    strbuf_add(out, STR("<text id=\"title\" x=\"8\" y=\"20\">"));
    strbuf_clear(&f->form);
    text_add_fitting(&f->form, o->title, MAX(columns * 3 / 4, (size_t)10), false);
    strbuf_add_xml(out, strbuf_str(&f->form));
    strbuf_add(out, STR("</text>\n<text id=\"sub\" x=\"8\" y=\"36\">"));
    strbuf_clear(&f->form);
    text_add_fitting(&f->form, o->subtitle, MAX(columns, (size_t)10), false);
    strbuf_add_xml(out, strbuf_str(&f->form));
    strbuf_add(out,
               STR("</text>\n<text id=\"search\" x=\"8\" y=\"52\" tabindex=\"0\" role=\"button\" "
                   "style=\"display:none\">search (/)</text>\n"
                   "<text id=\"reset\" x=\"100\" y=\"52\" tabindex=\"0\" role=\"button\" "
                   "style=\"display:none\">reset zoom (Esc)</text>\n"
                   "<text id=\"found\" x=\"240\" y=\"52\" role=\"status\"></text>\n"));
}

static void add_foot(Flame *f)
{
    StrBuf *out = f->out;
    uint32_t y = HEAD_PX + f->levels * ROW_PX + 16;
    strbuf_printf(out, "<text id=\"details\" x=\"8\" y=\"%u\" role=\"status\">", y);
    strbuf_printf(out, "%zu frames drawn", f->result.drawn);
    if (f->result.dropped)
        strbuf_printf(out, ", %llu narrower than %.2g px at %.0f px left out",
                      (unsigned long long)f->result.dropped, f->result.cut_px,
                      f->options->width_px);
    strbuf_add(out, STR("</text>\n"));
    uint32_t x = 8;
    bool is_by_kind = f->options->colour == FLAME_BY_KIND;
    for (int k = 0; k < KIND_COUNT && is_by_kind; k++) {
        if (!f->has_kind[k] || k == KIND_GROUP)
            continue;
        strbuf_printf(out,
                      "<rect x=\"%u\" y=\"%u\" width=\"12\" height=\"12\" class=\"%s3\"/>"
                      "<text class=\"legend\" x=\"%u\" y=\"%u\">%s</text>\n",
                      x, y + 8, kinds[k].letter, x + 17, y + 18, kinds[k].words);
        x += 40 + (uint32_t)(strlen(kinds[k].words) * 8);
    }
}

void flame_add_svg(StrBuf *out, const CallTree *t, const FlameOptions *options, FlameResult *result)
{
    Flame f = {.tree = t, .options = options, .out = out, .whole = t->nodes.at[0].total};
    find_cutoff(&f);
    each_drawn(&f, measure);
    add_head(&f);
    strbuf_add(out, STR("<g id=\"frames\">\n"));
    each_drawn(&f, draw);
    strbuf_add(out, STR("</g>\n"));
    add_foot(&f);
    strbuf_add(out, STR("<script><![CDATA[\n"));
    strbuf_add(out, str_over(flame_script, flame_script_len));
    strbuf_add(out, STR("]]></script>\n</svg>\n"));
    strbuf_deinit(&f.name);
    strbuf_deinit(&f.form);
    *result = f.result;
}
