// SPDX-License-Identifier: Apache-2.0
// Coverage as one HTML page that needs nothing else: a row for each file, whose
// counts and source are packed and unpacked by the page when they are looked at.
// Nothing that comes from outside stands in the page but escaped or packed.

#include "export/cover/formats_internal.h"

#include <libdeflate.h>

#include "analyse/cover/decisions.h"

extern const char cover_html_script[];
extern const size_t cover_html_script_len;

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<meta name=\"viewport\" content=\"width=device-width\">"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'\"><title>Coverage</title>\n<style>\n"
    ":root{color-scheme:light dark;--bad:#d3302f;--part:#e0901a;--good:#2f9e44}\n"
    "body{font:14px/1.45 system-ui,sans-serif;margin:1em}\n"
    "h1{font-size:1.4em;margin:0 0 .5em}\n"
    "input[type=search]{font:inherit;width:min(30em,60%);padding:.3em}\n"
    "small,kbd{opacity:.7}kbd{border:1px solid;border-radius:3px;padding:0 .3em}\n"
    ".r,.file>summary,.dir>summary{display:grid;grid-template-columns:minmax(8em,1fr) "
    "repeat(var(--n),var(--w));"
    "gap:0 1em;align-items:center;padding:.15em .4em}\n"
    ".r{position:sticky;top:0;background:Canvas;border-bottom:1px solid #8888;z-index:1}\n"
    ".r button{font:inherit;text-align:left;border:0;background:none;color:inherit;"
    "cursor:pointer;padding:.3em 0}\n"
    ".t{font-weight:bold}\n"
    ".file>summary,.dir>summary{cursor:pointer;border-bottom:1px solid #8883}.f summary,.d summary"
    "{cursor:pointer;opacity:.8}\n"
    ".file>summary:hover,.dir>summary:hover{background:#8882}\n"
    ".dir>summary{font-weight:bold}.dir:not(:has(.file:not([hidden]))){display:none}\n"
    ".file>summary code,.dir>summary code{margin-left:calc(var(--d,0)*1.2em)}\n"
    ".file[open]>summary{position:sticky;top:3.7em;background:Canvas;z-index:1}\n"
    "#files summary code{overflow-wrap:anywhere}\n"
    ".b{font-variant-numeric:tabular-nums;white-space:nowrap;background:linear-gradient(var(--c) 0 "
    "0) 0 100%/var(--v) 3px no-repeat,linear-gradient(#8883 0 0) 0 100%/100% 3px no-repeat;"
    "padding-bottom:3px}\n"
    ".lo{--c:var(--bad)}.mid{--c:var(--part)}.hi{--c:var(--good)}\n"
    "pre{margin:.3em 0 1em;overflow-x:auto;font:12px/1.4 ui-monospace,monospace;tab-size:8}\n"
    "pre div{content-visibility:auto;contain-intrinsic-size:auto 280em;width:max-content;"
    "min-width:100%}\n"
    "pre span{display:block;white-space:pre;scroll-margin:6em}\n"
    "pre a,pre i,pre u{display:inline-block;text-align:right;font-style:normal;"
    "text-decoration:none}\n"
    "pre a{width:4.5em;color:inherit;opacity:.6}pre a:hover{opacity:1;text-decoration:underline}\n"
    "pre i{width:7.5em}pre u{width:4em;margin-right:1em;opacity:.8}\n"
    "pre q{quotes:none;display:inline-block}\n"
    ".f{margin:.3em 0}.f pre{max-height:20em}.f pre q{margin-left:1em}\n"
    ".u{background:#d3302f33}.p{background:#e0901a33}.h i{color:var(--good)}.u "
    "i{color:var(--bad)}\n"
    ".m{outline:1px solid}.at{box-shadow:inset 0 0 0 2px Highlight}\n"
    ".d{margin:0 0 .3em 6em}\n"
    ".d table{border-collapse:collapse;margin:.2em 0 .6em 1em}\n"
    ".d caption{text-align:left;opacity:.8}\n"
    ".d th,.d td{border:1px solid #8886;padding:.1em .6em;text-align:center;font-weight:normal;"
    "white-space:normal;max-width:24em;overflow-wrap:anywhere}\n"
    ".d th:first-child{text-align:left}.d a{width:auto;text-align:center;opacity:1}\n"
    ".b em{font-style:normal;float:right}.w{--c:var(--bad);color:var(--bad)}.g{color:var(--good)}\n"
    "pre u.w,pre u.g{width:3em;opacity:1}.gone code{text-decoration:line-through}\n";

// "+1.25", green or red; "new" where the baseline has nothing to count.
static void add_change(StrBuf *out, CoverTally before, CoverTally t)
{
    double change;
    if (!cover_share_change(before, t, &change))
        strbuf_add(out, STR(" <em>new</em>"));
    else if (change != 0)
        strbuf_printf(out, " <em class=\"%s\">%+.2f</em>", change < 0 ? "w" : "g", change);
}

// "97.51% 46/59" above a bar, and how it changed when `before` is not NULL. Screen readers read
// the name of the column, too.
static void add_share(StrBuf *out, const char *column, const CoverTally *before, CoverTally t)
{
    double percent = cover_shown_percent(t);
    if (t.count == 0) {
        strbuf_add(out, STR("<span>-</span>"));
        return;
    }
    strbuf_printf(
        out,
        "<span class=\"b %s\" style=\"--v:%.2f%%\" role=\"img\" aria-label=\"%s %.2f%%, %llu of "
        "%llu\">%.2f%% <small>%llu/%llu</small>",
        percent < 75   ? "lo"
        : percent < 90 ? "mid"
                       : "hi",
        percent, column, percent, (unsigned long long)t.covered, (unsigned long long)t.count,
        percent, (unsigned long long)t.covered, (unsigned long long)t.count);
    if (before)
        add_change(out, *before, t);
    strbuf_add(out, STR("</span>"));
}

// The columns of shares; the last one is there only when conditions are.
static const struct {
    const char *name;
    CoverCriterion criterion;
} columns[] = {{"lines", COVER_LINES},
               {"functions", COVER_FUNCTIONS},
               {"branches", COVER_BRANCHES},
               {"conditions", COVER_CONDITIONS}};

static size_t column_count(const CoverWriter *w)
{
    return cover_has_conditions(w) ? ARRAY_LEN(columns) : ARRAY_LEN(columns) - 1;
}

// "2 lost, 1 new missed, 3 new ran, 1 gained": the lines whose state a change made.
static void add_classes(StrBuf *out, const uint64_t counts[])
{
    const struct {
        const char *kind, *what;
        uint64_t lines;
    } parts[] = {{"w", "lost", counts[COVER_LBC]},
                 {"w", "new missed", counts[COVER_UNC] + counts[COVER_UIC]},
                 {"g", "new ran", counts[COVER_GNC] + counts[COVER_GIC]},
                 {"g", "gained", counts[COVER_GBC]}};
    bool any = false;
    strbuf_add(out, STR("<span class=\"c\">"));
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (!parts[i].lines)
            continue;
        strbuf_printf(out, "%s<span class=\"%s\">%llu %s</span>", any ? ", " : "", parts[i].kind,
                      (unsigned long long)parts[i].lines, parts[i].what);
        any = true;
    }
    strbuf_add(out, any ? STR("</span>") : STR("-</span>"));
}

// The cells of a row. `before` and `counts` are the baseline's; both NULL: there is none.
static void add_shares(CoverWriter *w, const CoverTotals *t, const CoverTotals *before,
                       const uint64_t counts[])
{
    for (size_t i = 0; i < column_count(w); i++)
        add_share(w->out, columns[i].name, before ? &before->of[columns[i].criterion] : NULL,
                  t->of[columns[i].criterion]);
    if (w->changes)
        add_classes(w->out, counts);
}

static void html_begin(CoverWriter *w)
{
    CoverTotals sum = {0};
    for (size_t i = 0; i < w->c->files.len; i++) {
        CoverTotals t = cover_writer_totals(w, &w->c->files.at[i]);
        cover_totals_add(&sum, &t);
    }
    strbuf_add(w->out, str_from_c(head));
    strbuf_printf(w->out, ":root{--n:%d;--w:%s}\n</style></head><body>\n<h1>Coverage</h1>\n",
                  (int)column_count(w) + (w->changes != NULL), w->changes ? "14em" : "10.5em");
    strbuf_add(
        w->out,
        STR("<noscript><p>Sources are shown by the page's script.</p></noscript>\n"
            "<p role=\"search\"><input id=\"search\" type=\"search\" placeholder=\"path or text\" "
            "aria-label=\"search\"> <output></output> <label><input id=\"bad\" type=\"checkbox\"> "
            "only files with lines that did not run</label>"));
    if (w->changes)
        strbuf_add(w->out, STR(" <label><input id=\"changed\" type=\"checkbox\"> only lost and "
                               "new lines</label>"));
    strbuf_add(
        w->out,
        STR("<br><small><kbd>/</kbd> search, "
            "<kbd>n</kbd> <kbd>p</kbd> next and previous line that did not run (or not all of "
            "its "));
    strbuf_add(w->out, cover_has_conditions(w) ? STR("branches or conditions") : STR("branches"));
    strbuf_add(w->out, STR("), or that the search found, in the files that are open"));
    if (cover_has_conditions(w))
        strbuf_add(w->out, STR(", <kbd>m</kbd> all decisions (MC/DC)"));
    strbuf_add(w->out,
               STR("</small></p>\n<div class=\"r\" role=\"group\" aria-label=\"sort by\"><button "
                   "data-k=\"path\">File</button><button "
                   "data-k=\"l\">Lines"
                   "</button><button data-k=\"f\">Functions</button><button data-k=\"b\">Branches"
                   "</button>"));
    if (cover_has_conditions(w))
        strbuf_add(w->out, STR("<button data-k=\"m\">MC/DC</button>"));
    if (w->changes)
        strbuf_add(w->out, STR("<button data-k=\"c\">Since the baseline</button>"));
    strbuf_add(w->out, STR("<span class=\"t\">Total</span>"));
    add_shares(w, &sum, w->changes ? &w->changes->before : NULL,
               w->changes ? w->changes->counts : NULL);
    strbuf_add(w->out, STR("</div>\n<div id=\"files\" role=\"region\" aria-label=\"files\">\n"));
}

// How the page writes a class: a letter for those that a change made.
static char letter_of(CoverClass class)
{
    static const char letters[COVER_CLASS_COUNT] = {
        [COVER_UNC] = 'u', [COVER_LBC] = 'l', [COVER_UIC] = 'i',
        [COVER_GBC] = 'g', [COVER_GIC] = 'j', [COVER_GNC] = 'n'};
    return letters[class];
}

// The counts in one line: "DELTA:COUNT", with branches "DELTA:COUNT/TAKEN/BRANCHES", then the
// letter of a class.
static void add_counts(CoverWriter *w, const CoverFileRows *f, const CoverDiffFile *classes,
                       StrBuf *out)
{
    CoverLineWalk walk = cover_line_walk(w, f);
    CoverLine l;
    size_t at = 0; // the lines of the new file stand first in `classes`
    for (uint32_t last = 0; cover_line_next(&walk, &l); last = l.line) {
        strbuf_add_u64(out, l.line - last);
        strbuf_add_char(out, ':');
        strbuf_add_u64(out, l.count);
        if (l.branches) {
            strbuf_add_char(out, '/');
            strbuf_add_u64(out, l.branches_hit);
            strbuf_add_char(out, '/');
            strbuf_add_u64(out, l.branches);
        }
        while (classes && at < classes->lines.len && classes->lines.at[at].line < l.line)
            at++;
        if (classes && at < classes->lines.len && classes->lines.at[at].line == l.line &&
            letter_of(classes->lines.at[at].class))
            strbuf_add_char(out, letter_of(classes->lines.at[at].class));
        strbuf_add_char(out, ' ');
    }
    strbuf_add_char(out, '\n');
}

// [[line, count, name], …] in one line
static void add_functions(CoverWriter *w, const CoverFileRows *f, StrBuf *out)
{
    const Profile *p = w->p;
    JsonWriter json = json_writer(out, 0);
    json_begin_array(&json, NULL);
    for (uint32_t i = f->places.first; i < f->places.end; i++) {
        uint32_t row = w->c->places.at[i];
        FunctionId id = p->function_counts.function.at[row];
        json_begin_array(&json, NULL);
        json_u64(&json, NULL, p->functions.line.at[id.v]);
        json_u64(&json, NULL, w->c->entries.at[i]);
        json_str(&json, NULL, profile_text(p, p->functions.name.at[id.v]));
        json_end(&json);
    }
    json_end(&json);
    strbuf_add_char(out, '\n');
}

static void add_place(JsonWriter *json, uint32_t line, uint32_t column)
{
    json_u64(json, NULL, line);
    json_u64(json, NULL, column);
}

// [line, column, end line, end column, conditions, [vector, …], function, more], of a
// condition [line, column, end line, end column, vector, vector]: without an end where its
// text is elsewhere, without vectors where the compiler knew it.
static void add_decision(JsonWriter *json, const Profile *p, const CoverDecisionGroup *group)
{
    const Decisions *d = &p->decisions;
    const DecisionConditions *c = &p->decision_conditions;
    uint32_t row = group->row;
    CoverRows conditions = cover_decision_conditions(p, row);
    size_t letters = (size_t)(conditions.end - conditions.first) + 1;
    Str vectors = profile_text(p, d->vectors.at[row]);
    Str function = profile_text(p, p->functions.name.at[d->function.at[row].v]);
    json_begin_array(json, NULL);
    add_place(json, d->line.at[row], d->column.at[row]);
    add_place(json, d->end_line.at[row], d->end_column.at[row]);
    json_begin_array(json, NULL);
    for (uint32_t i = conditions.first; i < conditions.end; i++) {
        bool is_elsewhere = c->flags.at[i] & CONDITION_IS_ELSEWHERE;
        json_begin_array(json, NULL);
        add_place(json, c->line.at[i], c->column.at[i]);
        add_place(json, is_elsewhere ? 0 : c->end_line.at[i],
                  is_elsewhere ? 0 : c->end_column.at[i]);
        if (!(c->flags.at[i] & CONDITION_IS_FOLDED))
            add_place(json, c->pair_first.at[i], c->pair_second.at[i]);
        json_end(json);
    }
    json_end(json);
    json_begin_array(json, NULL);
    for (size_t at = 0; at < vectors.len; at += letters)
        json_str(json, NULL, str_slice(vectors, at, at + letters));
    json_end(json);
    json_str(json, NULL, group->is_shared ? function : STR(""));
    json_u64(json, NULL, group->more);
    json_end(json);
}

// [line, [[text, times true, times false], …]]: what tracefiles know of a decision. Gives
// the row behind it.
static uint32_t add_decision_rows(CoverWriter *w, const CoverFileRows *f, uint32_t first,
                                  JsonWriter *json)
{
    const ConditionCounts *c = &w->p->condition_counts;
    const uint32_t *rows = w->c->conditions.at;
    uint32_t at = first;
    json_begin_array(json, NULL);
    json_u64(json, NULL, c->line.at[rows[first]]);
    json_begin_array(json, NULL);
    while (at < f->conditions.end && c->line.at[rows[at]] == c->line.at[rows[first]] &&
           c->group.at[rows[at]] == c->group.at[rows[first]]) {
        uint64_t counts[2] = {0};
        uint32_t row = rows[at];
        for (;
             at < f->conditions.end && c->line.at[rows[at]] == c->line.at[row] &&
             c->group.at[rows[at]] == c->group.at[row] && c->index.at[rows[at]] == c->index.at[row];
             at++)
            counts[c->sense.at[rows[at]] != 0] += c->count.at[rows[at]];
        json_begin_array(json, NULL);
        json_str(json, NULL, profile_text(w->p, c->expression.at[row]));
        json_u64(json, NULL, counts[1]);
        json_u64(json, NULL, counts[0]);
        json_end(json);
    }
    json_end(json);
    json_end(json);
    return at;
}

// All in one line, as they stand in the file.
static void add_decisions(CoverWriter *w, const CoverFileRows *f, StrBuf *out)
{
    JsonWriter json = json_writer(out, 0);
    json_begin_array(&json, NULL);
    if (cover_is_of_llvm_alone(w->p)) {
        CoverDecisionGroupVec decisions = {0};
        cover_decisions_group(w->p, w->c, f, &decisions);
        for (size_t i = 0; i < decisions.len; i++)
            add_decision(&json, w->p, &decisions.at[i]);
        vec_free(&decisions);
    } else {
        for (uint32_t at = f->conditions.first; at < f->conditions.end;)
            at = add_decision_rows(w, f, at, &json);
    }
    json_end(&json);
    strbuf_add_char(out, '\n');
}

// zlib's form, which browsers unpack by themselves.
static void add_packed(CoverWriter *w, Str plain)
{
    enum { LEVEL = 1 }; // 4 makes the page 8 % smaller and takes an eighth more time
    StrBuf packed = {0};
    if (!w->packer)
        w->packer = libdeflate_alloc_compressor(LEVEL);
    struct libdeflate_compressor *c = w->packer;
    if (!c)
        return; // no memory: the file's row stands without its source
    size_t bound = libdeflate_zlib_compress_bound(c, plain.len);
    packed.len =
        libdeflate_zlib_compress(c, plain.ptr, plain.len, strbuf_reserve(&packed, bound), bound);
    strbuf_add_base64(w->out, strbuf_str(&packed));
    strbuf_deinit(&packed);
}

// A percentage to sort by; what has nothing to count sorts behind.
static double sort_key(CoverTally t)
{
    return t.count ? 100.0 * (double)t.covered / (double)t.count : 101.0;
}

// What the baseline has of a file, for the sums of its folders: "1/2 3/4 0/0".
static void add_before(CoverWriter *w, const CoverFileChange *change)
{
    // Files that the change lost or never had stand behind those whose lines want a test.
    strbuf_printf(
        w->out, " data-c=\"-%llu\" data-o=\"",
        (unsigned long long)(change->lines ? cover_lines_wanting_test(change->lines->counts) : 0));
    for (size_t i = 0; i < column_count(w); i++) {
        CoverTally t = change->before.of[columns[i].criterion];
        strbuf_printf(w->out, "%s%llu/%llu", i ? " " : "", (unsigned long long)t.covered,
                      (unsigned long long)t.count);
    }
    strbuf_add_char(w->out, '"');
}

// A file that only the baseline has.
static void add_gone(CoverWriter *w, const CoverFileChange *change)
{
    strbuf_add(w->out, STR("<details class=\"file gone\" data-l=\"100\" data-f=\"101\" "
                           "data-b=\"101\" data-m=\"101\""));
    add_before(w, change);
    strbuf_add(w->out, STR("><summary><code>"));
    strbuf_add_xml(w->out, change->path);
    strbuf_add(w->out, STR("</code>"));
    for (size_t i = 0; i < column_count(w); i++)
        strbuf_add(w->out, STR("<span>-</span>"));
    strbuf_add(w->out, STR("<span class=\"c\">gone</span></summary><div></div></details>\n"));
}

static void html_file(CoverWriter *w, const CoverFileRows *f)
{
    static const uint64_t no_classes[COVER_CLASS_COUNT];
    CoverTotals t = cover_writer_totals(w, f);
    Str path = profile_text(w->p, f->file), text = {0};
    const CoverFileChange *change = w->changes ? cover_changes_get(w->changes, path) : NULL;
    const CoverDiffFile *classes = change ? change->lines : NULL;
    StrBuf plain = {0};
    add_counts(w, f, classes, &plain);
    add_functions(w, f, &plain);
    add_decisions(w, f, &plain);
    if (w->source && w->source(w->source_ctx, path, &text))
        strbuf_add(&plain, text);
    CoverTally lines = t.of[COVER_LINES];
    strbuf_printf(w->out, "<details class=\"file\" data-l=\"%g\" data-f=\"%g\" data-b=\"%g\"",
                  lines.covered == lines.count ? 100.0 : sort_key(lines),
                  sort_key(t.of[COVER_FUNCTIONS]), sort_key(t.of[COVER_BRANCHES]));
    if (change)
        add_before(w, change);
    if (cover_has_conditions(w))
        strbuf_printf(w->out, " data-m=\"%g\"", sort_key(t.of[COVER_CONDITIONS]));
    strbuf_add(w->out, STR(" data-z=\""));
    add_packed(w, strbuf_str(&plain));
    strbuf_add(w->out, STR("\"><summary><code>"));
    strbuf_add_xml(w->out, path);
    strbuf_add(w->out, STR("</code>"));
    add_shares(w, &t, change ? &change->before : NULL, classes ? classes->counts : no_classes);
    strbuf_add(w->out, STR("</summary><div></div></details>\n"));
    strbuf_deinit(&plain);
}

static void html_end(CoverWriter *w)
{
    for (size_t i = 0; w->changes && i < w->changes->files.len; i++)
        if (!w->changes->files.at[i].has_now)
            add_gone(w, &w->changes->files.at[i]);
    strbuf_add(w->out, STR("</div>\n<script>\n"));
    strbuf_add(w->out, str_over(cover_html_script, cover_html_script_len));
    strbuf_add(w->out, STR("</script>\n</body></html>\n"));
    if (w->packer)
        libdeflate_free_compressor(w->packer);
    w->packer = NULL;
}

const CoverFormat cover_html_format = {html_begin, html_file, html_end};
