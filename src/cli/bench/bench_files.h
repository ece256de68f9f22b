// SPDX-License-Identifier: Apache-2.0
// The files that the options of a bench ask for.

#ifndef CLI_BENCH_BENCH_FILES_H
#define CLI_BENCH_BENCH_FILES_H

#include "cli/bench/bench_args.h"
#include "cli/runs/run_report.h"
#include "export/run_files.h"

// Differences between a bench of commands and one of functions: JSON, picture and page.
typedef struct BenchFiles {
    RunFamilies families;
    bool functions;
    void (*add_json)(StrBuf *out, void *ctx, const RunFiles *form);
    void (*add_svg)(StrBuf *out, void *ctx);
    bool (*add_html)(StrBuf *out, void *ctx, Error *err);
    // Adds members to the JSON's "assay" object; NULL: none.
    void (*add_members)(JsonWriter *w, void *ctx);
    void *ctx;
} BenchFiles;

// Writes every file that was asked for. Says on stderr which of them could not be written, and
// returns false then.
bool bench_write_files(const BenchArgs *args, const RunStyle *style, const BenchFiles *files);

#endif // CLI_BENCH_BENCH_FILES_H
