// SPDX-License-Identifier: Apache-2.0
// The text of one screen.

#include "cli/top/top_screen.h"

#include "analyse/fit.h"

enum { PLACE_COLUMNS = 22, NAME_COLUMNS_LEAST = 20, SHARES_COLUMNS = 22 };

// ---- The filter --------------------------------------------------------------------------

static bool has_capital(Str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] >= 'A' && s.ptr[i] <= 'Z')
            return true;
    return false;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool matches(Str name, Str filter)
{
    if (filter.len == 0 || has_capital(filter))
        return str_find(name, filter) != SIZE_MAX;
    for (size_t at = 0; at + filter.len <= name.len; at++) {
        size_t i = 0;
        while (i < filter.len && lower(name.ptr[at + i]) == filter.ptr[i])
            i++;
        if (i == filter.len)
            return true;
    }
    return false;
}

size_t top_screen_matches(const TopView *view, Str filter)
{
    size_t count = 0;
    for (size_t i = 0; view && i < view->rows.len; i++)
        count += matches(view->rows.at[i].name, filter);
    return count;
}

const TopRow *top_screen_row(const TopView *view, Str filter, size_t number)
{
    for (size_t i = 0; view && i < view->rows.len; i++)
        if (matches(view->rows.at[i].name, filter) && number-- == 0)
            return &view->rows.at[i];
    return NULL;
}

// ---- Head ------------------------------------------------------------------------------

static void add_line(StrBuf *out, const TopScreen *s, Str text)
{
    text_add_fitting(out, text, s->terminal.columns, false);
    strbuf_add_char(out, '\n');
}

// "1.21 CPUs" for time, else the number of events.
static void add_amount(StrBuf *out, const TopView *v, uint64_t value, int64_t span_ns)
{
    if (str_equal(v->unit, STR("ns")) && span_ns > 0) {
        strbuf_printf(out, "%.2f CPUs", (double)value / (double)span_ns);
        return;
    }
    add_count(out, value);
    strbuf_printf(out, " %" STR_FMT, STR_ARG(v->metric));
}

static void add_duration(StrBuf *out, int64_t ns)
{
    int64_t s = ns / 1000000000;
    if (s >= 3600)
        strbuf_printf(out, "%lld:%02lld:%02lld", (long long)s / 3600, (long long)s / 60 % 60,
                      (long long)s % 60);
    else
        strbuf_printf(out, "%lld:%02lld", (long long)s / 60, (long long)s % 60);
}

// The truth takes all lines that it needs, on a terminal two at most. A blank line follows where
// there is room.
static void add_truth(StrBuf *out, const TopView *v, const TopScreen *s)
{
    enum { LINES_MOST = 2 };
    StrBuf text = {0};
    size_t lines = 0;
    text_add_wrapped(&text, v->truth, s->terminal.columns, 0);
    for (Str rest = strbuf_str(&text), line; str_next_line(&rest, &line); lines++)
        if (!s->terminal.is_tty || lines < LINES_MOST)
            add_line(out, s, line);
    if (!s->terminal.is_tty || lines < LINES_MOST)
        strbuf_add_char(out, '\n');
    strbuf_deinit(&text);
}

static void add_head(StrBuf *out, const TopView *v, const TopScreen *s)
{
    StrBuf line = {0};
    style_begin(out, &s->terminal, STYLE_BOLD);
    strbuf_printf(&line, "assay top: %" STR_FMT, STR_ARG(s->target));
    add_line(out, s, strbuf_str(&line));
    style_end(out, &s->terminal, STYLE_BOLD);
    strbuf_clear(&line);
    if (!v) {
        add_line(out, s, STR("waiting for the first samples"));
        strbuf_deinit(&line);
        return;
    }
    strbuf_printf(&line, "last %lld s: ", (long long)((v->span_ns + 500000000) / 1000000000));
    add_amount(&line, v, v->value, v->span_ns);
    strbuf_add(&line, STR(", "));
    add_count(&line, v->samples);
    strbuf_add(&line, STR(" samples · all "));
    add_duration(&line, v->since_ns);
    strbuf_add(&line, STR(": "));
    add_amount(&line, v, v->since_value, v->since_ns);
    strbuf_add(&line, STR(", "));
    add_count(&line, v->since_samples);
    strbuf_add(&line, STR(" samples"));
    add_line(out, s, strbuf_str(&line));
    add_truth(out, v, s);
    strbuf_deinit(&line);
}

// ---- Table -----------------------------------------------------------------------------

static void add_share(StrBuf *out, const TopScreen *s, uint64_t part, uint64_t whole)
{
    if (part == 0) {
        strbuf_add(out, STR("     - "));
        return;
    }
    double percent = percent_of(part, whole);
    Style style = percent >= 10 ? STYLE_HOT : percent >= 2 ? STYLE_WARM : STYLE_PLAIN;
    style_begin(out, &s->terminal, style);
    add_percent(out, percent);
    style_end(out, &s->terminal, style);
    strbuf_add_char(out, ' ');
}

static size_t place_columns(const TopView *v, const TopScreen *s)
{
    bool is_wide = s->terminal.columns > SHARES_COLUMNS + NAME_COLUMNS_LEAST + PLACE_COLUMNS + 2;
    return str_equal(str_from_c(v->title), STR("function")) && is_wide ? PLACE_COLUMNS : 0;
}

static void add_name(StrBuf *out, const TopRow *row, size_t columns)
{
    const char *mark = row->is_inlined ? " (inlined)" : "";
    name_add_fitting(out, row->name, columns - strlen(mark));
    strbuf_add(out, str_from_c(mark));
}

static void add_row(StrBuf *out, const TopView *v, const TopScreen *s, const TopRow *row,
                    bool is_chosen)
{
    size_t place = place_columns(v, s);
    size_t fixed = SHARES_COLUMNS + (place ? place + 2 : 0);
    size_t room =
        MAX(s->terminal.columns - MIN(fixed, s->terminal.columns), (size_t)NAME_COLUMNS_LEAST);
    add_share(out, s, row->self, v->value);
    if (v->has_total)
        add_share(out, s, row->total, v->value);
    add_share(out, s, row->since_self, v->since_value);
    strbuf_add_char(out, is_chosen ? '>' : ' ');
    size_t start = out->len;
    if (is_chosen)
        style_begin(out, &s->terminal, STYLE_BOLD);
    StrBuf name = {0};
    add_name(&name, row, room);
    size_t taken = str_columns(strbuf_str(&name));
    strbuf_add(out, strbuf_str(&name));
    strbuf_deinit(&name);
    if (is_chosen)
        style_end(out, &s->terminal, STYLE_BOLD);
    if (place && row->place.len) {
        strbuf_add_repeated(out, ' ', room - MIN(taken, room) + 2);
        text_add_fitting(out, row->place, place, true);
    }
    while (out->len > start && out->ptr[out->len - 1] == ' ')
        out->len--;
    strbuf_add_char(out, '\n');
}

static void add_title(StrBuf *out, const TopView *v, const TopScreen *s, size_t count)
{
    StrBuf line = {0};
    strbuf_add(&line, v->has_total ? STR("  self  total  start  ") : STR("  self  start  "));
    strbuf_add(&line, str_from_c(v->title));
    if (s->filter.len || s->is_typing)
        strbuf_printf(&line, " with '%" STR_FMT "%s' (%zu of %zu)", STR_ARG(s->filter),
                      s->is_typing ? "_" : "", count, v->rows.len);
    else if (count > s->rows)
        strbuf_printf(&line, " (%zu-%zu of %zu)", s->first + 1, MIN(s->first + s->rows, count),
                      count);
    style_begin(out, &s->terminal, STYLE_DIM);
    add_line(out, s, strbuf_str(&line));
    style_end(out, &s->terminal, STYLE_DIM);
    strbuf_deinit(&line);
}

static void add_table(StrBuf *out, const TopView *v, const TopScreen *s)
{
    size_t number = 0;
    for (size_t i = 0; i < v->rows.len && number < s->first + s->rows; i++) {
        if (!matches(v->rows.at[i].name, s->filter))
            continue;
        if (number >= s->first)
            add_row(out, v, s, &v->rows.at[i], s->has_chosen && number == s->chosen);
        number++;
    }
}

// ---- Around one function -------------------------------------------------------------------

static void add_calls(StrBuf *out, const TopView *v, const TopScreen *s, const char *title,
                      const TopRowVec *calls, size_t most)
{
    style_begin(out, &s->terminal, STYLE_DIM);
    add_line(out, s, str_from_c(title));
    style_end(out, &s->terminal, STYLE_DIM);
    if (calls->len == 0)
        strbuf_add(out, STR("        (none)\n"));
    for (size_t i = 0; i < calls->len && i < most; i++) {
        add_share(out, s, calls->at[i].total, v->value);
        strbuf_add_char(out, ' ');
        add_name(out, &calls->at[i], MAX(s->terminal.columns, (size_t)40) - 8);
        strbuf_add_char(out, '\n');
    }
}

static void add_around(StrBuf *out, const TopView *v, const TopScreen *s)
{
    StrBuf line = {0};
    strbuf_add(&line, STR("in the last seconds: "));
    name_add_fitting(&line, v->around, MAX(s->terminal.columns, (size_t)50) - 21);
    add_line(out, s, strbuf_str(&line));
    strbuf_deinit(&line);
    size_t most = s->rows > 4 ? (s->rows - 3) / 2 : 1;
    add_calls(out, v, s, " total  called by", &v->callers, most);
    add_calls(out, v, s, " total  calls", &v->callees, most);
}

void top_screen_add(StrBuf *out, const TopView *v, const TopScreen *s)
{
    add_head(out, v, s);
    if (!v)
        return;
    if (v->around.len) {
        add_around(out, v, s);
        return;
    }
    size_t count = top_screen_matches(v, s->filter);
    add_title(out, v, s, count);
    if (count)
        add_table(out, v, s);
    else if (v->rows.len)
        strbuf_add(out, STR("no name contains that\n"));
    else
        strbuf_add(out, STR("nothing ran so far\n"));
}
