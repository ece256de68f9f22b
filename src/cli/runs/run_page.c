// SPDX-License-Identifier: Apache-2.0
// Benches as a block of the page and a table of its summary.

#include "cli/runs/runs_page.h"

#include <math.h>

#include "cli/runs/run_shapes.h"
#include "cli/runs/run_text.h"

enum { DENSITY_POINTS = 160, DENSITY_MOST = 1000, LEVEL = 6, NAME_COLUMNS = 400 };

// ---- Figures as JSON -------------------------------------------------------------------

static void add_interval(JsonWriter *json, const char *key, const Interval *i)
{
    json_begin_array(json, key);
    json_double(json, NULL, i->low);
    json_double(json, NULL, i->high);
    json_end(json);
}

static void add_comparison(JsonWriter *json, const Comparison *c)
{
    StrBuf text = {0};
    if (run_has_interval(c))
        run_add_interval(&text, &c->ratio);
    else
        run_add_change(&text, c->ratio.point);
    json_begin_object(json, "comparison");
    json_u64(json, "pairs", c->pairs);
    json_double(json, "ratio", c->ratio.point);
    add_interval(json, "interval", &c->ratio);
    json_bool(json, "differs", c->differs);
    json_str(json, "verdict", str_from_c(verdict_name(c->verdict)));
    json_str(json, "text", strbuf_str(&text));
    json_end(json);
    strbuf_deinit(&text);
}

static void add_causes(JsonWriter *json, const RunSummary *s)
{
    json_begin_array(json, "causes");
    for (int i = 0; i < CAUSE_COUNT; i++)
        if (s->causes[i]) {
            json_begin_array(json, NULL);
            json_str(json, NULL, str_from_c(outlier_cause_name((OutlierCause)i)));
            json_u64(json, NULL, s->causes[i]);
            json_end(json);
        }
    json_end(json);
}

// A time as a whole number of the block's parts of a second.
static int64_t in_parts(double seconds, double parts)
{
    double whole = round(seconds * parts);
    return whole > -9e18 && whole < 9e18 ? (int64_t)whole : 0;
}

static void add_command(JsonWriter *json, const RunSummaries *all, uint32_t i, double parts)
{
    const RunGroup *g = &all->set.groups[i];
    const RunSummary *s = &g->summary;
    int64_t total = 0; // wraps as the page's check does not: it leaves sums above 2^53 out
    for (size_t k = 0; k < g->runs.len; k++)
        total = (int64_t)((uint64_t)total + (uint64_t)in_parts(g->runs.at[k].time_s, parts));
    json_begin_object(json, NULL);
    json_str(json, "name", all->commands[i].name);
    json_str(json, "command", all->commands[i].command);
    json_u64(json, "runs", g->runs.len);
    json_u64(json, "warmups", all->commands[i].warmups);
    json_i64(json, "total", total);
    if (g->runs.len) {
        json_double(json, "mean", s->mean);
        json_double(json, "deviation", s->deviation);
        json_double(json, "median", s->median);
        add_interval(json, "interval", &s->median_interval);
        json_double(json, "min", s->min);
        json_double(json, "max", s->max);
        json_double(json, "user", s->user);
        json_double(json, "system", s->system);
        if (s->peak_rss_bytes && !s->peak_rss_is_floor)
            json_u64(json, "memory", s->peak_rss_bytes);
        add_causes(json, s);
    }
    if (i != all->set.plan.reference && g->comparison.pairs)
        add_comparison(json, &g->comparison);
    json_end(json);
}

// Families and growths are the same benches of commands; of functions they differ.
static void add_growth(JsonWriter *json, RunSummaries *all)
{
    RunGrowth g;
    if (!run_growth(all, &g))
        return;
    json_begin_object(json, NULL);
    json_str(json, "parameter", g.parameter);
    json_double(json, "slope", g.fit.slope);
    json_double(json, "low", g.fit.slope_low);
    json_double(json, "high", g.fit.slope_high);
    json_double(json, "intercept", g.fit.intercept);
    json_begin_array(json, "points");
    for (size_t i = 0; i < g.count; i++) {
        json_begin_array(json, NULL);
        json_double(json, NULL, exp(g.log_value[i]));
        json_double(json, NULL, exp(g.log_median[i]));
        json_end(json);
    }
    json_end(json);
    json_end(json);
}

static void add_set(JsonWriter *json, RunSummaries *all, double parts)
{
    double from, to;
    run_times_range(all, &from, &to);
    json_begin_object(json, NULL);
    json_u64(json, "reference", all->set.plan.reference);
    json_bool(json, "grouped", all->set.plan.grouped);
    json_bool(json, "cpu_clock", all->set.plan.cpu_clock);
    json_bool(json, "without_waiting", all->set.without_waiting);
    json_double(json, "from", from);
    json_double(json, "to", to);
    json_begin_array(json, "commands");
    for (uint32_t i = 0; i < all->set.count; i++)
        add_command(json, all, i, parts);
    json_end(json);
    json_end(json);
}

static void add_machine(JsonWriter *json, const RunSummaries *all)
{
    json_str(json, "command_line", all->command_line);
    json_begin_array(json, "machine");
    json_str(json, NULL, all->machine.hostname);
    json_str(json, NULL, all->machine.cpu_model);
    json_str(json, NULL, all->machine.kernel);
    json_end(json);
    json_u64(json, "cpus", all->machine.cpus);
}

// ---- Runs as columns -------------------------------------------------------------------

// Parts of a second in which the times are written: nanoseconds, or of functions picoseconds.
static double parts_of(const RunFamilies *f)
{
    double least = INFINITY;
    for (size_t i = 0; i < f->len; i++)
        for (uint32_t k = 0; k < f->at[i].set.count; k++)
            if (f->at[i].set.groups[k].runs.len)
                least = MIN(least, f->at[i].set.groups[k].summary.min);
    return least < 1e-4 ? 1e12 : 1e9;
}

typedef int64_t (*RunNumber)(const RunSummaries *all, const MeasuredRun *run, double parts);

static int64_t time_of(const RunSummaries *all, const MeasuredRun *run, double parts)
{
    (void)all;
    return in_parts(run->time_s, parts);
}

static int64_t compared_of(const RunSummaries *all, const MeasuredRun *run, double parts)
{
    return in_parts(runs_compared_seconds(&all->set, run), parts);
}

static int64_t start_of(const RunSummaries *all, const MeasuredRun *run, double parts)
{
    (void)all;
    (void)parts;
    return run->start_ns;
}

// Sets, their commands, their runs, in this order.
static void add_column(ViewBlock *b, const char *name, const RunFamilies *f, RunNumber number,
                       double parts)
{
    view_column_begin(b);
    for (size_t i = 0; i < f->len; i++)
        for (uint32_t k = 0; k < f->at[i].set.count; k++) {
            const MeasuredRunVec *runs = &f->at[i].set.groups[k].runs;
            for (size_t r = 0; r < runs->len; r++)
                view_add_delta(b, number(&f->at[i], &runs->at[r], parts));
        }
    view_column_end(b, name, VIEW_DELTA);
}

// The density of each command's times, the highest being DENSITY_MOST.
static void add_densities(ViewBlock *b, const RunFamilies *f)
{
    view_column_begin(b);
    for (size_t i = 0; i < f->len; i++) {
        RunSummaries *all = &f->at[i];
        double from, to, density[DENSITY_POINTS] = {0};
        run_times_range(all, &from, &to);
        for (uint32_t k = 0; k < all->set.count; k++) {
            size_t n = all->set.groups[k].runs.len;
            double *times = runs_times(&all->arena, &all->set.groups[k]), most = 0;
            if (n) {
                stats_sort(times, n);
                stats_density(times, n, from, to, DENSITY_POINTS, density);
            }
            for (size_t d = 0; n && d < DENSITY_POINTS; d++)
                most = MAX(most, density[d]);
            for (size_t d = 0; d < DENSITY_POINTS; d++)
                view_add_u64(b, most > 0 ? (uint64_t)(density[d] / most * DENSITY_MOST) : 0);
        }
    }
    view_column_end(b, "density", VIEW_U32);
}

// ---- The summary -----------------------------------------------------------------------

static void add_time_cell(StrBuf *out, double seconds)
{
    strbuf_add(out, STR("<td>"));
    if (isfinite(seconds))
        run_add_time(out, seconds, RUN_UNIT_AUTO);
    strbuf_add(out, STR("</td>"));
}

static void add_row(StrBuf *out, const RunSummaries *all, uint32_t i)
{
    const RunGroup *g = &all->set.groups[i];
    const double figures[] = {g->summary.median, g->summary.mean, g->summary.deviation,
                              g->summary.min, g->summary.max};
    strbuf_add(out, STR("<tr>"));
    for (size_t k = 0; k < ARRAY_LEN(figures); k++)
        add_time_cell(out, g->runs.len ? figures[k] : NAN);
    strbuf_printf(out, "<td>%zu</td><td>", g->runs.len);
    if (i == all->set.plan.reference)
        strbuf_add(out, all->set.count > 1 ? STR("reference") : STR(""));
    else if (run_has_interval(&g->comparison))
        run_add_interval(out, &g->comparison.ratio);
    strbuf_add(out, STR("</td><td><code>"));
    view_add_shown(out, all->commands[i].name, NAME_COLUMNS, false);
    strbuf_add(out, STR("</code></td></tr>\n"));
}

void runs_page_add_report(StrBuf *out, Str report)
{
    Str line;
    strbuf_add(out, STR("<pre>"));
    while (str_next_line(&report, &line)) {
        strbuf_add_xml(out, line);
        strbuf_add_char(out, '\n');
    }
    strbuf_add(out, STR("</pre>\n"));
}

static void add_summary(StrBuf *out, const RunPage *runs)
{
    strbuf_add(out, STR("<h1>"));
    view_add_shown(out, runs->title, NAME_COLUMNS, false);
    strbuf_add(out, STR("</h1>\n<table class=\"runs\"><thead><tr><th scope=\"col\">median</th>"
                        "<th scope=\"col\">mean</th><th scope=\"col\">deviation</th>"
                        "<th scope=\"col\">least</th><th scope=\"col\">most</th>"
                        "<th scope=\"col\">runs</th><th scope=\"col\">change</th>"
                        "<th scope=\"col\">command</th></tr></thead><tbody>\n"));
    for (size_t i = 0; i < runs->families.len; i++)
        for (uint32_t k = 0; k < runs->families.at[i].set.count; k++)
            add_row(out, &runs->families.at[i], k);
    strbuf_add(out, STR("</tbody></table>\n"));
    runs_page_add_report(out, runs->report);
}

// ---- The page --------------------------------------------------------------------------

static void add_about(StrBuf *about, const ViewPage *page, const RunPage *runs, double parts)
{
    JsonWriter json;
    const RunFamilies *growths = runs->growths.len ? &runs->growths : &runs->families;
    view_about_begin(&json, about, page->recordings, "runs");
    json_str(&json, "form", STR("bench"));
    json_str(&json, "title", runs->title);
    if (runs->families.len)
        add_machine(&json, &runs->families.at[0]);
    json_str(&json, "report", runs->report);
    json_double(&json, "parts", parts);
    json_u64(&json, "density_points", DENSITY_POINTS);
    json_begin_array(&json, "sets");
    for (size_t i = 0; i < runs->families.len; i++)
        add_set(&json, &runs->families.at[i], parts);
    json_end(&json);
    json_begin_array(&json, "growths");
    for (size_t i = 0; i < growths->len; i++)
        add_growth(&json, &growths->at[i]);
    json_end(&json);
    if (runs->add_members)
        runs->add_members(&json, runs->ctx);
    json_end(&json);
}

bool run_page_add(ViewPage *page, const RunPage *runs, Error *err)
{
    ViewBlock b = {0};
    StrBuf about = {0};
    const RunFamilies *f = &runs->families;
    double parts = parts_of(f);
    bool without_waiting = false;
    for (size_t i = 0; i < f->len; i++)
        without_waiting |= f->at[i].set.without_waiting;
    add_about(&about, page, runs, parts);
    add_column(&b, "time", f, time_of, parts);
    add_column(&b, "start", f, start_of, parts);
    if (without_waiting)
        add_column(&b, "compared", f, compared_of, parts);
    add_densities(&b, f);
    bool ok = view_block_add(&b, strbuf_str(&about), LEVEL, &page->first, err);
    if (ok) {
        add_summary(&page->summary, runs);
        page->recordings++;
    }
    view_block_deinit(&b);
    strbuf_deinit(&about);
    return ok;
}

bool run_page_write(StrBuf *out, const RunPage *runs, Error *err)
{
    ViewPage page = {0};
    bool ok = run_page_add(&page, runs, err);
    if (ok)
        view_page_write(&page, runs->title, out);
    view_page_deinit(&page);
    return ok;
}
