#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes stats_reference.h: what scipy, numpy and statsmodels say of fixed data.
# Run once with scipy 1.17, numpy 2, statsmodels 0.14; the result is committed:
#   python3 generate_stats_reference.py > stats_reference.h

import itertools
import math

import numpy as np
import scipy
from scipy import stats
from statsmodels.stats.multitest import multipletests

rng = np.random.default_rng(20261121)
# Criterion keeps the factor as a 32-bit float.
MAD_SCALE = float(np.float32(1.4826))
print("// SPDX-License-Identifier: Apache-2.0")
print("// Made by generate_stats_reference.py with scipy %s, numpy %s. Do not edit."
      % (scipy.__version__, np.__version__))
print("// clang-format off\n")
print("#ifndef STATS_REFERENCE_H\n#define STATS_REFERENCE_H\n")


def num(x):
    x = float(x)
    return "INFINITY" if x == math.inf else "-INFINITY" if x == -math.inf else repr(x)


def array(name, values):
    body = ",\n    ".join(", ".join(num(v) for v in values[i:i + 5])
                          for i in range(0, len(values), 5))
    print("static const double %s[] = {\n    %s};" % (name, body))


def value(name, v):
    print("static const double %s = %s;" % (name, num(v)))


def walsh(x):
    return sorted((x[i] + x[j]) / 2 for i in range(len(x)) for j in range(i, len(x)))


def signed_rank_cdf(n):
    counts = np.zeros(n * (n + 1) // 2 + 1)
    counts[0] = 1
    for r in range(1, n + 1):
        shifted = np.zeros_like(counts)
        shifted[r:] = counts[:len(counts) - r]
        counts = counts + shifted
    return np.cumsum(counts) / 2.0 ** n


def hl_interval(x, level):
    # R's wilcox.test(conf.int = TRUE, exact = TRUE)
    n = len(x)
    cdf = signed_rank_cdf(n)
    q = int(np.searchsorted(cdf, (1 - level) / 2))  # qsignrank
    q = max(q, 1)
    w = walsh(x)
    return w[q - 1], float(np.median(w)), w[len(w) - q]


# Distributions
zs = [1e-12, 1e-5, 0.01, 0.025, 0.3, 0.5, 0.8, 0.975, 0.99999]
array("NORMAL_P", zs)
array("NORMAL_QUANTILE", stats.norm.ppf(zs))
ts = [(0.3, 4), (1.96, 7.5), (2.5, 30), (12.0, 3), (4.2, 199.3), (0.01, 2)]
array("STUDENT_T", [t for t, _ in ts])
array("STUDENT_DF", [d for _, d in ts])
array("STUDENT_P", [2 * stats.t.sf(t, d) for t, d in ts])
array("STUDENT_Q975", [stats.t.ppf(0.975, d) for _, d in ts])
bs = [(3, 10, .5), (0, 6, .5), (480, 1000, .5), (7, 30, .3), (49500, 100000, .5)]
array("BINOMIAL_K", [k for k, _, _ in bs])
array("BINOMIAL_N", [n for _, n, _ in bs])
array("BINOMIAL_P", [p for _, _, p in bs])
array("BINOMIAL_CDF", [stats.binom.cdf(*b) for b in bs])

# One sample, odd and even; a skewed one as run times are
a = np.round(np.exp(rng.normal(0, 0.3, 25)), 6)
b = np.round(a * np.exp(rng.normal(0.08, 0.15, 25)), 6)
long_d = rng.normal(0.05, 1, 150)
tied = np.array([1, -2, 3, 3, -1, 4, 2, -3, 5, 0, 4, 1], float)
array("SAMPLE_A", a)
array("SAMPLE_B", b)
array("LONG_D", long_d)
array("TIED_D", tied)
for name, x in (("A", a), ("LONG", long_d)):
    q1, q3 = np.percentile(x, 25), np.percentile(x, 75)
    value("MEAN_" + name, np.mean(x))
    value("DEVIATION_" + name, np.std(x, ddof=1))
    value("MEDIAN_" + name, np.median(x))
    value("MAD_" + name, stats.median_abs_deviation(x) * MAD_SCALE)
    value("P90_" + name, np.percentile(x, 90))
    value("TRIMMED_" + name, stats.trim_mean(x, 0.2))
    array("FENCES_" + name, [q1 - 3 * (q3 - q1), q1 - 1.5 * (q3 - q1),
                             q3 + 1.5 * (q3 - q1), q3 + 3 * (q3 - q1)])

d = np.log(b / a)
value("SIGN_P", stats.binomtest(int((d > 0).sum()), len(d)).pvalue)
w = stats.wilcoxon(d, method="exact")
value("WILCOXON_W", w.statistic)
value("WILCOXON_P", w.pvalue)
w = stats.wilcoxon(long_d, method="asymptotic", correction=False)
value("WILCOXON_LONG_W", w.statistic)
value("WILCOXON_LONG_P", w.pvalue)
# Exact with ties: all 2^n signs
kept = tied[tied != 0]
ranks = stats.rankdata(np.abs(kept))
observed = min(ranks[kept > 0].sum(), ranks[kept < 0].sum())
low = sum(1 for s in itertools.product((0, 1), repeat=len(kept))
          if np.dot(s, ranks) <= observed)
value("WILCOXON_TIED_EXACT_P", min(1, 2 * low / 2.0 ** len(kept)))

x, y = a[:12], np.append(b[3:13], [2.5, 3.25])
u = stats.mannwhitneyu(x, y, method="exact")
value("MANN_WHITNEY_U", u.statistic)
value("MANN_WHITNEY_EXACT_P", u.pvalue)
array("UNPAIRED_Y", y)
u = stats.mannwhitneyu(np.round(long_d[:80], 1), np.round(long_d[80:] + .4, 1),
                       method="asymptotic")
value("MANN_WHITNEY_TIED_U", u.statistic)
value("MANN_WHITNEY_TIED_P", u.pvalue)

array("HL_D", hl_interval(list(d), 0.95))
array("HL_D8", hl_interval(list(d[:8]), 0.95))
value("HL_LONG", np.median(walsh(list(long_d))))
value("HL_SHIFT", np.median([q - p for p in x for q in y]))
s = np.sort(long_d)
k = max(k for k in range(1, 75) if stats.binom.cdf(k - 1, 150, .5) <= 0.025)
array("MEDIAN_INTERVAL_LONG", [s[k - 1], np.median(s), s[150 - k]])
m = stats.t.interval(0.95, len(d) - 1, np.mean(d), stats.sem(d))
array("MEAN_INTERVAL_D", [m[0], np.mean(d), m[1]])

# Bootstrap with many resamples: equal within Monte-Carlo error
boot = stats.bootstrap((a,), np.mean, n_resamples=200000, method="percentile", random_state=1,
                       vectorized=True)
value("BOOT_MEAN_LOW", boot.confidence_interval.low)
value("BOOT_MEAN_HIGH", boot.confidence_interval.high)
value("BOOT_MEAN_SE", boot.standard_error)
boot = stats.bootstrap((a,), np.mean, n_resamples=200000, method="BCa", random_state=1,
                       vectorized=True)
value("BOOT_MEAN_BCA_LOW", boot.confidence_interval.low)
value("BOOT_MEAN_BCA_HIGH", boot.confidence_interval.high)

ps = [0.01, 0.04, 0.03, 0.005, 0.2, 0.04, 0.9]
array("PS", ps)
array("PS_HOLM", multipletests(ps, method="holm")[1])

c = long_d - long_d.mean()
array("ACF_LONG", [np.dot(c[:len(c) - k], c[k:]) / np.dot(c, c) for k in (1, 2, 7)])

# Criterion's linear sampling: counts d, 2d … and elapsed times; the estimates by
# its formulae (slope through the origin; the others over time per iteration)
iters = np.arange(1, 101) * 353.0
elapsed = np.round(iters * 4.7 * np.exp(rng.normal(0, 0.03, 100)) + 40, 3)
each = elapsed / iters
array("CRITERION_ITERS", iters)
array("CRITERION_TIMES", elapsed)
q1, q3 = np.percentile(each, 25), np.percentile(each, 75)
value("CRITERION_MEAN", each.mean())
value("CRITERION_MEDIAN", np.median(each))
value("CRITERION_MAD", stats.median_abs_deviation(each) * MAD_SCALE)
value("CRITERION_DEVIATION", each.std(ddof=1))
array("CRITERION_FENCES", [q1 - 3 * (q3 - q1), q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1),
                           q3 + 3 * (q3 - q1)])

f = stats.linregress(np.log([1, 2, 4, 8, 16, 32]), np.log([1.1, 4.2, 15.5, 66, 250, 1040]))
tq = stats.t.ppf(0.975, 4)
array("LINE_FIT", [f.intercept, f.slope, f.slope - tq * f.stderr, f.slope + tq * f.stderr])
print("\n#endif // STATS_REFERENCE_H")
