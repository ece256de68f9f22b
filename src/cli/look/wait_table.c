// SPDX-License-Identifier: Apache-2.0
// Prints processor time and waits side by side.

#include "cli/look/wait_table.h"

#include "analyse/fit.h"

enum {
    SHARE_COLUMNS = 7,
    CLASS_COLUMNS = 10, // the longest name of a class, and two spaces
    LINE_PLACE_COLUMNS = 22,
    FUNCTION_PLACE_COLUMNS = 17, // on a narrow screen
    NAME_LEAST = 20,
};

static void add_share(StrBuf *out, const ScreenStyle *style, uint64_t part, uint64_t whole)
{
    if (part == 0) {
        strbuf_add(out, STR("     - "));
        return;
    }
    double percent = percent_of(part, whole);
    Style s = percent >= 10 ? STYLE_HOT : percent >= 2 ? STYLE_WARM : STYLE_PLAIN;
    style_begin(out, &style->terminal, s);
    add_percent(out, percent);
    style_end(out, &style->terminal, s);
    strbuf_add_char(out, ' ');
}

static void add_class(StrBuf *out, const WaitCell *cell)
{
    size_t start = out->len;
    WaitClass class;
    if (wait_cell_class(cell, &class))
        strbuf_add(out, str_from_c(wait_class_name(class)));
    pad_to(out, start, CLASS_COLUMNS);
}

// "lock 31.2% disk 2.0%": all classes of a row that is not cut.
static void add_classes(StrBuf *out, const WaitCell *cell, uint64_t whole)
{
    strbuf_add(out, STR("  "));
    for (int i = 0; i < WAIT_CLASS_COUNT; i++)
        if (cell->total[i])
            strbuf_printf(out, " %s %.1f%% (self %.1f%%)", wait_class_name((WaitClass)i),
                          percent_of(cell->total[i], whole), percent_of(cell->self[i], whole));
}

static void add_place(StrBuf *out, const Profile *p, StrId file, uint32_t line, size_t columns)
{
    StrBuf place = {0};
    strbuf_add(&place, str_base_name(profile_text(p, file)));
    if (line)
        strbuf_printf(&place, ":%u", line);
    text_add_fitting(out, strbuf_str(&place), columns, true);
    strbuf_deinit(&place);
}

static bool is_grouped(const Report *r)
{
    return r->request.group != GROUP_NONE;
}

static size_t lead_columns(const Report *r)
{
    return (is_grouped(r) ? 2 : 4) * (size_t)SHARE_COLUMNS + CLASS_COLUMNS;
}

static size_t place_columns(const Report *r, const ScreenStyle *style)
{
    if (is_grouped(r) || r->request.by != BY_FUNCTION || style->columns == SIZE_MAX)
        return 0;
    return style->columns < 100 ? FUNCTION_PLACE_COLUMNS : style->columns / 3;
}

static size_t name_room(const Report *r, const ScreenStyle *style)
{
    size_t place = place_columns(r, style), taken = lead_columns(r) + (place ? place + 2 : 0);
    if (style->columns == SIZE_MAX)
        return SIZE_MAX;
    return style->columns > taken + NAME_LEAST ? style->columns - taken : NAME_LEAST;
}

static void add_title(StrBuf *out, const Report *r, const ScreenStyle *style)
{
    static const char *const by[] = {"function", "line", "module", "function"};
    static const char *const groups[] = {"", "thread", "process", "comm"};
    style_begin(out, &style->terminal, STYLE_DIM);
    strbuf_add(out, is_grouped(r) ? STR("   CPU  waits for       ")
                                  : STR("   CPU  total  waits  total for       "));
    size_t start = out->len;
    strbuf_add(out, str_from_c(is_grouped(r) ? groups[r->request.group] : by[r->request.by]));
    if (style->limit && r->rows.len > style->limit)
        strbuf_printf(out, " (%zu of %zu)", style->limit, r->rows.len);
    if (place_columns(r, style)) {
        pad_to(out, start, name_room(r, style));
        strbuf_add(out, STR("  declared at"));
    }
    style_end(out, &style->terminal, STYLE_DIM);
    strbuf_add_char(out, '\n');
}

// A line and its text.
static void add_line_name(StrBuf *out, const Profile *p, StrId file, uint32_t line, size_t room)
{
    size_t start = out->len, place = MIN(room, (size_t)LINE_PLACE_COLUMNS);
    Str text;
    add_place(out, p, file, line, place);
    if (room <= place + 2 || !line_text_find(p, file, line, &text))
        return;
    pad_to(out, start, place);
    strbuf_add(out, STR("  "));
    text_add_fitting(out, str_trim(text), room == SIZE_MAX ? SIZE_MAX : room - place - 2, false);
}

static void add_name(StrBuf *out, const Report *r, const FlatRow *row, const ScreenStyle *style)
{
    size_t room = name_room(r, style), start = out->len;
    StrId file;
    uint32_t line;
    bool has_place = !is_grouped(r) && report_row_place(r, row, &file, &line);
    if (r->request.by == BY_LINE && has_place && line) {
        add_line_name(out, r->profile, file, line, room);
        return;
    }
    StrBuf name = {0};
    report_add_row_name(r, row, &name);
    if (r->request.by == BY_FUNCTION && !is_grouped(r))
        name_add_fitting(out, strbuf_str(&name), room);
    else
        text_add_fitting(out, strbuf_str(&name), room, true);
    strbuf_deinit(&name);
    if (r->request.by != BY_FUNCTION || !has_place)
        return;
    size_t place = place_columns(r, style);
    if (place)
        pad_to(out, start, room);
    strbuf_add(out, STR("  "));
    add_place(out, r->profile, file, line, place ? place : SIZE_MAX);
}

static void add_row(StrBuf *out, const Report *r, const WaitColumns *c, const FlatRow *row,
                    const ScreenStyle *style)
{
    uint64_t whole = wait_columns_whole(c);
    const WaitCell *cell = wait_columns_row(c, row);
    add_share(out, style, row->self, whole);
    if (!is_grouped(r))
        add_share(out, style, row->total, whole);
    add_share(out, style, wait_cell_self(cell), whole);
    if (!is_grouped(r))
        add_share(out, style, wait_cell_total(cell), whole);
    add_class(out, cell);
    add_name(out, r, row, style);
    if (style->columns == SIZE_MAX)
        add_classes(out, cell, whole);
    strbuf_add_char(out, '\n');
}

void wait_table_add(StrBuf *out, const Report *r, const WaitColumns *c, const ScreenStyle *style)
{
    size_t shown = 0, below = 0;
    add_title(out, r, style);
    for (size_t i = 0; i < r->rows.len && (style->limit == 0 || shown < style->limit); i++) {
        const FlatRow *row = &r->rows.at[i];
        uint64_t most = MAX(row->self, row->total) + wait_cell_total(wait_columns_row(c, row));
        if (percent_of(most, wait_columns_whole(c)) < style->percent_limit) {
            below++;
            continue;
        }
        add_row(out, r, c, row, style);
        shown++;
    }
    if (below)
        strbuf_printf(out, "%zu row%s below %.4g%% %s not shown (--percent-limit)\n", below,
                      plural_s(below), style->percent_limit, below == 1 ? "is" : "are");
}

void wait_table_add_lines(StrBuf *out, const Report *r, const WaitColumns *c,
                          const ScreenStyle *style)
{
    uint64_t whole = wait_columns_whole(c);
    if (r->lines.len == 0)
        return;
    style_begin(out, &style->terminal, STYLE_DIM);
    strbuf_add(out, STR("   CPU  waits for       lines with most time\n"));
    style_end(out, &style->terminal, STYLE_DIM);
    size_t taken = 2 * (size_t)SHARE_COLUMNS + CLASS_COLUMNS + LINE_PLACE_COLUMNS + 2;
    for (size_t i = 0; i < r->lines.len && i < SCREEN_LINES; i++) {
        const LineRow *row = &r->lines.at[i];
        const WaitCell *cell = wait_columns_line(c, row);
        Str text;
        add_share(out, style, row->self, whole);
        add_share(out, style, wait_cell_self(cell), whole);
        add_class(out, cell);
        size_t start = out->len;
        add_place(out, r->profile, row->file, row->line, LINE_PLACE_COLUMNS);
        if (line_text_find(r->profile, row->file, row->line, &text)) {
            pad_to(out, start, LINE_PLACE_COLUMNS);
            strbuf_add(out, STR("  "));
            text_add_fitting(out, str_trim(text),
                             style->columns == SIZE_MAX    ? SIZE_MAX
                             : style->columns > taken + 10 ? style->columns - taken
                                                           : 10,
                             false);
        }
        strbuf_add_char(out, '\n');
    }
}
