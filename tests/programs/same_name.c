// SPDX-License-Identifier: Apache-2.0
// Two source files have a private function of one name. Built without debug
// information, this one takes three quarters of the time: from_a and from_b call
// their own, with counts of 3 to 1.

#ifdef OTHER
#define FROM from_b
#else
#define FROM from_a
#endif

static __attribute__((noinline)) long work(long n)
{
    volatile long sum = 0;
    for (long i = 0; i < n; i++)
        sum += i;
    return sum;
}

long FROM(long n);

long FROM(long n)
{
    return work(n) + 1;
}

#ifndef OTHER
long from_b(long n);

int main(void)
{
    return from_a(450000000) + from_b(150000000) == 0;
}
#endif
