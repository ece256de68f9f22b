// SPDX-License-Identifier: Apache-2.0
// `assay bench history`: how saved benches went on, with the places where the level changed.

#ifndef CLI_BENCH_BENCH_HISTORY_H
#define CLI_BENCH_BENCH_HISTORY_H

#include "cli/bench/bench_args.h"

// The sessions saved as `name` (all: ""), each against the one before, a picture of the trend, and
// where the level changed. Writes the files of --export-json, which has all of it, and of
// --export-github and --export-bencher, which have the last values.
MUST_CHECK bool bench_history(StrBuf *out, const BenchArgs *args, Str db_path, Str name,
                              Error *err);

#endif // CLI_BENCH_BENCH_HISTORY_H
