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
    StrVec results;  // folders of 'assay cover run' within folders that are searched
    StrVec sources;  // operands that choose sources, as llvm-cov has it
    bool has_counts; // of gcc
    bool in_results; // the folder that is searched is one of 'assay cover run'
} CoverFound;

// Adds a file, or the files of a folder, each `weight` times. A source file, and a folder without
// inputs behind other inputs, choose sources.
MUST_CHECK bool cover_find(CoverFound *f, Str path, uint64_t weight, Error *err);
// Adds one file; a folder is an error.
MUST_CHECK bool cover_find_file(CoverFound *f, Str path, Error *err);
// Leaves out what a folder holds beside raw data and was probably made of it: tracefiles, indexed
// and text profiles; notes what was left out or passed over. To be called once, at the end.
void cover_find_settle(CoverFound *f);

#endif // COVERAGE_FIND_H
