// SPDX-License-Identifier: Apache-2.0
// Normal numbers for synthetic samples.

#ifndef TESTS_UNIT_RANDOM_NORMAL_H
#define TESTS_UNIT_RANDOM_NORMAL_H

#include "stats/distributions.h"
#include "stats/random.h"

// Standard normal, by inversion. The half step keeps the argument inside (0, 1).
static inline double random_normal(Random *r)
{
    return normal_quantile(((double)(random_u64(r) >> 12) + 0.5) * 0x1p-52);
}

#endif // TESTS_UNIT_RANDOM_NORMAL_H
