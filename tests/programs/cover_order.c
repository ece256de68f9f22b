// SPDX-License-Identifier: Apache-2.0
// Calls its functions in the order of the letters of its argument, so that the order in which they
// first ran differs from run to run. "ab" runs main, a, b and last.

static volatile int sum;

__attribute__((noinline)) void a(void)
{
    sum += 1;
}

__attribute__((noinline)) void b(void)
{
    sum += 2;
}

__attribute__((noinline)) static void last(void)
{
    sum += 3;
}

__attribute__((noinline)) void never(void)
{
    sum += 4;
}

int main(int argc, char **argv)
{
    for (const char *at = argc > 1 ? argv[1] : ""; *at; at++) {
        if (*at == 'a')
            a();
        else
            b();
    }
    last();
    if (argc > 9)
        never();
    return 0;
}
