// SPDX-License-Identifier: Apache-2.0
// The features with which Android's simpleperf extends perf.data.

#ifndef PERFDATA_SIMPLEPERF_INTERNAL_H
#define PERFDATA_SIMPLEPERF_INTERNAL_H

#include "base/cursor.h"
#include "perfdata/perfdata.h"

enum { SIMPLEPERF_DEX = 3 }; // PerfDataFile.kind of Android's bytecode

// Appends the files with their symbols of the feature FILE (128) to `ret`. The part before a
// damaged place is kept.
void simpleperf_files_read(Arena *arena, Cursor *c, PerfDataFileVec *ret);
// The same for the feature FILE2 (132), whose files are messages of protobuf.
void simpleperf_files_read_packed(Arena *arena, Cursor *c, PerfDataFileVec *ret);

#endif // PERFDATA_SIMPLEPERF_INTERNAL_H
