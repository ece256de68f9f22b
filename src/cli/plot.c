// SPDX-License-Identifier: Apache-2.0
// Parts of pictures.

#include "cli/plot.h"

#include <math.h>

double plot_at(const PlotScale *s, double x)
{
    double span = s->to - s->from;
    return s->low + (span > 0 ? (x - s->from) / span : 0.5) * (s->high - s->low);
}

const char *plot_colour(uint32_t n)
{
    // Okabe and Ito's, without the yellow that white swallows.
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73",
                                          "#cc79a7", "#56b4e9", "#8a6d00"};
    return colours[n % ARRAY_LEN(colours)];
}

void plot_text(StrBuf *out, double x, double y, const char *anchor, Str text)
{
    strbuf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    strbuf_add_xml(out, text);
    strbuf_add(out, STR("</text>\n"));
}

void plot_heading(StrBuf *out, double y, Str text)
{
    strbuf_printf(out, "<text x=\"10\" y=\"%.1f\" class=\"h\">", y);
    strbuf_add_xml(out, text);
    strbuf_add(out, STR("</text>\n"));
}

void plot_line(StrBuf *out, double x1, double y1, double x2, double y2, const char *style)
{
    strbuf_printf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2,
                  y2, style);
}

// A step of 1, 2 or 5 times a power of ten that gives about five ticks.
static double tick_step(double span)
{
    double raw = span / 5, base = pow(10, floor(log10(raw)));
    double part = raw / base;
    return base * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

void plot_axis(StrBuf *out, const PlotScale *s, bool vertical, double place, PlotTick add)
{
    if (!(s->to > s->from))
        return;
    double step = tick_step(s->to - s->from), first = ceil(s->from / step);
    int count = (int)MIN(50.0, floor(s->to / step) - first + 1);
    for (int i = 0; i < count; i++) {
        double v = (first + i) * step;
        double p = plot_at(s, v);
        StrBuf label = {0};
        add(&label, fabs(v) < step / 1e6 ? 0 : v);
        if (vertical) {
            plot_line(out, PLOT_LEFT, p, PLOT_WIDTH - PLOT_RIGHT, p, "class=\"g\"");
            plot_text(out, PLOT_LEFT - 6, p + 4, "end", strbuf_str(&label));
        } else {
            plot_line(out, p, place, p, place + 4, "class=\"a\"");
            plot_text(out, p, place + 17, "middle", strbuf_str(&label));
        }
        strbuf_deinit(&label);
    }
}

void plot_svg(StrBuf *out, Str body, double height)
{
    strbuf_printf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
                  "viewBox=\"0 0 %d %.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
                  "<style>.h{font-weight:bold;font-size:13px}.g{stroke:#ddd}.a{stroke:#444}"
                  "</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                  PLOT_WIDTH, height, PLOT_WIDTH, height);
    strbuf_add(out, body);
    strbuf_add(out, STR("</svg>\n"));
}
