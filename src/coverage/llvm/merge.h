// SPDX-License-Identifier: Apache-2.0
// Summing many profile files with several threads. Each thread holds one set of
// sums, whatever the number of files, and one file at a time.

#ifndef COVERAGE_LLVM_MERGE_H
#define COVERAGE_LLVM_MERGE_H

#include "coverage/llvm/counts.h"

typedef struct CoverMergeInput {
    Str path;
    uint64_t weight;
} CoverMergeInput;

typedef Vec(CoverMergeInput) CoverMergeInputVec;

// A file that was left out.
typedef struct CoverMergeFailure {
    size_t input;
    Error error; // names the file
} CoverMergeFailure;

typedef struct CoverMergeOptions {
    unsigned thread_count; // 0: as many as there are processors and work
    bool stop_at_failure;  // the first file that cannot be read ends the merge
    bool same_build;       // profiles of another build than the first one's are refused
    // Called after each file of the calling thread with the number of its files that are done;
    // NULL: nobody watches.
    void (*progress)(void *ctx, size_t done, size_t total);
    void *progress_ctx;
} CoverMergeOptions;

typedef struct CoverMergeResult {
    Vec(CoverMergeFailure) failures; // in order of the inputs; heap
    size_t merged;                   // files
} CoverMergeResult;

void cover_merge_result_deinit(CoverMergeResult *r); // frees the list of failures

// Adds all files. What is wrong with single files is in the result; false with
// `stop_at_failure`, when no file could be read, or when sums of different kinds
// met. cover_counts_finish is left to the caller.
MUST_CHECK bool cover_merge_files(CoverCounts *c, const CoverMergeInputVec *inputs,
                                  const CoverMergeOptions *options, CoverMergeResult *ret,
                                  Error *err);

#endif // COVERAGE_LLVM_MERGE_H
