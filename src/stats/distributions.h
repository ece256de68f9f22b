// SPDX-License-Identifier: Apache-2.0
// The distributions that tests and intervals use. The relative error is below 1e-12 for
// results above 1e-300.

#ifndef STATS_DISTRIBUTIONS_H
#define STATS_DISTRIBUTIONS_H

#include "base/defs.h"

// P(Z <= z) of the standard normal distribution.
double normal_cdf(double z);
// Inverse of normal_cdf for 0 < p < 1 (Wichura, AS 241); ±infinity at 0 and 1.
double normal_quantile(double p);

// The regularised incomplete beta function I_x(a, b), a, b > 0.
double beta_incomplete(double a, double b, double x);

// P(|T| >= |t|) of Student's t with `df` degrees of freedom, df > 0.
double student_two_sided(double t, double df);
// The t with P(T <= t) = p.
double student_quantile(double p, double df);

// P(X <= k) for X ~ binomial(n, p). k < 0 gives 0.
double binomial_cdf(int64_t k, uint64_t n, double p);

#endif // STATS_DISTRIBUTIONS_H
