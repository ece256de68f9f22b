// SPDX-License-Identifier: Apache-2.0
// The time of slow calls and of fast ones as metrics, for a picture of both.

#ifndef ANALYSE_CALLS_SLOW_PICTURE_H
#define ANALYSE_CALLS_SLOW_PICTURE_H

#include "analyse/calls/slow_calls.h"

// The two sides of a picture. Both are times in ns.
typedef struct SlowPicture {
    FunctionId function;
    MetricId slow; // all the time of slow calls
    MetricId fast; // the time that as many fast calls take
    size_t slow_calls, fast_calls;
    double sample_ns, fast_sample_ns; // the values of one sample of processor time
} SlowPicture;

// Adds both metrics to the profile, and samples for the time that calls computed and waited: waits
// end in a function that is named after their class, "[lock]". They are of the function with the
// most time that has slow calls and fast ones, or of the one named `function` unless that is "".
// False when there is none; nothing is changed then.
bool slow_picture_prepare(Profile *p, const SlowLimit *limit, Str function, SlowPicture *ret);

#endif // ANALYSE_CALLS_SLOW_PICTURE_H
