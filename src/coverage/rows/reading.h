// SPDX-License-Identifier: Apache-2.0
// What the readers of all origins share: the files they are given, and what they report about
// them. Whatever a user must know becomes a note of the profile.

#ifndef COVERAGE_ROWS_READING_H
#define COVERAGE_ROWS_READING_H

#include "model/profile.h"

// A file among the inputs.
typedef struct CoverInput {
    Str path;
    bool asked;      // the user named it; else it was found in a folder
    uint64_t weight; // its counts are added so many times
    bool is_result;  // 'assay cover run' wrote it
    bool is_sum;     // of a form that tools make of raw data: an indexed or text profile
    bool is_spare;   // counts only if none of the raw data beside it can be read
} CoverInput;

typedef Vec(CoverInput) CoverInputVec;

typedef struct CoverReading {
    Arena *arena;       // of paths and texts, which last as long as the reading
    Profile *profile;   // gets the notes
    size_t left_out;    // files in folders that could not be read
    uint64_t stale;     // functions and .gcda files whose counts are of another build
    Str arch;           // part of universal binaries; "": that of this machine, or the first
    int64_t built_ns;   // time stamp of the newest object or .gcno file; 0: not known
    int64_t counted_ns; // the same of the newest file with counts
} CoverReading;

// The key of a note that says what to do about the note before it.
#define COVER_NOTE_HINT STR("hint")

// Notes that a file is left out since it was probably made of the raw data beside it.
void cover_note_spare(CoverReading *r, Str path);

// Notes that a file is left out and why. After the first files, only their number is kept.
void cover_note_left_out(CoverReading *r, const Error *why);
// Notes how many files were left out beyond those that have a note of their own.
void cover_note_more_left_out(const CoverReading *r);

#endif // COVERAGE_ROWS_READING_H
