// SPDX-License-Identifier: Apache-2.0
// An annotated function as text and JSON.

#include "cli/look/annotate_screen.h"

#include <stdlib.h>

#include "analyse/fit.h"
#include "analyse/report_counts.h"
#include "base/json.h"

enum {
    COLUMNS_METRICS = 3, // metrics that a listing has room for
    COUNT_COLUMNS = 22,  // executions and the value of each
    CALLEES_SHOWN = 4,
    GAP_SHOWN = 2, // an untouched stretch this short is shown
};

// ---- Source text -------------------------------------------------------------

// One file's lines, from the disk or from the recording.
typedef struct SourceText {
    StrVec lines; // [number - 1]; empty when the file is not at hand
    bool is_changed;
} SourceText;

static bool has_kept_lines(const AnnotateView *v, StrId file)
{
    const SourceLines *kept = &v->report->profile->source_lines;
    for (size_t i = 0; i < kept->file.len; i++)
        if (kept->file.at[i].v == file.v)
            return true;
    return false;
}

// Whether the lines that the recording keeps still stand where they stood: then a newer time
// stamp means that the file was touched, copied or checked out again.
static bool keeps_its_lines(const AnnotateView *v, StrId file, const StrVec *lines)
{
    enum { KEPT_BYTES_MAX = 400 }; // symbolise/sources.c keeps no more of a line
    const Profile *p = v->report->profile;
    const SourceLines *kept = &p->source_lines;
    bool any = false;
    for (size_t i = 0; i < kept->file.len; i++) {
        if (kept->file.at[i].v != file.v)
            continue;
        uint32_t number = kept->line.at[i];
        if (number == 0 || number > lines->len)
            return false;
        Str now = str_slice(lines->at[number - 1], 0, KEPT_BYTES_MAX);
        if (!str_equal(now, profile_text(p, kept->text.at[i])))
            return false;
        any = true;
    }
    return any;
}

static SourceText source_text(const AnnotateView *v, Arena *arena, StrId file)
{
    SourceText s = {0};
    Str text;
    if (file.v == 0 ||
        !source_read(arena, &v->sources, v->report->profile, file, &text, &s.is_changed))
        return s;
    str_add_lines(arena, text, &s.lines);
    // An older file of the same name may be that of another container or machine.
    bool has_kept = has_kept_lines(v, file);
    if (has_kept)
        s.is_changed = !keeps_its_lines(v, file, &s.lines);
    if (s.is_changed && has_kept) // its lines may be others: the kept are right
        s.lines = (StrVec){0};
    return s;
}

static bool line_text(const AnnotateView *v, const SourceText *s, StrId file, uint32_t line,
                      Str *ret)
{
    if (line && line <= s->lines.len) {
        *ret = s->lines.at[line - 1];
        return true;
    }
    return line_text_find(v->report->profile, file, line, ret);
}

// ---- Pieces ------------------------------------------------------------------

static void add_share(const AnnotateView *v, StrBuf *out, uint64_t part, size_t metric)
{
    double percent = percent_of(part, v->whole ? v->whole : v->annotation.all[metric]);
    if (part == 0) {
        strbuf_add(out, STR("      "));
        return;
    }
    Style style = percent >= 10 ? STYLE_HOT : percent >= 2 ? STYLE_WARM : STYLE_PLAIN;
    style_begin(out, &v->terminal, style);
    add_percent(out, percent);
    style_end(out, &v->terminal, style);
}

static size_t metrics_shown(const AnnotateView *v)
{
    return MIN(v->metric_count, (size_t)COLUMNS_METRICS);
}

// "self total " for each metric; NULL values leave the space empty.
static void add_shares(const AnnotateView *v, StrBuf *out, const uint64_t *self,
                       const uint64_t *total)
{
    for (size_t m = 0; m < metrics_shown(v); m++) {
        add_share(v, out, self ? self[m] : 0, m);
        strbuf_add_char(out, ' ');
        add_share(v, out, total ? total[m] : 0, m);
        strbuf_add_char(out, ' ');
    }
}

// The text before a line's number.
static size_t lead_columns(const AnnotateView *v)
{
    return metrics_shown(v) * 14 + (v->executions ? COUNT_COLUMNS : 0);
}

static void add_each(const AnnotateView *v, StrBuf *out, double value)
{
    const Profile *p = v->report->profile;
    add_quotient(out, value, profile_text(p, p->metrics.unit.at[v->metrics[0].v]));
}

// Whether about so many samples stand behind a part of the target.
static bool is_enough(const AnnotateView *v, uint64_t part)
{
    const Annotation *a = &v->annotation;
    return a->target_total[0] && (double)part / (double)a->target_total[0] * (double)a->samples >=
                                     (double)COUNTS_EACH_SAMPLES;
}

static uint32_t executed_file(const AnnotateView *v, StrId file)
{
    if (!v->executions || file.v == 0)
        return EXECUTIONS_NO_FILE;
    return executions_file(v->executions, profile_text(v->report->profile, file));
}

// "executions  each " of a line; blank if it was not counted.
static void add_executions(const AnnotateView *v, StrBuf *out, uint32_t file, uint32_t line,
                           const uint64_t *self)
{
    size_t from = out->len;
    uint64_t count;
    if (!v->executions)
        return;
    if (executions_of(v->executions, file, line, &count)) {
        strbuf_printf(out, "%11llu ", (unsigned long long)count);
        if (self && count && is_enough(v, self[0])) {
            StrBuf each = {0};
            add_each(v, &each, (double)self[0] / (double)count);
            Str text = strbuf_str(&each);
            strbuf_add_repeated(out, ' ', 9 - MIN(str_columns(text), (size_t)9));
            strbuf_add(out, text);
            strbuf_deinit(&each);
        }
    }
    pad_to(out, from, COUNT_COLUMNS);
}

static void add_cut(const AnnotateView *v, StrBuf *out, Str text, size_t taken)
{
    size_t room = v->columns == SIZE_MAX   ? SIZE_MAX
                  : v->columns > taken + 8 ? v->columns - taken
                                           : 8;
    text_add_fitting(out, text, room, false);
}

// Tabs become spaces up to the next multiple of eight, as editors show them.
static void add_source(const AnnotateView *v, StrBuf *out, Str text, size_t taken)
{
    StrBuf plain = {0};
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\t')
            strbuf_add_repeated(&plain, ' ', 8 - plain.len % 8);
        else
            strbuf_add_char(&plain, text.ptr[i]);
    }
    add_cut(v, out, strbuf_str(&plain), taken);
    strbuf_deinit(&plain);
}

static void add_place(const AnnotateView *v, StrBuf *out, StrId file, uint32_t line)
{
    strbuf_add_terminal(out, file.v ? profile_text(v->report->profile, file) : STR("[no line]"));
    if (line)
        strbuf_printf(out, ":%u", line);
}

static void add_key_name(const AnnotateView *v, StrBuf *out, uint32_t key, size_t columns)
{
    StrBuf name = {0};
    keys_add_name(v->annotation.keys, key, &name);
    name_add_fitting(out, strbuf_str(&name), columns);
    strbuf_deinit(&name);
}

static void add_calls(const AnnotateView *v, StrBuf *out)
{
    const Annotation *a = &v->annotation;
    strbuf_add(out, STR("called "));
    add_count(out, v->calls);
    strbuf_add(out, v->calls == 1 ? STR(" time") : STR(" times"));
    if (v->calls && is_enough(v, a->target_total[0])) {
        strbuf_add(out, STR(": a call used "));
        add_each(v, out, (double)a->target_self[0] / (double)v->calls);
        strbuf_add(out, STR(" itself, "));
        add_each(v, out, (double)a->target_total[0] / (double)v->calls);
        strbuf_add(out, STR(" in total"));
    }
    strbuf_add_char(out, '\n');
}

static void add_head(const AnnotateView *v, StrBuf *out)
{
    const Annotation *a = &v->annotation;
    const Profile *p = v->report->profile;
    style_begin(out, &v->terminal, STYLE_BOLD);
    if (v->key != ANNOTATE_NO_KEY)
        add_key_name(v, out, v->key, v->columns == SIZE_MAX ? SIZE_MAX : v->columns - 2);
    else
        add_place(v, out, v->file, v->wanted_line);
    style_end(out, &v->terminal, STYLE_BOLD);
    strbuf_add_char(out, '\n');
    for (size_t m = 0; m < v->metric_count; m++) {
        Str name = profile_text(p, p->metrics.name.at[v->metrics[m].v]);
        Str unit = profile_text(p, p->metrics.unit.at[v->metrics[m].v]);
        strbuf_printf(out, "self %.1f %%, total %.1f %% of ",
                      percent_of(a->target_self[m], a->all[m]),
                      percent_of(a->target_total[m], a->all[m]));
        add_value(out, a->all[m], unit);
        strbuf_add_char(out, ' ');
        strbuf_add_terminal(out, name);
        if (m == 0)
            strbuf_printf(out, " · %llu sample%s", (unsigned long long)a->samples,
                          plural_s(a->samples));
        strbuf_add_char(out, '\n');
    }
    if (v->has_calls)
        add_calls(v, out);
    if (v->is_code_for_lines)
        strbuf_add(out, STR("no debug information, so these are its instructions; build with -g to "
                            "see source lines\n"));
    if (v->others)
        strbuf_printf(out,
                      "other functions with this name: %zu; give a longer name to choose one\n",
                      v->others);
    strbuf_add_char(out, '\n');
}

static void add_title(const AnnotateView *v, StrBuf *out, bool with_counts, const char *rest)
{
    const Profile *p = v->report->profile;
    style_begin(out, &v->terminal, STYLE_DIM);
    if (metrics_shown(v) > 1) {
        for (size_t m = 0; m < metrics_shown(v); m++) {
            size_t start = out->len;
            text_add_fitting(out, profile_text(p, p->metrics.name.at[v->metrics[m].v]), 13, false);
            pad_to(out, start, 14);
        }
        strbuf_add_char(out, '\n');
    }
    for (size_t m = 0; m < metrics_shown(v); m++)
        strbuf_add(out, STR("  self  total "));
    if (with_counts && v->executions)
        strbuf_add(out, STR(" executions  self each"));
    strbuf_add(out, str_from_c(rest));
    style_end(out, &v->terminal, STYLE_DIM);
    strbuf_add_char(out, '\n');
}

// ---- Listing -----------------------------------------------------------------

static void add_callees(const AnnotateView *v, StrBuf *out, const AnnotateLine *line)
{
    size_t shown = MIN(line->callees.len, (size_t)CALLEES_SHOWN);
    for (size_t i = 0; i < shown; i++) {
        const AnnotateCallee *c = &line->callees.at[i];
        strbuf_add_repeated(out, ' ', lead_columns(v));
        strbuf_add(out, STR("       | "));
        add_share(v, out, c->total, 0);
        strbuf_add(out, c->is_inlined ? STR(" inlined ") : STR(" calls "));
        size_t taken = lead_columns(v) + 9 + 6 + (c->is_inlined ? 9 : 7);
        size_t room = v->columns == SIZE_MAX   ? SIZE_MAX
                      : v->columns > taken + 8 ? v->columns - taken
                                               : 8;
        add_key_name(v, out, c->key, room);
        strbuf_add_char(out, '\n');
    }
    if (line->callees.len > shown) {
        strbuf_add_repeated(out, ' ', lead_columns(v));
        strbuf_printf(out, "       | … %zu more\n", line->callees.len - shown);
    }
}

// In a listing it leaves the place of the lines' counts empty.
static void add_instruction(const AnnotateView *v, StrBuf *out, const CodeLine *c, size_t columns)
{
    size_t from = out->len;
    add_shares(v, out, c->self, c->total);
    pad_to(out, from, columns);
    strbuf_printf(out, "%10llx  ", (unsigned long long)c->instruction.address);
    StrBuf text = {0};
    strbuf_add(&text, c->instruction.text);
    if (c->target_name.len)
        strbuf_printf(&text, " <%" STR_FMT ">", STR_ARG(c->target_name));
    if (c->inlined.len)
        strbuf_printf(&text, "  ; in %" STR_FMT, STR_ARG(c->inlined));
    add_cut(v, out, strbuf_str(&text), columns + 12);
    strbuf_add_char(out, '\n');
    strbuf_deinit(&text);
}

static void add_code_of_line(const AnnotateView *v, StrBuf *out, Str file, uint32_t line)
{
    if (!v->code)
        return;
    for (size_t i = 0; i < v->code->lines.len; i++) {
        const CodeLine *c = &v->code->lines.at[i];
        if (c->line == line && (line == 0 || str_equal(c->file, file)))
            add_instruction(v, out, c, lead_columns(v));
    }
}

// The lines of one file: rows [from, to) of the annotation.
typedef struct FileRows {
    StrId file;
    size_t from, to;
    uint64_t total;
    uint32_t executed; // of v->executions
} FileRows;

static const uint64_t *self_of(const Annotation *a, const AnnotateLine *l)
{
    return a->self.at + l->first_value;
}

static const uint64_t *total_of(const Annotation *a, const AnnotateLine *l)
{
    return a->total.at + l->first_value;
}

// What a line is ranked by: its first metric, or its processor time and waits together.
static uint64_t rank_of(const AnnotateView *v, const uint64_t *values)
{
    uint64_t sum = values[0];
    for (size_t m = 1; v->whole && m < v->metric_count; m++)
        sum += values[m];
    return sum;
}

static size_t hottest_row(const AnnotateView *v)
{
    const Annotation *a = &v->annotation;
    size_t best = 0;
    for (size_t i = 1; i < a->lines.len; i++)
        if (rank_of(v, total_of(a, &a->lines.at[i])) > rank_of(v, total_of(a, &a->lines.at[best])))
            best = i;
    return best;
}

static void add_line(const AnnotateView *v, StrBuf *out, const SourceText *s, const FileRows *f,
                     uint32_t line, const AnnotateLine *row, bool is_hottest)
{
    const Annotation *a = &v->annotation;
    add_shares(v, out, row ? self_of(a, row) : NULL, row ? total_of(a, row) : NULL);
    add_executions(v, out, f->executed, line, row ? self_of(a, row) : NULL);
    strbuf_printf(out, "%6u %c ", line, is_hottest || line == v->wanted_line ? '>' : '|');
    Str text;
    if (line_text(v, s, f->file, line, &text))
        add_source(v, out, text, lead_columns(v) + 9);
    strbuf_add_char(out, '\n');
    if (row)
        add_callees(v, out, row);
    add_code_of_line(v, out, profile_text(v->report->profile, f->file), line);
}

static bool is_shown(const AnnotateView *v, const FileRows *f, size_t *at, uint32_t line)
{
    const Annotation *a = &v->annotation;
    uint32_t context = v->context;
    if (v->wanted_line && line + MAX(context, 10u) >= v->wanted_line &&
        line <= v->wanted_line + MAX(context, 10u))
        return true;
    if (v->wanted_line)
        return false;
    while (*at < f->to && (uint64_t)a->lines.at[*at].line + context < line)
        ++*at;
    return *at < f->to && (uint64_t)line + context >= a->lines.at[*at].line;
}

static void add_file_head(const AnnotateView *v, StrBuf *out, const FileRows *f,
                          const SourceText *s)
{
    StrId file = f->file;
    style_begin(out, &v->terminal, STYLE_NAME);
    add_place(v, out, file, 0);
    style_end(out, &v->terminal, STYLE_NAME);
    if (s->is_changed && s->lines.len == 0)
        strbuf_add(out, STR("  (changed since: lines are those kept in the recording)"));
    else if (s->is_changed)
        strbuf_add(out, STR("  (changed since it was recorded: lines may have moved)"));
    else if (file.v && s->lines.len == 0 && has_kept_lines(v, file))
        strbuf_add(out, STR("  (not found here: lines are those kept in the recording; see "
                            "--source-path)"));
    else if (file.v && s->lines.len == 0)
        strbuf_add(out, STR("  (not found here, nor when it was recorded; --source-path OLD=NEW "
                            "says where it is)"));
    else if (v->wanted_line > s->lines.len)
        strbuf_printf(out, "  (has %zu line%s)", s->lines.len, plural_s(s->lines.len));
    if (v->executions && file.v && f->executed == EXECUTIONS_NO_FILE)
        strbuf_add(out, STR("  (not counted)"));
    strbuf_add_char(out, '\n');
}

// Time and counts of one program cannot contradict each other.
static void add_contradictions(const AnnotateView *v, StrBuf *out, const FileRows *f)
{
    const Annotation *a = &v->annotation;
    size_t lines = 0;
    uint64_t count, self = 0;
    for (size_t i = f->from; i < f->to && v->executions; i++) {
        const AnnotateLine *l = &a->lines.at[i];
        if (self_of(a, l)[0] == 0 || !executions_of(v->executions, f->executed, l->line, &count) ||
            count)
            continue;
        lines++;
        self += self_of(a, l)[0];
    }
    if (lines == 0)
        return;
    strbuf_printf(out, "! %zu line%s with ", lines, lines == 1 ? "" : "s");
    add_percent(out, percent_of(self, a->all[0]));
    strbuf_add(out, STR(" ran by the samples and never by the counts: those are of other input or "
                        "another version, or the compiler moved code\n"));
}

// Nothing would stand behind its number.
static bool is_bare(const AnnotateView *v, const SourceText *s, StrId file, uint32_t line,
                    const AnnotateLine *row)
{
    Str text, path = profile_text(v->report->profile, file);
    if (row || line == v->wanted_line || line_text(v, s, file, line, &text))
        return false;
    for (size_t i = 0; v->code && i < v->code->lines.len; i++)
        if (v->code->lines.at[i].line == line && str_equal(v->code->lines.at[i].file, path))
            return false;
    return true;
}

static void add_file(const AnnotateView *v, Arena *arena, StrBuf *out, const FileRows *f,
                     size_t hottest)
{
    const Annotation *a = &v->annotation;
    SourceText s = source_text(v, arena, f->file);
    add_file_head(v, out, f, &s);
    uint64_t last = (uint64_t)a->lines.at[f->to - 1].line + v->context;
    if (v->wanted_line)
        last = (uint64_t)v->wanted_line + MAX(v->context, 10u);
    if (s.lines.len)
        last = MIN(last, (uint64_t)s.lines.len);
    else if (f->file.v == 0)
        last = 0; // the one row of code without a line
    last = MAX(last, (uint64_t)a->lines.at[f->to - 1].line);
    size_t row = f->from;
    size_t at = f->from;
    uint32_t shown_last = 0;
    uint64_t first = f->file.v ? 1 : 0;
    if (v->wanted_line > MAX(v->context, 10u))
        first = v->wanted_line - MAX(v->context, 10u);
    for (uint64_t line = first; line <= last; line++) {
        while (row < f->to && a->lines.at[row].line < line)
            row++;
        const AnnotateLine *here =
            row < f->to && a->lines.at[row].line == line ? &a->lines.at[row] : NULL;
        if (f->file.v && !is_shown(v, f, &at, (uint32_t)line)) {
            // Straight to the next line with a value.
            if (!v->wanted_line && at < f->to &&
                a->lines.at[at].line > line + v->context + GAP_SHOWN)
                line = a->lines.at[at].line - v->context - 1;
            continue;
        }
        bool is_bare_line = f->file.v && is_bare(v, &s, f->file, (uint32_t)line, here);
        if (shown_last && line > shown_last + 1)
            strbuf_add(out, STR("…\n"));
        if (!is_bare_line)
            add_line(v, out, &s, f, (uint32_t)line, here, here && row == hottest);
        shown_last = (uint32_t)line;
    }
    add_contradictions(v, out, f);
}

static int compare_files(const void *x, const void *y)
{
    const FileRows *a = x, *b = y;
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    return a->from < b->from ? -1 : a->from > b->from;
}

void annotate_listing(const AnnotateView *v, Arena *arena, StrBuf *out)
{
    const Annotation *a = &v->annotation;
    add_head(v, out);
    if (a->lines.len == 0) {
        strbuf_add(out, STR("no sample of the selection lies there\n"));
        return;
    }
    Vec(FileRows) files = {0};
    for (size_t i = 0; i < a->lines.len; i++) {
        if (files.len == 0 || vec_last(&files).file.v != a->lines.at[i].file.v) {
            StrId file = a->lines.at[i].file;
            FileRows fresh = {.file = file, .from = i, .executed = executed_file(v, file)};
            vec_push(arena, &files, fresh);
        }
        vec_last(&files).to = i + 1;
        vec_last(&files).total += rank_of(v, total_of(a, &a->lines.at[i]));
    }
    qsort(files.at, files.len, sizeof(files.at[0]), compare_files);
    add_title(v, out, true, "  line   source");
    size_t hottest = hottest_row(v);
    for (size_t i = 0; i < files.len; i++)
        add_file(v, arena, out, &files.at[i], hottest);
    if (v->code && v->code->left_out)
        strbuf_printf(out,
                      "%.1f %% lie in other copies of the function, whose instructions are not "
                      "shown\n",
                      percent_of(v->code->left_out, a->all[0]));
}

// ---- Flat tables ---------------------------------------------------------------

typedef struct Ranked {
    size_t row;
    uint64_t self, total;
} Ranked;

static int compare_ranked(const void *x, const void *y)
{
    const Ranked *a = x, *b = y;
    if (a->self != b->self)
        return a->self > b->self ? -1 : 1;
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

void annotate_by_line(const AnnotateView *v, Arena *arena, StrBuf *out)
{
    const Annotation *a = &v->annotation;
    add_head(v, out);
    Vec(Ranked) ranked = {0};
    for (size_t i = 0; i < a->lines.len; i++) {
        const AnnotateLine *l = &a->lines.at[i];
        Ranked r = {i, rank_of(v, self_of(a, l)), rank_of(v, total_of(a, l))};
        vec_push(arena, &ranked, r);
    }
    if (ranked.len > 1)
        qsort(ranked.at, ranked.len, sizeof(Ranked), compare_ranked);
    add_title(v, out, true, " place and source");
    size_t shown = v->limit ? MIN(ranked.len, (size_t)v->limit) : ranked.len;
    for (size_t i = 0; i < shown; i++) {
        const AnnotateLine *l = &a->lines.at[ranked.at[i].row];
        add_shares(v, out, self_of(a, l), total_of(a, l));
        add_executions(v, out, executed_file(v, l->file), l->line, self_of(a, l));
        strbuf_add_char(out, ' ');
        add_place(v, out, l->file, l->line);
        Str text;
        SourceText none = {0};
        if (line_text(v, &none, l->file, l->line, &text)) {
            strbuf_add(out, STR("\n"));
            strbuf_add_repeated(out, ' ', lead_columns(v) + 3);
            add_source(v, out, str_trim(text), lead_columns(v) + 3);
        }
        strbuf_add_char(out, '\n');
    }
}

void annotate_by_instruction(const AnnotateView *v, StrBuf *out)
{
    add_head(v, out);
    const Code *code = v->code;
    Vec(Ranked) ranked = {0};
    for (size_t i = 0; i < code->lines.len; i++) {
        const CodeLine *c = &code->lines.at[i];
        Ranked r = {i, c->self[0], c->total[0]};
        if (r.total)
            vec_push(NULL, &ranked, r);
    }
    if (ranked.len > 1)
        qsort(ranked.at, ranked.len, sizeof(Ranked), compare_ranked);
    add_title(v, out, false, "   address  instruction");
    size_t shown = v->limit ? MIN(ranked.len, (size_t)v->limit) : ranked.len;
    for (size_t i = 0; i < shown; i++)
        add_instruction(v, out, &code->lines.at[ranked.at[i].row], metrics_shown(v) * 14);
    vec_free(&ranked);
}

// ---- JSON --------------------------------------------------------------------

static void json_values(JsonWriter *w, const char *key, const uint64_t *values, size_t count)
{
    json_begin_array(w, key);
    for (size_t m = 0; m < count; m++)
        json_u64(w, NULL, values[m]);
    json_end(w);
}

static void json_key_name(const AnnotateView *v, JsonWriter *w, uint32_t key)
{
    StrBuf name = {0};
    keys_add_name(v->annotation.keys, key, &name);
    json_str(w, "function", strbuf_str(&name));
    strbuf_deinit(&name);
}

static void json_line(const AnnotateView *v, JsonWriter *w, const AnnotateLine *l,
                      const SourceText *s, uint32_t executed)
{
    const Annotation *a = &v->annotation;
    json_begin_object(w, NULL);
    json_str(w, "file", profile_text(v->report->profile, l->file));
    json_u64(w, "line", l->line);
    Str text;
    if (line_text(v, s, l->file, l->line, &text))
        json_str(w, "text", text);
    json_values(w, "self", self_of(a, l), v->metric_count);
    json_values(w, "total", total_of(a, l), v->metric_count);
    uint64_t count;
    if (executions_of(v->executions, executed, l->line, &count))
        json_u64(w, "executions", count);
    json_begin_array(w, "callees");
    for (size_t i = 0; i < l->callees.len; i++) {
        json_begin_object(w, NULL);
        json_key_name(v, w, l->callees.at[i].key);
        json_bool(w, "inlined", l->callees.at[i].is_inlined);
        json_u64(w, "total", l->callees.at[i].total);
        json_end(w);
    }
    json_end(w);
    json_end(w);
}

static void json_code(const AnnotateView *v, JsonWriter *w)
{
    json_begin_array(w, "instructions");
    for (size_t i = 0; v->code && i < v->code->lines.len; i++) {
        const CodeLine *c = &v->code->lines.at[i];
        json_begin_object(w, NULL);
        json_u64(w, "address", c->instruction.address);
        json_str(w, "text", c->instruction.text);
        if (c->instruction.has_target)
            json_u64(w, "target", c->instruction.target);
        if (c->target_name.len)
            json_str(w, "target_name", c->target_name);
        json_str(w, "file", c->file);
        json_u64(w, "line", c->line);
        if (c->inlined.len)
            json_str(w, "inlined", c->inlined);
        json_values(w, "self", c->self, v->metric_count);
        json_values(w, "total", c->total, v->metric_count);
        json_end(w);
    }
    json_end(w);
}

void annotate_json(const AnnotateView *v, Arena *arena, StrBuf *out)
{
    const Annotation *a = &v->annotation;
    const Profile *p = v->report->profile;
    JsonWriter w = json_writer(out, 2);
    json_begin_object(&w, NULL);
    json_str(&w, "schema", STR("assay-annotate"));
    json_u64(&w, "version", 1);
    json_str(&w, "format", STR("assay annotate")); // its name before `schema` was there
    if (v->key != ANNOTATE_NO_KEY)
        json_key_name(v, &w, v->key);
    else
        json_str(&w, "file", profile_text(p, v->file));
    json_begin_array(&w, "metrics");
    for (size_t m = 0; m < v->metric_count; m++) {
        json_begin_object(&w, NULL);
        json_str(&w, "name", profile_text(p, p->metrics.name.at[v->metrics[m].v]));
        json_str(&w, "unit", profile_text(p, p->metrics.unit.at[v->metrics[m].v]));
        json_u64(&w, "all", a->all[m]);
        json_u64(&w, "self", a->target_self[m]);
        json_u64(&w, "total", a->target_total[m]);
        json_end(&w);
    }
    json_end(&w);
    json_u64(&w, "samples", a->samples);
    if (v->has_calls)
        json_u64(&w, "calls", v->calls);
    json_begin_array(&w, "lines");
    SourceText s = {0};
    uint32_t executed = EXECUTIONS_NO_FILE;
    for (size_t i = 0; i < a->lines.len; i++) {
        if (i == 0 || a->lines.at[i].file.v != a->lines.at[i - 1].file.v) {
            s = source_text(v, arena, a->lines.at[i].file);
            executed = executed_file(v, a->lines.at[i].file);
        }
        json_line(v, &w, &a->lines.at[i], &s, executed);
    }
    json_end(&w);
    if (v->code)
        json_code(v, &w);
    json_end(&w);
}
