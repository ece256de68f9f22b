// SPDX-License-Identifier: Apache-2.0
// Coverage of a change: a unified diff, coverage before and after, and for every
// line one of twelve classes, as lcov's genhtml has them (man genhtml,
// "differential coverage"; arXiv 2008.07947).

#ifndef ANALYSE_COVER_CHANGE_H
#define ANALYSE_COVER_CHANGE_H

#include "analyse/cover/file_rows.h"
#include "base/error.h"

// ---- The diff ------------------------------------------------------------------

// Lines that were replaced by others; either number may be 0. A side without lines
// has `first` at the line behind the place.
typedef struct DiffChange {
    uint32_t old_first, old_count, new_first, new_count;
} DiffChange;

typedef struct DiffFile {
    Str old_path, new_path;  // without "a/" and "b/"; "" when there is none
    Vec(DiffChange) changes; // ascending, not touching each other out of order
} DiffFile;
typedef Vec(DiffFile) DiffFiles;

// Reads a unified diff, as git diff and diff -u write it, with any context. Text between files is
// skipped. Texts borrow or are the arena's.
MUST_CHECK bool diff_parse(Arena *arena, Str text, DiffFiles *ret, Error *err);

// Whether `path` is, or ends in, that of a file before the change: the file there now has other
// lines.
bool diff_changes(const DiffFiles *diff, Str path);

// ---- The classes ---------------------------------------------------------------

typedef enum CoverClass {
    COVER_UNC, // uncovered new code
    COVER_LBC, // lost baseline coverage
    COVER_UIC, // uncovered included code: not new, but counted only now
    COVER_UBC, // uncovered baseline code
    COVER_GBC, // gained baseline coverage
    COVER_GIC, // gained coverage of included code
    COVER_GNC, // gained coverage of new code
    COVER_CBC, // covered baseline code
    COVER_EUB, // excluded now, uncovered in the baseline
    COVER_ECB, // excluded now, covered in the baseline
    COVER_DUB, // deleted, uncovered in the baseline
    COVER_DCB, // deleted, covered in the baseline
    COVER_CLASS_COUNT
} CoverClass;

const char *cover_class_name(CoverClass c);    // "UNC"
const char *cover_class_meaning(CoverClass c); // "uncovered new code"
// Finds a class by its name; false when there is none.
bool cover_class_find(Str name, CoverClass *ret);

// A line of the new file, or of the old one for EUB, ECB, DUB and DCB.
typedef struct CoverDiffLine {
    uint32_t line;
    CoverClass class;
} CoverDiffLine;

typedef struct CoverDiffFile {
    Str path;                 // the new one; of deleted files the old one
    Vec(CoverDiffLine) lines; // those of the new file ascending, then the old one's
    uint64_t counts[COVER_CLASS_COUNT];
    uint32_t before, now; // number of the file in its side's list; UINT32_MAX: not there
} CoverDiffFile;

typedef struct CoverDiff {
    Vec(CoverDiffFile) files; // by path
    uint64_t counts[COVER_CLASS_COUNT];
    StrVec unmatched; // changed files without coverage, as the diff names them
} CoverDiff;

// Coverage to compare: a profile and its rows by file.
typedef struct CoverSide {
    const Profile *profile;
    const CoverFiles *files;
} CoverSide;

// Classifies every line of `now`, and the lines of `base` that no longer exist. Without a
// baseline (base->profile NULL) only new code has a class. `root` is the folder that
// the diff's paths are below, "" when not known: then a path's end decides.
void cover_diff_classify(Arena *arena, const DiffFiles *diff, CoverSide base, CoverSide now,
                         Str root, CoverDiff *ret);

// ---- Beside a baseline -----------------------------------------------------------

// One file: its coverage in the baseline and now.
typedef struct CoverFileChange {
    Str path;
    CoverTotals before;         // of the baseline
    bool has_before, has_now;   // which sides have the file; at least one does
    const CoverDiffFile *lines; // their classes; NULL when no line has one
} CoverFileChange;

typedef struct CoverChanges {
    Vec(CoverFileChange) files; // by path, those of both sides
    CoverTotals before;         // of all files of the baseline
    uint64_t counts[COVER_CLASS_COUNT];
    size_t shared; // files that both sides have
} CoverChanges;

// Growth of the covered share in percentage points, rounded to two digits as shares are shown.
// False when one of the sides has nothing to count.
bool cover_share_change(CoverTally before, CoverTally now, double *ret);

// Puts the result of cover_diff_classify beside the totals of the baseline. All is the arena's and
// borrows from the sides and from `diff`.
void cover_changes_find(Arena *arena, CoverSide base, CoverSide now, const CoverDiff *diff,
                        CoverChanges *ret);
// The row of a path; NULL when neither side has the file.
const CoverFileChange *cover_changes_get(const CoverChanges *c, Str path);

#endif // ANALYSE_COVER_CHANGE_H
