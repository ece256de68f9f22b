// SPDX-License-Identifier: Apache-2.0
// Self values by source line: each sample counts for the line of its innermost frame,
// inlined calls included. Of
// events of the kernel it is the program's innermost frame, as in tables.

#ifndef ANALYSE_LINES_H
#define ANALYSE_LINES_H

#include "analyse/weights.h"

typedef struct LineRow {
    StrId file;
    uint32_t line;
    uint32_t frame; // the frame of the line with the most value
    uint64_t self;
    uint64_t samples;
} LineRow;
typedef Vec(LineRow) LineRowVec;

// Lines by self value, greatest first. The rows are heap memory: vec_free.
LineRowVec lines_hottest(const Weights *w);

// The source text of a line; false when the recording does not have it. Scans all stored lines, so
// call it for the rows on a screen only.
bool line_text_find(const Profile *p, StrId file, uint32_t line, Str *ret);

#endif // ANALYSE_LINES_H
