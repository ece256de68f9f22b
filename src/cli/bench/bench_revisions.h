// SPDX-License-Identifier: Apache-2.0
// `assay bench --revisions` and `--dirty`: one command, built from several revisions.

#ifndef CLI_BENCH_BENCH_REVISIONS_H
#define CLI_BENCH_BENCH_REVISIONS_H

#include "cli/bench/bench_args.h"
#include "collect/bench/revisions.h"

// Whether the command is to be built from revisions.
bool bench_wants_revisions(const BenchArgs *args);

// Opens the repository of the present folder with the user's cache.
MUST_CHECK bool bench_open_builds(Arena *arena, const BenchArgs *args, RevisionBuilds *ret,
                                  Error *err);

// Builds a revision and reports progress on stderr.
MUST_CHECK bool bench_build_revision(const RevisionBuilds *b, Revision *r, bool *build_failed,
                                     Error *err);

// The command as it runs in a revision that is built. Sets the shell of `options` too.
MUST_CHECK bool bench_revision_command(Arena *arena, const BenchArgs *args, Str command,
                                       const Revision *r, BenchOptions *options,
                                       BenchCommandVec *ret, Error *err);

// The name of a revision for reports: "v1.0 (1a2b3c4d5e)".
Str bench_revision_label(Arena *arena, const Revision *r);

// Builds all revisions that the options name, in their order.
MUST_CHECK bool bench_build_revisions(Arena *arena, const BenchArgs *args,
                                      const RevisionBuilds *builds, RevisionVec *ret, Error *err);

// Builds all revisions that the options name, and appends the command of each. The first revision
// is the reference.
MUST_CHECK bool bench_revision_commands(Arena *arena, const BenchArgs *args, const StrVec *operands,
                                        BenchOptions *options, BenchCommandVec *ret, Error *err);

#endif // CLI_BENCH_BENCH_REVISIONS_H
