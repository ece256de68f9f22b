// SPDX-License-Identifier: Apache-2.0
// The first screen of a survey.

#include "cli/survey/survey_screen.h"

#include <math.h>

#include "analyse/fit.h"
#include "cli/runs/run_report.h"
#include "model/facts.h"

enum {
    LABEL_COLUMNS = 8, // "counts  "
    CPU_ROWS = 4,
    WAIT_ROWS = 2,
    HEAP_ROWS = 2,
    PLACE_COLUMNS = 18,
    FUNCTION_COLUMNS = 14,
};

typedef struct Screen {
    StrBuf *out;
    const Terminal *t;
    SurveyData *d;
} Screen;

static double part_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

// ---- Lines of text -----------------------------------------------------------------------------

// A line that begins with a label, or goes on below one; broken where it is too long.
static void add_labelled(Screen *s, const char *label, const StrBuf *text)
{
    size_t written = strlen(label);
    style_begin(s->out, s->t, STYLE_BOLD);
    strbuf_add(s->out, str_from_c(label));
    style_end(s->out, s->t, STYLE_BOLD);
    strbuf_add_repeated(s->out, ' ', LABEL_COLUMNS > written ? LABEL_COLUMNS - written : 1);
    StrBuf wrapped = {0};
    // The width is counted without the codes of the style.
    strbuf_add_repeated(&wrapped, ' ', LABEL_COLUMNS);
    text_add_wrapped(&wrapped, strbuf_str(text), s->t->columns, LABEL_COLUMNS);
    strbuf_add(s->out, str_slice(strbuf_str(&wrapped), LABEL_COLUMNS, wrapped.len));
    if (text->len == 0)
        strbuf_add_char(s->out, '\n');
    strbuf_deinit(&wrapped);
}

static void add_place(StrBuf *out, Str file, uint32_t line, size_t columns)
{
    StrBuf place = {0};
    if (file.len)
        strbuf_printf(&place, "%" STR_FMT ":%u", STR_ARG(str_base_name(file)), line);
    else
        strbuf_add(&place, STR("(no line)"));
    size_t taken = text_add_fitting(out, strbuf_str(&place), columns, true);
    strbuf_add_repeated(out, ' ', columns > taken ? columns - taken : 0);
    strbuf_deinit(&place);
}

// " 31.2%  csv.c:122  map_put  text of the line".
static void add_line_row(Screen *s, double share, const LineCost *row)
{
    StrBuf *out = s->out;
    add_percent(out, 100 * share);
    strbuf_add(out, STR("  "));
    size_t from = out->len;
    add_place(out, row->file, row->line, PLACE_COLUMNS);
    strbuf_add_char(out, ' ');
    size_t name_from = out->len;
    if (row->function.len)
        name_add_fitting(out, row->function, FUNCTION_COLUMNS);
    pad_to(out, name_from, FUNCTION_COLUMNS);
    size_t taken = str_columns(str_slice(strbuf_str(out), from, out->len)) + 8;
    Str text = str_trim(row->text);
    if (text.len && s->t->columns > taken + 10) {
        strbuf_add(out, STR("  "));
        (void)text_add_fitting(out, text, s->t->columns - taken - 2, false);
    }
    while (out->len && out->ptr[out->len - 1] == ' ')
        out->len--;
    strbuf_add_char(out, '\n');
}

// ---- Head and time -----------------------------------------------------------------------------

static void add_head(Screen *s)
{
    const SurveyManifest *m = &s->d->manifest;
    StrBuf tail = {0};
    if (m->status)
        strbuf_printf(&tail, " · ends with status %u", m->status);
    strbuf_printf(&tail, " · survey of %.0f s", m->seconds);
    if (m->interrupted)
        strbuf_add(&tail, STR(", interrupted"));
    size_t columns = str_columns(strbuf_str(&tail));
    style_begin(s->out, s->t, STYLE_BOLD);
    (void)text_add_fitting(s->out, m->command[SURVEY_NEW],
                           s->t->columns > columns + 20 ? s->t->columns - columns : 20, false);
    style_end(s->out, s->t, STYLE_BOLD);
    strbuf_add(s->out, strbuf_str(&tail));
    strbuf_add_char(s->out, '\n');
    strbuf_deinit(&tail);
}

static void add_how_long(StrBuf *out, const RunGroup *g)
{
    const RunSummary *r = &g->summary;
    const Interval *in = &r->median_interval;
    size_t n = g->runs.len;
    run_add_time(out, r->median, RUN_UNIT_AUTO);
    if (isfinite(in->low) && isfinite(in->high)) {
        strbuf_add(out, STR(", 95 % sure: "));
        run_add_time(out, in->low, RUN_UNIT_AUTO);
        strbuf_add(out, STR(" to "));
        run_add_time(out, in->high, RUN_UNIT_AUTO);
        strbuf_printf(out, " (%zu runs)", n);
    } else {
        strbuf_printf(out, ", of %zu run%s: too few to be sure, see --max-time", n,
                      n == 1 ? "" : "s");
    }
    strbuf_add(out, STR(" · "));
    run_add_time(out, r->user + r->system, RUN_UNIT_AUTO);
    strbuf_add(out, STR(" CPU · "));
    add_value(out, r->peak_rss_bytes, STR("bytes"));
    strbuf_add(out, STR(" at most"));
}

// What the time was made of, by the kernel's account of each run.
static void add_run_waiting(StrBuf *out, const RunSummary *r, bool is_single)
{
    double cpu = r->user + r->system, wait = isnan(r->run_delay_s) ? 0 : r->run_delay_s;
    if (!(r->mean > 0))
        return;
    strbuf_printf(out, " · %.0f %% of the time on a CPU", 100 * cpu / r->mean);
    // The kernel gives a run's wait for a CPU of its first thread alone.
    if (!isnan(r->run_delay_s) && is_single)
        strbuf_printf(out, ", %.0f %% waiting for one", 100 * wait / r->mean);
    if (r->switches >= 1) {
        strbuf_add(out, STR(", "));
        add_rounded_count(out, r->switches);
        strbuf_printf(out, " switch%s", r->switches >= 1.5 ? "es" : "");
    }
}

// "2.1 instructions per cycle": where the machine counts both.
static void add_counters(StrBuf *out, const RunSummaries *runs, const RunSummary *r)
{
    double cycles = NAN, instructions = NAN;
    for (uint32_t i = 0; i < runs->set.counters; i++) {
        if (str_equal(runs->counters[i].name, STR("cycles")))
            cycles = r->counts[i];
        if (str_equal(runs->counters[i].name, STR("instructions")))
            instructions = r->counts[i];
    }
    if (cycles > 0 && instructions > 0)
        strbuf_printf(out, " · %.2f instructions per cycle", instructions / cycles);
}

static void add_time(Screen *s)
{
    StrBuf text = {0};
    if (!s->d->has[SURVEY_TIME])
        return;
    const RunGroup *g = &s->d->runs.set.groups[s->d->run_group];
    add_how_long(&text, g);
    const Profile *p = &s->d->profile[SURVEY_CPU];
    add_run_waiting(&text, &g->summary, s->d->has[SURVEY_CPU] && p->threads.tid.len == 1);
    add_counters(&text, &s->d->runs, &g->summary);
    if (s->d->manifest.counting[SURVEY_NEW])
        strbuf_add(&text, STR(" · this build counts its lines, which takes part of the time"));
    add_labelled(s, "time", &text);
    strbuf_deinit(&text);
}

// ---- CPU, waits, heap, counts ------------------------------------------------------------------

static uint64_t value_at(const LineCost *row, size_t offset)
{
    uint64_t value;
    memcpy(&value, (const char *)row + offset, sizeof(value));
    return value;
}

static bool is_picked(const LineCost *const *picked, size_t count, const LineCost *row)
{
    for (size_t i = 0; i < count; i++)
        if (picked[i] == row)
            return true;
    return false;
}

// The rows with the most of one value, the uint64_t at `offset`, at most `max`. Costs are sorted by
// CPU time and waits together.
static size_t pick_rows(const LineCosts *c, size_t offset, const LineCost **ret, size_t max)
{
    for (size_t picked = 0; picked < max; picked++) {
        const LineCost *most = NULL;
        for (size_t i = 0; i < c->rows.len; i++) {
            const LineCost *row = &c->rows.at[i];
            if (value_at(row, offset) > (most ? value_at(most, offset) : 0) &&
                !is_picked(ret, picked, row))
                most = row;
        }
        if (!most)
            return picked;
        ret[picked] = most;
    }
    return max;
}

// Samples in code that has no source lines: their sum and the hottest function, or with `as_rows` a
// row for each of the hottest.
static void add_without_lines(Screen *s, bool as_rows)
{
    const LineCosts *c = &s->d->costs;
    add_percent(s->out, 100 * part_of(c->cpu_without_line, c->cpu));
    strbuf_add(s->out, STR("  in code without source lines"));
    if (!as_rows && c->top_functions[0].name.len) {
        strbuf_add(s->out, STR("; most in "));
        name_add_fitting(s->out, c->top_functions[0].name, 30);
    }
    strbuf_add_char(s->out, '\n');
    for (int i = 0; i < TOP_FUNCTIONS && as_rows && c->top_functions[i].name.len; i++) {
        add_percent(s->out, 100 * part_of(c->top_functions[i].cpu, c->cpu));
        strbuf_add(s->out, STR("  "));
        name_add_fitting(s->out, c->top_functions[i].name, s->t->columns - 10);
        strbuf_add_char(s->out, '\n');
    }
}

static void add_cpu(Screen *s)
{
    const LineCosts *c = &s->d->costs;
    StrBuf text = {0};
    if (!s->d->has[SURVEY_CPU])
        return;
    add_count(&text, c->cpu_samples);
    strbuf_add(&text, c->cpu_samples == 1 ? STR(" sample") : STR(" samples"));
    truth_add_text(&s->d->truth, &text);
    StrBuf escaped = {0};
    // The rest of the truth line is that of 'assay report'; here it has one line.
    (void)text_add_fitting(&escaped, strbuf_str(&text), s->t->columns - LABEL_COLUMNS, false);
    add_labelled(s, "cpu", &escaped);
    strbuf_deinit(&escaped);
    strbuf_deinit(&text);
    const LineCost *top[CPU_ROWS];
    size_t rows = pick_rows(c, offsetof(LineCost, cpu), top, CPU_ROWS);
    for (size_t i = 0; i < rows; i++)
        if (i == 0 || part_of(top[i]->cpu, c->cpu) >= 0.01)
            add_line_row(s, part_of(top[i]->cpu, c->cpu), top[i]);
    if (part_of(c->cpu_without_line, c->cpu) >= 0.05)
        add_without_lines(s, rows == 0);
}

static void add_wait_classes(StrBuf *out, const WaitTotals *t)
{
    bool any = false;
    for (int i = 0; i < WAIT_CLASS_COUNT; i++) {
        if (part_of(t->of[i], t->all) < 0.005)
            continue;
        strbuf_printf(out, "%s%.0f %% %s", any ? " · " : "", 100 * part_of(t->of[i], t->all),
                      wait_class_name((WaitClass)i));
        any = true;
    }
    if (part_of(t->idle, t->all) >= 0.005)
        strbuf_printf(out, " · %.0f %% idle", 100 * part_of(t->idle, t->all));
}

static void add_waits(Screen *s)
{
    StrBuf text = {0};
    if (!s->d->has[SURVEY_WAITS])
        return;
    const LineCosts *c = &s->d->costs;
    WaitTotals t = wait_totals(&s->d->profile[SURVEY_CPU]);
    strbuf_printf(&text, "%u thread%s: ", t.threads, t.threads == 1 ? "" : "s");
    add_wait_classes(&text, &t);
    add_labelled(s, "waits", &text);
    strbuf_deinit(&text);
    const LineCost *top[WAIT_ROWS];
    size_t rows = pick_rows(c, offsetof(LineCost, wait_ns), top, WAIT_ROWS);
    for (size_t i = 0; i < rows; i++)
        if (part_of(top[i]->wait_ns, t.all) >= 0.01)
            add_line_row(s, part_of(top[i]->wait_ns, t.all), top[i]);
}

static void add_heap_row(Screen *s, const HeapRow *place)
{
    const Profile *p = s->d->heap.p;
    FrameId frame = place->place.frame;
    LineCost row = {.file = profile_text(p, p->frames.file.at[frame.v]),
                    .line = p->frames.line.at[frame.v]};
    StrBuf name = {0};
    heap_row_add_name(&s->d->heap, place, &name);
    row.function = strbuf_str(&name);
    const LineCost *known = line_costs_find(&s->d->costs, row.file, row.line);
    row.text = known ? known->text : STR("");
    add_line_row(s, part_of(place->value[HEAP_BLOCKS], s->d->heap.total[HEAP_BLOCKS]), &row);
    strbuf_deinit(&name);
}

static void add_heap(Screen *s)
{
    StrBuf text = {0};
    if (!s->d->has[SURVEY_HEAP])
        return;
    const HeapView *v = &s->d->heap;
    if (v->total[HEAP_BLOCKS] == 0) {
        strbuf_add(&text, STR("no block was allocated"));
        add_labelled(s, "heap", &text);
        strbuf_deinit(&text);
        return;
    }
    add_rounded_count(&text, (double)v->total[HEAP_BLOCKS]);
    strbuf_add(&text, STR(" blocks, "));
    add_value(&text, v->total[HEAP_BYTES], STR("bytes"));
    strbuf_add(&text, STR(" in all · "));
    add_value(&text, v->peak_bytes, STR("bytes"));
    strbuf_add(&text, STR(" at the peak · "));
    add_value(&text, v->total[HEAP_END_BYTES], STR("bytes"));
    strbuf_add(&text, STR(" at the end"));
    if (s->d->costs.cpu && s->d->has[SURVEY_CPU])
        strbuf_printf(&text, " · %.0f %% of the CPU time",
                      100 * part_of(s->d->costs.cpu_in_allocator, s->d->costs.cpu));
    add_labelled(s, "heap", &text);
    strbuf_deinit(&text);
    for (size_t i = 0; i < v->places.len && i < HEAP_ROWS; i++)
        add_heap_row(s, &v->places.at[i]);
}

static void add_counts(Screen *s)
{
    const SurveyData *d = s->d;
    StrBuf text = {0};
    if (!d->has[SURVEY_COUNTS])
        return;
    add_count(&text, d->lines_ran);
    strbuf_add(&text, STR(" of "));
    add_count(&text, d->lines_counted);
    strbuf_add(&text, STR(" lines ran"));
    if (d->most_run_count) {
        strbuf_add(&text, STR(" · most often "));
        strbuf_add_terminal(&text, str_base_name(d->most_run_file));
        strbuf_printf(&text, ":%u, ", d->most_run_line);
        add_rounded_count(&text, (double)d->most_run_count);
        strbuf_add(&text, STR(" times"));
    }
    add_labelled(s, "counts", &text);
    strbuf_deinit(&text);
}

// ---- The line to look at, what is missing, what next -------------------------------------------

static void add_first(Screen *s)
{
    const FirstLine *first = &s->d->first;
    StrBuf text = {0};
    if (!s->d->has[SURVEY_CPU] && !s->d->has[SURVEY_HEAP])
        return;
    if (first->reason == FIRST_NOTHING) {
        strbuf_add(&text, STR("no source line is known"));
        const TopFunction *top = &s->d->costs.top_functions[0];
        if (top->name.len) {
            strbuf_printf(&text, "; %.0f %% of the CPU time is in ",
                          100 * part_of(top->cpu, s->d->costs.cpu));
            name_add_fitting(&text, top->name, 40);
        }
        strbuf_add(&text, STR(". Build the program with -g, or install its debug symbols"));
    } else {
        strbuf_printf(&text, "%" STR_FMT ":%u", STR_ARG(first->line.file), first->line.line);
        StrBuf shown = {0};
        (void)text_add_fitting(&shown, strbuf_str(&text), s->t->columns - LABEL_COLUMNS, true);
        strbuf_clear(&text);
        strbuf_add(&text, strbuf_str(&shown));
        strbuf_deinit(&shown);
    }
    add_labelled(s, "first", &text);
    strbuf_clear(&text);
    Str line = str_trim(first->line.text);
    if (first->reason != FIRST_NOTHING && line.len) {
        strbuf_add_repeated(s->out, ' ', LABEL_COLUMNS + 2);
        style_begin(s->out, s->t, STYLE_HOT);
        (void)text_add_fitting(s->out, line, s->t->columns - LABEL_COLUMNS - 2, false);
        style_end(s->out, s->t, STYLE_HOT);
        strbuf_add_char(s->out, '\n');
    }
    survey_reason_add(&text, s->d);
    if (text.len)
        add_labelled(s, "", &text);
    strbuf_deinit(&text);
}

static void add_warning(Screen *s, const StrBuf *text)
{
    StrBuf whole = {0};
    strbuf_add(&whole, STR("! "));
    text_add_wrapped(&whole, strbuf_str(text), s->t->columns, 2);
    strbuf_add(s->out, strbuf_str(&whole));
    strbuf_deinit(&whole);
}

// How the samples were taken where it was not the best way.
static void add_fallback(Screen *s)
{
    const Truth *t = &s->d->truth;
    StrBuf text = {0};
    bool is_other =
        str_equal(t->event, STR(EVENT_PTRACE)) || str_equal(t->event, STR(EVENT_TIMERS));
    if (!s->d->has[SURVEY_CPU] || (!is_other && !t->user_only))
        return;
    strbuf_add(&text, STR("cpu: "));
    strbuf_add_terminal(&text, t->event);
    if (t->user_only)
        strbuf_add(&text, STR(", user code only"));
    if (is_other && t->fallback.len) {
        strbuf_add(&text, STR(", because "));
        strbuf_add_terminal(&text, t->fallback);
    }
    strbuf_add(&text, STR("; assay doctor names the command that lifts this"));
    add_warning(s, &text);
    strbuf_deinit(&text);
}

static void add_missing(Screen *s)
{
    const SurveyManifest *m = &s->d->manifest;
    for (int side = 0; side < SURVEY_SIDES; side++)
        for (int step = 0; step < SURVEY_STEPS; step++) {
            const SurveyPart *part = &m->part[side][step];
            if (part->skipped || part->why.len == 0)
                continue;
            StrBuf text = {0};
            strbuf_printf(&text, "no %s%s: ", survey_step_name((SurveyStep)step),
                          side == SURVEY_OLD ? " of the other command" : "");
            strbuf_add_terminal(&text, part->why);
            if (part->cure.len) {
                strbuf_add(&text, STR("; "));
                strbuf_add_terminal(&text, part->cure);
            }
            add_warning(s, &text);
            strbuf_deinit(&text);
        }
}

static void add_command(Screen *s, bool *begun, const char *command, Str path, Str more)
{
    if (path.len == 0)
        return;
    strbuf_add(s->out, *begun ? STR("      ") : STR("next: "));
    strbuf_add(s->out, str_from_c(command));
    strbuf_add_char(s->out, ' ');
    add_shell_word(s->out, path);
    if (more.len) {
        strbuf_add_char(s->out, ' ');
        add_shell_word(s->out, more);
    }
    strbuf_add_char(s->out, '\n');
    *begun = true;
}

static Str part_path(Screen *s, SurveyStep step)
{
    return survey_part_path(&s->d->arena, s->d->folder, &s->d->manifest.part[SURVEY_NEW][step]);
}

// A recording of waits has a column for each class, which leave the text no room.
static const char *annotate_command(Screen *s)
{
    const Profile *p = &s->d->profile[SURVEY_CPU];
    StrBuf out = {0};
    strbuf_add(&out, STR("assay annotate"));
    if (s->d->has[SURVEY_WAITS]) {
        strbuf_add(&out, STR(" -e "));
        add_shell_word(&out, profile_text(p, p->metrics.name.at[0]));
    }
    const char *ret = arena_c_str(&s->d->arena, strbuf_str(&out));
    strbuf_deinit(&out);
    return ret;
}

static void add_next(Screen *s)
{
    bool begun = false;
    StrBuf function = {0};
    const FirstLine *first = &s->d->first;
    if (s->d->manifest.page.len) {
        strbuf_add(s->out, STR("page: "));
        (void)text_add_fitting(s->out, s->d->manifest.page, s->t->columns - 6, true);
        strbuf_add_char(s->out, '\n');
    }
    if (first->reason != FIRST_NOTHING)
        name_shorten(first->line.function, NAME_NO_TEMPLATES, &function);
    if (function.len)
        add_command(s, &begun, annotate_command(s), part_path(s, SURVEY_CPU),
                    strbuf_str(&function));
    else
        add_command(s, &begun, "assay report --tree", part_path(s, SURVEY_CPU), STR(""));
    if (s->d->costs.blocks)
        add_command(s, &begun, "assay report", part_path(s, SURVEY_HEAP), STR(""));
    if (s->d->manifest.page.len == 0)
        add_command(s, &begun, "assay view", s->d->folder, STR(""));
    strbuf_deinit(&function);
}

// ---- Another command ---------------------------------------------------------------------------

// The verdict of the runs of both, as bench says it: its first lines, up to the ranking.
static void add_verdict(Screen *s)
{
    RunStyle style = {.terminal = *s->t};
    StrBuf text = {0};
    Str rest, line;
    if (!s->d->has[SURVEY_TIME] || s->d->runs.set.count < 2)
        return;
    run_report_screen(&text, &style, &s->d->runs);
    rest = strbuf_str(&text);
    while (str_next_line(&rest, &line) && line.len) {
        strbuf_add(s->out, line);
        strbuf_add_char(s->out, '\n');
    }
    strbuf_deinit(&text);
}

void survey_screen_add(StrBuf *out, const Terminal *t, SurveyData *d, Str changes)
{
    Screen s = {.out = out, .t = t, .d = d};
    add_verdict(&s);
    strbuf_add(out, changes);
    add_head(&s);
    add_time(&s);
    add_cpu(&s);
    add_waits(&s);
    add_heap(&s);
    add_counts(&s);
    add_first(&s);
    add_fallback(&s);
    add_missing(&s);
    add_next(&s);
}

void survey_brief_add(StrBuf *out, const Terminal *t, SurveyData *d, Str changes)
{
    Screen s = {.out = out, .t = t, .d = d};
    add_verdict(&s);
    strbuf_add(out, str_trim(changes).len ? changes : STR(""));
    add_time(&s);
    add_cpu(&s);
    add_first(&s);
    add_missing(&s);
}
