// SPDX-License-Identifier: Apache-2.0
// Runs as pictures: distributions with the runs under them, runs over time,
// ratios of pairs, growth over a parameter. One self-contained SVG file.

#include "cli/runs/run_report.h"

#include <math.h>

#include "cli/plot.h"
#include "cli/runs/run_shapes.h"

enum {
    WIDTH = PLOT_WIDTH,
    LEFT = PLOT_LEFT,
    RIGHT = PLOT_RIGHT,
    ROW = 78,          // of a distribution
    PANEL = 240,       // of the others
    POINTS_MAX = 4000, // runs drawn in one panel; more are thinned
    DENSITY_POINTS = 160
};

static void tick_time(StrBuf *out, double value)
{
    run_add_time(out, value, RUN_UNIT_AUTO);
}

static void tick_percent(StrBuf *out, double value)
{
    double percent = value * 100;
    strbuf_printf(out,
                  value == 0              ? "%.3g %%"
                  : fabs(percent) >= 1000 ? "%+.0f %%"
                                          : "%+.3g %%",
                  percent);
}

static void tick_seconds(StrBuf *out, double value)
{
    strbuf_printf(out, "%.3g s", value);
}

// How far a picture reaches: a few far-out values would press all others into a line.
static double reach_step(const double *sorted, size_t n)
{
    double quarter = stats_percentile_sorted(sorted, n, 0.25);
    double three = stats_percentile_sorted(sorted, n, 0.75);
    return 6 * MAX(three - quarter, 0.005 * fabs(three));
}

static double reach_below(const double *sorted, size_t n)
{
    double far = stats_percentile_sorted(sorted, n, 0.25) - reach_step(sorted, n);
    return MAX(sorted[0], far);
}

static void add_beyond(StrBuf *title, size_t beyond)
{
    if (beyond)
        strbuf_printf(title, " (%zu beyond the edge)", beyond);
}

static size_t runs_beyond(const RunSummaries *all, double limit)
{
    size_t beyond = 0;
    for (uint32_t i = 0; i < all->set.count; i++)
        for (size_t k = 0; k < all->set.groups[i].runs.len; k++)
            beyond += all->set.groups[i].runs.at[k].time_s > limit;
    return beyond;
}

static PlotScale time_range(RunSummaries *all, double low, double high)
{
    PlotScale s = {.low = low, .high = high};
    run_times_range(all, &s.from, &s.to);
    return s;
}

// A name that fits the margin, cut between characters.
static Str short_label(RunSummaries *all, Str name)
{
    enum { FITS = 24 };
    if (str_columns(name) <= FITS)
        return name;
    size_t end = 0;
    while (end < name.len && str_columns(str_slice(name, 0, end)) < FITS - 1)
        do
            end++;
        while (end < name.len && ((unsigned char)name.ptr[end] & 0xc0) == 0x80);
    return arena_printf(&all->arena, "%" STR_FMT "…", STR_ARG(str_slice(name, 0, end)));
}

static double add_distributions(StrBuf *out, RunSummaries *all, double y)
{
    PlotScale x = time_range(all, LEFT, WIDTH - RIGHT);
    StrBuf title = {0};
    strbuf_add(&title,
               STR("Distribution of the times, the runs under it, median with 95 % interval"));
    add_beyond(&title, runs_beyond(all, x.to));
    plot_heading(out, y + 16, strbuf_str(&title));
    strbuf_deinit(&title);
    y += 30;
    for (uint32_t i = 0; i < all->set.count; i++, y += ROW) {
        const RunSummary *s = &all->set.groups[i].summary;
        size_t n = all->set.groups[i].runs.len;
        double *times = runs_times(&all->arena, &all->set.groups[i]), density[DENSITY_POINTS],
               most = 0;
        double base = y + ROW - 24;
        Str name = all->commands[i].name;
        plot_text(out, LEFT - 10, base - 8, "end", short_label(all, name));
        if (n == 0)
            continue;
        stats_sort(times, n);
        stats_density(times, n, x.from, x.to, DENSITY_POINTS, density);
        for (size_t k = 0; k < DENSITY_POINTS; k++)
            most = MAX(most, density[k]);
        strbuf_printf(out, "<path fill=\"%s\" fill-opacity=\"0.35\" stroke=\"%s\" d=\"M%.1f %.1f",
                      plot_colour(i), plot_colour(i), x.low, base);
        for (size_t k = 0; k < DENSITY_POINTS; k++)
            strbuf_printf(out, "L%.1f %.1f",
                          x.low + (x.high - x.low) * (double)k / (DENSITY_POINTS - 1),
                          base - (most > 0 ? density[k] / most : 0) * (ROW - 32));
        strbuf_printf(out, "L%.1f %.1fZ\"/>\n<path stroke=\"%s\" stroke-opacity=\"0.5\" d=\"",
                      x.high, base, plot_colour(i));
        size_t step = n / POINTS_MAX + 1;
        for (size_t k = 0; k < n; k += step)
            if (times[k] <= x.to)
                strbuf_printf(out, "M%.1f %.1fv7", plot_at(&x, times[k]), base + 2);
        strbuf_add(out, STR("\"/>\n"));
        plot_line(out, plot_at(&x, s->median), base - (ROW - 32), plot_at(&x, s->median), base,
                  "stroke=\"#000\" stroke-width=\"1.5\"");
        if (isfinite(s->median_interval.low))
            plot_line(out, plot_at(&x, s->median_interval.low), base - 3,
                      plot_at(&x, MIN(s->median_interval.high, x.to)), base - 3,
                      "stroke=\"#000\" stroke-width=\"4\" stroke-opacity=\"0.6\"");
    }
    plot_axis(out, &x, false, y - 8, tick_time);
    return y + 26;
}

static double add_runs(StrBuf *out, RunSummaries *all, double y)
{
    PlotScale v = time_range(all, y + PANEL - 30, y + 30),
              t = {INFINITY, -INFINITY, LEFT, WIDTH - RIGHT};
    for (uint32_t i = 0; i < all->set.count; i++)
        for (size_t k = 0; k < all->set.groups[i].runs.len; k++) {
            double start = (double)all->set.groups[i].runs.at[k].start_ns * 1e-9;
            t.from = MIN(t.from, start);
            t.to = MAX(t.to, start);
        }
    PlotScale shown = {0, t.to - t.from, t.low, t.high};
    StrBuf title = {0};
    strbuf_add(&title, STR("Runs over time"));
    add_beyond(&title, runs_beyond(all, v.to));
    plot_heading(out, y + 16, strbuf_str(&title));
    strbuf_deinit(&title);
    plot_axis(out, &v, true, 0, tick_time);
    plot_axis(out, &shown, false, y + PANEL - 30, tick_seconds);
    for (uint32_t i = 0; i < all->set.count; i++) {
        const MeasuredRunVec *runs = &all->set.groups[i].runs;
        size_t step = runs->len * all->set.count / POINTS_MAX + 1;
        strbuf_printf(out, "<g fill=\"%s\" fill-opacity=\"0.6\">\n", plot_colour(i));
        for (size_t k = 0; k < runs->len; k += step)
            strbuf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.2\"/>\n",
                          plot_at(&t, (double)runs->at[k].start_ns * 1e-9),
                          plot_at(&v, MIN(runs->at[k].time_s, v.to)));
        strbuf_add(out, STR("</g>\n"));
    }
    return y + PANEL + 10;
}

// Ratios of the pairs of one command and the reference, with the interval.
static double add_pairs(StrBuf *out, RunSummaries *all, uint32_t command, double y)
{
    const MeasuredRunVec *base = &all->set.groups[all->set.plan.reference].runs;
    const MeasuredRunVec *other = &all->set.groups[command].runs;
    const Comparison *c = &all->set.groups[command].comparison;
    size_t n = MIN(base->len, other->len), kept = 0;
    double *ratios = arena_array(&all->arena, double, n + 1);
    for (size_t i = 0; i < n; i++) {
        double before = runs_compared_seconds(&all->set, &base->at[i]);
        double after = runs_compared_seconds(&all->set, &other->at[i]);
        if (before > 0 && after > 0)
            ratios[kept++] = after / before - 1;
    }
    if (kept == 0)
        return y;
    double *sorted = stats_sorted(&all->arena, ratios, kept);
    PlotScale v = {MIN(0.0, reach_below(sorted, kept)), MAX(0.0, run_picture_end(sorted, kept)),
                   y + PANEL - 20, y + 30};
    size_t beyond = 0;
    for (size_t i = 0; i < kept; i++)
        beyond += ratios[i] > v.to || ratios[i] < v.from;
    PlotScale x = {0, (double)kept, LEFT, WIDTH - RIGHT};
    StrBuf title = {0};
    strbuf_add(&title, STR("Pairs: "));
    strbuf_add(&title, all->commands[command].name);
    strbuf_add(&title, STR(" against "));
    strbuf_add(&title, all->commands[all->set.plan.reference].name);
    if (all->set.without_waiting)
        strbuf_add(&title, STR(", without the wait for a CPU"));
    add_beyond(&title, beyond);
    plot_heading(out, y + 16, strbuf_str(&title));
    strbuf_deinit(&title);
    plot_axis(out, &v, true, 0, tick_percent);
    if (isfinite(c->ratio.low) && isfinite(c->ratio.high)) {
        double top = plot_at(&v, MIN(v.to, c->ratio.high - 1)),
               end = plot_at(&v, MAX(v.from, c->ratio.low - 1));
        strbuf_printf(out,
                      "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\" "
                      "fill-opacity=\"0.25\"/>\n",
                      LEFT, top, WIDTH - RIGHT - LEFT, MAX(1.0, end - top), plot_colour(command));
    }
    plot_line(out, LEFT, plot_at(&v, 0), WIDTH - RIGHT, plot_at(&v, 0), "stroke=\"#000\"");
    size_t step = kept / POINTS_MAX + 1;
    strbuf_printf(out, "<g fill=\"%s\" fill-opacity=\"0.6\">\n", plot_colour(command));
    for (size_t i = 0; i < kept; i += step)
        strbuf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.2\"/>\n",
                      plot_at(&x, (double)i + 0.5), plot_at(&v, MAX(v.from, MIN(v.to, ratios[i]))));
    strbuf_add(out, STR("</g>\n"));
    return y + PANEL;
}

// Medians over a parameter of numbers, on logarithmic axes, with the exponent of
// the fitted power.
static double add_growth(StrBuf *out, RunSummaries *all, double y)
{
    RunGrowth growth;
    if (!run_growth(all, &growth))
        return y;
    const LineFit fit = growth.fit;
    const double *lx = growth.log_value, *ly = growth.log_median;
    size_t n = growth.count;
    PlotScale x = {INFINITY, -INFINITY, LEFT, WIDTH - RIGHT};
    PlotScale v = {INFINITY, -INFINITY, y + PANEL - 30, y + 30};
    for (size_t i = 0; i < n; i++) {
        x.from = MIN(x.from, lx[i]);
        x.to = MAX(x.to, lx[i]);
        v.from = MIN(v.from, ly[i]);
        v.to = MAX(v.to, ly[i]);
    }
    StrBuf title = {0};
    strbuf_add(&title, STR("Time over "));
    strbuf_add(&title, growth.parameter);
    strbuf_printf(&title, ", both logarithmic: grows with its power %.2f [%.2f … %.2f]", fit.slope,
                  fit.slope_low, fit.slope_high);
    if (all->set.without_waiting)
        strbuf_add(&title, STR("; without the wait for a CPU"));
    plot_heading(out, y + 16, strbuf_str(&title));
    strbuf_deinit(&title);
    for (size_t i = 0; i < n; i++) {
        StrBuf label = {0};
        strbuf_printf(&label, "%.6g", exp(lx[i]));
        plot_text(out, plot_at(&x, lx[i]), y + PANEL - 10, "middle", strbuf_str(&label));
        strbuf_clear(&label);
        run_add_time(&label, exp(ly[i]), RUN_UNIT_AUTO);
        plot_text(out, plot_at(&x, lx[i]) - 8, plot_at(&v, ly[i]) - 6, "end", strbuf_str(&label));
        strbuf_deinit(&label);
        strbuf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n",
                      plot_at(&x, lx[i]), plot_at(&v, ly[i]), plot_colour(0));
    }
    plot_line(out, x.low, plot_at(&v, fit.intercept + fit.slope * x.from), x.high,
              plot_at(&v, fit.intercept + fit.slope * x.to),
              "stroke=\"#555\" stroke-dasharray=\"5 4\"");
    return y + PANEL + 10;
}

// Distributions, runs over time and pairs.
static double add_bench(StrBuf *out, RunSummaries *all, double y)
{
    y = add_distributions(out, all, y);
    y = add_runs(out, all, y);
    if (!all->set.plan.grouped)
        for (uint32_t i = 0, shown = 0; i < all->set.count && shown < 6; i++)
            if (i != all->set.plan.reference && all->set.groups[i].comparison.pairs) {
                y = add_pairs(out, all, i, y);
                shown++;
            }
    return y;
}

void run_plot_svg(StrBuf *out, RunSummaries *all)
{
    StrBuf body = {0};
    double y = add_bench(&body, all, 0);
    y = add_growth(&body, all, y);
    plot_svg(out, strbuf_str(&body), y + 10);
    strbuf_deinit(&body);
}

void run_plot_functions_svg(StrBuf *out, const RunFamilies *functions, const RunFamilies *growths)
{
    StrBuf body = {0};
    double y = 0;
    for (size_t i = 0; i < growths->len; i++)
        y = add_growth(&body, &growths->at[i], y);
    for (size_t i = 0; i < functions->len; i++)
        y = add_bench(&body, &functions->at[i], y);
    plot_svg(out, strbuf_str(&body), y + 10);
    strbuf_deinit(&body);
}
