// SPDX-License-Identifier: Apache-2.0
// Reads translation units of gcc: .gcno files with their .gcda files, which may lie elsewhere.

#ifndef COVERAGE_GCC_READ_UNITS_H
#define COVERAGE_GCC_READ_UNITS_H

#include "coverage/gcc/unit_lines.h"
#include "coverage/rows/reading.h"

// "x/y.gcda" -> "x/y.gcno" and back.
Str gcov_with_suffix(Arena *arena, Str path, const char *suffix);

// Adds the units of all .gcno files to the sum. `units` is sorted by path and loses repeated
// files. Counts that cannot be used are noted and count as zero. False when a file that the user
// named, or all of them, cannot be read.
MUST_CHECK bool gcov_units_read(CoverReading *r, CoverInputVec *units, GcovSum *sum, Error *err);

#endif // COVERAGE_GCC_READ_UNITS_H
