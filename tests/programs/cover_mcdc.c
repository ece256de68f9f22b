// SPDX-License-Identifier: Apache-2.0
// Decisions of several conditions: plain, in macros, folded, never run.
#include <stdio.h>
#include <stdlib.h>
#define BOTH(a, b)   ((a) && (b))
#define EITHER(a, b) (BOTH(a, 1) || (b))
#define PAD(a)       ((a) > 3 ? 1 : 0)
#define IN(a)        (PAD(a) + ((a) > 7 ? 2 : 1))

static int f(int a, int b, int c)
{
    if (a && (b || c))
        return 1;
    return a || b;
}

static int g(int a, int b)
{
    if (BOTH(a > 1, b < 3) || a == 7)
        return 5;
    while (a > 0 && b > 0 && a + b > 3) {
        a--;
        if (EITHER(a, b))
            b--;
    }
    return a && b ? 3 : 4;
}

int unused(int x)
{
    return x && 1;
}

static int h(int x)
{
    return PAD(x) + (x > 5 ? 1 : 2) + IN(x) + (x > 9 ? 3 : 4);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 3, sum = 0;
    for (int i = 0; i < n; i++)
        sum += f(i & 1, i & 2, i & 4) + g(i, n - i) + h(i);
    printf("%d\n", sum);
    return 0;
}
