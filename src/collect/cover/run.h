// SPDX-License-Identifier: Apache-2.0
// A run under observation and its folder of results, which report, show and
// export take as an input:
//   profile.profdata  the sums of all processes
//   assay-objects     the objects that they belong to, with their build-ids
//   assay-sources     which sources count, where not all do
//   gcov/             data files of gcc, linked to their notes
//   object-N          programs that were deleted when they had run

#ifndef COLLECT_COVER_RUN_H
#define COLLECT_COVER_RUN_H

#include "collect/cover/objects.h"
#include "coverage/rows/selection.h"

typedef struct CoverRun {
    Arena arena;
    Str folder; // absolute
    CoverPool pool;
    CoverCorrelations correlations; // programs of the pool's profiles
    CoverObjects objects;
    CoverSelection selection;
    bool counts_all;  // of results that the run is added to
    size_t survivors; // processes that outlive the command and may still write
    uint64_t gcov_data, gcov_without_notes; // data files of gcc
} CoverRun;

typedef enum CoverRunMode {
    COVER_RUN_NEW,     // results that are there are an error
    COVER_RUN_REPLACE, // they are removed first
    COVER_RUN_ADD,     // the run is added to them
} CoverRunMode;

// Makes the folder ready. Release with cover_run_deinit, also on false.
MUST_CHECK bool cover_run_open(CoverRun *r, Str folder, CoverRunMode mode, bool keep_raw,
                               Error *err);
void cover_run_deinit(CoverRun *r);

// An environment variable; the value ends in a NUL, and NULL takes it away.
typedef struct CoverVariable {
    const char *name, *value;
} CoverVariable;
typedef Vec(CoverVariable) CoverVariables;

// How many processes have the run's environment, without this one. Those of other users
// are not seen.
size_t cover_run_survivors(const CoverRun *r);

// What programs need in their environment to write where they are to.
void cover_run_variables(CoverRun *r, CoverVariables *ret);

// Where objects are looked for.
typedef struct CoverObjectSources {
    StrVec always;   // objects that belong to the report even when they did not run
    StrVec commands; // what was run: taken when it wrote
    StrVec folders;  // searched for what is still missing
} CoverObjectSources;

// Finds the objects and writes the results, with r->selection. A run that wrote nothing is fine:
// cover_run_wrote tells.
MUST_CHECK bool cover_run_finish(CoverRun *r, const CoverObjectSources *sources, Error *err);
bool cover_run_wrote(const CoverRun *r);

#endif // COLLECT_COVER_RUN_H
