// SPDX-License-Identifier: Apache-2.0
// Truths: `hot` contains `middle`, inlined, which contains `inner`, inlined;
// inner's work is on the line marked INNER, the call of middle on MIDDLE.
// Built with -DSECOND it is the other half: two units make one program.

#include <cstdio>
#include <cstdlib>

namespace chain
{
template <typename T> struct Table {
    static T other(T x);
};

#ifdef SECOND
template <typename T> __attribute__((noinline)) T Table<T>::other(T x)
{
    return x * 5 + 1;
}
template struct Table<long>;
#else
extern template struct Table<long>;

volatile long sink;

__attribute__((always_inline)) inline void inner(long x)
{
    sink = sink * 3 + x; // INNER
}

__attribute__((always_inline)) inline void middle(long x)
{
    inner(x ^ sink); // CALLS_INNER
}

__attribute__((noinline)) void hot(long n)
{
    for (long i = 0; i < n; i++)
        middle(i); // CALLS_MIDDLE
}

static __attribute__((noinline)) void hidden(long n)
{
    sink = Table<long>::other(n) + sink;
}
#endif
} // namespace chain

#ifndef SECOND
int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000;
    chain::hot(n);
    chain::hidden(n);
    printf("%ld\n", chain::sink);
    return 0;
}
#endif
