// SPDX-License-Identifier: Apache-2.0
// Summaries of runs in the layouts of hyperfine 1.20, which other tools read, and as JUnit
// test cases. docs/formats/bench-json.md

#ifndef EXPORT_RUN_FILES_H
#define EXPORT_RUN_FILES_H

#include "analyse/run_summary.h"
#include "base/json.h"

typedef struct RunFiles {
    Str tool_version;
    RunSort sort; // of tables
    RunUnit unit; // of tables
    // For functions: each time of a table has a unit of its own unless `unit` is set, and a
    // function that is compared with nothing is a JUnit test that passes.
    bool functions;
    // Slower by more than this (0.05 for 5 %) is a failed JUnit test, undecided a skipped one.
    double junit_limit;
    // Adds members to the JSON's "assay" object; NULL: none.
    void (*add_json)(JsonWriter *w, void *ctx);
    void *ctx;
} RunFiles;

// Each appends one whole file.
void run_files_json(StrBuf *out, RunSummaries *s, const RunFiles *f);
void run_files_csv(StrBuf *out, const RunFamilies *all, const RunFiles *f);
void run_files_markdown(StrBuf *out, const RunFamilies *all, const RunFiles *f);
void run_files_asciidoc(StrBuf *out, const RunFamilies *all, const RunFiles *f);
void run_files_orgmode(StrBuf *out, const RunFamilies *all, const RunFiles *f);
void run_files_junit(StrBuf *out, const RunFamilies *all, const RunFiles *f);

#endif // EXPORT_RUN_FILES_H
