// SPDX-License-Identifier: Apache-2.0
// Reads LLVM's profiles and the objects whose functions they count.

#ifndef COVERAGE_LLVM_PROGRAMS_H
#define COVERAGE_LLVM_PROGRAMS_H

#include "coverage/llvm/correlated_programs.h"
#include "coverage/llvm/functions.h"
#include "coverage/rows/reading.h"

// Sums of profiles and the functions of objects that they evaluate.
typedef struct CoverPrograms {
    CoverCorrelations correlations;
    CoverCounts counts;
    CoverData data;
    bool has_mapping;    // some object had coverage mapping: `data` is filled
    Vec(BuildId) builds; // of the objects that state one
} CoverPrograms;

// Zero-initialised before; `arena` is that of all texts and counts.
void cover_programs_init(CoverPrograms *p, Arena *arena);
void cover_programs_deinit(CoverPrograms *p);

// Adds the profiles up and evaluates the functions of the objects. What cannot be counted is
// noted; with data.explain each function by itself. False when a file that the user named cannot
// be read, or none can.
MUST_CHECK bool cover_programs_read(CoverReading *r, const CoverInputVec *profiles,
                                    const CoverInputVec *objects, CoverPrograms *p, Error *err);

// Notes what was left out while counts were summed.
void cover_counts_note(const CoverCounts *c, Profile *into);

#endif // COVERAGE_LLVM_PROGRAMS_H
