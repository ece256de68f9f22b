// SPDX-License-Identifier: Apache-2.0
// The contents of a screen of `assay top`, computed from the profile of a running recording.

#ifndef CLI_TOP_TOP_VIEW_H
#define CLI_TOP_TOP_VIEW_H

#include "analyse/report.h"
#include "collect/sampling/sampling.h"

// One function, line, module or process. Texts are as in the profile, unescaped.
typedef struct TopRow {
    Str name;
    Str place;           // "file.c:12"; "" when not known
    uint64_t self;       // in the last seconds
    uint64_t total;      // the same
    uint64_t since_self; // since the start
    bool is_inlined;
} TopRow;
typedef Vec(TopRow) TopRowVec;

// Owns its texts. It refers to nothing of the profile, so that another thread may show it.
typedef struct TopView {
    Arena arena;
    Str truth;         // the truth line of the last seconds
    Str unit;          // of values: "ns" or ""
    Str metric;        // "cpu time"
    const char *title; // of the names: "function"
    int64_t span_ns;   // of the last seconds
    int64_t since_ns;
    uint64_t value, since_value; // of all rows
    uint64_t samples, since_samples;
    TopRowVec rows; // by self of the last seconds, then since the start
    bool has_total; // rows have a total of their own
    Str around;     // the function whose callers and callees are below; "": none was asked for
    TopRowVec callers, callees; // `total` is the value of stacks with the call
} TopView;

typedef struct TopRequest {
    By by;
    Group group;
    Str around; // the name of the function whose callers and callees are asked for; ""
} TopRequest;

enum { TOP_SPAN_S = 10 }; // the last seconds

// Computes a view in heap memory; top_view_free frees it.
TopView *top_view_new(const Profile *p, const SamplingState *state, const TopRequest *request);
void top_view_free(TopView *v); // accepts NULL

#endif // CLI_TOP_TOP_VIEW_H
