// SPDX-License-Identifier: Apache-2.0
// A coverage run and its folder of results, which is an input of report, show and export:
//   profile.profdata  the sums over all processes
//   assay-objects     the objects that wrote the profiles, with their build-ids
//   assay-sources     the selected sources, when not all are
//   gcov/             data files of gcc, with links to their notes
//   object-N          copies of programs that were deleted after they ran

#ifndef COLLECT_COVER_RUN_H
#define COLLECT_COVER_RUN_H

#include "collect/cover/drop_folder.h"
#include "collect/cover/objects.h"
#include "collect/cover/results.h"
#include "coverage/rows/selection.h"

typedef struct CoverRun {
    Arena arena;
    Str folder; // absolute
    CoverDrop drop;
    Str gcov_root;     // to which programs of gcc write
    CoverOldFiles old; // of the results that are replaced
    StrVec earlier;    // objects of the results that are added to
    CoverPool pool;
    CoverCorrelations correlations; // programs of profiles with counters only
    CoverObjects objects;
    CoverSelection selection;
    bool counts_all;  // the results to which the run is added count all sources
    size_t survivors; // processes that outlive the command and may still write
    uint64_t gcov_data, gcov_without_notes; // data files of gcc
} CoverRun;

typedef enum CoverRunMode {
    COVER_RUN_NEW,     // existing results are an error
    COVER_RUN_REPLACE, // existing results are removed when the new ones are written
    COVER_RUN_ADD,     // the run is added to existing results
} CoverRunMode;

typedef struct CoverRunPlace {
    Str folder; // of the results
    Str temp;   // for files that programs write, if other users may change the path of `folder`
} CoverRunPlace;

// Prepares the folder. Call cover_run_deinit afterwards, also on false.
MUST_CHECK bool cover_run_open(CoverRun *r, const CoverRunPlace *place, CoverRunMode mode,
                               bool keep_raw, Error *err);
void cover_run_deinit(CoverRun *r); // closes the pool and frees everything

// An environment variable. The value ends in a NUL; NULL removes the variable.
typedef struct CoverVariable {
    const char *name, *value;
} CoverVariable;
typedef Vec(CoverVariable) CoverVariables;

// The number of processes with the environment of the run, without this one. Processes of other
// users cannot be seen.
size_t cover_run_survivors(const CoverRun *r);

// Appends the environment variables by which programs write to the folder.
void cover_run_variables(CoverRun *r, CoverVariables *ret);

// The places to search for objects.
typedef struct CoverObjectSources {
    StrVec always;   // objects that belong to the report even when they did not run
    StrVec commands; // programs that were run: used when they wrote a profile
    StrVec folders;  // searched for objects that are still missing
} CoverObjectSources;

// Finds the objects and writes the results, with r->selection. A run in which no program wrote a
// profile succeeds, too: see cover_run_wrote.
MUST_CHECK bool cover_run_finish(CoverRun *r, const CoverObjectSources *sources, Error *err);
// Removes the results that the run replaces, after all new ones are written.
void cover_run_drop_old(CoverRun *r);
bool cover_run_wrote(const CoverRun *r); // whether any program wrote a profile or gcc's data

#endif // COLLECT_COVER_RUN_H
