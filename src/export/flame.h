// SPDX-License-Identifier: Apache-2.0
// A call tree as a flame graph: one SVG file with its own script for zoom, search and details.

#ifndef EXPORT_FLAME_H
#define EXPORT_FLAME_H

#include "analyse/call_tree.h"

typedef enum FlameColour {
    FLAME_BY_KIND,   // user, inlined, kernel, JIT, cut
    FLAME_BY_MODULE, // each module its hue
    FLAME_PLAIN,     // one
    FLAME_BY_CHANGE  // more orange, less blue, the stronger the larger the change
} FlameColour;

typedef struct FlameOptions {
    Str title;
    Str subtitle; // how far the numbers can be trusted
    FlameColour colour;
    bool icicle;       // the root at the top
    double width_px;   // the width that names are shortened for; the picture scales
    double min_px;     // narrower frames are not drawn
    size_t frames_max; // the widest are drawn; 0: all
    Str unit;          // of the values
    bool waits; // frames named "[lock]", "[disk]" … stand for classes of waits, and have their
                // colour
    // Of FLAME_BY_CHANGE, else NULL: the total of each node before, [node].
    const uint64_t *before;
    double sample, sample_before; // value of a sample, after and before; 0: values are exact
} FlameOptions;

typedef struct FlameResult {
    size_t drawn;
    uint64_t dropped; // too narrow, or cut from the tree before
    double cut_px;    // frames narrower than this were too narrow
} FlameResult;

// The value with which a frame is `min_px` wide in a picture of `whole`; at least 1.
uint64_t flame_least(double min_px, double width_px, uint64_t whole);

// Appends the picture of a sorted call tree.
void flame_add_svg(StrBuf *out, const CallTree *t, const FlameOptions *options,
                   FlameResult *result);

#endif // EXPORT_FLAME_H
