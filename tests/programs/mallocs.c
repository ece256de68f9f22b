// SPDX-License-Identifier: Apache-2.0
// Allocates at four lines, in a pattern whose period no round number divides: mallocs N.
// Truths: "every row" N times, "odd" N / 2, "fifth" N / 5, "three of seven" about 3 N / 7.

#include <stdlib.h>

static void *volatile keep;

__attribute__((noinline)) static void row(int i)
{
    void *b = NULL, *c = NULL, *d = NULL;
    void *a = malloc(16); // every row
    if (i % 2)
        b = malloc(100); // odd
    if (i % 5 == 0)
        c = malloc(300); // fifth
    if (i % 7 < 3)
        d = malloc((size_t)i % 50 + 1); // three of seven
    keep = a;
    free(a);
    free(b);
    free(c);
    free(d);
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 100000;
    for (int i = 0; i < count; i++)
        row(i);
    return 0;
}
