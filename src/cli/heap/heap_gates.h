// SPDX-License-Identifier: Apache-2.0
// Limits on what a program may allocate, checked against its recording. Counts are exact, so that
// no limit needs a tolerance.

#ifndef CLI_HEAP_HEAP_GATES_H
#define CLI_HEAP_HEAP_GATES_H

#include "cli/option.h"
#include "model/profile.h"

typedef struct HeapGates {
    uint64_t max_peak;  // bytes; UINT64_MAX: no limit, as below
    uint64_t leaks;     // blocks at the end
    StrVec max_allocs;  // FUNCTION=N or N/call: blocks in all stacks with the function
    StrVec no_alloc_in; // FUNCTION: the same with 0
    Str baseline;       // a recording that allocated no less at any place; "": none
} HeapGates;

#define HEAP_GATES_NONE ((HeapGates){.max_peak = UINT64_MAX, .leaks = UINT64_MAX})

// For an option table; `field` is a HeapGates in the options struct S.
#define HEAP_GATE_OPTIONS(S, field)                                                                \
    OPT_SIZE(0, "max-peak", S, field.max_peak, "SIZE",                                             \
             "exit with status 3 if more bytes were live at one time"),                            \
        OPT_LIST(0, "max-allocs", S, field.max_allocs, "FN=N[/call]",                              \
                 "exit with status 3 when FN and its callees allocate more than N blocks, or "     \
                 "more than N on average in each call of FN (needs probes: root)"),                \
        OPT_LIST(0, "no-alloc-in", S, field.no_alloc_in, "FN", "the same as --max-allocs FN=0"),   \
        OPT_U64(0, "leaks", S, field.leaks, "N",                                                   \
                "exit with status 3 when more than N blocks of the program are live at the end"),  \
        OPT_TEXT(                                                                                  \
            0, "baseline", S, field.baseline, "FILE",                                              \
            "exit with status 3 if a function allocates more blocks, or has more bytes at the "    \
            "peak, than in this recording")

// A limit of --max-allocs. The name borrows the text.
typedef struct HeapLimit {
    Str function;
    uint64_t blocks;
    bool per_call; // for each call of the function, on average
} HeapLimit;
// Splits the word; false when it is none.
bool heap_limit_parse(Str text, HeapLimit *ret);

// Checks that the words of the options can be read: before the program runs.
MUST_CHECK bool heap_gates_check(const HeapGates *g, Error *err);

// Prints each limit that the recording misses, and the stack that misses it, on stderr.
// `*ret_missed` becomes their number. `calls` has the number of calls for each limit by calls, in
// their order. Fails when the baseline cannot be read, or when calls of a function were compiled
// into its callers, where they are not counted.
MUST_CHECK bool heap_gates_judge(const HeapGates *g, const Profile *p, const U64Vec *calls,
                                 size_t *ret_missed, Error *err);

#endif // CLI_HEAP_HEAP_GATES_H
