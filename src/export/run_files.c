// SPDX-License-Identifier: Apache-2.0
// Runs in the formats of files. Field names and layouts of JSON, CSV and the tables are those
// of hyperfine 1.20; members that hyperfine does not have stand under "assay".

#include "export/run_files.h"

#include <math.h>

static void add_interval(JsonWriter *w, const char *key, Interval i)
{
    json_begin_object(w, key);
    json_double(w, "low", i.low);
    json_double(w, "point", i.point);
    json_double(w, "high", i.high);
    json_end(w);
}

static void add_machine(JsonWriter *w, const RunMachine *m)
{
    json_begin_object(w, "machine");
    json_str(w, "hostname", m->hostname);
    json_str(w, "kernel", m->kernel);
    json_str(w, "cpu_model", m->cpu_model);
    json_u64(w, "cpus", m->cpus);
    if (m->governor.len)
        json_str(w, "governor", m->governor);
    json_double(w, "load", m->load);
    json_end(w);
}

static void add_column(JsonWriter *w, const char *key, const MeasuredRunVec *runs,
                       int64_t (*get)(const MeasuredRun *))
{
    json_begin_array(w, key);
    for (size_t i = 0; i < runs->len; i++)
        json_i64(w, NULL, get(&runs->at[i]));
    json_end(w);
}

static int64_t get_wall(const MeasuredRun *r)
{
    return r->wall_ns;
}
static int64_t get_waited(const MeasuredRun *r)
{
    return r->waited_ns;
}
static int64_t get_user(const MeasuredRun *r)
{
    return r->user_ns;
}
static int64_t get_system(const MeasuredRun *r)
{
    return r->system_ns;
}
static int64_t get_delay(const MeasuredRun *r)
{
    return r->run_delay_ns;
}
static int64_t get_minor(const MeasuredRun *r)
{
    return (int64_t)r->minor_faults;
}
static int64_t get_major(const MeasuredRun *r)
{
    return (int64_t)r->major_faults;
}
static int64_t get_voluntary(const MeasuredRun *r)
{
    return (int64_t)r->voluntary_switches;
}
static int64_t get_involuntary(const MeasuredRun *r)
{
    return (int64_t)r->involuntary_switches;
}
static int64_t get_round(const MeasuredRun *r)
{
    return r->round;
}
static int64_t get_position(const MeasuredRun *r)
{
    return r->position;
}
static int64_t get_start(const MeasuredRun *r)
{
    return r->start_ns;
}

static void add_counts(JsonWriter *w, const RunSummaries *all, const MeasuredRunVec *runs)
{
    json_begin_object(w, "counters");
    for (uint32_t c = 0; c < all->set.counters; c++) {
        json_key(w, all->counters[c].name);
        json_begin_array(w, NULL);
        for (size_t i = 0; i < runs->len; i++)
            json_double(w, NULL, runs->at[i].counts[c]); // null: not counted
        json_end(w);
    }
    json_end(w);
}

static void add_result_extras(JsonWriter *w, const RunSummaries *all, const RunCommand *c,
                              const RunGroup *r)
{
    const RunSummary *s = &r->summary;
    json_begin_object(w, "assay");
    add_interval(w, "median_interval", s->median_interval);
    json_double(w, "mad", s->mad);
    json_u64(w, "peak_rss_bytes", s->peak_rss_bytes);
    json_bool(w, "peak_rss_exact", r->weighed.known);
    json_i64(w, "peak_rss_correction_bytes", r->weighed.correction_bytes);
    json_double(w, "shell_time", c->via_shell ? all->shell_time_s : 0);
    json_double(w, "lag1_autocorrelation", s->lag1);
    json_double(w, "effective_runs", s->effective_runs);
    json_u64(w, "steady_after", s->steady.prefix);
    json_begin_array(w, "modes");
    for (uint32_t i = 0; i < s->mode_count; i++) {
        json_begin_object(w, NULL);
        json_double(w, "time", s->modes[i].centre);
        json_double(w, "share", s->modes[i].share);
        json_end(w);
    }
    json_end(w);
    json_u64(w, "runs_by_kernel_clock", s->kernel_clocked);
    json_begin_object(w, "outliers");
    json_u64(w, "low_severe", s->outliers[OUTLIER_LOW_SEVERE]);
    json_u64(w, "low_mild", s->outliers[OUTLIER_LOW_MILD]);
    json_u64(w, "high_mild", s->outliers[OUTLIER_HIGH_MILD]);
    json_u64(w, "high_severe", s->outliers[OUTLIER_HIGH_SEVERE]);
    json_end(w);
    json_begin_object(w, "runs");
    add_column(w, "round", &r->runs, get_round);
    add_column(w, "position", &r->runs, get_position);
    add_column(w, "start_ns", &r->runs, get_start);
    add_column(w, "wall_ns", &r->runs, get_wall);
    add_column(w, "waited_ns", &r->runs, get_waited);
    add_column(w, "user_ns", &r->runs, get_user);
    add_column(w, "system_ns", &r->runs, get_system);
    add_column(w, "run_delay_ns", &r->runs, get_delay);
    json_begin_array(w, "waiting");
    for (size_t i = 0; i < r->runs.len; i++)
        json_double(w, NULL, r->runs.at[i].waiting_s); // null: not known
    json_end(w);
    add_column(w, "minor_faults", &r->runs, get_minor);
    add_column(w, "major_faults", &r->runs, get_major);
    add_column(w, "voluntary_switches", &r->runs, get_voluntary);
    add_column(w, "involuntary_switches", &r->runs, get_involuntary);
    add_counts(w, all, &r->runs);
    json_end(w);
    json_end(w);
}

static void add_result(JsonWriter *w, const RunSummaries *all, const RunCommand *c,
                       const RunGroup *r)
{
    const RunSummary *s = &r->summary;
    json_begin_object(w, NULL);
    json_str(w, "command", c->name);
    json_double(w, "mean", s->mean);
    json_double(w, "stddev", s->deviation); // null for one run
    json_double(w, "median", s->median);
    json_double(w, "user", s->user);
    json_double(w, "system", s->system);
    json_double(w, "min", s->min);
    json_double(w, "max", s->max);
    json_begin_array(w, "times");
    for (size_t i = 0; i < r->runs.len; i++)
        json_double(w, NULL, r->runs.at[i].time_s);
    json_end(w);
    json_begin_array(w, "memory_usage_byte");
    for (size_t i = 0; i < r->runs.len; i++)
        json_u64(w, NULL, runs_peak_memory(&r->weighed, &r->runs.at[i]));
    json_end(w);
    json_begin_array(w, "exit_codes");
    for (size_t i = 0; i < r->runs.len; i++)
        json_i64(w, NULL, r->runs.at[i].status);
    json_end(w);
    if (c->parameters.len) {
        json_begin_object(w, "parameters");
        for (size_t i = 0; i < c->parameters.len; i++) {
            json_key(w, c->parameters.at[i].name);
            json_str(w, NULL, c->parameters.at[i].value);
        }
        json_end(w);
    }
    add_result_extras(w, all, c, r);
    json_end(w);
}

static void add_comparison(JsonWriter *w, const RunSummaries *all, uint32_t i)
{
    const Comparison *c = &all->set.groups[i].comparison;
    json_begin_object(w, NULL);
    json_str(w, "reference", all->commands[all->set.plan.reference].name);
    json_str(w, "command", all->commands[i].name);
    json_str(w, "method", str_from_c(compare_method_name(c->method)));
    json_str(w, "verdict", str_from_c(verdict_name(c->verdict)));
    json_bool(w, "differs", c->differs);
    add_interval(w, "ratio", c->ratio);
    json_bool(w, "without_waiting", all->set.without_waiting);
    if (all->set.without_waiting)
        add_interval(w, "elapsed_ratio", all->set.groups[i].elapsed_ratio);
    add_interval(w, "mean_ratio", c->mean_ratio);
    json_bool(w, "mean_disagrees", c->mean_disagrees);
    json_double(w, "p", c->p);
    json_double(w, "p_holm", all->set.groups[i].adjusted_p);
    json_double(w, "sign_p", c->sign_p);
    json_u64(w, "pairs", c->pairs);
    json_double(w, "least_effect_seen", c->least_seen);
    json_double(w, "more_pairs_needed", c->more_pairs);
    json_double(w, "lag1_autocorrelation", c->lag1);
    json_begin_object(w, "counters");
    for (uint32_t k = 0; k < all->set.counters; k++)
        if (all->set.groups[i].count_ratios[k].low > 0) {
            json_key(w, all->counters[k].name);
            add_interval(w, NULL, all->set.groups[i].count_ratios[k]);
        }
    json_end(w);
    json_end(w);
}

void run_files_json(StrBuf *out, RunSummaries *all, const RunFiles *f)
{
    JsonWriter w = json_writer(out, 2);
    json_begin_object(&w, NULL);
    json_begin_array(&w, "results");
    for (uint32_t i = 0; i < all->set.count; i++)
        if (all->set.groups[i].runs.len)
            add_result(&w, all, &all->commands[i], &all->set.groups[i]);
    json_end(&w);
    json_begin_object(&w, "assay");
    json_u64(&w, "schema", 1);
    json_str(&w, "version", f->tool_version);
    json_str(&w, "command_line", all->command_line);
    json_str(&w, "order", all->set.plan.grouped ? STR("grouped") : STR("interleaved"));
    json_str(&w, "clock", all->clock);
    if (all->clock_reason.len)
        json_str(&w, "clock_reason", all->clock_reason);
    json_u64(&w, "seed", all->seed);
    json_double(&w, "level", all->set.plan.level);
    json_double(&w, "margin", all->set.plan.until > 0 ? all->set.plan.until : all->set.plan.margin);
    json_bool(&w, "interrupted", all->interrupted);
    json_double(&w, "pair_gap_ratio", all->set.gap_ratio);
    json_double(&w, "waiting_share", all->set.waiting_share);
    json_double(&w, "cpu_speed_change", all->speed_change);
    add_machine(&w, &all->machine);
    json_begin_array(&w, "comparisons");
    for (uint32_t i = 0; i < all->set.count; i++)
        if (i != all->set.plan.reference && all->set.groups[i].comparison.pairs)
            add_comparison(&w, all, i);
    json_end(&w);
    if (f->add_json)
        f->add_json(&w, f->ctx);
    json_end(&w);
    json_end(&w);
    strbuf_add_char(out, '\n');
}

// The shortest decimal, as JSON has it.
static void add_number(StrBuf *out, double x)
{
    JsonWriter w = json_writer(out, 0);
    json_double(&w, NULL, isfinite(x) ? x : 0);
}

// A value that a kind of run does not have, such as the user time of a function, is an empty field.
// One run has no deviation, which hyperfine writes as 0.
static void add_csv_row(StrBuf *out, const RunCommand *c, const RunSummary *s,
                        const RunParameterVec *first)
{
    const double row[] = {
        s->mean, isfinite(s->deviation) ? s->deviation : 0, s->median, s->user, s->system, s->min,
        s->max};
    strbuf_add_csv(out, c->name);
    for (size_t k = 0; k < ARRAY_LEN(row); k++) {
        strbuf_add_char(out, ',');
        if (isfinite(row[k]))
            add_number(out, row[k]);
    }
    for (size_t k = 0; k < first->len; k++) {
        strbuf_add_char(out, ',');
        if (k < c->parameters.len)
            strbuf_add_csv(out, c->parameters.at[k].value);
    }
    strbuf_add_char(out, '\n');
}

void run_files_csv(StrBuf *out, const RunFamilies *all, const RunFiles *f)
{
    const RunParameterVec none = {0}, *first = &none;
    (void)f;
    strbuf_add(out, STR("command,mean,stddev,median,user,system,min,max"));
    // The reference has no parameters; the others all have the same.
    for (size_t k = 0; k < all->len; k++)
        for (size_t i = 0; i < all->at[k].set.count && first->len == 0; i++)
            first = &all->at[k].commands[i].parameters;
    for (size_t i = 0; i < first->len; i++) {
        StrBuf name = {0};
        strbuf_printf(&name, "parameter_%" STR_FMT, STR_ARG(first->at[i].name));
        strbuf_add_char(out, ',');
        strbuf_add_csv(out, strbuf_str(&name));
        strbuf_deinit(&name);
    }
    strbuf_add_char(out, '\n');
    for (size_t k = 0; k < all->len; k++)
        for (uint32_t i = 0; i < all->at[k].set.count; i++)
            if (all->at[k].set.groups[i].runs.len)
                add_csv_row(out, &all->at[k].commands[i], &all->at[k].set.groups[i].summary, first);
}

// ---- Tables ----------------------------------------------------------------

// The command as a cell: one line, without what ends the cell or commands a terminal.
static void add_cell(StrBuf *out, Str name)
{
    StrBuf line = {0}, safe = {0};
    for (size_t i = 0; i < name.len; i++)
        strbuf_add_char(&line, name.ptr[i] == '\n' ? ' ' : name.ptr[i]);
    strbuf_add_terminal(&safe, strbuf_str(&line));
    for (size_t i = 0; i < safe.len; i++) {
        if (safe.ptr[i] == '|')
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, safe.ptr[i]);
    }
    strbuf_deinit(&line);
    strbuf_deinit(&safe);
}

// How a markup writes a table. Cells are cut from one row format.
typedef struct Markup {
    const char *head, *rule, *row_begin, *row_end, *cell, *code, *code_end, *tail;
} Markup;

// A name as code. Where it holds the mark that ends Markdown's code, two marks stand around it
// (CommonMark, "Code spans").
static void add_code(StrBuf *out, Str name, const Markup *m)
{
    bool doubled = m->code[0] == '`' && str_find_char(name, '`') != SIZE_MAX;
    strbuf_add(out, doubled ? STR("`` ") : str_from_c(m->code));
    add_cell(out, name);
    strbuf_add(out, doubled ? STR(" ``") : str_from_c(m->code_end));
}

// How a column writes times: in one unit, or each time in the unit that fits it.
typedef struct TimeColumn {
    const char *unit; // NULL: each its own
    double scale;
    int places; // below 0: six digits in all, for columns of which the values differ much
} TimeColumn;

static TimeColumn time_column(RunUnit unit)
{
    return unit == RUN_UNIT_US   ? (TimeColumn){"µs", 1e6, 1}
           : unit == RUN_UNIT_MS ? (TimeColumn){"ms", 1e3, 1}
                                 : (TimeColumn){"s", 1, 3};
}

static void add_column_time(StrBuf *out, const TimeColumn *column, double seconds)
{
    if (column->unit) {
        if (column->places < 0)
            strbuf_printf(out, "%.6g", seconds * column->scale);
        else
            strbuf_printf(out, "%.*f", column->places, seconds * column->scale);
        return;
    }
    const char *unit = seconds < 1e-6 ? "ns" : seconds < 1e-3 ? "µs" : seconds < 1 ? "ms" : "s";
    double scale = seconds < 1e-6 ? 1e9 : seconds < 1e-3 ? 1e6 : seconds < 1 ? 1e3 : 1;
    strbuf_printf(out, "%.3f %s", seconds * scale, unit);
}

static void add_markup_row(StrBuf *out, const RunSummaries *s, uint32_t i, bool alone,
                           const TimeColumn *column, const Markup *m)
{
    const RunGroup *g = &s->set.groups[i];
    uint32_t base = s->set.plan.reference;
    strbuf_add(out, str_from_c(m->row_begin));
    add_code(out, s->commands[i].name, m);
    strbuf_add(out, str_from_c(m->cell));
    add_column_time(out, column, g->summary.mean);
    if (isfinite(g->summary.deviation)) {
        strbuf_add(out, STR(" ± "));
        add_column_time(out, column, g->summary.deviation);
    }
    strbuf_add(out, str_from_c(m->cell));
    add_column_time(out, column, g->summary.min);
    strbuf_add(out, str_from_c(m->cell));
    add_column_time(out, column, g->summary.max);
    strbuf_add(out, str_from_c(m->cell));
    // Where runs were paired, the ratio of the comparison with its interval.
    const Comparison *c = &g->comparison;
    if (i != base && c->pairs && isfinite(c->ratio.high))
        strbuf_printf(out, "%.2f [%.2f … %.2f]", c->ratio.point, c->ratio.low, c->ratio.high);
    else if (!alone && i == base)
        strbuf_add(out, STR("1.00"));
    else if (!alone && s->set.groups[base].summary.mean > 0)
        strbuf_printf(out, "%.2f", g->summary.mean / s->set.groups[base].summary.mean);
    else if (!alone)
        strbuf_add(out, STR("N/A"));
    strbuf_add(out, str_from_c(m->row_end));
}

// A place in a table.
typedef struct TableRow {
    RunSummaries *family;
    uint32_t group;
} TableRow;

// The measurements that have runs in the order of `sort`; `*ret` of them in heap memory.
static TableRow *table_rows(const RunFamilies *all, RunSort sort, size_t *ret)
{
    size_t n = 0, most = 0;
    for (size_t k = 0; k < all->len; k++)
        most += all->at[k].set.count;
    TableRow *rows = heap_alloc((most + 1) * sizeof(*rows));
    for (size_t k = 0; k < all->len; k++)
        for (uint32_t i = 0; i < all->at[k].set.count; i++) {
            RunGroup *groups = all->at[k].set.groups;
            size_t at = n;
            if (groups[i].runs.len == 0)
                continue;
            for (; sort == RUN_SORT_MEAN && at > 0; at--) {
                TableRow before = rows[at - 1];
                if (before.family->set.groups[before.group].summary.mean <= groups[i].summary.mean)
                    break;
                rows[at] = before;
            }
            rows[at] = (TableRow){&all->at[k], i};
            n++;
        }
    *ret = n;
    return rows;
}

static void add_markup(StrBuf *out, const RunFamilies *all, const RunFiles *f, const Markup *m)
{
    size_t n;
    TableRow *rows = table_rows(all, f->sort, &n);
    RunUnit unit = f->unit;
    if (unit == RUN_UNIT_AUTO && n)
        unit =
            rows[0].family->set.groups[rows[0].group].summary.mean < 1 ? RUN_UNIT_MS : RUN_UNIT_S;
    TimeColumn column = time_column(unit);
    if (f->functions && f->unit == RUN_UNIT_AUTO)
        column.unit = NULL;
    else if (f->functions)
        column.places = -1;
    strbuf_add(out, str_from_c(m->head));
    strbuf_printf(out, "%sCommand", m->row_begin);
    static const char *const names[] = {"Mean", "Min", "Max"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        strbuf_printf(out, "%s%s", m->cell, names[i]);
        if (column.unit)
            strbuf_printf(out, " [%s]", column.unit);
    }
    strbuf_printf(out, "%sRelative%s", m->cell, m->row_end);
    strbuf_add(out, str_from_c(m->rule));
    for (size_t i = 0; i < n; i++) {
        bool alone = f->functions && rows[i].family->set.count == 1;
        add_markup_row(out, rows[i].family, rows[i].group, alone, &column, m);
    }
    strbuf_add(out, str_from_c(m->tail));
    heap_free(rows);
}

void run_files_markdown(StrBuf *out, const RunFamilies *all, const RunFiles *f)
{
    add_markup(out, all, f,
               &(Markup){"", "|:---|---:|---:|---:|---:|\n", "| ", " |\n", " | ", "`", "`", ""});
}

void run_files_asciidoc(StrBuf *out, const RunFamilies *all, const RunFiles *f)
{
    add_markup(
        out, all, f,
        &(Markup){"[cols=\"<,>,>,>,>\"]\n|===\n", "", "| ", " \n\n", " \n| ", "`", "`", "|===\n"});
}

void run_files_orgmode(StrBuf *out, const RunFamilies *all, const RunFiles *f)
{
    add_markup(out, all, f,
               &(Markup){"", "|--+--+--+--+--|\n", "| ", " |\n", "  |  ", "=", "=", ""});
}

// ---- JUnit -------------------------------------------------------------------

typedef enum CaseResult { CASE_PASSED, CASE_FAILED, CASE_SKIPPED } CaseResult;

// Whether a measurement is a test case: the reference is none, unless it stands alone.
static bool is_case(const RunSet *set, uint32_t i, bool functions)
{
    return i != set->plan.reference || (functions && set->count == 1);
}

static CaseResult case_result(const RunSet *set, uint32_t i, double limit)
{
    const Comparison *c = &set->groups[i].comparison;
    if (i == set->plan.reference) // of a function that is compared with nothing
        return CASE_PASSED;
    return c->pairs && c->ratio.low > 1 + limit        ? CASE_FAILED
           : !(c->pairs && c->ratio.high <= 1 + limit) ? CASE_SKIPPED
                                                       : CASE_PASSED;
}

static void add_case(StrBuf *out, const RunSummaries *s, uint32_t i, double limit)
{
    const Comparison *c = &s->set.groups[i].comparison;
    double mean = s->set.groups[i].summary.mean;
    CaseResult result = case_result(&s->set, i, limit);
    strbuf_add(out, STR("  <testcase name=\""));
    strbuf_add_xml(out, s->commands[i].name);
    strbuf_printf(out, "\" time=\"%.*f\">", mean < 1e-3 ? 12 : 6, mean);
    if (result == CASE_FAILED)
        strbuf_printf(out, "<failure message=\"%.4g times as long, at least %.4g\"/>",
                      c->ratio.point, c->ratio.low);
    else if (result == CASE_SKIPPED && c->pairs)
        strbuf_printf(out,
                      "<skipped message=\"inconclusive: %.4g times as long, "
                      "%.4g to %.4g\"/>",
                      c->ratio.point, c->ratio.low, c->ratio.high);
    else if (result == CASE_SKIPPED)
        strbuf_add(out, STR("<skipped message=\"no runs to compare\"/>"));
    strbuf_add(out, STR("</testcase>\n"));
}

void run_files_junit(StrBuf *out, const RunFamilies *all, const RunFiles *f)
{
    uint32_t results[3] = {0};
    for (size_t k = 0; k < all->len; k++)
        for (uint32_t i = 0; i < all->at[k].set.count; i++)
            if (is_case(&all->at[k].set, i, f->functions))
                results[case_result(&all->at[k].set, i, f->junit_limit)]++;
    strbuf_printf(out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<testsuite name=\"assay bench\" tests=\"%u\" failures=\"%u\" skipped=\"%u\">\n",
                  results[CASE_PASSED] + results[CASE_FAILED] + results[CASE_SKIPPED],
                  results[CASE_FAILED], results[CASE_SKIPPED]);
    for (size_t k = 0; k < all->len; k++)
        for (uint32_t i = 0; i < all->at[k].set.count; i++)
            if (is_case(&all->at[k].set, i, f->functions))
                add_case(out, &all->at[k], i, f->junit_limit);
    strbuf_add(out, STR("</testsuite>\n"));
}
