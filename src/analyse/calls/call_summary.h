// SPDX-License-Identifier: Apache-2.0
// Recorded calls by function: how long they took.

#ifndef ANALYSE_CALLS_CALL_SUMMARY_H
#define ANALYSE_CALLS_CALL_SUMMARY_H

#include "base/strbuf.h"
#include "model/profile.h"

// The calls of one function. Percentiles are exact: those of the sorted durations, by nearest rank.
typedef struct CallSummary {
    FrameId frame;   // of one of its copies
    FunctionId name; // 0: not symbolised
    U32Vec rows;     // of `calls`, from the shortest to the longest; of calls that ended; heap
    uint64_t total_ns;
    uint64_t open; // calls that had not ended with the recording, and are in nothing else here
    uint64_t late; // of the rows, without a return
} CallSummary;
typedef Vec(CallSummary) CallSummaries;

// One summary for each function, the one with the most time first. Free: call_summaries_free.
CallSummaries call_summaries(const Profile *p);
void call_summaries_free(CallSummaries *s);

// How long a call took: a row of `calls`.
int64_t call_duration_ns(const Profile *p, uint32_t call);
// The duration that a part of the calls, 0 to 1, does not exceed. There is at least one row.
uint64_t call_percentile_ns(const Profile *p, const CallSummary *s, double part);

// A bucket of the histogram of durations. With 36 of them for each power of two the ends of one are
// at most 3 % apart.
typedef struct CallBucket {
    uint64_t from_ns; // up to the next bucket's
    uint64_t count;
} CallBucket;
typedef Vec(CallBucket) CallBuckets; // heap

// The buckets that are not empty, ascending; `per_power` of them for each power of two.
CallBuckets call_histogram(const Profile *p, const CallSummary *s, uint32_t per_power);

// "handle_get", or the address.
void call_name_add(const Profile *p, const CallSummary *s, StrBuf *out);
// The first row of `call values` of a call; that of the next call when it has none.
size_t call_values_first(const Profile *p, uint32_t call);
// The value of that name of a call. False: it has none.
bool call_value_find(const Profile *p, uint32_t call, Str name, int64_t *ret);
// The number of the goroutine of a call of a Go program; 0: the call is one of a thread.
int64_t call_goroutine(const Profile *p, uint32_t call);
// Whether a stack is within the called function.
bool call_holds_stack(const Profile *p, uint32_t call, StackId stack);
// The values of a call, as "id=7 result=14".
void call_values_add(const Profile *p, uint32_t call, StrBuf *out);

#endif // ANALYSE_CALLS_CALL_SUMMARY_H
