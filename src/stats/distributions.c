// SPDX-License-Identifier: Apache-2.0
// Normal, Student and binomial distributions.

#include "stats/distributions.h"

#include <math.h>

double normal_cdf(double z)
{
    return 0.5 * erfc(-z * M_SQRT1_2);
}

// Evaluates c[0] + c[1] x + … of n coefficients.
static double polynomial(const double *c, size_t n, double x)
{
    double y = 0;
    while (n > 0)
        y = y * x + c[--n];
    return y;
}

double normal_quantile(double p)
{
    // Wichura 1988, "Algorithm AS 241", PPND16.
    static const double a[] = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                               1.9715909503065514427e+3, 1.3731693765509461125e+4,
                               4.5921953931549871457e+4, 6.7265770927008700853e+4,
                               3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static const double b[] = {1.0,
                               4.2313330701600911252e+1,
                               6.8718700749205790830e+2,
                               5.3941960214247511077e+3,
                               2.1213794301586595867e+4,
                               3.9307895800092710610e+4,
                               2.8729085735721942674e+4,
                               5.2264952788528545610e+3};
    static const double c[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                               5.76949722146069140550e0,  3.64784832476320460504e0,
                               1.27045825245236838258e0,  2.41780725177450611770e-1,
                               2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double d[] = {1.0,
                               2.05319162663775882187e0,
                               1.67638483018380384940e0,
                               6.89767334985100004550e-1,
                               1.48103976427480074590e-1,
                               1.51986665636164571966e-2,
                               5.47593808499534494600e-4,
                               1.05075007164441684324e-9};
    static const double e[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                               1.78482653991729133580e0,  2.96560571828504891230e-1,
                               2.65321895265761230930e-2, 1.24266094738807843860e-3,
                               2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double f[] = {1.0,
                               5.99832206555887937690e-1,
                               1.36929880922735805310e-1,
                               1.48753612908506148525e-2,
                               7.86869131145613259100e-4,
                               1.84631831751005468180e-5,
                               1.42151175831644588870e-7,
                               2.04426310338993978564e-15};
    double q = p - 0.5;

    if (fabs(q) <= 0.425) {
        double r = 0.180625 - q * q;
        return q * polynomial(a, ARRAY_LEN(a), r) / polynomial(b, ARRAY_LEN(b), r);
    }
    double tail = q < 0 ? p : 1 - p;
    if (!(tail > 0))
        return q < 0 ? -INFINITY : INFINITY;
    double r = sqrt(-log(tail));
    double z;
    if (r <= 5) {
        z = polynomial(c, ARRAY_LEN(c), r - 1.6) / polynomial(d, ARRAY_LEN(d), r - 1.6);
    } else {
        z = polynomial(e, ARRAY_LEN(e), r - 5) / polynomial(f, ARRAY_LEN(f), r - 5);
    }
    return q < 0 ? -z : z;
}

// log Γ by Stirling's series. The lgamma of the C library loses digits near its zeros and writes a
// global variable.
static double log_gamma(double x)
{
    double shift = 0;
    while (x < 15) {
        shift += log(x);
        x += 1;
    }
    double inv2 = 1 / (x * x);
    double series =
        (1.0 / 12 -
         inv2 * (1.0 / 360 -
                 inv2 * (1.0 / 1260 -
                         inv2 * (1.0 / 1680 -
                                 inv2 * (1.0 / 1188 - inv2 * (691.0 / 360360 - inv2 / 156)))))) /
        x;
    return (x - 0.5) * log(x) - x + 0.91893853320467274178 + series - shift;
}

// Continued fraction of I_x(a, b), modified Lentz (DLMF 8.17.22).
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1;
    double d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m < 20000; m++) {
        double m2 = 2.0 * m;
        double even = m * (b - m) * x / ((a + m2 - 1) * (a + m2));
        d = 1 + even * d;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = 1 + even / c;
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        double odd = -(a + m) * (a + b + m) * x / ((a + m2) * (a + m2 + 1));
        d = 1 + odd * d;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = 1 + odd / c;
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-16)
            break;
    }
    return h;
}

double beta_incomplete(double a, double b, double x)
{
    if (!(x > 0))
        return 0;
    if (x >= 1)
        return 1;
    double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_two_sided(double t, double df)
{
    if (isinf(t))
        return 0;
    // Computes 1 - x without cancellation for small |t|.
    double t2 = t * t;
    if (t2 < df)
        return 1 - beta_incomplete(0.5, df / 2, t2 / (df + t2));
    return beta_incomplete(df / 2, 0.5, df / (df + t2));
}

double student_quantile(double p, double df)
{
    if (!(p > 0) || !(p < 1))
        return p > 0 ? INFINITY : -INFINITY;
    double tail = 2 * (p < 0.5 ? p : 1 - p);
    double lo = 0, hi = 1;
    while (student_two_sided(hi, df) > tail && hi < 1e300)
        hi *= 2;
    for (int i = 0; i < 200 && hi - lo > 1e-15 * hi; i++) {
        double mid = (lo + hi) / 2;
        if (student_two_sided(mid, df) > tail)
            lo = mid;
        else
            hi = mid;
    }
    double t = (lo + hi) / 2;
    return p < 0.5 ? -t : t;
}

double binomial_cdf(int64_t k, uint64_t n, double p)
{
    if (k < 0)
        return 0;
    if ((uint64_t)k >= n)
        return 1;
    if (p <= 0)
        return 1;
    if (p >= 1)
        return 0;
    // P(X <= k) = I_{1-p}(n - k, k + 1).
    return beta_incomplete((double)(n - (uint64_t)k), (double)k + 1, 1 - p);
}
