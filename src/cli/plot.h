// SPDX-License-Identifier: Apache-2.0
// Parts of pictures: scales, axes, lines and text as SVG, and the page around
// them. Everything that is text is escaped here.

#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include "base/strbuf.h"

// Pixels of a picture and of the margins beside its panels.
enum { PLOT_WIDTH = 900, PLOT_LEFT = 190, PLOT_RIGHT = 30 };

// Linear map of [from, to] onto pixels [low, high].
typedef struct PlotScale {
    double from, to, low, high;
} PlotScale;
double plot_at(const PlotScale *s, double x);

// The n-th of a set of colours that colour-blind readers tell apart.
const char *plot_colour(uint32_t n);

// `anchor` is SVG's: "start", "middle", "end".
void plot_text(StrBuf *out, double x, double y, const char *anchor, Str text);
void plot_heading(StrBuf *out, double y, Str text);
// `style` is attributes: "stroke=\"#000\"".
void plot_line(StrBuf *out, double x1, double y1, double x2, double y2, const char *style);

// Ticks with labels that `add` appends: vertical ones with grid lines over the
// panel, horizontal ones below `place`.
typedef void (*PlotTick)(StrBuf *out, double value);
void plot_axis(StrBuf *out, const PlotScale *s, bool vertical, double place, PlotTick add);

// A whole SVG document of that height around `body`.
void plot_svg(StrBuf *out, Str body, double height);

// Begin and end of a page of HTML with this title.
void plot_page_begin(StrBuf *out, const char *title);
void plot_page_end(StrBuf *out);

#endif // CLI_PLOT_H
