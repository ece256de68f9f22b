// SPDX-License-Identifier: Apache-2.0
// Totals of files, folders or functions as tables.

#include "cli/cover/cover_report_table.h"

#include <stdio.h>

#include "base/json.h"

// ---- Cells ---------------------------------------------------------------------

typedef struct Column {
    const char *heading;  // of three columns on a terminal
    const char *markdown; // heading there
    const char *key;      // in JSON
    CoverCriterion criterion;
} Column;

enum { COLUMN_MAX = 6 };

static const Column all_columns[COLUMN_MAX] = {
    {"    lines  missed   cover", "lines", "lines", COVER_LINES},
    {"    funcs  missed   cover", "functions", "functions", COVER_FUNCTIONS},
    {"   insts.  missed   cover", "instances", "instantiations", COVER_INSTANTIATIONS},
    {"  regions  missed   cover", "regions", "regions", COVER_REGIONS},
    {" branches  missed   cover", "branches", "branches", COVER_BRANCHES},
    {"    MC/DC  missed   cover", "MC/DC", "conditions", COVER_CONDITIONS},
};

// The columns of the table; gives how many they are.
static size_t columns_of(const CoverReportTable *t, const Column *ret[COLUMN_MAX])
{
    const bool shown[COLUMN_MAX] = {true, true, t->instantiations, t->regions, true, t->conditions};
    size_t n = 0;
    for (size_t i = 0; i < COLUMN_MAX; i++)
        if (shown[i])
            ret[n++] = &all_columns[i];
    return n;
}

double cover_percent(CoverTally t)
{
    return t.count ? 100.0 * (double)t.covered / (double)t.count : 100.0;
}

// " 97.51%", or a dash where nothing was to count. Never rounds up to 100.
static void add_share(StrBuf *out, CoverTally t)
{
    double percent = cover_percent(t);
    if (t.covered < t.count && percent > 99.99)
        percent = 99.99;
    if (t.count == 0)
        strbuf_add(out, STR("      -"));
    else
        strbuf_printf(out, "%6.2f%%", percent);
}

// genhtml's limits of low and high coverage.
static Style style_of(CoverTally t)
{
    double percent = cover_percent(t);
    return percent < 75 ? STYLE_HOT : percent < 90 ? STYLE_WARM : STYLE_PLAIN;
}

// ---- Paths ---------------------------------------------------------------------

// The folder that every path starts with, with its slash.
static Str shared_folder(const CoverReportTable *t)
{
    if (t->rows.len == 0 || t->full_paths)
        return STR("");
    Str shared = t->rows.at[0].path;
    for (size_t i = 1; i < t->rows.len; i++) {
        Str path = t->rows.at[i].path;
        size_t n = 0, max = MIN(shared.len, path.len);
        while (n < max && shared.ptr[n] == path.ptr[n])
            n++;
        shared = str_slice(shared, 0, n);
    }
    size_t slash = str_find_last_char(shared, '/');
    return slash == SIZE_MAX ? STR("") : str_slice(shared, 0, slash + 1);
}

static Str below(Str path, Str shared)
{
    return path.len > shared.len ? str_slice(path, shared.len, path.len) : STR("./");
}

// "12-14, 20, 31"
static void add_ranges(StrBuf *out, const LineRangeVec *ranges)
{
    for (size_t i = 0; i < ranges->len; i++) {
        uint32_t first = ranges->at[i].first, last = ranges->at[i].end - 1;
        strbuf_add(out, i ? STR(", ") : STR(""));
        strbuf_add_u64(out, first);
        if (last == first)
            continue;
        strbuf_add_char(out, '-');
        strbuf_add_u64(out, last);
    }
}

// ---- The terminal --------------------------------------------------------------

// "src/a.c", of functions "src/a.c:12 name".
static void add_title(StrBuf *out, const CoverReportRow *row, Str shared)
{
    strbuf_add_terminal(out, below(row->path, shared));
    if (row->name.len == 0)
        return;
    strbuf_printf(out, ":%u ", row->line);
    strbuf_add_terminal(out, row->name);
}

// Beside a baseline: how the share of lines changed, and the lines that need a test.
typedef struct Change {
    char text[16]; // "+1.25", "new", "gone", "="
    uint64_t lost, new_missed;
    bool is_worse;
} Change;

static Change change_of(const CoverTotals *before, const CoverTotals *now, const uint64_t classes[],
                        bool is_gone)
{
    Change c = {.lost = classes[COVER_LBC], .new_missed = classes[COVER_UNC] + classes[COVER_UIC]};
    double change;
    if (is_gone)
        snprintf(c.text, sizeof(c.text), "gone");
    else if (!cover_share_change(before->of[COVER_LINES], now->of[COVER_LINES], &change))
        snprintf(c.text, sizeof(c.text), now->of[COVER_LINES].count ? "new" : "-");
    else if (change == 0)
        snprintf(c.text, sizeof(c.text), "=");
    else
        snprintf(c.text, sizeof(c.text), "%+.2f", change);
    c.is_worse = c.text[0] == '-' && c.text[1];
    return c;
}

static void add_change(StrBuf *out, const CoverReportTable *t, Change c)
{
    Style style = c.is_worse || c.lost || c.new_missed ? STYLE_HOT : STYLE_PLAIN;
    style_begin(out, &t->terminal, style);
    strbuf_printf(out, " %8s %7llu %11llu", c.text, (unsigned long long)c.lost,
                  (unsigned long long)c.new_missed);
    style_end(out, &t->terminal, style);
}

// The text before a percentage: nothing where the terminal is too narrow for more.
static void add_cells(StrBuf *out, const CoverReportTable *t, const CoverTotals *totals,
                      const Column *const columns[], size_t n, bool is_narrow)
{
    for (size_t i = 0; i < n; i++) {
        CoverTally tally = totals->of[columns[i]->criterion];
        if (is_narrow)
            strbuf_add(out, STR("  "));
        else
            strbuf_printf(out, " %8llu %7llu ", (unsigned long long)tally.count,
                          (unsigned long long)(tally.count - tally.covered));
        style_begin(out, &t->terminal, style_of(tally));
        add_share(out, tally);
        style_end(out, &t->terminal, style_of(tally));
    }
}

static size_t title_width(const CoverReportTable *t, Str shared)
{
    enum { WIDTH_MAX = 60 };
    size_t width = 5;
    StrBuf title = {0};
    for (size_t i = 0; i < t->rows.len && width < WIDTH_MAX; i++) {
        strbuf_clear(&title);
        add_title(&title, &t->rows.at[i], shared);
        width = MAX(width, str_columns(strbuf_str(&title)));
    }
    strbuf_deinit(&title);
    return MIN(width, (size_t)WIDTH_MAX);
}

static void add_missing(StrBuf *out, const CoverReportTable *t, Str shared)
{
    for (size_t i = 0; i < t->rows.len; i++) {
        if (t->rows.at[i].missing.len == 0)
            continue;
        strbuf_add_char(out, '\n');
        add_title(out, &t->rows.at[i], shared);
        strbuf_add(out, STR(": "));
        add_ranges(out, &t->rows.at[i].missing);
    }
    strbuf_add_char(out, '\n');
}

void cover_report_add_text(StrBuf *out, const CoverReportTable *t)
{
    Str shared = shared_folder(t);
    const Column *columns[COLUMN_MAX];
    size_t n = columns_of(t, columns), width = title_width(t, shared), start;
    if (shared.len) {
        strbuf_add(out, STR("in "));
        strbuf_add_terminal(out, shared);
        strbuf_add_char(out, '\n');
    }
    enum { COLUMN_WIDTH = 25, NAME_WIDTH = 9 }; // of a heading, and of what it is about
    static const char change_heading[] = "   change    lost  new missed";
    size_t all = width + n * COLUMN_WIDTH + (t->baseline ? sizeof(change_heading) - 1 : 0);
    bool is_narrow = t->terminal.is_tty && all > t->terminal.columns;
    start = out->len;
    strbuf_add(out, STR("file"));
    pad_to(out, start, width);
    for (size_t i = 0; i < n; i++)
        strbuf_add(out, str_slice(str_from_c(columns[i]->heading), 0,
                                  is_narrow ? NAME_WIDTH : COLUMN_WIDTH));
    strbuf_add(out, t->baseline ? str_from_c(change_heading) : STR(""));
    strbuf_add_char(out, '\n');
    for (size_t i = 0; i < t->rows.len; i++) {
        start = out->len;
        add_title(out, &t->rows.at[i], shared);
        pad_to(out, start, width);
        const CoverReportRow *row = &t->rows.at[i];
        add_cells(out, t, &row->totals, columns, n, is_narrow);
        if (t->baseline)
            add_change(out, t, change_of(&row->before, &row->totals, row->classes, row->is_gone));
        strbuf_add_char(out, '\n');
    }
    start = out->len;
    strbuf_add(out, STR("TOTAL"));
    pad_to(out, start, width);
    add_cells(out, t, &t->total, columns, n, is_narrow);
    if (t->baseline)
        add_change(out, t, change_of(&t->before, &t->total, t->classes, false));
    strbuf_add_char(out, '\n');
    if (t->missing)
        add_missing(out, t, shared);
}

// ---- Markdown ------------------------------------------------------------------

static void add_markdown_cells(StrBuf *out, const CoverTotals *totals,
                               const Column *const columns[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        CoverTally tally = totals->of[columns[i]->criterion];
        StrBuf share = {0};
        add_share(&share, tally);
        strbuf_add(out, STR(" | "));
        strbuf_add(out, str_trim(strbuf_str(&share)));
        strbuf_deinit(&share);
        if (tally.count)
            strbuf_printf(out, " (%llu/%llu)", (unsigned long long)tally.covered,
                          (unsigned long long)tally.count);
    }
}

static void add_markdown_change(StrBuf *out, Change c)
{
    strbuf_printf(out, " | %s | %llu | %llu", c.text, (unsigned long long)c.lost,
                  (unsigned long long)c.new_missed);
}

void cover_report_add_markdown(StrBuf *out, const CoverReportTable *t)
{
    Str shared = shared_folder(t);
    const Column *columns[COLUMN_MAX];
    size_t n = columns_of(t, columns);
    strbuf_add(out, STR("| file |"));
    for (size_t i = 0; i < n; i++)
        strbuf_printf(out, " %s |", columns[i]->markdown);
    strbuf_add(out, t->baseline ? STR(" change | lost | new missed |") : STR(""));
    strbuf_add(out, t->missing ? STR(" lines that did not run |\n| --- |") : STR("\n| --- |"));
    for (size_t i = 0; i < n; i++)
        strbuf_add(out, STR(" ---: |"));
    strbuf_add(out, t->baseline ? STR(" ---: | ---: | ---: |") : STR(""));
    strbuf_add(out, t->missing ? STR(" --- |\n") : STR("\n"));
    for (size_t i = 0; i < t->rows.len; i++) {
        const CoverReportRow *row = &t->rows.at[i];
        strbuf_add(out, STR("| "));
        strbuf_add_markdown(out, below(row->path, shared));
        if (row->name.len) {
            strbuf_printf(out, ":%u ", row->line);
            strbuf_add_markdown(out, row->name);
        }
        add_markdown_cells(out, &row->totals, columns, n);
        if (t->baseline)
            add_markdown_change(out,
                                change_of(&row->before, &row->totals, row->classes, row->is_gone));
        strbuf_add(out, t->missing ? STR(" | ") : STR(""));
        add_ranges(out, &row->missing);
        strbuf_add(out, STR(" |\n"));
    }
    strbuf_add(out, STR("| **total**"));
    add_markdown_cells(out, &t->total, columns, n);
    if (t->baseline)
        add_markdown_change(out, change_of(&t->before, &t->total, t->classes, false));
    strbuf_add(out, t->missing ? STR(" | |\n") : STR(" |\n"));
}

// ---- JSON ----------------------------------------------------------------------

static void add_json_tallies(JsonWriter *w, const CoverTotals *totals,
                             const Column *const columns[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        CoverTally tally = totals->of[columns[i]->criterion];
        json_begin_object(w, columns[i]->key);
        json_u64(w, "count", tally.count);
        json_u64(w, "covered", tally.covered);
        if (tally.count)
            json_double(w, "percent", cover_percent(tally));
        else
            json_null(w, "percent");
        json_end(w);
    }
}

// What the baseline had, and how many lines are of each class.
static void add_json_before(JsonWriter *w, const CoverTotals *before, const uint64_t classes[],
                            const Column *const columns[], size_t n)
{
    json_begin_object(w, "before");
    add_json_tallies(w, before, columns, n);
    json_end(w);
    json_begin_object(w, "classes");
    for (int c = 0; c < COVER_CLASS_COUNT; c++)
        json_u64(w, cover_class_name((CoverClass)c), classes[c]);
    json_end(w);
}

static void add_json_row(JsonWriter *w, const CoverReportTable *t, const CoverReportRow *row,
                         const Column *const columns[], size_t n)
{
    json_begin_object(w, NULL);
    json_str(w, "path", row->path);
    if (row->name.len) {
        json_u64(w, "line", row->line);
        json_str(w, "name", row->name);
        json_str(w, "linkage_name", row->linkage_name);
    }
    add_json_tallies(w, &row->totals, columns, n);
    if (t->baseline) {
        json_bool(w, "gone", row->is_gone);
        add_json_before(w, &row->before, row->classes, columns, n);
    }
    if (t->missing) {
        json_begin_array(w, "missing");
        for (size_t i = 0; i < row->missing.len; i++) {
            json_begin_array(w, NULL);
            json_u64(w, NULL, row->missing.at[i].first);
            json_u64(w, NULL, row->missing.at[i].end - 1);
            json_end(w);
        }
        json_end(w);
    }
    json_end(w);
}

void cover_report_add_json(StrBuf *out, const CoverReportTable *t)
{
    const Column *columns[COLUMN_MAX];
    size_t n = columns_of(t, columns);
    JsonWriter w = json_writer(out, 1);
    json_begin_object(&w, NULL);
    json_str(&w, "schema", STR("assay-cover-report-1"));
    json_begin_object(&w, "total");
    add_json_tallies(&w, &t->total, columns, n);
    if (t->baseline)
        add_json_before(&w, &t->before, t->classes, columns, n);
    json_end(&w);
    json_begin_array(&w, "rows");
    for (size_t i = 0; i < t->rows.len; i++)
        add_json_row(&w, t, &t->rows.at[i], columns, n);
    json_end(&w);
    json_end(&w);
    strbuf_add_char(out, '\n');
}
