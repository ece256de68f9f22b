// SPDX-License-Identifier: Apache-2.0
// jit-PID.dump: what a runtime says of the code that it makes, with the code.
// Untrusted, and possibly still being written.
// Format: Linux, tools/perf/Documentation/jitdump-specification.txt, version 1.

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

// Appends a line "START SIZE name" for each function and for each place that one
// was moved to, in the order of the file: the text of a perf-PID.map. False when
// it is no jitdump; then nothing was added. A damaged rest is left out (`cut`).
MUST_CHECK bool jitdump_to_map(Bytes file, StrBuf *ret, JitdumpStats *stats, Error *err);

// "jit-123.dump", the name that makes a mapped file a jitdump.
bool jitdump_is_name(Str base_name);

#endif // PERFDATA_JITDUMP_H
