// SPDX-License-Identifier: Apache-2.0
// A bench in the formats of files. Field names and layouts of JSON, CSV and the
// tables are those of hyperfine 1.20; what is ours stands under "assay".

#include <math.h>
#include <sys/wait.h>

#include "base/json.h"
#include "cli/bench/bench_profile.h"
#include "cli/bench/bench_report.h"

static void add_interval(JsonWriter *w, const char *key, Interval i)
{
    json_begin_object(w, key);
    json_double(w, "low", i.low);
    json_double(w, "point", i.point);
    json_double(w, "high", i.high);
    json_end(w);
}

static void add_machine(JsonWriter *w, const BenchMachine *m)
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

static void add_column(JsonWriter *w, const char *key, const BenchRunVec *runs,
                       int64_t (*get)(const BenchRun *))
{
    json_begin_array(w, key);
    for (size_t i = 0; i < runs->len; i++)
        json_i64(w, NULL, get(&runs->at[i]));
    json_end(w);
}

static int64_t get_wall(const BenchRun *r)
{
    return r->spawn.wall_ns;
}
static int64_t get_waited(const BenchRun *r)
{
    return r->spawn.waited_ns;
}
static int64_t get_user(const BenchRun *r)
{
    return r->spawn.user_ns;
}
static int64_t get_system(const BenchRun *r)
{
    return r->spawn.system_ns;
}
static int64_t get_delay(const BenchRun *r)
{
    return r->spawn.run_delay_ns;
}
static int64_t get_minor(const BenchRun *r)
{
    return (int64_t)r->spawn.minor_faults;
}
static int64_t get_major(const BenchRun *r)
{
    return (int64_t)r->spawn.major_faults;
}
static int64_t get_voluntary(const BenchRun *r)
{
    return (int64_t)r->spawn.voluntary_switches;
}
static int64_t get_involuntary(const BenchRun *r)
{
    return (int64_t)r->spawn.involuntary_switches;
}
static int64_t get_round(const BenchRun *r)
{
    return r->round;
}
static int64_t get_position(const BenchRun *r)
{
    return r->position;
}
static int64_t get_start(const BenchRun *r)
{
    return r->spawn.start_ns;
}

static void add_counts(JsonWriter *w, const Bench *b, const BenchRunVec *runs)
{
    json_begin_object(w, "counters");
    for (uint32_t c = 0; c < b->counter_count; c++) {
        if (!b->counters[c].open)
            continue;
        json_begin_array(w, b->counters[c].name);
        for (size_t i = 0; i < runs->len; i++)
            json_double(w, NULL, runs->at[i].spawn.counts[c]); // null: not counted
        json_end(w);
    }
    json_end(w);
}

static void add_result_extras(JsonWriter *w, const Bench *b, const BenchResult *r)
{
    const BenchSummary *s = &r->summary;
    json_begin_object(w, "assay");
    add_interval(w, "median_interval", s->median_interval);
    json_double(w, "mad", s->mad);
    json_u64(w, "peak_rss_bytes", s->peak_rss_bytes);
    json_bool(w, "peak_rss_exact", r->weighed);
    json_i64(w, "peak_rss_correction_bytes", r->rss_correction_bytes);
    json_double(w, "shell_time", r->shell_time_s);
    json_double(w, "lag1_autocorrelation", s->lag1);
    json_double(w, "effective_runs", s->effective_runs);
    json_u64(w, "steady_after", s->steady.prefix);
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
    add_counts(w, b, &r->runs);
    json_end(w);
    json_end(w);
}

static void add_result(JsonWriter *w, const Bench *b, const BenchCommand *c, const BenchResult *r)
{
    const BenchSummary *s = &r->summary;
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
        json_u64(w, NULL, bench_peak_memory(r, &r->runs.at[i]));
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
    add_result_extras(w, b, r);
    json_end(w);
}

static void add_comparison(JsonWriter *w, const Bench *b, uint32_t i)
{
    const Comparison *c = &b->comparisons[i];
    json_begin_object(w, NULL);
    json_str(w, "reference", b->commands.at[b->options.reference].name);
    json_str(w, "command", b->commands.at[i].name);
    json_str(w, "method", str_from_c(compare_method_name(c->method)));
    json_str(w, "verdict", str_from_c(verdict_name(c->verdict)));
    json_bool(w, "differs", c->differs);
    add_interval(w, "ratio", c->ratio);
    json_bool(w, "without_waiting", b->without_waiting);
    if (b->without_waiting)
        add_interval(w, "elapsed_ratio", b->results[i].elapsed_ratio);
    json_double(w, "p", c->p);
    json_double(w, "p_holm", b->adjusted_p[i]);
    json_double(w, "sign_p", c->sign_p);
    json_u64(w, "pairs", c->pairs);
    json_double(w, "least_effect_seen", c->least_seen);
    json_double(w, "more_pairs_needed", c->more_pairs);
    json_double(w, "dependence_in_blocks", c->dependence);
    json_double(w, "lag1_autocorrelation", c->lag1);
    json_begin_object(w, "counters");
    for (uint32_t k = 0; k < b->counter_count; k++)
        if (b->results[i].count_ratios[k].low > 0)
            add_interval(w, b->counters[k].name, b->results[i].count_ratios[k]);
    json_end(w);
    json_end(w);
}

void bench_export_json(StrBuf *out, Bench *b, const BenchView *v)
{
    JsonWriter w = json_writer(out, 2);
    json_begin_object(&w, NULL);
    json_begin_array(&w, "results");
    for (uint32_t i = 0; i < b->commands.len; i++)
        if (b->results[i].runs.len)
            add_result(&w, b, &b->commands.at[i], &b->results[i]);
    json_end(&w);
    json_begin_object(&w, "assay");
    json_u64(&w, "schema", 1);
    json_str(&w, "version", STR(ASSAY_VERSION));
    json_str(&w, "command_line", v->command_line);
    json_str(&w, "order", b->options.grouped ? STR("grouped") : STR("interleaved"));
    json_str(&w, "clock", bench_clock_name(b));
    if (!b->server.kernel_clock)
        json_str(&w, "clock_reason", str_from_c(b->server.clock_reason));
    json_u64(&w, "seed", b->options.seed);
    json_double(&w, "level", b->options.level);
    json_double(&w, "margin", b->options.until > 0 ? b->options.until : b->options.margin);
    json_bool(&w, "interrupted", b->interrupted);
    json_double(&w, "pair_gap_ratio", b->gap_ratio);
    json_double(&w, "waiting_share", b->waiting_share);
    json_double(&w, "cpu_speed_change", b->speed_change);
    add_machine(&w, &v->machine);
    json_begin_array(&w, "comparisons");
    for (uint32_t i = 0; i < b->commands.len; i++)
        if (i != b->options.reference && b->comparisons[i].pairs)
            add_comparison(&w, b, i);
    json_end(&w);
    if (v->profile)
        bench_profile_json(&w, b, v->profile);
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

void bench_export_csv(StrBuf *out, Bench *b, const BenchView *v)
{
    (void)v;
    strbuf_add(out, STR("command,mean,stddev,median,user,system,min,max"));
    const BenchParameterVec *first = &b->commands.at[0].parameters;
    // The reference has no parameters; the others all have the same.
    for (size_t i = 0; i < b->commands.len && first->len == 0; i++)
        first = &b->commands.at[i].parameters;
    for (size_t i = 0; i < first->len; i++) {
        StrBuf name = {0};
        strbuf_printf(&name, "parameter_%" STR_FMT, STR_ARG(first->at[i].name));
        strbuf_add_char(out, ',');
        strbuf_add_csv(out, strbuf_str(&name));
        strbuf_deinit(&name);
    }
    strbuf_add_char(out, '\n');
    for (uint32_t i = 0; i < b->commands.len; i++) {
        const BenchSummary *s = &b->results[i].summary;
        if (b->results[i].runs.len == 0)
            continue;
        const double row[] = {s->mean, s->deviation, s->median, s->user, s->system, s->min, s->max};
        strbuf_add_csv(out, b->commands.at[i].name);
        for (size_t k = 0; k < ARRAY_LEN(row); k++) {
            strbuf_add_char(out, ',');
            add_number(out, row[k]);
        }
        for (size_t k = 0; k < first->len; k++) {
            const BenchParameterVec *p = &b->commands.at[i].parameters;
            strbuf_add_char(out, ',');
            if (k < p->len)
                strbuf_add_csv(out, p->at[k].value);
        }
        strbuf_add_char(out, '\n');
    }
}

// ---- Tables ----------------------------------------------------------------

// How a markup writes a table. Cells are cut from one row format.
typedef struct Markup {
    const char *head, *rule, *row_begin, *row_end, *cell, *code, *code_end, *tail;
} Markup;

static void add_markup(StrBuf *out, Bench *b, const BenchView *v, const Markup *m)
{
    uint32_t *order = bench_order(b, v->sort == BENCH_SORT_MEAN ? v->sort : BENCH_SORT_COMMAND);
    BenchUnit unit = v->unit;
    double scale = 1;
    uint32_t base = b->options.reference;
    if (unit == BENCH_UNIT_AUTO)
        unit = b->results[order[0]].summary.mean < 1 ? BENCH_UNIT_MS : BENCH_UNIT_S;
    scale = unit == BENCH_UNIT_US ? 1e6 : unit == BENCH_UNIT_MS ? 1e3 : 1;
    int places = unit == BENCH_UNIT_S ? 3 : 1;
    const char *name = unit == BENCH_UNIT_US ? "µs" : unit == BENCH_UNIT_MS ? "ms" : "s";

    strbuf_add(out, str_from_c(m->head));
    strbuf_printf(out, "%sCommand%sMean [%s]%sMin [%s]%sMax [%s]%sRelative%s", m->row_begin,
                  m->cell, name, m->cell, name, m->cell, name, m->cell, m->row_end);
    strbuf_add(out, str_from_c(m->rule));
    for (uint32_t k = 0; k < b->commands.len; k++) {
        uint32_t i = order[k];
        const BenchSummary *s = &b->results[i].summary;
        if (b->results[i].runs.len == 0)
            continue;
        strbuf_printf(out, "%s%s", m->row_begin, m->code);
        for (size_t c = 0; c < b->commands.at[i].name.len; c++) {
            char ch = b->commands.at[i].name.ptr[c];
            if (ch == '|')
                strbuf_add_char(out, '\\');
            strbuf_add_char(out, ch == '\n' ? ' ' : ch);
        }
        strbuf_printf(out, "%s%s%.*f", m->code_end, m->cell, places, s->mean * scale);
        if (isfinite(s->deviation))
            strbuf_printf(out, " ± %.*f", places, s->deviation * scale);
        strbuf_printf(out, "%s%.*f%s%.*f%s", m->cell, places, s->min * scale, m->cell, places,
                      s->max * scale, m->cell);
        // Where runs were paired, the ratio of the comparison with its interval.
        const Comparison *c = &b->comparisons[i];
        if (i != base && c->pairs && isfinite(c->ratio.high))
            strbuf_printf(out, "%.2f [%.2f … %.2f]", c->ratio.point, c->ratio.low, c->ratio.high);
        else
            strbuf_printf(out, "%.2f", s->mean / b->results[base].summary.mean);
        strbuf_add(out, str_from_c(m->row_end));
    }
    strbuf_add(out, str_from_c(m->tail));
}

void bench_export_markdown(StrBuf *out, Bench *b, const BenchView *v)
{
    add_markup(out, b, v,
               &(Markup){"", "|:---|---:|---:|---:|---:|\n", "| ", " |\n", " | ", "`", "`", ""});
}

void bench_export_asciidoc(StrBuf *out, Bench *b, const BenchView *v)
{
    add_markup(
        out, b, v,
        &(Markup){"[cols=\"<,>,>,>,>\"]\n|===\n", "", "| ", " \n\n", " \n| ", "`", "`", "|===\n"});
}

void bench_export_orgmode(StrBuf *out, Bench *b, const BenchView *v)
{
    add_markup(out, b, v, &(Markup){"", "|--+--+--+--+--|\n", "| ", " |\n", "  |  ", "=", "=", ""});
}

void bench_export_junit(StrBuf *out, Bench *b, const BenchView *v, double limit)
{
    (void)v;
    uint32_t cases = 0, failures = 0, skipped = 0;
    for (uint32_t i = 0; i < b->commands.len; i++) {
        const Comparison *c = &b->comparisons[i];
        if (i == b->options.reference)
            continue;
        cases++;
        bool slower = c->pairs && c->ratio.low > 1 + limit;
        failures += slower;
        skipped += !slower && !(c->pairs && c->ratio.high <= 1 + limit);
    }
    strbuf_printf(out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<testsuite name=\"assay bench\" tests=\"%u\" failures=\"%u\" skipped=\"%u\">\n",
                  cases, failures, skipped);
    for (uint32_t i = 0; i < b->commands.len; i++) {
        const Comparison *c = &b->comparisons[i];
        if (i == b->options.reference)
            continue;
        strbuf_add(out, STR("  <testcase name=\""));
        strbuf_add_xml(out, b->commands.at[i].name);
        strbuf_printf(out, "\" time=\"%.6f\">", b->results[i].summary.mean);
        if (c->pairs && c->ratio.low > 1 + limit)
            strbuf_printf(out, "<failure message=\"%.4g times as long, at least %.4g\"/>",
                          c->ratio.point, c->ratio.low);
        else if (!c->pairs || !(c->ratio.high <= 1 + limit))
            strbuf_printf(out,
                          "<skipped message=\"inconclusive: %.4g times as long, "
                          "%.4g to %.4g\"/>",
                          c->ratio.point, c->ratio.low, c->ratio.high);
        strbuf_add(out, STR("</testcase>\n"));
    }
    strbuf_add(out, STR("</testsuite>\n"));
}
