// SPDX-License-Identifier: Apache-2.0
// jit-PID.dump: a file in which a runtime describes the code that it generates, with a copy of the
// code. Not trusted, and possibly still being written. Format: Linux,
// tools/perf/Documentation/jitdump-specification.txt, version 1.

#ifndef PERFDATA_JITDUMP_H
#define PERFDATA_JITDUMP_H

#include "base/error.h"
#include "base/strbuf.h"

typedef struct JitdumpStats {
    size_t functions; // JIT_CODE_LOAD
    size_t moved;     // JIT_CODE_MOVE of a known function
    size_t unknown;   // records of other types than the specification's
    bool cut;         // the last record is not whole
} JitdumpStats;

// Converts a jitdump to the text of a perf-PID.map: appends a line "START SIZE name" for each
// function and for each address that a function was moved to, in the order of the file. After
// damage the rest is left out (`cut`). False, with nothing added, when the file is not a jitdump.
MUST_CHECK bool jitdump_to_map(Bytes file, StrBuf *ret, JitdumpStats *stats, Error *err);

// Whether a file name, as "jit-123.dump", is that of a jitdump.
bool jitdump_is_name(Str base_name);

#endif // PERFDATA_JITDUMP_H
