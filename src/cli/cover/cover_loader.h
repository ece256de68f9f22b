// SPDX-License-Identifier: Apache-2.0
// Inside of cover_inputs: from what the user names to files of known kinds
// (cover_find), and from gcc's files to sums (cover_units).

#ifndef CLI_COVER_COVER_LOADER_H
#define CLI_COVER_COVER_LOADER_H

#include "cli/cover/cover_inputs.h"
#include "elf/build_id.h"

typedef struct CoverInput {
    Str path;
    bool asked;      // named by the user, as opposed to found in a folder
    uint64_t weight; // its counts count so many times
    size_t stray;    // of CoverLoader.strays, + 1: notes that are not there, with counts that are
} CoverInput;

typedef struct CoverStrayCounts {
    Str path;
    uint8_t start[12]; // what it is of
    bool is_used;
} CoverStrayCounts;

typedef struct CoverLoader {
    CoverResult *r;
    Vec(CoverInput) profiles;
    Vec(CoverInput) objects;
    Vec(CoverInput) notes; // .gcno, one for each translation unit
    Vec(CoverStrayCounts) strays;
    Vec(CoverInput) tracefiles;
    uint64_t weight;              // of what is being added
    CoverSelectionVec selections; // of folders of results
    size_t passed_over;           // files of folders that are empty or links
    size_t left_out;              // those that could not be read
    Str first_passed_over;
    size_t operands, selected; // inputs, and those with a selection of sources
    Vec(BuildId) builds;       // of the objects that state one
} CoverLoader;

// Finds what the inputs are, folders searched.
MUST_CHECK bool cover_find_inputs(CoverLoader *l, const CoverInputOptions *options,
                                  const StrVec *operands, Error *err);
// What a run left out stays out, unless there are inputs that leave nothing out, or
// `all` is asked for.
void cover_select_sources(const CoverLoader *l, bool all);

// Sums up the translation units of gcc among the inputs.
MUST_CHECK bool cover_load_units(CoverLoader *l, Error *err);

// "x/y.gcda" -> "x/y.gcno" and back.
Str cover_with_suffix(Arena *arena, Str path, const char *suffix);

// Says that a file of a folder is left out; of many, the first.
void cover_leave_out(CoverLoader *l, const Error *why);
// How many there are beyond those that were said.
void cover_say_more_left_out(const CoverLoader *l);

#endif // CLI_COVER_COVER_LOADER_H
