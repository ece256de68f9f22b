// SPDX-License-Identifier: Apache-2.0
// From the paths that the user names to files of known kinds: told apart by content, folders
// searched.

#ifndef COVERAGE_FIND_H
#define COVERAGE_FIND_H

#include "coverage/rows/reading.h"
#include "coverage/rows/selection.h"

typedef struct CoverFound {
    CoverReading *r;
    CoverInputVec profiles;       // LLVM's
    CoverInputVec objects;        // with LLVM's coverage mapping
    CoverInputVec units;          // .gcno files
    CoverInputVec tracefiles;     // and recordings
    CoverSelectionVec selections; // of folders of results
    size_t operands, selected;    // inputs, and those with a selection of sources
    size_t passed_over;           // files in folders that are empty or links
    Str first_passed_over;
} CoverFound;

// Adds a file, or the files of a folder, each `weight` times.
MUST_CHECK bool cover_find(CoverFound *f, Str path, uint64_t weight, Error *err);
// Adds one file; a folder is an error.
MUST_CHECK bool cover_find_file(CoverFound *f, Str path, Error *err);
// Notes the files in folders that were passed over. To be called once, at the end.
void cover_find_note(const CoverFound *f);

#endif // COVERAGE_FIND_H
