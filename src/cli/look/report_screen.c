// SPDX-License-Identifier: Apache-2.0
// The text forms of a report.

#include "cli/look/report_screen.h"

#include "analyse/fit.h"
#include "model/facts.h"

enum {
    PLACE_COLUMNS = 22,     // of file:line on an 80-column screen
    LINE_NAME_COLUMNS = 40, // of a row of lines, before the text of its line
    NAME_COLUMNS_LEAST = 20 // on the narrowest terminal
};

// ---- Head ----------------------------------------------------------------------

static void add_time_fact(StrBuf *out, uint64_t ns, const char *what)
{
    strbuf_add(out, STR(" · "));
    add_value(out, ns, STR("ns"));
    strbuf_add_char(out, ' ');
    strbuf_add(out, str_from_c(what));
}

// Everything on line 1 behind the command.
static void add_run_facts(StrBuf *out, const Report *r)
{
    const Profile *p = r->profile;
    uint64_t wall, user = 0, system = 0;
    if (profile_fact_u64(p, STR(FACT_WALL_NS), &wall))
        add_time_fact(out, wall, "wall");
    bool has_cpu = profile_fact_u64(p, STR(FACT_USER_NS), &user);
    has_cpu |= profile_fact_u64(p, STR(FACT_SYSTEM_NS), &system);
    if (has_cpu && user <= UINT64_MAX - system)
        add_time_fact(out, user + system, "CPU");
    strbuf_add(out, STR(" · "));
    add_count(out, r->truth.kept);
    bool is_heap = str_equal(profile_fact(p, STR(FACT_COLLECTOR)), STR(COLLECTOR_HEAP));
    strbuf_add(out, is_heap               ? r->truth.kept == 1 ? STR(" stack") : STR(" stacks")
                                  : r->truth.aggregated ? STR(" sums")
                                          : STR(" samples"));
    uint32_t threads = report_thread_count(r);
    if (threads)
        strbuf_printf(out, " · %u thread%s", threads, threads == 1 ? "" : "s");
}

// The observed processes, if no command was started: the processes that have samples.
static void add_observed(StrBuf *out, const Report *r)
{
    const Processes *all = &r->profile->processes;
    ProcessId first = {0};
    uint32_t count = all->pid.len ? report_process_count(r, &first) : 0;
    if (count == 0) {
        strbuf_add(out, STR("(no command recorded)"));
    } else if (count == 1) {
        Str name = profile_text(r->profile, all->name.at[first.v]);
        strbuf_add(out, name.len ? name : STR("process"));
        strbuf_printf(out, " (PID %u)", all->pid.at[first.v]);
    } else {
        add_count(out, count);
        strbuf_add(out, STR(" processes"));
    }
}

static void add_what_ran(StrBuf *out, const Report *r, const ScreenStyle *style)
{
    const Profile *p = r->profile;
    StrBuf facts = {0}, observed = {0};
    add_run_facts(&facts, r);
    Str command = profile_fact(p, STR(FACT_COMMAND));
    if (command.len == 0) {
        add_observed(&observed, r);
        command = strbuf_str(&observed);
    }
    size_t taken = str_columns(strbuf_str(&facts));
    size_t room = style->columns > taken + 12 ? style->columns - taken : 12;
    // Where the program lies matters less than which it is.
    size_t program = str_find_char(command, ' ');
    size_t folder = str_find_last_char(str_slice(command, 0, MIN(program, command.len)), '/');
    if (str_columns(command) > room && command.ptr[0] == '/' && folder != SIZE_MAX)
        command = str_slice(command, folder + 1, command.len);
    style_begin(out, &style->terminal, STYLE_BOLD);
    text_add_fitting(out, command, room, false);
    style_end(out, &style->terminal, STYLE_BOLD);
    strbuf_add(out, strbuf_str(&facts));
    strbuf_add_char(out, '\n');
    strbuf_deinit(&observed);
    strbuf_deinit(&facts);
}

// Names the metrics that were passed over because no sample has a value in them.
static void add_metrics_before(StrBuf *out, const Report *r)
{
    enum { NAMES_MAX = 3 };
    const Profile *p = r->profile;
    uint32_t shown = r->request.selection.metric.v;
    if (shown == 0 || metric_with_samples(p).v != shown)
        return;
    for (uint32_t m = 0; m < MIN(shown, (uint32_t)NAMES_MAX); m++) {
        Str name = text_prefix(profile_text(p, p->metrics.name.at[m]), 60);
        strbuf_add(out, m ? STR(", ") : STR(" · no samples of "));
        strbuf_add(out, name);
    }
    if (shown > NAMES_MAX)
        strbuf_printf(out, ", %u more", shown - NAMES_MAX);
}

static void add_truth(StrBuf *out, const Report *r, const ScreenStyle *style)
{
    StrBuf text = {0};
    truth_add_text(&r->truth, &text);
    size_t metrics = r->profile->metrics.name.len;
    if (metrics > 1 && !style->no_metric) {
        strbuf_add(&text, STR(" · "));
        strbuf_add(&text, report_metric_name(r));
        strbuf_printf(&text, ": metric %u of %zu (-e)", r->request.selection.metric.v + 1, metrics);
        add_metrics_before(&text, r);
    }
    uint64_t sample_bytes;
    if (profile_fact_u64(r->profile, STR(FACT_HEAP_SAMPLE), &sample_bytes) && !style->no_metric) {
        strbuf_add(&text, STR(" · estimates from a block every "));
        add_value(&text, sample_bytes, STR("bytes"));
    }
    if (r->weights.self_stacks)
        strbuf_add(&text, STR(" · self counts for the program's function (--kernel)"));
    if (r->weights.clamped)
        strbuf_add(&text, STR(" · values too large were cut"));
    text_add_wrapped(out, strbuf_str(&text), style->columns, 0);
    strbuf_deinit(&text);
}

// Paths in quotes lose their folders, so that what the note says of them is seen.
static void add_without_folders(StrBuf *out, Str text)
{
    while (text.len) {
        size_t quote = str_find_char(text, '\'');
        size_t path = quote == SIZE_MAX ? text.len : quote + 1;
        strbuf_add(out, str_slice(text, 0, path));
        text = str_slice(text, path, text.len);
        size_t end = str_find_char(text, '\'');
        if (quote == SIZE_MAX || end == SIZE_MAX)
            continue;
        Str name = str_slice(text, 0, end);
        for (size_t i = end; i > 0 && name.ptr[0] == '/'; i--)
            if (text.ptr[i - 1] == '/')
                name = str_slice(text, i, end);
        strbuf_add(out, name);
        strbuf_add_char(out, '\'');
        text = str_slice(text, end + 1, text.len);
    }
}

// One line of a first screen; `more` is how many warnings are left out behind it.
static void add_short_note(StrBuf *out, Str text, size_t more, const ScreenStyle *style)
{
    StrBuf suffix = {0}, shorter = {0};
    size_t room = style->columns > 2 ? style->columns - 2 : 8;
    if (str_columns(text) > room) {
        add_without_folders(&shorter, text);
        text = strbuf_str(&shorter);
    }
    if (more)
        strbuf_printf(&suffix, " (+%zu: --notes)", more);
    else if (str_columns(text) > room)
        strbuf_add(&suffix, STR(" (--notes)"));
    text_add_fitting(out, text, room > suffix.len + 8 ? room - suffix.len : 8, false);
    strbuf_add(out, strbuf_str(&suffix));
    strbuf_add_char(out, '\n');
    strbuf_deinit(&shorter);
    strbuf_deinit(&suffix);
}

static void add_note(StrBuf *out, const Report *r, size_t i, size_t more, const ScreenStyle *style)
{
    const Notes *n = &r->profile->notes;
    Style colour = n->level.at[i] == NOTE_WARNING ? STYLE_WARM : STYLE_DIM;
    Str text = profile_text(r->profile, n->text.at[i]);
    style_begin(out, &style->terminal, colour);
    strbuf_add(out, n->level.at[i] == NOTE_WARNING ? STR("! ") : STR("- "));
    if (style->all_notes)
        text_add_wrapped(out, text, MAX(style->columns, (size_t)8), 2);
    else
        add_short_note(out, text, more, style);
    style_end(out, &style->terminal, colour);
}

static size_t count_lines(Str text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text.len; i++)
        lines += text.ptr[i] == '\n';
    return lines;
}

// The truth takes what it needs of the head's lines, warnings the rest, at least
// one; the notes that did not fit are counted.
static void add_notes(StrBuf *out, const Report *r, const ScreenStyle *style, size_t head_start)
{
    const Notes *n = &r->profile->notes;
    size_t warnings = 0;
    for (size_t i = 0; i < n->text.len; i++)
        warnings += n->level.at[i] == NOTE_WARNING;
    size_t used = count_lines(str_slice(strbuf_str(out), head_start, out->len));
    size_t room = used < SCREEN_HEAD ? SCREEN_HEAD - used : 1;
    for (size_t i = 0; i < n->text.len; i++) {
        if (style->all_notes) {
            add_note(out, r, i, 0, style);
        } else if (n->level.at[i] == NOTE_WARNING && room > 0) {
            room--;
            warnings--;
            add_note(out, r, i, room == 0 ? warnings : 0, style);
        }
    }
}

size_t screen_add_head(StrBuf *out, const Report *r, const ScreenStyle *style)
{
    size_t start = out->len;
    add_what_ran(out, r, style);
    add_truth(out, r, style);
    add_notes(out, r, style, start);
    return count_lines(str_slice(strbuf_str(out), start, out->len));
}

// ---- Tables --------------------------------------------------------------------

// "file.c:12", the end of the path when there is room.
static void add_place(StrBuf *out, const Profile *p, StrId file, uint32_t line, size_t columns)
{
    StrBuf place = {0};
    Str path = profile_text(p, file);
    strbuf_add(&place, columns > 40 ? path : str_base_name(path));
    if (line) {
        strbuf_add_char(&place, ':');
        strbuf_add_u64(&place, line);
    }
    text_add_fitting(out, strbuf_str(&place), columns, true);
    strbuf_deinit(&place);
}

static Style style_of_share(double percent)
{
    return percent >= 10 ? STYLE_HOT : percent >= 2 ? STYLE_WARM : STYLE_PLAIN;
}

static void add_share(StrBuf *out, const ScreenStyle *style, uint64_t part, uint64_t whole)
{
    if (part == 0) { // nothing was seen there: not the same as a little
        strbuf_add(out, STR("     -"));
        return;
    }
    double percent = percent_of(part, whole);
    Style s = style_of_share(percent);
    style_begin(out, &style->terminal, s);
    add_percent(out, percent);
    style_end(out, &style->terminal, s);
}

// "±9.1" for shares out of few samples, in six columns.
static void add_doubt(StrBuf *out, const Report *r, uint64_t samples)
{
    ShareInterval i = share_interval(samples, r->truth.kept);
    strbuf_printf(out, "±%4.1f ", (i.high - i.low) * 50);
}

static bool few_samples(const Report *r)
{
    return truth_few_samples(&r->truth);
}

static const char *row_title(const Report *r)
{
    switch (r->request.group) {
    case GROUP_THREAD:
        return "thread";
    case GROUP_PROCESS:
        return "process";
    case GROUP_COMM:
        return "comm";
    case GROUP_NONE:
        break;
    }
    return r->request.by == BY_LINE ? "line" : r->request.by == BY_MODULE ? "module" : "function";
}

static size_t place_columns(const Report *r, const ScreenStyle *style)
{
    if (r->request.group != GROUP_NONE || r->request.by != BY_FUNCTION)
        return 0;
    if (style->columns == SIZE_MAX)
        return 0; // behind the name, without alignment
    return style->columns < 100 ? PLACE_COLUMNS : style->columns / 3;
}

// ---- Counts --------------------------------------------------------------------

enum {
    CALLS_COLUMNS = 12, // a count and a space
    EACH_COLUMNS = 10,  // the value of each and a space
    EACH_SCREEN = 100   // the narrowest screen on which functions have it
};

// Columns of counts before a row's name.
static size_t count_columns(const Report *r, const ScreenStyle *style)
{
    bool is_function = r->request.by == BY_FUNCTION;
    if (!style->counts || r->request.group != GROUP_NONE || r->request.by == BY_MODULE)
        return 0;
    return CALLS_COLUMNS + (is_function && style->columns < EACH_SCREEN ? 0 : EACH_COLUMNS);
}

// A count, and what of `self` falls to each, in `columns`; blank if it was not counted.
static void add_counts(StrBuf *out, const Report *r, const uint64_t *count, uint64_t self,
                       uint64_t samples, size_t columns)
{
    size_t from = out->len;
    StrBuf each = {0};
    if (count)
        strbuf_printf(out, "%11llu ", (unsigned long long)*count);
    if (count && *count && samples >= COUNTS_EACH_SAMPLES && columns > CALLS_COLUMNS)
        add_quotient(&each, (double)self / (double)*count, report_metric_unit(r));
    Str text = strbuf_str(&each);
    if (text.len) {
        strbuf_add_repeated(out, ' ', EACH_COLUMNS - 1 - MIN(str_columns(text), (size_t)9));
        strbuf_add(out, text);
    }
    pad_to(out, from, columns);
    strbuf_deinit(&each);
}

static void add_counts_title(StrBuf *out, const char *what, size_t columns)
{
    if (columns)
        strbuf_printf(out, "%11s ", what);
    if (columns > CALLS_COLUMNS)
        strbuf_add(out, STR("self each "));
}

// ---- Rows ----------------------------------------------------------------------

// The text of the source line that is the row. False when the recording does not hold it.
static bool row_text(const Report *r, const FlatRow *row, Str *ret)
{
    StrId file;
    uint32_t line;
    return r->request.by == BY_LINE && report_row_place(r, row, &file, &line) &&
           line_text_find(r->profile, file, line, ret);
}

// Appends a file and its line in so many columns; a longer path loses its first folders.
static void add_place_fitting(StrBuf *out, Str place, size_t columns)
{
    Str rest = place;
    while (str_columns(rest) + (rest.len < place.len) > columns) {
        size_t slash = str_find_char(str_slice(rest, 1, rest.len), '/');
        if (slash == SIZE_MAX) {
            text_add_fitting(out, place, columns, true);
            return;
        }
        rest = str_slice(rest, slash + 1, rest.len);
    }
    if (rest.len < place.len)
        strbuf_add(out, STR("…"));
    text_add_fitting(out, rest, columns, true);
}

// The name of a row of lines, and the text of the line behind it.
static void add_line_name(StrBuf *out, Str name, Str text, size_t room)
{
    size_t from = out->len;
    size_t columns = room == SIZE_MAX ? SIZE_MAX : MIN(room / 2, (size_t)LINE_NAME_COLUMNS);
    add_place_fitting(out, name, columns);
    if (columns != SIZE_MAX)
        pad_to(out, from, columns);
    strbuf_add(out, STR("  "));
    text_add_fitting(out, str_trim(text), room == SIZE_MAX ? room : room - columns - 2, false);
}

static void add_row(StrBuf *out, const Report *r, const FlatRow *row, const ScreenStyle *style)
{
    uint64_t whole = r->weights.value;
    bool is_group = r->request.group != GROUP_NONE;
    add_share(out, style, row->self, whole);
    strbuf_add_char(out, ' ');
    size_t taken = 7;
    if (few_samples(r)) {
        add_doubt(out, r, row->self_samples);
        taken += 6;
    }
    if (!is_group) {
        add_share(out, style, row->total, whole);
        strbuf_add_char(out, ' ');
        taken += 7;
    }
    uint64_t count;
    bool is_counted = report_counts_of_row(style->counts, r, row, &count);
    add_counts(out, r, is_counted ? &count : NULL, row->self, row->self_samples,
               count_columns(r, style));
    strbuf_add_char(out, ' ');
    taken += 1 + count_columns(r, style);

    size_t place = place_columns(r, style);
    size_t fixed = taken + (place ? place + 2 : 0);
    size_t room = style->columns == SIZE_MAX                    ? SIZE_MAX
                  : style->columns > fixed + NAME_COLUMNS_LEAST ? style->columns - fixed
                                                                : NAME_COLUMNS_LEAST;
    Str text;
    bool has_text = row_text(r, row, &text);
    const char *mark = row->inlined && !is_group && !has_text ? " (inlined)" : "";
    size_t mark_len = strlen(mark);
    StrBuf name = {0};
    report_add_row_name(r, row, &name);
    size_t name_start = out->len;
    if (has_text)
        add_line_name(out, strbuf_str(&name), text, room);
    else if (r->request.by == BY_FUNCTION && !is_group)
        name_add_fitting(out, strbuf_str(&name), room - mark_len);
    else
        text_add_fitting(out, strbuf_str(&name), room - mark_len, true);
    strbuf_add(out, str_from_c(mark));
    StrId file;
    uint32_t line;
    if (r->request.by == BY_FUNCTION && report_row_place(r, row, &file, &line)) {
        if (room != SIZE_MAX)
            pad_to(out, name_start, room);
        strbuf_add(out, STR("  "));
        add_place(out, r->profile, file, line, room == SIZE_MAX ? SIZE_MAX : place);
    }
    strbuf_add_char(out, '\n');
    strbuf_deinit(&name);
}

static void add_table_title(StrBuf *out, const Report *r, const ScreenStyle *style)
{
    style_begin(out, &style->terminal, STYLE_DIM);
    strbuf_add(out, STR("  self "));
    size_t taken = 7;
    if (few_samples(r)) {
        strbuf_add(out, STR("      "));
        taken += 6;
    }
    if (r->request.group == GROUP_NONE) {
        strbuf_add(out, STR(" total "));
        taken += 7;
    }
    add_counts_title(out, r->request.by == BY_LINE ? "executions" : "#Calls",
                     count_columns(r, style));
    strbuf_add_char(out, ' ');
    taken += 1 + count_columns(r, style);
    size_t name_start = out->len;
    strbuf_add(out, str_from_c(row_title(r)));
    if (style->limit && r->rows.len > style->limit)
        strbuf_printf(out, " (%zu of %zu)", style->limit, r->rows.len);
    size_t place = place_columns(r, style);
    if (place && style->columns > taken + place + 2) {
        pad_to(out, name_start, style->columns - taken - place - 2);
        strbuf_add(out, STR("  declared at"));
    }
    style_end(out, &style->terminal, STYLE_DIM);
    strbuf_add_char(out, '\n');
}

static void add_nothing(StrBuf *out, const Report *r)
{
    if (r->profile->metrics.name.len == 0 && r->profile->line_counts.line.len)
        strbuf_printf(out,
                      "no samples, but the executions of %zu lines: 'assay cover report' and\n"
                      "'assay cover show' list them; with a recording of the program's time,\n"
                      "'assay annotate TIME FUNCTION THIS' sets them beside it\n",
                      r->profile->line_counts.line.len);
    else if (r->profile->metrics.name.len == 0)
        strbuf_add(out, STR("nothing was measured in this recording\n"));
    else if (r->truth.outside)
        strbuf_add(out,
                   STR("none of the samples is in the selection that --focus, --ignore, --time,\n"
                       "--pid, --tid and --comm make\n"));
    else if (r->profile->samples.stack.len)
        strbuf_add(out, STR("no sample has a value in this metric: choose another with -e\n"));
    else if (str_equal(profile_fact(r->profile, STR(FACT_EVENT)), STR(EVENT_PTRACE)))
        strbuf_add(out, STR("no samples: the program used too little CPU to be seen by ptrace;\n"
                            "run it many times in one recording: assay record -- sh -c '...'\n"));
    else if (str_equal(profile_fact(r->profile, STR(FACT_EVENT)), STR(EVENT_TIMERS)))
        strbuf_add(out, STR("no samples: the program used too little CPU to be seen by timers;\n"
                            "run it many times in one recording: assay record -- sh -c '...'\n"));
    else if (profile_fact(r->profile, STR(FACT_PROBE_HIT_NS)).len)
        strbuf_add(out, STR("no samples: no recorded process reached the probe\n"));
    else
        strbuf_add(out, STR("no samples: the program used too little CPU to be seen at this rate,\n"
                            "or ended at once. A higher rate sees more: assay record -F 4999\n"));
}

void screen_add_table(StrBuf *out, const Report *r, const ScreenStyle *style)
{
    if (r->rows.len == 0) {
        add_nothing(out, r);
        return;
    }
    add_table_title(out, r, style);
    size_t shown = 0, below = 0;
    uint64_t whole = r->weights.value;
    for (size_t i = 0; i < r->rows.len; i++) {
        const FlatRow *row = &r->rows.at[i];
        if (style->limit && shown == style->limit)
            break;
        if (percent_of(MAX(row->self, row->total), whole) < style->percent_limit) {
            below++;
            continue;
        }
        add_row(out, r, row, style);
        shown++;
    }
    if (below)
        strbuf_printf(out, "%zu row%s below %.4g%% %s not shown (--percent-limit)\n", below,
                      plural_s(below), style->percent_limit, below == 1 ? "is" : "are");
}

void screen_add_lines(StrBuf *out, const Report *r, const ScreenStyle *style)
{
    if (r->lines.len == 0) {
        if (r->rows.len)
            strbuf_add(out, STR("no source lines: build with -g to see them\n"));
        return;
    }
    style_begin(out, &style->terminal, STYLE_DIM);
    size_t counts = style->counts ? CALLS_COLUMNS + EACH_COLUMNS : 0;
    strbuf_add(out, STR("  self "));
    add_counts_title(out, "executions", counts);
    strbuf_add(out, STR(" hottest lines\n"));
    style_end(out, &style->terminal, STYLE_DIM);
    for (size_t i = 0; i < r->lines.len && i < SCREEN_LINES; i++) {
        const LineRow *row = &r->lines.at[i];
        uint64_t count;
        bool is_counted = report_counts_of_line(style->counts, r, row, &count);
        add_share(out, style, row->self, r->weights.value);
        strbuf_add_char(out, ' ');
        add_counts(out, r, is_counted ? &count : NULL, row->self, row->samples, counts);
        strbuf_add_char(out, ' ');
        size_t place_start = out->len;
        add_place(out, r->profile, row->file, row->line, PLACE_COLUMNS);
        pad_to(out, place_start, PLACE_COLUMNS);
        strbuf_add(out, STR("  "));
        size_t taken = PLACE_COLUMNS + 10 + counts;
        size_t room = style->columns == SIZE_MAX    ? SIZE_MAX
                      : style->columns > taken + 10 ? style->columns - taken
                                                    : 10;
        Str text;
        if (line_text_find(r->profile, row->file, row->line, &text)) {
            text_add_fitting(out, str_trim(text), room, false);
        } else { // where it is says more than that its text is not here
            StrBuf name = {0};
            frame_add_function_name(r->profile, (FrameId){row->frame}, &name);
            strbuf_add(out, STR("(in "));
            name_add_fitting(out, strbuf_str(&name), room - 5);
            strbuf_add_char(out, ')');
            strbuf_deinit(&name);
        }
        while (out->len && out->ptr[out->len - 1] == ' ')
            out->len--;
        strbuf_add_char(out, '\n');
    }
}

// ---- Next commands -------------------------------------------------------------------

static void add_next(StrBuf *out, const ScreenStyle *style, Str path, const char *before, Str after,
                     bool *first)
{
    strbuf_add(out, *first ? STR("next: ") : STR("      "));
    *first = false;
    StrBuf line = {0};
    strbuf_add(&line, str_from_c(before));
    add_shell_word(&line, path);
    strbuf_add(&line, after);
    style_begin(out, &style->terminal, STYLE_NAME);
    // A command that is cut is not a command: escaped, but in full.
    strbuf_add_terminal(out, strbuf_str(&line));
    style_end(out, &style->terminal, STYLE_NAME);
    strbuf_add_char(out, '\n');
    strbuf_deinit(&line);
}

// A form of the hottest function's name that finds it again and that is short
// and plain enough to be typed. False when there is none.
static bool function_word(const Report *r, StrBuf *ret)
{
    if (r->rows.len == 0 || r->request.group != GROUP_NONE || r->request.by != BY_FUNCTION)
        return false;
    uint32_t key = r->rows.at[0].key;
    StrBuf full = {0}, form = {0};
    keys_add_name(&r->keys, key, &full);
    bool found = false;
    for (NameLength level = NAME_LAST; !found; level--) {
        strbuf_clear(&form);
        name_shorten(text_prefix(strbuf_str(&full), NAME_SHOWN_MAX), level, &form);
        uint32_t got;
        size_t others;
        Error err;
        bool is_plain = form.len > 0 && form.len <= 40;
        for (size_t i = 0; i < form.len && is_plain; i++)
            is_plain = form.ptr[i] >= 0x20 && form.ptr[i] < 0x7f;
        found = is_plain && report_find_function(r, strbuf_str(&form), &got, &others, &err) &&
                got == key && others == 0;
        if (level == NAME_FULL)
            break;
    }
    if (found)
        add_shell_word(ret, strbuf_str(&form));
    strbuf_deinit(&full);
    strbuf_deinit(&form);
    return found;
}

void screen_add_next(StrBuf *out, const Report *r, Str path, const ScreenStyle *style)
{
    bool first = true;
    if (r->rows.len == 0)
        return;
    if (path.len == 0) { // a command was recorded, and nothing is left of it
        strbuf_add(out, STR("next: add --recording FILE to keep the recording\n"));
        return;
    }
    StrBuf word = {0}, after = {0};
    if (!function_word(r, &word)) {
        add_next(out, style, path, "assay report ", STR(" --by line"), &first);
    } else {
        StrId file;
        uint32_t line;
        if (report_row_place(r, &r->rows.at[0], &file, &line)) {
            strbuf_add_char(&after, ' ');
            strbuf_add(&after, strbuf_str(&word));
            add_next(out, style, path, "assay annotate ", strbuf_str(&after), &first);
        } else { // without lines there is nothing to annotate: who calls it?
            strbuf_add(&after, STR(" --around "));
            strbuf_add(&after, strbuf_str(&word));
            add_next(out, style, path, "assay report ", strbuf_str(&after), &first);
        }
    }
    add_next(out, style, path, "assay report ", STR(" --tree"), &first);
    add_next(out, style, path, "assay flame ", STR(" -o flame.svg"), &first);
    strbuf_deinit(&word);
    strbuf_deinit(&after);
}

// ---- Trees ---------------------------------------------------------------------

typedef struct TreeStep {
    uint32_t node;
    uint32_t indent;
} TreeStep;

static bool is_shown(const CallTree *t, uint32_t node, double percent_limit)
{
    return percent_of(t->nodes.at[node].total, t->nodes.at[0].total) >= percent_limit;
}

static void add_tree_row(StrBuf *out, const CallTree *t, uint32_t node, uint32_t indent,
                         const ScreenStyle *style)
{
    const CallNode *n = &t->nodes.at[node];
    add_share(out, style, n->total, t->nodes.at[0].total);
    size_t taken = 7;
    strbuf_add_char(out, ' ');
    if (!t->inverted) {
        add_share(out, style, n->self, t->nodes.at[0].total);
        strbuf_add_char(out, ' ');
        taken += 7;
    }
    strbuf_add_char(out, ' ');
    taken++;
    // Deep trees on narrow screens: the name keeps half of the line.
    size_t most = style->columns == SIZE_MAX ? SIZE_MAX : style->columns / 2 - taken / 2;
    size_t spaces = MIN((size_t)indent, most);
    strbuf_add_repeated(out, ' ', spaces);
    taken += spaces;
    const char *mark = n->flags & NODE_INLINED ? " (inlined)" : "";
    size_t room = style->columns == SIZE_MAX    ? SIZE_MAX
                  : style->columns > taken + 20 ? style->columns - taken - strlen(mark)
                                                : 20;
    StrBuf name = {0};
    call_tree_add_name(t, node, &name);
    if (t->keys->by == BY_FUNCTION && !(n->flags & NODE_GROUP))
        name_add_fitting(out, strbuf_str(&name), room);
    else
        text_add_fitting(out, strbuf_str(&name), room, true);
    strbuf_add(out, str_from_c(mark));
    strbuf_add_char(out, '\n');
    strbuf_deinit(&name);
}

void screen_add_tree(StrBuf *out, const CallTree *t, const ScreenStyle *style)
{
    style_begin(out, &style->terminal, STYLE_DIM);
    strbuf_add(out, t->inverted ? STR(" total  what ran, and below it who called it\n")
                                : STR(" total   self  caller, and below it what it called\n"));
    style_end(out, &style->terminal, STYLE_DIM);
    Vec(TreeStep) todo = {0};
    size_t rows = 0, hidden = t->dropped_nodes;
    vec_push(NULL, &todo, (TreeStep){0, 0});
    U32Vec children = {0};
    while (todo.len) {
        TreeStep step = vec_pop(&todo);
        if (style->limit && rows == style->limit) {
            hidden += todo.len + 1;
            break;
        }
        add_tree_row(out, t, step.node, step.indent, style);
        rows++;
        children.len = 0;
        for (uint32_t c = t->nodes.at[step.node].first_child; c != NODE_NONE;
             c = t->nodes.at[c].next) {
            if (is_shown(t, c, style->percent_limit))
                vec_push(NULL, &children, c);
            else
                hidden++;
        }
        // A chain of single calls moves by one column, a branch by two.
        uint32_t indent = step.indent + (children.len > 1 ? 2 : 1);
        while (children.len)
            vec_push(NULL, &todo, (TreeStep){vec_pop(&children), indent});
    }
    if (hidden)
        strbuf_printf(out, "smaller branches are not shown: %zu cut (--percent-limit %.4g)\n",
                      hidden, style->percent_limit);
    vec_free(&children);
    vec_free(&todo);
}

// ---- Around one function ---------------------------------------------------------

static void add_around_rows(StrBuf *out, const Report *r, const FlatRowVec *rows,
                            const ScreenStyle *style)
{
    if (rows->len == 0)
        strbuf_add(out, STR("        (none)\n"));
    size_t limit = style->limit ? style->limit : SIZE_MAX;
    for (size_t i = 0; i < rows->len && i < limit; i++) {
        const FlatRow *row = &rows->at[i];
        add_share(out, style, row->total, r->weights.value);
        strbuf_add(out, STR("  "));
        StrBuf name = {0};
        keys_add_name(&r->keys, row->key, &name);
        const char *mark = row->inlined ? " (inlined)" : "";
        size_t room = style->columns == SIZE_MAX
                          ? SIZE_MAX
                          : MAX(style->columns, (size_t)40) - 8 - strlen(mark);
        name_add_fitting(out, strbuf_str(&name), room);
        strbuf_add(out, str_from_c(mark));
        strbuf_add_char(out, '\n');
        strbuf_deinit(&name);
    }
    if (rows->len > limit)
        strbuf_printf(out, "        and %zu more (--limit)\n", rows->len - limit);
}

void screen_add_around(StrBuf *out, const Report *r, uint32_t key, const ScreenStyle *style)
{
    FlatRowVec callers = flat_callers(&r->tree, key);
    FlatRowVec callees = flat_callees(&r->tree, key);
    strbuf_add(out, STR("called by\n"));
    add_around_rows(out, r, &callers, style);
    for (size_t i = 0; i < r->rows.len; i++) {
        if (r->rows.at[i].key == key) {
            strbuf_add_char(out, '\n');
            add_table_title(out, r, style);
            add_row(out, r, &r->rows.at[i], style);
            strbuf_add_char(out, '\n');
        }
    }
    strbuf_add(out, STR("calls\n"));
    add_around_rows(out, r, &callees, style);
    vec_free(&callers);
    vec_free(&callees);
}
