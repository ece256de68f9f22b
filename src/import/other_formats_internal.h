// SPDX-License-Identifier: Apache-2.0
// Formats that are known and not read.

#ifndef IMPORT_OTHER_FORMATS_INTERNAL_H
#define IMPORT_OTHER_FORMATS_INTERNAL_H

#include "base/error.h"

// Whether the file is of a format that assay knows and does not read. `err` then names it, with the
// command that converts it to a format that assay reads.
bool other_format_is_known(Bytes head, Error *err);

#define TRACE_FIELDS_HINT                                                                          \
    "write the text with: perf script -F "                                                         \
    "comm,pid,tid,cpu,time,event,period,trace,ip,sym,symoff,dso"

// Whether a text is the fields of tracepoints alone, as `perf script -F trace` prints them: without
// the event. Lines that begin with a tab, as frames do, are passed over. With `like_counts` only
// such as could be taken for folded stacks: "NR 0 = 832" is no function that was called 832 times.
bool trace_fields_alone(Str text, bool like_counts);

#endif // IMPORT_OTHER_FORMATS_INTERNAL_H
