// SPDX-License-Identifier: Apache-2.0
// Value by source line, self only: what the innermost (inlined) frame ran.

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

// Lines by self value, greatest first. The rows are the heap's: vec_free.
LineRowVec lines_hottest(const Weights *w);

// The text of a line when the recording carries it. A scan over the stored
// lines: for a screenful of rows.
bool line_text_find(const Profile *p, StrId file, uint32_t line, Str *ret);

#endif // ANALYSE_LINES_H
