// SPDX-License-Identifier: Apache-2.0
// Reads counts of lines that some tool has written: tracefiles, and recordings of
// 'assay cover merge'.

#ifndef COVERAGE_TRACEFILES_H
#define COVERAGE_TRACEFILES_H

#include "coverage/rows/reading.h"
#include "tracefile/tracefile.h"

// Adds the counts of all files to the set.
MUST_CHECK bool cover_tracefiles_read(CoverReading *r, const CoverInputVec *files, CoverSet *set,
                                      Error *err);

#endif // COVERAGE_TRACEFILES_H
