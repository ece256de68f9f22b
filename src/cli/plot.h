// SPDX-License-Identifier: Apache-2.0
// Parts of pictures: scales, axes, lines and text as SVG. These functions escape the text
// that they are given.

#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include "base/strbuf.h"

// Pixels of a picture and of the margins beside its panels.
enum { PLOT_WIDTH = 900, PLOT_LEFT = 190, PLOT_RIGHT = 30 };

// Linear map of [from, to] onto pixels [low, high].
typedef struct PlotScale {
    double from, to, low, high;
} PlotScale;

// The pixel of the value `x`.
double plot_at(const PlotScale *s, double x);

// The n-th of a set of colours that colour-blind readers tell apart.
const char *plot_colour(uint32_t n);

// Appends text at a place; `anchor` is SVG's: "start", "middle", "end".
void plot_text(StrBuf *out, double x, double y, const char *anchor, Str text);

// Appends the heading of a panel, at the left margin.
void plot_heading(StrBuf *out, double y, Str text);

// Appends a line; `style` holds its SVG attributes: "stroke=\"#000\"".
void plot_line(StrBuf *out, double x1, double y1, double x2, double y2, const char *style);

// Appends the label of a tick.
typedef void (*PlotTick)(StrBuf *out, double value);

// Appends the ticks of an axis with their labels: a vertical axis with grid lines over the panel,
// a horizontal one below `place`.
void plot_axis(StrBuf *out, const PlotScale *s, bool vertical, double place, PlotTick add);

// Appends a whole SVG document of that height around `body`.
void plot_svg(StrBuf *out, Str body, double height);

#endif // CLI_PLOT_H
