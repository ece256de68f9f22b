// SPDX-License-Identifier: Apache-2.0
// Raw profiles of one binary have every counter at the same place, so that they
// add up as whole sections, without looking up any function.

#ifndef COVERAGE_LLVM_RAW_LAYOUT_H
#define COVERAGE_LLVM_RAW_LAYOUT_H

#include "base/table.h"
#include "base/vec.h"
#include "coverage/llvm/value_profiles.h"
#include "llvmcov/profraw.h"

// The sums of all raw profiles with the same records.
typedef struct CoverLayout {
    ProfRaw raw;    // of the first profile; records, names and sections copied, sums in their place
    uint64_t *sums; // raw.counters, native, when counters are of 8 bytes
    uint8_t *flags; // raw.counters, when they are of 1 byte
    uint8_t *bitmap;
    StrVec names, vtable_names; // raw.names and raw.vtable_names, unpacked
    size_t counter_count;
    uint64_t value_blocks;       // records with value profiles
    CoverFunctionValues *values; // theirs, in order
    CoverTargets targets;
} CoverLayout;

typedef struct CoverLayouts {
    Vec(CoverLayout *) at; // in order of first appearance
    Table index;
    CoverLayout *last; // that a profile belonged to: the next one most likely does too
} CoverLayouts;

void cover_layouts_deinit(CoverLayouts *l); // frees the heap memory of all layouts

// The layout of a profile whose sections are parsed; NULL when there is none yet.
CoverLayout *cover_layout_find(CoverLayouts *l, const ProfRaw *p);
// Makes it. Every record is checked, and that the names are names.
MUST_CHECK bool cover_layout_new(Arena *arena, CoverLayouts *l, const ProfRaw *p, CoverLayout **ret,
                                 Error *err);

// Adds the sections of a profile of that layout. True when some sum reached
// 2^64 - 3 and stayed there.
bool cover_layout_add(CoverLayout *l, const ProfRaw *p, uint64_t weight);
// The same for sums of another set of layouts.
bool cover_layout_add_sums(CoverLayout *l, const CoverLayout *from);

// Adds the value profiles of a profile of that layout, which was parsed whole, or
// of other sums. Gives the number of functions that have another number of sites
// than before.
uint64_t cover_layout_add_values(Arena *arena, CoverLayout *l, const ProfRaw *p, uint64_t weight,
                                 bool *saturated);
uint64_t cover_layout_absorb_values(Arena *arena, CoverLayout *l, const CoverLayout *from,
                                    bool *saturated);

#endif // COVERAGE_LLVM_RAW_LAYOUT_H
