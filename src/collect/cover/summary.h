// SPDX-License-Identifier: Apache-2.0
// From evaluated functions to files: totals as llvm-cov's report has them, and
// the rows of the shared model that listings and exports read.

#ifndef COLLECT_COVER_SUMMARY_H
#define COLLECT_COVER_SUMMARY_H

#include "collect/cover/data.h"
#include "collect/cover/exclusions.h"
#include "model/profile.h"

typedef struct CoverTally {
    uint64_t covered, count;
} CoverTally;

typedef struct CoverFile {
    Str path;
    CoverTally regions, functions, instantiations, lines, branches;
    CoverTally conditions; // MC/DC: shown to decide alone
} CoverFile;

typedef Vec(CoverFile) CoverFileVec;

void cover_file_add(CoverFile *into, const CoverFile *more);

// Which source files to keep; NULL keeps all.
typedef bool CoverKeepFile(void *ctx, Str path);
// Makes a linkage name readable; appends nothing when it is not mangled.
typedef void CoverDemangle(void *ctx, Str linkage_name, StrBuf *out);

// Where a source file is here; gives the path itself when it has not moved.
typedef Str CoverMapPath(void *ctx, Str path);
// What the marks in a source file leave out, NULL for nothing. The same for the same
// path each time.
typedef CoverExclusions *CoverFindExclusions(void *ctx, Str path);

typedef struct CoverProject {
    CoverKeepFile *keep;
    void *keep_ctx;
    CoverDemangle *demangle; // NULL: names stay as they are
    void *demangle_ctx;
    bool without_regions;   // cover_files_fill leaves region counts out
    CoverMapPath *map_path; // NULL: paths stay as they are
    void *map_ctx;
    CoverFindExclusions *exclusions; // NULL: marks are not looked for
    void *exclusions_ctx;
} CoverProject;

// Which functions have text in which file.
typedef struct CoverFileIndex {
    U32Vec order;     // rows of CoverData.files, sorted by path, only those kept
    U32Vec starts;    // file row -> first of `functions`; one more entry than files
    U32Vec functions; // rows of CoverData.functions, ascending for each file
} CoverFileIndex;

// `x` is empty; its lists are the heap's.
void cover_index_files(const CoverData *d, const CoverProject *how, CoverFileIndex *x);
void cover_index_free(CoverFileIndex *x);

// The totals of each file, sorted by path. A function's instantiations (same
// place, other template arguments) count as one, with the largest of each total.
void cover_files_summarise(Arena *arena, const CoverData *d, const CoverProject *how,
                           CoverFileVec *ret);

// One function with its own totals; instantiations stand alone.
typedef struct CoverFunctionTotals {
    Str name; // linkage name
    Str file;
    uint32_t line;
    uint64_t count;
    CoverFile totals;
} CoverFunctionTotals;

typedef Vec(CoverFunctionTotals) CoverFunctionTotalsVec;

// File by file in the order of paths, functions in the order of the objects.
void cover_functions_summarise(Arena *arena, const CoverData *d, const CoverProject *how,
                               CoverFunctionTotalsVec *ret);

// A decision with its two sides, where it is listed and where it is written: in the text
// of a macro that may be elsewhere.
typedef struct CoverBranchSite {
    uint32_t listed_line;
    uint32_t line, column;
    uint64_t count, false_count;
    bool is_folded; // the compiler knew it
} CoverBranchSite;

typedef Vec(CoverBranchSite) CoverBranchSiteVec;

// Those of a source file by listed line, without what marks leave out. `out` is the heap's
// and is emptied first.
void cover_file_branches(const CoverData *d, const CoverFileIndex *x, const CoverProject *how,
                         Str path, CoverBranchSiteVec *out);

// Fills line, function, branch and region counts of the profile, file by file in
// the order of paths. Of sets only lines.
void cover_files_fill(const CoverData *d, const CoverProject *how, Profile *into);

// Tells the marks of functions where the functions of `d` are.
void cover_data_place_functions(const CoverData *d, const CoverProject *how);

// A mark that the counts contradict: an unreachable line that ran, or a line with
// other branches than GCOVR_EXCL_BR_WITHOUT_HIT says.
typedef struct CoverMarkFault {
    Str path;
    uint32_t line;
    bool is_reached; // the line is marked as unreachable; what follows is 0
    uint32_t said_missed, said_all, missed, all;
} CoverMarkFault;

typedef Vec(CoverMarkFault) CoverMarkFaultVec;

// Settles the marks that depend on counts by those of the profile. Faults are the
// arena's, by file and line.
void cover_profile_settle_marks(Arena *arena, const Profile *p, const CoverProject *how,
                                CoverMarkFaultVec *ret);

// Takes the rows out of the profile that marks in the sources exclude. Gives how
// many lines that were.
uint64_t cover_profile_exclude(Profile *p, const CoverProject *how);

// Totals of a profile that has counts but no regions of functions (gcov, lcov).
void cover_profile_summarise(Arena *arena, const Profile *p, CoverFileVec *ret);

#endif // COLLECT_COVER_SUMMARY_H
