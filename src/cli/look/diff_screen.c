// SPDX-License-Identifier: Apache-2.0
// A comparison as text, for the terminal and as Markdown.

#include "cli/look/diff_view.h"

#include "analyse/fit.h"
#include "model/facts.h"

#include <math.h>

const char *const diff_side_names[DIFF_SIDES] = {"old", "new"};

enum { NAME_COLUMNS_LEAST = 24 };

static bool is_time(const DiffView *v)
{
    return str_equal(v->d.metrics.at[v->metric].unit, STR("ns"));
}

const char *diff_verdict_word(const DiffView *v, const RowChange *change)
{
    switch (change->verdict) {
    case VERDICT_FASTER:
        return is_time(v) ? "faster" : "less";
    case VERDICT_SLOWER:
        return is_time(v) ? "slower" : "more";
    case VERDICT_EQUIVALENT:
        return "same";
    case VERDICT_INCONCLUSIVE:
        break;
    }
    return "unsure";
}

// ---- Values ----------------------------------------------------------------------------------

static void add_right(StrBuf *out, Str text, size_t columns)
{
    size_t taken = str_columns(text);
    strbuf_add_repeated(out, ' ', columns > taken ? columns - taken : 0);
    strbuf_add(out, text);
}

void diff_add_amount(StrBuf *out, uint64_t value, const DiffMetric *m, bool known)
{
    if (!known)
        strbuf_add_char(out, '?');
    else if (value == 0)
        strbuf_add_char(out, '-');
    else if (m->unit.len == 0)
        add_rounded_count(out, (double)value);
    else
        add_value(out, value, m->unit);
}

static void add_difference(StrBuf *out, uint64_t was, uint64_t is, const DiffMetric *m)
{
    if (was == is) {
        strbuf_add_char(out, '=');
        return;
    }
    strbuf_add_char(out, was > is ? '-' : '+');
    diff_add_amount(out, was > is ? was - is : is - was, m, true);
}

void diff_add_percentage(StrBuf *out, uint64_t was, uint64_t is, const RowChange *change)
{
    if (was == 0 && is)
        strbuf_add(out, STR("new"));
    else if (is == 0 && was)
        strbuf_add(out, STR("gone"));
    else if (change && change->ratio.point >= 10)
        strbuf_printf(out, "x%.1f", change->ratio.point);
    else if (change) {
        double half =
            MAX(change->ratio.high - change->ratio.point, change->ratio.point - change->ratio.low);
        strbuf_printf(out, "%+.1f%%", (change->ratio.point - 1) * 100);
        if (isfinite(half) && half < 1)
            strbuf_printf(out, " ±%.1f", half * 100);
    } else if (was != is)
        strbuf_printf(out, "%+.1f%%", ((double)is / (double)was - 1) * 100);
}

typedef void AddCell(StrBuf *out, const DiffView *v, uint64_t was, uint64_t is,
                     const RowChange *change);

static void cell_old(StrBuf *out, const DiffView *v, uint64_t was, uint64_t is,
                     const RowChange *change)
{
    const DiffMetric *m = &v->d.metrics.at[v->metric];
    (void)is, (void)change;
    diff_add_amount(out, was, m, m->known[DIFF_OLD]);
}

static void cell_new(StrBuf *out, const DiffView *v, uint64_t was, uint64_t is,
                     const RowChange *change)
{
    const DiffMetric *m = &v->d.metrics.at[v->metric];
    (void)was, (void)change;
    diff_add_amount(out, is, m, m->known[DIFF_NEW]);
}

static void cell_difference(StrBuf *out, const DiffView *v, uint64_t was, uint64_t is,
                            const RowChange *change)
{
    (void)change;
    add_difference(out, was, is, &v->d.metrics.at[v->metric]);
}

static void cell_percentage(StrBuf *out, const DiffView *v, uint64_t was, uint64_t is,
                            const RowChange *change)
{
    (void)v;
    diff_add_percentage(out, was, is, change);
}

static void cell_verdict(StrBuf *out, const DiffView *v, uint64_t was, uint64_t is,
                         const RowChange *change)
{
    (void)was, (void)is;
    strbuf_add(out, str_from_c(diff_verdict_word(v, change)));
}

typedef struct Column {
    const char *heading;
    size_t columns;
    AddCell *add;
} Column;

static const Column exact_columns[] = {{"old", 10, cell_old},
                                       {"new", 10, cell_new},
                                       {"change", 11, cell_difference},
                                       {"", 9, cell_percentage}};
static const Column judged_columns[] = {{"old", 9, cell_old},
                                        {"new", 10, cell_new},
                                        {"change", 15, cell_percentage},
                                        {"", 7, cell_verdict}};
enum { COLUMN_COUNT = ARRAY_LEN(exact_columns) };

static const Column *columns_of(const DiffView *v)
{
    return v->changes.exact ? exact_columns : judged_columns;
}

static size_t columns_before_name(const DiffView *v)
{
    size_t sum = 2;
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        sum += columns_of(v)[i].columns;
    return sum;
}

static void add_cells(StrBuf *out, const DiffView *v, uint64_t was, uint64_t is,
                      const RowChange *change)
{
    StrBuf cell = {0};
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        strbuf_clear(&cell);
        columns_of(v)[i].add(&cell, v, was, is, change);
        add_right(out, strbuf_str(&cell), columns_of(v)[i].columns);
    }
    strbuf_deinit(&cell);
    strbuf_add(out, STR("  "));
}

static void add_headings(StrBuf *out, const DiffView *v, Str last)
{
    style_begin(out, &v->terminal, STYLE_DIM);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        add_right(out, str_from_c(columns_of(v)[i].heading), columns_of(v)[i].columns);
    if (last.len)
        strbuf_printf(out, "  %" STR_FMT " by", STR_ARG(last));
    strbuf_add_char(out, '\n');
    style_end(out, &v->terminal, STYLE_DIM);
}

// ---- The sides and the totals ------------------------------------------------------------------

static void add_side(StrBuf *out, const DiffView *v, int side, size_t columns)
{
    StrBuf line = {0};
    Str command = profile_fact(v->d.set[side].profile[0], STR(FACT_COMMAND));
    strbuf_printf(&line, "%s  ", diff_side_names[side]);
    strbuf_add(&line, v->label[side]);
    if (command.len) {
        strbuf_add(&line, STR("  "));
        strbuf_add(&line, command);
    }
    text_add_fitting(out, strbuf_str(&line), columns, false);
    strbuf_add_char(out, '\n');
    strbuf_deinit(&line);
}

static void add_exact_total(StrBuf *out, const DiffView *v, size_t metric)
{
    const DiffMetric *m = &v->d.metrics.at[metric];
    DiffView of_metric = *v;
    of_metric.metric = metric;
    if (m->known[DIFF_OLD] && m->known[DIFF_NEW]) {
        add_cells(out, &of_metric, m->total[DIFF_OLD], m->total[DIFF_NEW], NULL);
    } else {
        StrBuf cell = {0};
        for (int side = 0; side < DIFF_SIDES; side++) {
            strbuf_clear(&cell);
            diff_add_amount(&cell, m->total[side], m, m->known[side]);
            add_right(out, strbuf_str(&cell), exact_columns[side].columns);
        }
        strbuf_add_repeated(out, ' ', 22);
        strbuf_deinit(&cell);
    }
    text_add_fitting(out, m->name, 36, false);
    strbuf_add_char(out, '\n');
}

static void add_judged_total(StrBuf *out, const DiffView *v)
{
    const DiffMetric *m = &v->d.metrics.at[v->metric];
    RowChange change = v->changes.total;
    change.ratio.point = (double)m->total[DIFF_NEW] / (double)MAX(m->total[DIFF_OLD], (uint64_t)1);
    if (!v->changes.repeated) // nothing tells how far off one recording is
        change.ratio.low = change.ratio.high = NAN;
    add_cells(out, v, m->total[DIFF_OLD], m->total[DIFF_NEW], &change);
    strbuf_add(out, STR("all "));
    text_add_fitting(out, m->name, 30, false);
    strbuf_add_char(out, '\n');
}

size_t diff_sums(const DiffView *v, size_t ret[DIFF_SUMS_MAX])
{
    static const char *const heap[] = {"blocks allocated", "bytes allocated", "bytes at peak",
                                       "bytes at end"};
    size_t count = 0;
    bool has_shown = false;
    for (size_t i = 0; i < ARRAY_LEN(heap); i++) {
        size_t metric = profile_diff_metric(&v->d, str_from_c(heap[i]));
        if (metric == SIZE_MAX)
            continue;
        ret[count++] = metric;
        has_shown |= metric == v->metric;
    }
    if (!has_shown)
        ret[count++] = v->metric;
    return count;
}

static void add_totals(StrBuf *out, const DiffView *v)
{
    size_t sums[DIFF_SUMS_MAX], count = v->changes.exact ? diff_sums(v, sums) : 0;
    if (!v->changes.exact)
        add_judged_total(out, v);
    for (size_t i = 0; i < count; i++)
        add_exact_total(out, v, sums[i]);
}

// ---- Rows ------------------------------------------------------------------------------------

// "csv.c:153" of a row, where it is known and not its name already.
static void add_place(StrBuf *out, const DiffView *v, const DiffRow *row)
{
    const DiffPlace *place = &row->place[row->place[DIFF_NEW].profile ? DIFF_NEW : DIFF_OLD];
    const Profile *p = place->profile;
    if (!p || !p->frames.file.at[place->frame.v].v || str_equal(v->by, STR("line")) ||
        str_equal(v->by, STR("module")))
        return;
    strbuf_add(out, str_base_name(profile_text(p, p->frames.file.at[place->frame.v])));
    if (p->frames.line.at[place->frame.v])
        strbuf_printf(out, ":%u", p->frames.line.at[place->frame.v]);
}

static void add_row_name(StrBuf *out, const DiffView *v, const DiffRow *row, size_t columns)
{
    StrBuf place = {0};
    add_place(&place, v, row);
    size_t place_columns = place.len ? MIN(str_columns(strbuf_str(&place)) + 1, columns / 2) : 0;
    name_add_fitting(out, row->name, columns == SIZE_MAX ? SIZE_MAX : columns - place_columns);
    if (place.len) {
        strbuf_add_char(out, ' ');
        text_add_fitting(out, strbuf_str(&place), place_columns - 1, true);
    }
    if (columns == SIZE_MAX && row->path.len) {
        strbuf_add(out, STR(" < "));
        strbuf_add_terminal(out, row->path);
    }
    strbuf_deinit(&place);
}

// Whether a row is worth a line: it changed, or may have.
static bool is_shown(const DiffView *v, const DiffRow *row)
{
    if (v->changes.exact)
        return row->value[DIFF_OLD][v->metric] != row->value[DIFF_NEW][v->metric];
    return diff_row_changed(row) ||
           (row->change->verdict == VERDICT_INCONCLUSIVE &&
            row->value[DIFF_OLD][v->metric] != row->value[DIFF_NEW][v->metric]);
}

static void add_rest(StrBuf *out, const DiffView *v, size_t shown, size_t changed, size_t equal)
{
    if (shown < changed)
        strbuf_printf(out, "%zu more row%s %s (--limit 0)\n", changed - shown,
                      changed - shown == 1 ? "" : "s",
                      v->changes.exact ? "changed" : "with a difference");
    if (equal)
        strbuf_printf(out, "%zu row%s as before\n", equal, equal == 1 ? " is" : "s are");
}

static void add_rows(StrBuf *out, const DiffView *v)
{
    const DiffMetric *m = &v->d.metrics.at[v->metric];
    size_t columns = v->wide ? SIZE_MAX : MIN(v->terminal.columns, (size_t)160);
    size_t before = columns_before_name(v);
    size_t shown = 0, equal = 0, changed = 0;
    for (size_t i = 0; i < v->d.rows.len; i++) {
        const DiffRow *row = &v->d.rows.at[i];
        uint64_t was = row->value[DIFF_OLD][v->metric], is = row->value[DIFF_NEW][v->metric];
        if (!is_shown(v, row)) {
            equal += was || is;
            continue;
        }
        changed++;
        if (v->limit && shown == v->limit)
            continue;
        if (shown++ == 0)
            add_headings(out, v, text_prefix(m->name, 28));
        bool sure = diff_row_changed(row);
        style_begin(out, &v->terminal, sure ? STYLE_BOLD : STYLE_PLAIN);
        add_cells(out, v, was, is, row->change);
        add_row_name(out, v, row,
                     columns == SIZE_MAX ? SIZE_MAX
                                         : MAX(columns, before + NAME_COLUMNS_LEAST) - before);
        style_end(out, &v->terminal, sure ? STYLE_BOLD : STYLE_PLAIN);
        strbuf_add_char(out, '\n');
    }
    if (changed == 0)
        strbuf_add(out, STR("nothing changed\n"));
    add_rest(out, v, shown, changed, equal);
}

// ---- How sure it is ----------------------------------------------------------------------------

// The largest row that may have changed and is not known to.
static const DiffRow *largest_unsure(const DiffView *v)
{
    const DiffRow *best = NULL;
    for (size_t i = 0; i < v->d.rows.len; i++) {
        const DiffRow *row = &v->d.rows.at[i];
        if (row->change->verdict == VERDICT_INCONCLUSIVE && row->change->more > 1 &&
            (!best || row->value[DIFF_NEW][v->metric] > best->value[DIFF_NEW][v->metric]))
            best = row;
    }
    return best;
}

static void add_common(StrBuf *out, const DiffView *v)
{
    const RowChanges *c = &v->changes.rows;
    if (c->common_rows == 0)
        return;
    double percent = (c->common - 1) * 100;
    if (c->common_is_real)
        strbuf_printf(out, "All rows changed together by about %+.1f%%; rows include it.\n",
                      percent);
    else if (fabs(percent) >= 0.05)
        strbuf_printf(
            out,
            "Most rows changed together by %+.1f%%, as a slower or faster machine does: the "
            "changes are beside it.\n",
            percent);
}

static void add_advice(StrBuf *out, const DiffView *v)
{
    if (!v->changes.repeated) {
        strbuf_add(out,
                   STR("There is one recording of a side: how much it differs from run to run is "
                       "assumed.\nTo measure it: assay record --repeat 5 --against 'OLD CMD' -- "
                       "NEW CMD\n"));
        return;
    }
    const DiffRow *row = largest_unsure(v);
    if (!row)
        return;
    double needed = ceil(row->change->more * (double)v->d.set[DIFF_NEW].count);
    strbuf_add(out, STR("To see a change of 5% in "));
    name_add_fitting(out, row->name, 30);
    if (needed < 1000)
        strbuf_printf(out, ": about %.0f recordings of each side\n", needed);
    else if (v->d.metrics.at[v->metric].sampled)
        strbuf_add(out, STR(": longer recordings, or a higher -F\n"));
    else
        strbuf_add(out, STR(": more than 1,000 recordings of each side\n"));
}

void diff_add_text(StrBuf *out, const DiffView *v)
{
    size_t columns = v->wide ? SIZE_MAX : v->terminal.columns;
    for (int side = 0; side < DIFF_SIDES; side++)
        add_side(out, v, side, columns);
    strbuf_add_char(out, '\n');
    add_headings(out, v, STR(""));
    add_totals(out, v);
    strbuf_add_char(out, '\n');
    add_rows(out, v);
    if (v->changes.exact)
        return;
    strbuf_add_char(out, '\n');
    add_common(out, v);
    add_advice(out, v);
}

// ---- Markdown ----------------------------------------------------------------------------------

static void add_markdown_row(StrBuf *out, const DiffView *v, uint64_t was, uint64_t is,
                             const RowChange *change, Str name)
{
    strbuf_add(out, STR("| "));
    strbuf_add_markdown(out, name);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        strbuf_add(out, STR(" | "));
        columns_of(v)[i].add(out, v, was, is, change);
    }
    strbuf_add(out, STR(" |\n"));
}

void diff_add_markdown(StrBuf *out, const DiffView *v)
{
    const DiffMetric *m = &v->d.metrics.at[v->metric];
    size_t shown = 0;
    strbuf_add(out, STR("| "));
    strbuf_add_markdown(out, m->name);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        strbuf_printf(out, " | %s", columns_of(v)[i].heading);
    strbuf_add(out, STR(" |\n|:--"));
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        strbuf_add(out, STR("|--:"));
    strbuf_add(out, STR("|\n"));
    add_markdown_row(out, v, m->total[DIFF_OLD], m->total[DIFF_NEW],
                     v->changes.exact ? NULL : &v->changes.total, STR("total"));
    for (size_t i = 0; i < v->d.rows.len && (v->limit == 0 || shown < v->limit); i++) {
        const DiffRow *row = &v->d.rows.at[i];
        if (!is_shown(v, row))
            continue;
        StrBuf name = {0}, place = {0};
        strbuf_add(&name, row->name);
        add_place(&place, v, row);
        if (place.len)
            strbuf_printf(&name, " (%" STR_FMT ")", STR_ARG(strbuf_str(&place)));
        add_markdown_row(out, v, row->value[DIFF_OLD][v->metric], row->value[DIFF_NEW][v->metric],
                         row->change, strbuf_str(&name));
        strbuf_deinit(&place);
        strbuf_deinit(&name);
        shown++;
    }
}
