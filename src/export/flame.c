// SPDX-License-Identifier: Apache-2.0
// The flame graph. Names stand in text nodes and attributes only, escaped; the script is constant.
//
// The file holds all frames as rows of numbers, from which the script draws those on the screen,
// and the widest of them as elements, for viewers that run no script.

#include "export/flame.h"

#include <math.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/fit.h"
#include "analyse/flat.h"
#include "export/flame_folds_internal.h"

// flame.js, by tools/embed.
extern const char flame_script[];
extern const size_t flame_script_len;

enum {
    ROW_PX = 16,
    HEAD_PX = 94, // title, subtitle, buttons, details, legend; as in flame.js
    FOOT_PX = 8,
    STATIC_FRAMES_MAX = 3000, // elements in the file
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

enum {
    KIND_USER,
    KIND_INLINED,
    KIND_KERNEL,
    KIND_JIT,
    KIND_CUT,
    KIND_GROUP,
    KIND_RUNNABLE, // from here on classes of waits
    KIND_LOCK,
    KIND_DISK,
    KIND_NETWORK,
    KIND_SLEEP,
    KIND_OTHER,
    KIND_COUNT
};

// Light enough for black text.
static const Kind kinds[KIND_COUNT] = {
    [KIND_USER] = {"u", "user", 16, 38, 86, 67},
    [KIND_INLINED] = {"i", "inlined", 172, 26, 48, 66},
    [KIND_KERNEL] = {"k", "kernel", 248, 34, 70, 78},
    [KIND_JIT] = {"j", "JIT", 92, 30, 52, 64},
    [KIND_CUT] = {"c", "cut stack", 0, 0, 0, 74},
    [KIND_GROUP] = {"g", "thread or process", 210, 10, 16, 84},
    [KIND_RUNNABLE] = {"r", "waits for a processor", 54, 4, 90, 60},
    [KIND_LOCK] = {"l", "lock", 322, 8, 66, 66},
    [KIND_DISK] = {"d", "disk", 28, 6, 46, 56},
    [KIND_NETWORK] = {"n", "network", 206, 8, 70, 66},
    [KIND_SLEEP] = {"s", "sleep", 150, 8, 20, 80},
    [KIND_OTHER] = {"o", "other waits", 270, 8, 24, 72},
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
    uint64_t whole;         // the root's total
    uint64_t cutoff;        // frames with less are not drawn
    uint64_t static_cutoff; // frames with less are rows of numbers only
    uint32_t levels;        // rows
    FlameFolds folds;
    U32Vec key_names;   // [key]: its line among the names + 1; 0: none yet
    U32Vec group_names; // [row of a group]: the same
    uint32_t names;     // lines of names so far
    StrBuf name_lines, rows;
    U64Vec totals; // of the frames that are shown
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

// A frame of the picture.
typedef struct Step {
    uint32_t node;
    uint32_t depth; // callers of the node
    uint32_t level; // the row while recursion is folded
    uint64_t from;  // where it begins, in the metric's value from the left
    bool is_hidden; // a later round of a folded recursion
} Step;

typedef void DrawFrame(Flame *f, const Step *s);

// Parents before children, the left before the right.
static void each_drawn(Flame *f, DrawFrame *draw)
{
    const CallNode *nodes = f->tree->nodes.at;
    Vec(Step) todo = {0};
    U32Vec children = {0};
    f->result.dropped = f->tree->dropped_nodes;
    vec_push(NULL, &todo, (Step){0});
    while (todo.len) {
        Step s = vec_pop(&todo);
        draw(f, &s);
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
            uint32_t c = children.at[i];
            bool is_hidden = flame_folds_hide(&f->folds, c);
            vec_push(NULL, &todo,
                     (Step){c, s.depth + 1, s.level + (is_hidden ? 0 : 1), from, is_hidden});
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

// The kind of a frame that stands for a class of waits; KIND_COUNT: it is none.
static int wait_kind_of(const Flame *f, const CallNode *n)
{
    static const int kind_of_class[WAIT_CLASS_COUNT] = {
        [WAIT_RUNNING] = KIND_COUNT, [WAIT_RUNNABLE] = KIND_RUNNABLE, [WAIT_LOCK] = KIND_LOCK,
        [WAIT_DISK] = KIND_DISK,     [WAIT_NETWORK] = KIND_NETWORK,   [WAIT_SLEEP] = KIND_SLEEP,
        [WAIT_FAULT] = KIND_OTHER,   [WAIT_CHILD] = KIND_OTHER,       [WAIT_STOPPED] = KIND_OTHER,
        [WAIT_OTHER] = KIND_OTHER,
    };
    const Profile *p = f->tree->keys->profile;
    FunctionId function = p->frames.function.at[n->frame];
    Str name = profile_text(p, p->functions.name.at[function.v]);
    if (!f->options->waits || n->flags & NODE_GROUP || p->frames.module.at[n->frame].v ||
        name.len < 2 || name.ptr[0] != '[')
        return KIND_COUNT;
    name = str_slice(name, 1, name.len - 1);
    for (int i = 0; i < WAIT_CLASS_COUNT; i++)
        if (str_equal(name, str_from_c(wait_class_name((WaitClass)i))))
            return kind_of_class[i];
    return KIND_COUNT;
}

static void measure(Flame *f, const Step *s)
{
    f->levels = MAX(f->levels, s->level + 1);
    const CallNode *n = &f->tree->nodes.at[s->node];
    int wait = wait_kind_of(f, n);
    f->has_kind[wait != KIND_COUNT ? wait : kind_of(n)] = true;
    f->result.drawn++;
    if (!s->is_hidden)
        vec_push(NULL, &f->totals, f->tree->nodes.at[s->node].total);
}

static void find_static_cutoff(Flame *f)
{
    if (f->totals.len <= STATIC_FRAMES_MAX)
        return;
    qsort(f->totals.at, f->totals.len, sizeof(uint64_t), compare_descending);
    f->static_cutoff = f->totals.at[STATIC_FRAMES_MAX] + 1;
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

static bool has_self(const Flame *f, const CallNode *n)
{
    return n->self && !f->tree->inverted && !(n->flags & NODE_GROUP);
}

// Line 1 is the name alone.
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
    if (has_self(f, n)) {
        strbuf_add(&amount, STR(", self "));
        add_quantity(&amount, n->self, f->options->unit);
        strbuf_printf(&amount, " (%.2f%%)", percent_of(n->self, f->whole));
    }
    strbuf_printf(&amount, ", %u sample%s", n->total_samples, n->total_samples == 1 ? "" : "s");
    if (f->options->before) {
        strbuf_add(&amount, STR(", before "));
        add_quantity(&amount, f->options->before[node], f->options->unit);
    }
    strbuf_add_xml(out, strbuf_str(&amount));
    strbuf_deinit(&amount);
    if (n->flags & NODE_INLINED)
        strbuf_add(out, STR(", inlined"));
    if (n->flags & NODE_KERNEL)
        strbuf_add(out, STR(", kernel"));
    uint32_t rounds = flame_folds_rounds(&f->folds, node);
    if (rounds)
        strbuf_printf(out, "\nrecursion: %u calls deep, folded", rounds);
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

// Colours of a frame: a row of `kinds` and a shade of it.
typedef struct Colour {
    int kind;
    unsigned shade;
} Colour;

// The shade depends on the name, which shade_of expects in `name` then.
static bool shade_needs_name(const Flame *f, const CallNode *n)
{
    return f->options->colour == FLAME_BY_KIND && !(n->flags & NODE_GROUP);
}

static unsigned shade_of(const Flame *f, const CallNode *n)
{
    const Profile *p = f->tree->keys->profile;
    if (f->options->colour >= FLAME_PLAIN || n->flags & NODE_GROUP)
        return 0;
    if (f->options->colour == FLAME_BY_MODULE) {
        Str path = profile_text(p, p->modules.path.at[p->frames.module.at[n->frame].v]);
        return (unsigned)(str_hash(path) % (HUES * KIND_CUT));
    }
    return (unsigned)(str_hash(strbuf_str(&f->name)) % HUES);
}

// By change, the colours of the kinds user, inlined and group mean more, less and the same.
static Colour change_colour(const Flame *f, const CallNode *n)
{
    const FlameOptions *o = f->options;
    double after = (double)n->total, before = (double)o->before[n - f->tree->nodes.at];
    double difference = after - before, most = MAX(after, before);
    // Of samples, a difference that 2.5 standard deviations explain may be chance.
    double chance = 2.5 * sqrt(after * o->sample + before * o->sample_before);
    if (n->parent == NODE_NONE || difference == 0 || fabs(difference) < chance)
        return (Colour){KIND_GROUP, 0};
    unsigned shade = (unsigned)(fabs(difference) / most * (HUES - 1) + 0.5);
    return (Colour){difference > 0 ? KIND_USER : KIND_INLINED, shade};
}

static Colour colour_of(const Flame *f, const CallNode *n)
{
    if (f->options->colour == FLAME_BY_CHANGE)
        return change_colour(f, n);
    unsigned shade = shade_of(f, n);
    int kind = kind_of(n), wait = wait_kind_of(f, n);
    if (wait != KIND_COUNT)
        return (Colour){wait, 3};
    if (f->options->colour == FLAME_BY_MODULE && kind < KIND_CUT) {
        kind = (int)(shade / HUES);
        shade %= HUES;
    }
    if (f->options->colour == FLAME_PLAIN && kind < KIND_CUT)
        kind = KIND_USER;
    return (Colour){kind, shade};
}

// The longest form of the name that fits, and how often a folded recursion repeats; "" when not
// even three letters do.
static void add_label(Flame *f, uint32_t node, double width_px)
{
    size_t columns = width_px > 6 ? (size_t)((width_px - 6) / CHAR_PX) : 0;
    char times[16] = "";
    uint32_t rounds = flame_folds_rounds(&f->folds, node);
    if (rounds)
        snprintf(times, sizeof(times), " \u00d7%u", rounds);
    size_t after = rounds ? strlen(times) - 1 : 0;
    if (columns < 3 + after)
        return;
    strbuf_clear(&f->form);
    name_add_fitting(&f->form, strbuf_str(&f->name), columns - after);
    strbuf_add_xml(f->out, strbuf_str(&f->form));
    strbuf_add(f->out, str_from_c(times));
}

static void draw(Flame *f, const Step *s)
{
    StrBuf *out = f->out;
    const CallTree *t = f->tree;
    const CallNode *n = &t->nodes.at[s->node];
    if (s->is_hidden || n->total < f->static_cutoff)
        return;
    double x = percent_of(s->from, f->whole), w = percent_of(n->total, f->whole);
    if (f->whole == 0)
        w = 100;
    uint32_t row = f->options->icicle ? s->level : f->levels - 1 - s->level;
    uint32_t y = HEAD_PX + row * ROW_PX;
    strbuf_clear(&f->name);
    call_tree_add_name(t, s->node, &f->name);
    strbuf_add(out, STR("<g>"));
    add_title(f, s->node);
    Colour colour = colour_of(f, n);
    strbuf_printf(out,
                  "<rect x=\"%.5f%%\" y=\"%u\" width=\"%.5f%%\" height=\"15\" class=\"%s%u\"/>", x,
                  y, w, kinds[colour.kind].letter, colour.shade);
    strbuf_printf(out, "<text x=\"%.5f%%\" y=\"%u\">", x, y + 12);
    add_label(f, s->node, w / 100 * f->options->width_px);
    strbuf_add(out, STR("</text></g>\n"));
}

// ---- Rows for the script -----------------------------------------------------------

// A line: the name, its form without template arguments if that differs, the place if it is known.
static void add_name_line(Flame *f, const CallNode *n)
{
    StrBuf *out = &f->name_lines;
    const CallTree *t = f->tree;
    add_text(out, strbuf_str(&f->name));
    strbuf_add_char(out, '\t');
    if (!(n->flags & NODE_GROUP)) {
        if (t->keys->by == BY_FUNCTION) {
            Str name = text_prefix(strbuf_str(&f->name), NAME_SHOWN_MAX);
            strbuf_clear(&f->form);
            name_shorten(name, NAME_NO_TEMPLATES, &f->form);
            if (!str_equal(strbuf_str(&f->form), name))
                add_text(out, strbuf_str(&f->form));
        }
        StrId file;
        uint32_t line;
        if (keys_place(t->keys, n->key, &file, &line)) {
            strbuf_add_char(out, '\t');
            add_text(out, profile_text(t->keys->profile, file));
            if (line)
                strbuf_printf(out, ":%u", line);
        }
    }
    strbuf_add_char(out, '\n');
}

// The line of a node's name; written when it is needed first.
static uint32_t name_line_of(Flame *f, uint32_t node)
{
    const CallNode *n = &f->tree->nodes.at[node];
    U32Vec *lines = n->flags & NODE_GROUP ? &f->group_names : &f->key_names;
    while (node && lines->len <= n->key)
        vec_push(NULL, lines, 0);
    if (node && lines->at[n->key])
        return lines->at[n->key] - 1;
    strbuf_clear(&f->name);
    call_tree_add_name(f->tree, node, &f->name);
    add_name_line(f, n);
    if (node)
        lines->at[n->key] = f->names + 1;
    return f->names++;
}

// Numbers of a frame, as flame.js reads them: callers, name, total, self, samples, colour, flags,
// the recursion that it is part of, and by change the total before.
static void add_row(Flame *f, const Step *s)
{
    const CallNode *n = &f->tree->nodes.at[s->node];
    uint32_t name = name_line_of(f, s->node);
    strbuf_clear(&f->name);
    if (shade_needs_name(f, n))
        call_tree_add_name(f->tree, s->node, &f->name);
    Colour colour = colour_of(f, n);
    unsigned flags = (n->flags & NODE_INLINED ? 1 : 0) | (n->flags & NODE_KERNEL ? 2 : 0);
    const uint64_t numbers[] = {s->depth,
                                name,
                                n->total,
                                has_self(f, n) ? n->self : 0,
                                n->total_samples,
                                (unsigned)colour.kind * HUES + colour.shade,
                                flags,
                                flame_folds_of(&f->folds, s->node)};
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        if (i)
            strbuf_add_char(&f->rows, ' ');
        strbuf_add_u64(&f->rows, numbers[i]);
    }
    if (f->options->before) {
        strbuf_add_char(&f->rows, ' ');
        strbuf_add_u64(&f->rows, f->options->before[s->node]);
    }
    strbuf_add_char(&f->rows, '\n');
}

static void add_data(Flame *f)
{
    StrBuf *out = f->out;
    each_drawn(f, add_row);
    strbuf_add(out, STR("<metadata id=\"names\">\n"));
    strbuf_add(out, strbuf_str(&f->name_lines));
    strbuf_add(out, STR("</metadata>\n<metadata id=\"recursions\">\n"));
    for (uint32_t i = 0; i < f->folds.chains.len; i++)
        strbuf_printf(out, "%u\n", f->folds.chains.at[i].period);
    strbuf_add(out, STR("</metadata>\n<metadata id=\"rows\">\n"));
    strbuf_add(out, strbuf_str(&f->rows));
    strbuf_add(out, STR("</metadata>\n"));
}

static void add_kind_colours(const Flame *f)
{
    StrBuf *out = f->out;
    int count = f->options->waits ? KIND_COUNT : KIND_RUNNABLE;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < HUES; i++)
            strbuf_printf(out, ".%s%d{fill:hsl(%d,%d%%,%d%%)}", kinds[k].letter, i,
                          (kinds[k].hue + kinds[k].hue_range * i / (HUES - 1)) % 360,
                          kinds[k].saturation, kinds[k].lightness + (i * 5 % HUES) - 3);
}

// Orange and blue, which colour-blind readers tell apart.
static void add_change_colours(StrBuf *out)
{
    for (int i = 0; i < HUES; i++)
        strbuf_printf(out, ".%s%d{fill:hsl(30,85%%,%d%%)}.%s%d{fill:hsl(210,75%%,%d%%)}",
                      kinds[KIND_USER].letter, i, 88 - 5 * i, kinds[KIND_INLINED].letter, i,
                      90 - 5 * i);
    strbuf_printf(out, ".%s0{fill:hsl(220,10%%,89%%)}", kinds[KIND_GROUP].letter);
}

static void add_style(Flame *f)
{
    StrBuf *out = f->out;
    strbuf_add(
        out,
        STR("<style>\n"
            "svg{background:#fff;font:12px ui-monospace,Menlo,Consolas,\"DejaVu Sans "
            "Mono\",monospace}\n"
            "text{fill:#000}#frames text{pointer-events:none;transform:translate(3px,0)}\n"
            "#frames g{cursor:pointer}#frames g:focus{outline:none}\n"
            "#frames g:hover rect,#frames g:focus rect{stroke:#000;stroke-width:1.5}\n"
            "rect{stroke:#fff;stroke-width:.5}.above{opacity:.55}\n"
            ".hit rect{fill:#e0f!important;fill-opacity:.55}.found{fill:#e0f}path{cursor:pointer}\n"
            ".folded rect{stroke:#000;stroke-dasharray:4 2}"
            "#top{fill:#fff;stroke:none}\n"
            "#buttons text{cursor:pointer;fill:#06c;text-decoration:underline}\n"
            "#title{font-size:16px;font-weight:bold}#sub,.legend{fill:#444}\n"));
    if (f->options->colour == FLAME_BY_CHANGE)
        add_change_colours(out);
    else
        add_kind_colours(f);
    strbuf_add(out, STR("\n</style>\n"));
}

static void add_button(StrBuf *out, const char *id, unsigned x, const char *words)
{
    strbuf_printf(out,
                  "<text id=\"%s\" x=\"%u\" y=\"52\" tabindex=\"0\" role=\"button\" "
                  "style=\"display:none\">%s</text>\n",
                  id, x, words);
}

static void add_begin(Flame *f)
{
    StrBuf *out = f->out;
    const FlameOptions *o = f->options;
    uint32_t height = HEAD_PX + f->levels * ROW_PX + FOOT_PX;
    strbuf_add(out, STR("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"));
    strbuf_printf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100%%\" height=\"%u\" "
                  "data-icicle=\"%d\" data-frames=\"%zu\" data-dropped=\"%llu\" data-unit=\"",
                  height, o->icicle, f->result.drawn, (unsigned long long)f->result.dropped);
    strbuf_add_xml(out, o->unit);
    strbuf_add(out, STR("\">\n<title>"));
    add_text(out, o->title);
    strbuf_add(out, STR("</title>\n"));
    add_style(f);
}

static uint32_t add_swatch(StrBuf *out, uint32_t x, Colour colour, const char *words)
{
    strbuf_printf(out,
                  "<rect x=\"%u\" y=\"%u\" width=\"12\" height=\"12\" class=\"%s%u\"/>"
                  "<text class=\"legend\" x=\"%u\" y=\"%u\">%s</text>\n",
                  x, 74, kinds[colour.kind].letter, colour.shade, x + 17, 84, words);
    return x + 40 + (uint32_t)(strlen(words) * 8);
}

static void add_legend(Flame *f)
{
    static const struct {
        Colour colour;
        const char *words;
    } changes[] = {{{KIND_USER, 7}, "new"},
                   {{KIND_USER, 3}, "more"},
                   {{KIND_GROUP, 0}, "the same, or chance"},
                   {{KIND_INLINED, 3}, "less"},
                   {{KIND_INLINED, 7}, "much less"}};
    uint32_t x = 8;
    for (int k = 0; k < KIND_COUNT && f->options->colour == FLAME_BY_KIND; k++)
        if (f->has_kind[k] && k != KIND_GROUP)
            x = add_swatch(f->out, x, (Colour){k, 3}, kinds[k].words);
    for (size_t i = 0; i < ARRAY_LEN(changes) && f->options->colour == FLAME_BY_CHANGE; i++)
        x = add_swatch(f->out, x, changes[i].colour, changes[i].words);
}

// Stands behind the frames in the file, so that it covers those that the page moves under it.
static void add_head(Flame *f)
{
    StrBuf *out = f->out;
    const FlameOptions *o = f->options;
    size_t columns = (size_t)(o->width_px / CHAR_PX);
    strbuf_printf(out,
                  "<g id=\"head\">\n<rect id=\"top\" x=\"0\" y=\"0\" width=\"100%%\" "
                  "height=\"%u\"/>\n<text id=\"title\" x=\"8\" y=\"20\">",
                  HEAD_PX - 3);
    strbuf_clear(&f->form);
    text_add_fitting(&f->form, o->title, MAX(columns * 3 / 4, (size_t)10), false);
    strbuf_add_xml(out, strbuf_str(&f->form));
    strbuf_add(out, STR("</text>\n<text id=\"sub\" x=\"8\" y=\"36\">"));
    strbuf_clear(&f->form);
    text_add_fitting(&f->form, o->subtitle, MAX(columns, (size_t)10), false);
    strbuf_add_xml(out, strbuf_str(&f->form));
    strbuf_add(out, STR("</text>\n<g id=\"buttons\">\n"));
    add_button(out, "search", 8, "search (/)");
    add_button(out, "hottest", 96, "hottest (h)");
    add_button(out, "unfold", 192, "unfold (u)");
    add_button(out, "reset", 280, "reset (Esc)");
    strbuf_add(out, STR("</g>\n<text id=\"found\" x=\"376\" y=\"52\" role=\"status\"></text>\n"
                        "<text id=\"details\" x=\"8\" y=\"68\" role=\"status\">"));
    strbuf_printf(out, "%zu frames drawn", f->result.drawn);
    if (f->result.dropped)
        strbuf_printf(out, ", %llu narrower than %.2g px at %.0f px left out",
                      (unsigned long long)f->result.dropped, f->result.cut_px,
                      f->options->width_px);
    strbuf_add(out, STR("</text>\n"));
    add_legend(f);
    strbuf_add(out, STR("</g>\n"));
}

void flame_add_svg(StrBuf *out, const CallTree *t, const FlameOptions *options, FlameResult *result)
{
    Flame f = {.tree = t, .options = options, .out = out, .whole = t->nodes.at[0].total};
    find_cutoff(&f);
    flame_folds_find(&f.folds, t, f.cutoff);
    each_drawn(&f, measure);
    find_static_cutoff(&f);
    add_begin(&f);
    strbuf_add(out, STR("<g id=\"frames\">\n"));
    each_drawn(&f, draw);
    strbuf_add(out, STR("</g>\n"));
    add_head(&f);
    add_data(&f);
    strbuf_add(out, STR("<script><![CDATA[\n"));
    strbuf_add(out, str_over(flame_script, flame_script_len));
    strbuf_add(out, STR("]]></script>\n</svg>\n"));
    strbuf_deinit(&f.name);
    strbuf_deinit(&f.form);
    strbuf_deinit(&f.name_lines);
    strbuf_deinit(&f.rows);
    vec_free(&f.totals);
    vec_free(&f.key_names);
    vec_free(&f.group_names);
    flame_folds_deinit(&f.folds);
    *result = f.result;
}
