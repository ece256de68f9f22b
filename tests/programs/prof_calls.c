// SPDX-License-Identifier: Apache-2.0
// A program with known calls: step() 8000 times, twice() 4000, never() none;
// all of its time is step's.
#include <stdio.h>

static __attribute__((noinline)) unsigned long step(unsigned long x)
{
    for (int i = 0; i < 20000; i++)
        x = x * 6364136223846793005ul + 1442695040888963407ul;
    return x;
}

__attribute__((noinline)) unsigned long twice(unsigned long x)
{
    return step(step(x));
}

__attribute__((noinline)) void never(void)
{
    puts("never");
}

int main(int argc, char **argv)
{
    (void)argv;
    unsigned long x = (unsigned long)argc;
    for (int i = 0; i < 4000; i++)
        x = twice(x);
    if (x == 3)
        never();
    printf("%lx\n", x);
    return 0;
}
