// SPDX-License-Identifier: Apache-2.0
// The output of 'gcov --json-format' for each unit of gcc. It reads the unit itself: the profile
// holds neither blocks nor the ends of functions, which this format has.

#ifndef EXPORT_COVER_GCOV_JSON_H
#define EXPORT_COVER_GCOV_JSON_H

#include "base/strbuf.h"
#include "coverage/gcc/unit.h"

// A GcovTakeUnit: appends the unit as one document, on one line. `ctx` is a StrBuf.
void cover_gcov_json_add(void *ctx, const GcovUnit *u, Str data_file);

#endif // EXPORT_COVER_GCOV_JSON_H
