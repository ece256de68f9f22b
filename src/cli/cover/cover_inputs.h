// SPDX-License-Identifier: Apache-2.0
// What the cover commands are given: objects, profiles and folders in any order,
// told apart by content; and the filters they share.

#ifndef CLI_COVER_COVER_INPUTS_H
#define CLI_COVER_COVER_INPUTS_H

#include "cli/cover/cover_filter.h"
#include "cli/option.h"
#include "coverage/gcc/unit_lines.h"
#include "coverage/llvm/correlated_programs.h"
#include "coverage/llvm/file_totals.h"
#include "coverage/llvm/merge.h"
#include "coverage/rows/exclude_rows.h"
#include "coverage/rows/tracefile_rows.h"
#include "model/profile.h"

// Options that report, show and export share.
typedef struct CoverInputOptions {
    StrVec objects; // --object
    Str profile;    // --instr-profile
    CoverFilterOptions filter;
    bool llvm_rules;
    bool explain;
    bool demangle;                      // set by the command: names are to be readable
    bool gcov_documents;                // set by the command: fill CoverResult.documents
    const CoverMergeInputVec *weighted; // set by the command: further inputs; NULL: none
    // Set by the command: CoverFilter.is_changed.
    bool (*is_changed)(void *ctx, Str path);
    void *is_changed_ctx;
} CoverInputOptions;

#define COVER_INPUT_OPTIONS(S, field)                                                              \
    OPT_LIST(0, "object", S, field.objects, "FILE", "an object with coverage mapping"),            \
        OPT_TEXT(0, "instr-profile", S, field.profile, "FILE", "a profile, as llvm-cov has it"),   \
        COVER_FILTER_OPTIONS(S, field.filter),                                                     \
        OPT_FLAG(0, "llvm-rules", S, field.llvm_rules,                                             \
                 "as llvm-cov: drop functions of another build, keep negative counts, count a "    \
                 "line as often as a block of clang --coverage lists it"),                         \
        OPT_FLAG(0, "explain", S, field.explain,                                                   \
                 "name on stderr every function that could not be counted, and why")

// What came out of the inputs.
typedef struct CoverResult {
    Arena arena;
    CoverCorrelations correlations;
    CoverCounts counts;
    CoverData data;
    bool has_regions; // there was an object: `data` is filled
    bool has_gcov;    // there were notes of gcc: `gcov` is filled
    GcovSum gcov;
    StrBuf documents; // gcov's JSON of each unit
    bool has_set;     // there were tracefiles: `set` is filled
    CoverSet set;
    CoverMarkFaultVec mark_faults; // when rows were asked for
    uint64_t stale;                // functions and .gcda files whose counts are of another build
    int64_t built_ns;              // the newest object's or note's time stamp, 0: not known
    Profile profile;               // rows of the model, when asked for
    CoverProject project;
    CoverFilter *filter;
} CoverResult;

// Reads every input. Warnings are said on stderr. Release with cover_result_deinit,
// also on false.
MUST_CHECK bool cover_load(const CoverInputOptions *options, const StrVec *operands,
                           CoverResult *ret, Error *err);

// Loads the inputs and gives it to `show`, with the command's options;
// says why when it cannot. Returns the exit status.
int cover_show_inputs(const CoverInputOptions *inputs, const StrVec *operands,
                      int (*show)(CoverResult *r, const void *values), const void *options);

// Whether functions with their regions are all that was loaded.
bool cover_is_of_llvm_alone(const CoverResult *r);

// Says on stderr what was left out while counts were summed.
void cover_say_notes(const CoverCounts *c);

// Settles marks in the sources that depend on counts, for those who do not ask for
// rows; says how many lines marks leave out.
void cover_settle(CoverResult *r);
// Whether counts are among the inputs that no gate may pass: of another build, or
// contradicted by marks in the sources. Says so.
bool cover_is_unsound(const CoverResult *r, bool llvm_rules);
// Fills r->profile from what was loaded; counts of several kinds of inputs are
// summed.
void cover_project(CoverResult *r);
void cover_result_deinit(CoverResult *r);

#endif // CLI_COVER_COVER_INPUTS_H
