// SPDX-License-Identifier: Apache-2.0
// Coverage mapping and counts brought together: every function with its regions
// and their executions, by the rules of llvm-cov (docs/formats/coverage.md).

#ifndef COVERAGE_LLVM_FUNCTIONS_H
#define COVERAGE_LLVM_FUNCTIONS_H

#include "base/intern.h"
#include "coverage/llvm/counts.h"
#include "llvmcov/covmap.h"
#include "llvmcov/mcdc.h"
#include "llvmcov/segments.h"

typedef struct CoverRegion {
    uint32_t line, column, end_line, end_column;
    uint32_t file;          // file id within the function
    uint32_t expanded_file; // of expansions
    uint8_t kind;           // CovRegionKind
    bool is_folded;         // a branch whose condition the compiler knew
    uint64_t count, false_count;
} CoverRegion;

// One condition of a decision (MC/DC), in the order in which llvm-cov lists them.
typedef struct CoverCondition {
    uint32_t line, column, end_line, end_column;
    uint32_t file;    // file id within the function: in macros another than the decision's
    uint32_t node;    // its states stand there in a vector
    bool is_folded;   // the compiler knew it: not to be covered
    uint32_t pair[2]; // the vectors, from 1, that show its independence; 0: not shown
} CoverCondition;

typedef struct CoverDecision {
    uint32_t line, column, end_line, end_column;
    uint32_t file; // file id within the function
    size_t conditions_first;
    uint32_t condition_count;
    // What ran: vector_count times a CovConditionState for each node, and the outcome.
    size_t vectors_first; // of CoverData.vectors
    uint32_t vector_count;
} CoverDecision;

enum { COVER_NO_FILE = UINT32_MAX };

typedef struct CoverFunction {
    Str name;          // linkage name without the file in front of static ones
    uint64_t name_ref; // CovMapFunction.name_ref
    uint64_t hash;
    uint64_t count; // entries
    uint32_t line;  // of its first region
    uint32_t column;
    size_t files_first; // of CoverData.function_files
    uint32_t file_count;
    uint32_t main_file; // file id of the definition, COVER_NO_FILE when there is none
    size_t regions_first;
    // Regions of file id f: [starts[f], starts[f + 1]), counted from regions_first.
    size_t starts_first;    // of CoverData.region_starts
    size_t decisions_first; // of CoverData.decisions
    uint32_t decision_count;
    uint32_t object; // number of the object, in the order they were added
    uint32_t record; // of the object's CovMap.functions
} CoverFunction;

// Why a function of an object was not counted.
typedef enum CoverIssueKind {
    COVER_ISSUE_HASH,     // the profile knows the name, but another build of it
    COVER_ISSUE_COUNTER,  // the mapping asks for a counter that the profile lacks
    COVER_ISSUE_MAPPING,  // its mapping is broken
    COVER_ISSUE_DECISION, // the conditions of a decision cannot be evaluated
    COVER_ISSUE_NEGATIVE, // a difference of counters went below zero; shown as 0
    // The next two are asked for, see CoverData.explain.
    COVER_ISSUE_NO_PROFILE, // no profile has the name: counted as never run
    COVER_ISSUE_DUPLICATE,  // another object or unit had it first
    COVER_ISSUE_NO_NAME,    // the object does not hold its name
    COVER_ISSUE_COUNT
} CoverIssueKind;

// What is wrong, in words for the user.
const char *cover_issue_text(CoverIssueKind kind);

typedef struct CoverIssue {
    CoverIssueKind kind;
    Str function;
    Str object;
    Str file;              // of the function's mapping, "" when not known
    uint64_t object_hash;  // what the object states
    uint64_t profile_hash; // what the profile has under that name, 0: nothing
} CoverIssue;

// An expression that waits for its parts.
typedef struct CoverOpenExpression {
    uint32_t index;
    bool subtract;
    CovExpression parts;
} CoverOpenExpression;

typedef struct CoverData {
    Arena *arena;
    Intern files;
    Vec(CoverFunction) functions;
    Vec(CoverRegion) regions;
    Vec(CoverDecision) decisions;
    Vec(CoverCondition) conditions;
    U8Vec vectors;
    U32Vec function_files; // rows of `files`
    U32Vec region_starts;
    Vec(CoverIssue) issues;
    Table seen;                // (files, name) of functions: the first of equal ones counts
    uint64_t object_functions; // records read, duplicates included
    // Drop what llvm-cov drops (functions of another build) and do not clamp what
    // went below zero.
    bool llvm_rules;
    // Also report functions that no profile has, and duplicates. There may be many, and they are no
    // fault.
    bool explain;
    // Where a source file is here; NULL: paths stay as they are.
    Str (*map_path)(void *ctx, Str path);
    void *map_ctx;
    unsigned map_version; // the newest of the objects' mappings
    CovCounting counting; // what the regions' counts are
    uint32_t object_count;
    CovFunctionMap scratch;
    I64Vec values; // of expressions
    U8Vec states;
    Vec(CoverOpenExpression) open;
    CovMcdc mcdc;
} CoverData;

// Data without functions; texts go to `arena`, which must outlive it.
void cover_data_init(CoverData *d, Arena *arena);
void cover_data_deinit(CoverData *d); // frees all tables

// Evaluates every function of one object.
void cover_data_add_object(CoverData *d, const CovMap *map, Str object, const CoverCounts *counts);

// The regions of one function by other counters than those it was added with: as
// many as it has, in their order. They stand behind d->regions until the next call.
// False when they cannot be evaluated.
MUST_CHECK bool cover_data_evaluate(CoverData *d, const CovFunctionMap *map,
                                    const uint64_t *counters, uint32_t counter_count,
                                    const CoverRegion **regions, size_t *region_count);

// Finds the sections with coverage mapping in an object. ERROR_NOT_FOUND when it has none.
MUST_CHECK bool cover_object_sections(Arena *arena, Bytes file, CovMapSections *ret, Error *err);

#endif // COVERAGE_LLVM_FUNCTIONS_H
