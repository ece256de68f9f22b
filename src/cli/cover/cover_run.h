// SPDX-License-Identifier: Apache-2.0
// The steps of 'assay cover run' that have their own files.

#ifndef CLI_COVER_COVER_RUN_H
#define CLI_COVER_COVER_RUN_H

#include "cli/cover/cover_session.h"

// Builds a cargo command's programs and learns which they are. False, with the
// status in *status, when the build failed.
MUST_CHECK bool cover_prepare_cargo(CoverSession *s, int *status, Error *err);

// Runs the tests one by one and, after cover_run_finish, writes which lines each
// runs. The first failing test's status is the session's.
MUST_CHECK bool cover_run_tests(CoverSession *s, CoverPerTest *tests, Error *err);
MUST_CHECK bool cover_write_tests(CoverSession *s, CoverPerTest *tests, Error *err);

// The breakpoint engine: runs the command and writes its lines to the folder.
// *wrote: some statement was there to hit. On false the session's end is that of the command if it
// ran, else 0.
MUST_CHECK bool cover_run_traced(CoverSession *s, bool *wrote, Error *err);

#endif // CLI_COVER_COVER_RUN_H
