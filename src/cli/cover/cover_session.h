// SPDX-License-Identifier: Apache-2.0
// One use of 'assay cover run': its options, the command and the run's results.

#ifndef CLI_COVER_COVER_SESSION_H
#define CLI_COVER_COVER_SESSION_H

#include "collect/cover/cargo.h"
#include "collect/cover/per_test.h"
#include "collect/cover/run.h"

typedef struct CoverRunOptions {
    Str output, engine, tests_from, per_input;
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

// Finds the command and opens the folder of results. Objects to report on are the
// command itself, its words that name files, and those in the folders around.
// Deinitialise s->run also after a failure.
MUST_CHECK bool cover_session_open(CoverSession *s, CoverRunMode mode, Error *err);

// Whether tests, or inputs of a corpus, run one by one.
static inline bool cover_session_has_tests(const CoverSession *s)
{
    return s->o->per_test || s->o->tests_from.len || s->o->per_input.len;
}

// Whether the report needs a source. `ctx` is the session.
bool cover_session_keep(void *ctx, Str path);

// Sets the variables in this process's environment; those without a value go.
void cover_set_variables(const CoverVariables *v);

#endif // CLI_COVER_COVER_SESSION_H
