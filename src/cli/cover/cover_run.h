// SPDX-License-Identifier: Apache-2.0
// What the files of 'assay cover run' share.

#ifndef CLI_COVER_COVER_RUN_H
#define CLI_COVER_COVER_RUN_H

#include "collect/cover/cargo.h"
#include "collect/cover/per_test.h"
#include "collect/cover/run.h"

typedef struct CoverRunOptions {
    Str output, engine, tests_from;
    StrVec objects, include, exclude, debug_dirs;
    bool force, merge, keep_raw, quiet, no_report, missing, markdown, explain;
    bool skip_clean, include_tests, all_sources, per_test;
    double fail_under;
    int64_t wait_ns;
    StrVec packages;
    bool all_features, continuous;
} CoverRunOptions;

// One use of the command.
typedef struct CoverSession {
    const CoverRunOptions *o;
    CoverRun run;
    Program program;
    char *const *argv;
    bool is_cargo;
    CoverCargo cargo;
    CoverObjectSources sources;
    CoverRunEnd end;
} CoverSession;

void cover_set_variables(const CoverVariables *v);

// Builds a cargo command's programs and learns which they are. False, with the
// status in *status, when the build failed.
MUST_CHECK bool cover_prepare_cargo(CoverSession *s, int *status, Error *err);

// Runs the tests one by one and, after cover_run_finish, writes which lines each
// runs. The first failing test's status is the session's.
MUST_CHECK bool cover_run_tests(CoverSession *s, CoverPerTest *tests, Error *err);
MUST_CHECK bool cover_write_tests(CoverSession *s, CoverPerTest *tests, Error *err);

// Whether the report wants a source. `ctx` is the session.
bool cover_session_keep(void *ctx, Str path);

// The breakpoint engine: runs the command and writes its lines to the folder.
// *wrote: some statement was there to hit.
MUST_CHECK bool cover_run_traced(CoverSession *s, bool *wrote, Error *err);

#endif // CLI_COVER_COVER_RUN_H
