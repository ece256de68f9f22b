// SPDX-License-Identifier: Apache-2.0
// A page of counts.

#include "cli/stat/stat_html.h"

#include <math.h>

#include "cli/plot.h"

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
static double add_panel(StrBuf *out, const StatHtmlPage *page, const StatHtmlRow *row,
                        uint32_t number, double y)
{
    PlotScale v = range_of(&row->y, true, y + PANEL - 30, y + 30);
    PlotScale x = range_of(&row->x, page->over_time, PLOT_LEFT + 10, PLOT_WIDTH - PLOT_RIGHT - 10);
    StrBuf title = {0};
    if (row->group.len) {
        strbuf_add(&title, row->group);
        strbuf_add(&title, STR(" "));
    }
    strbuf_add(&title, row->event);
    if (page->over_time)
        strbuf_add(&title, row->is_time ? STR(", of each second") : STR(", a second"));
    plot_heading(out, y + 16, strbuf_str(&title));
    strbuf_deinit(&title);
    plot_axis(out, &v, true, 0, row->is_time ? tick_milliseconds : tick_number);
    plot_axis(out, &x, false, y + PANEL - 30, page->over_time ? tick_seconds : tick_run);
    if (isfinite(row->mean.low) && isfinite(row->mean.high)) {
        double top = plot_at(&v, MIN(v.to, row->mean.high));
        double end = plot_at(&v, MAX(v.from, row->mean.low));
        strbuf_printf(out,
                      "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\" "
                      "fill-opacity=\"0.2\"/>\n",
                      PLOT_LEFT, top, PLOT_WIDTH - PLOT_RIGHT - PLOT_LEFT, MAX(1.0, end - top),
                      plot_colour(number));
    }
    size_t step = row->x.len / POINTS_MAX + 1;
    if (page->over_time) {
        strbuf_printf(out, "<path fill=\"none\" stroke=\"%s\" d=\"", plot_colour(number));
        for (size_t i = 0; i < row->x.len; i += step)
            strbuf_printf(out, "%c%.1f %.1f", i ? 'L' : 'M', plot_at(&x, row->x.at[i]),
                          plot_at(&v, row->y.at[i]));
        strbuf_add(out, STR("\"/>\n"));
    }
    strbuf_printf(out, "<g fill=\"%s\" fill-opacity=\"0.7\">\n", plot_colour(number));
    for (size_t i = 0; i < row->x.len; i += step)
        strbuf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"/>\n",
                      plot_at(&x, row->x.at[i]), plot_at(&v, row->y.at[i]));
    strbuf_add(out, STR("</g>\n"));
    return y + PANEL + 10;
}

static void add_cell(StrBuf *out, Str text, bool is_text)
{
    strbuf_add(out, is_text ? STR("<td class=\"t\">") : STR("<td>"));
    strbuf_add_xml(out, text);
    strbuf_add(out, STR("</td>"));
}

static void add_table(StrBuf *out, const StatHtmlPage *page)
{
    bool groups = false;
    for (size_t i = 0; i < page->rows.len; i++)
        groups |= page->rows.at[i].group.len > 0;
    strbuf_add(out, STR("<table><tr>"));
    if (groups)
        strbuf_add(out, STR("<th class=\"t\">of</th>"));
    strbuf_add(out, STR("<th class=\"t\">event</th><th>count</th><th>that is</th>"
                        "<th>± error [95 % interval]</th><th>counted</th></tr>\n"));
    for (size_t i = 0; i < page->rows.len; i++) {
        const StatHtmlRow *r = &page->rows.at[i];
        strbuf_add(out, STR("<tr>"));
        if (groups)
            add_cell(out, r->group, true);
        add_cell(out, r->event, true);
        add_cell(out, r->value, false);
        add_cell(out, r->derived, false);
        add_cell(out, r->spread, false);
        add_cell(out, r->counted, false);
        strbuf_add(out, STR("</tr>\n"));
    }
    strbuf_add(out, STR("</table>\n"));
}

void stat_html(StrBuf *out, const StatHtmlPage *page)
{
    StrBuf pictures = {0};
    double y = 0;
    plot_page_begin(out, "assay stat");
    strbuf_add(out, STR("<p>"));
    strbuf_add_xml(out, page->heading);
    strbuf_add(out, STR("<br>"));
    strbuf_add_xml(out, page->machine);
    strbuf_add(out, STR("</p>\n"));
    add_table(out, page);
    strbuf_add(out, STR("<pre>"));
    Str rest = page->text, line;
    while (str_next_line(&rest, &line)) {
        strbuf_add_xml(out, line);
        strbuf_add_char(out, '\n');
    }
    strbuf_add(out, STR("</pre>\n"));
    for (size_t i = 0; i < page->rows.len; i++)
        if (page->rows.at[i].x.len > 1)
            y = add_panel(&pictures, page, &page->rows.at[i], (uint32_t)i, y);
    if (y > 0)
        plot_svg(out, strbuf_str(&pictures), y + 10);
    strbuf_deinit(&pictures);
    plot_page_end(out);
}
