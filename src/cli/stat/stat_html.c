// SPDX-License-Identifier: Apache-2.0
// A page of counts.

#include "cli/stat/stat_html.h"

#include <math.h>

#include "cli/plot.h"
#include "cli/runs/counts_text.h"
#include "model/facts.h"

enum { PANEL = 170, POINTS_MAX = 4000 };

static void tick_number(StrBuf *out, double value)
{
    static const struct {
        double from;
        const char *name;
    } scales[] = {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e4, " k"}};
    for (size_t i = 0; i < ARRAY_LEN(scales); i++)
        if (fabs(value) >= scales[i].from) {
            double by = scales[i].from >= 1e6 ? scales[i].from : 1e3;
            strbuf_printf(out, "%.4g%s", value / by, scales[i].name);
            return;
        }
    strbuf_printf(out, "%.4g", value);
}

static void tick_milliseconds(StrBuf *out, double value)
{
    strbuf_printf(out, "%.4g ms", value / 1e6);
}

static void tick_seconds(StrBuf *out, double value)
{
    strbuf_printf(out, "%.3g s", value);
}

static void tick_run(StrBuf *out, double value)
{
    if (value == floor(value) && value >= 1)
        strbuf_printf(out, "run %.0f", value);
}

static PlotScale range_of(const DoubleVec *v, bool from_zero, double low, double high)
{
    PlotScale s = {from_zero ? 0 : INFINITY, -INFINITY, low, high};
    for (size_t i = 0; i < v->len; i++) {
        s.from = MIN(s.from, v->at[i]);
        s.to = MAX(s.to, v->at[i]);
    }
    if (!(s.to > s.from))
        s.to = s.from + 1;
    return s;
}

// One event over the runs, with the interval of its mean, or over time.
static double add_panel(StrBuf *out, const Counts *c, const CountRow *row,
                        const CountPoints *points, uint32_t number, double y)
{
    const Profile *p = c->profile;
    bool over_time = p->series.time_ns.len > 0, is_time = counts_is_time(p, row);
    Interval mean = row->value.interval;
    PlotScale v = range_of(&points->y, true, y + PANEL - 30, y + 30);
    PlotScale x = range_of(&points->x, over_time, PLOT_LEFT + 10, PLOT_WIDTH - PLOT_RIGHT - 10);
    StrBuf title = {0};
    if (row->part.v) {
        strbuf_add(&title, profile_text(p, row->part));
        strbuf_add(&title, STR(" "));
    }
    strbuf_add(&title, profile_text(p, p->metrics.name.at[row->metric.v]));
    if (over_time)
        strbuf_add(&title, is_time ? STR(", of each second") : STR(", a second"));
    plot_heading(out, y + 16, strbuf_str(&title));
    strbuf_deinit(&title);
    plot_axis(out, &v, true, 0, is_time ? tick_milliseconds : tick_number);
    plot_axis(out, &x, false, y + PANEL - 30, over_time ? tick_seconds : tick_run);
    if (isfinite(mean.low) && isfinite(mean.high)) {
        double top = plot_at(&v, MIN(v.to, mean.high));
        double end = plot_at(&v, MAX(v.from, mean.low));
        strbuf_printf(out,
                      "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\" "
                      "fill-opacity=\"0.2\"/>\n",
                      PLOT_LEFT, top, PLOT_WIDTH - PLOT_RIGHT - PLOT_LEFT, MAX(1.0, end - top),
                      plot_colour(number));
    }
    size_t step = points->x.len / POINTS_MAX + 1;
    if (over_time) {
        strbuf_printf(out, "<path fill=\"none\" stroke=\"%s\" d=\"", plot_colour(number));
        for (size_t i = 0; i < points->x.len; i += step)
            strbuf_printf(out, "%c%.1f %.1f", i ? 'L' : 'M', plot_at(&x, points->x.at[i]),
                          plot_at(&v, points->y.at[i]));
        strbuf_add(out, STR("\"/>\n"));
    }
    strbuf_printf(out, "<g fill=\"%s\" fill-opacity=\"0.7\">\n", plot_colour(number));
    for (size_t i = 0; i < points->x.len; i += step)
        strbuf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"/>\n",
                      plot_at(&x, points->x.at[i]), plot_at(&v, points->y.at[i]));
    strbuf_add(out, STR("</g>\n"));
    return y + PANEL + 10;
}

static void add_cell(StrBuf *out, Str text, bool is_text)
{
    strbuf_add(out, is_text ? STR("<td class=\"t\">") : STR("<td>"));
    strbuf_add_xml(out, text);
    strbuf_add(out, STR("</td>"));
}

// The text that `add` appends, as a cell.
static void add_made_cell(StrBuf *out, void (*add)(StrBuf *out, const Profile *p, const CountRow *),
                          const Profile *p, const CountRow *row)
{
    StrBuf text = {0};
    add(&text, p, row);
    add_cell(out, strbuf_str(&text), false);
    strbuf_deinit(&text);
}

static void add_derived(StrBuf *out, const Profile *p, const CountRow *row)
{
    (void)p;
    if (row->derived.unit)
        strbuf_printf(out, "%.3f %s", row->derived.value, row->derived.unit);
}

static void add_spread(StrBuf *out, const Profile *p, const CountRow *row)
{
    if (!isnan(row->value.error))
        counts_add_spread(out, p, row);
}

static void add_share(StrBuf *out, const Profile *p, const CountRow *row)
{
    (void)p;
    if (!isnan(row->value.mean) && row->running_share < 99.995)
        strbuf_printf(out, "%.1f %% of the time, scaled", row->running_share);
}

static void add_value_cell(StrBuf *out, const Profile *p, const CountRow *row)
{
    counts_add_value(out, p, row, false);
}

static void add_table(StrBuf *out, const Counts *c)
{
    const Profile *p = c->profile;
    bool parts = false;
    for (size_t i = 0; i < c->rows.len; i++)
        parts |= c->rows.at[i].part.v != 0;
    strbuf_add(out, STR("<table><tr>"));
    if (parts)
        strbuf_add(out, STR("<th class=\"t\">of</th>"));
    strbuf_add(out, STR("<th class=\"t\">event</th><th>count</th><th>that is</th>"
                        "<th>± error [95 % interval]</th><th>counted</th></tr>\n"));
    for (size_t i = 0; i < c->rows.len; i++) {
        const CountRow *row = &c->rows.at[i];
        strbuf_add(out, STR("<tr>"));
        if (parts)
            add_cell(out, profile_text(p, row->part), true);
        add_cell(out, profile_text(p, p->metrics.name.at[row->metric.v]), true);
        add_made_cell(out, add_value_cell, p, row);
        add_made_cell(out, add_derived, p, row);
        add_made_cell(out, add_spread, p, row);
        add_made_cell(out, add_share, p, row);
        strbuf_add(out, STR("</tr>\n"));
    }
    strbuf_add(out, STR("</table>\n"));
}

// The heading and the machine, both escaped.
static void add_head(StrBuf *out, const Counts *c)
{
    static const char *const facts[] = {FACT_HOSTNAME, FACT_CPU_MODEL, FACT_CPU_COUNT, FACT_KERNEL};
    StrBuf heading = {0};
    counts_add_heading(&heading, c);
    strbuf_add(out, STR("<p>"));
    strbuf_add_xml(out, str_trim(strbuf_str(&heading)));
    strbuf_add(out, STR("<br>"));
    for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
        strbuf_add(out, i ? STR(", ") : STR(""));
        strbuf_add_xml(out, profile_fact(c->profile, str_from_c(facts[i])));
        if (strcmp(facts[i], FACT_CPU_COUNT) == 0)
            strbuf_add(out, STR(" CPUs"));
    }
    strbuf_add(out, STR("</p>\n"));
    strbuf_deinit(&heading);
}

void stat_html(StrBuf *out, Arena *scratch, const Counts *c, bool each_run)
{
    StrBuf pictures = {0}, below = {0};
    double y = 0;
    plot_page_begin(out, "assay stat");
    add_head(out, c);
    add_table(out, c);
    counts_add_times(&below, c, each_run);
    counts_add_warnings(&below, c->profile);
    strbuf_add(out, STR("<pre>"));
    Str rest = strbuf_str(&below), line;
    while (str_next_line(&rest, &line)) {
        strbuf_add_xml(out, line);
        strbuf_add_char(out, '\n');
    }
    strbuf_add(out, STR("</pre>\n"));
    const CountPoints *points = counts_points(scratch, c);
    for (size_t i = 0; i < c->rows.len; i++)
        if (points[i].x.len > 1)
            y = add_panel(&pictures, c, &c->rows.at[i], &points[i], (uint32_t)i, y);
    if (y > 0)
        plot_svg(out, strbuf_str(&pictures), y + 10);
    strbuf_deinit(&pictures);
    strbuf_deinit(&below);
    plot_page_end(out);
}
