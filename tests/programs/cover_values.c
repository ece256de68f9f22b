// SPDX-License-Identifier: Apache-2.0
// Indirect calls and sizes of copies, for value profiles. The argument is the
// number of rounds. One target lies outside the program.

#include <stdlib.h>
#include <string.h>

typedef int (*Target)(int);

static int add_one(int x)
{
    return x + 1;
}

static int twice(int x)
{
    return x * 2;
}

static const Target targets[] = {add_one, twice, abs};
static char to[64], from[64];

__attribute__((noinline)) int call(Target f, int x)
{
    return f(x);
}

__attribute__((noinline)) void copy(int n)
{
    memcpy(to, from, (size_t)n);
}

// Sites that never ran have no values.
int never(Target f)
{
    return f(1);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10, sum = 0;
    for (int i = 0; i < rounds; i++) {
        sum += call(targets[i % 3], i);
        copy(i % 60);
    }
    return sum < 0;
}
