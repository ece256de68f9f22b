// SPDX-License-Identifier: Apache-2.0
// A program of thirteen functions with planted shares: the first has 40 % of the time, the others
// 20 % to 1.5 %. PERCENT_MORE is what the first function does beyond that.

#include <stdlib.h>

#ifndef PERCENT_MORE
#define PERCENT_MORE 0
#endif

#define WORK(name, turns)                                                                          \
    __attribute__((noinline)) static unsigned name(unsigned x)                                     \
    {                                                                                              \
        for (unsigned i = 0; i < (turns); i++)                                                     \
            x = x * 1664525u + i;                                                                  \
        return x;                                                                                  \
    }

WORK(changes, 4000 * (100 + PERCENT_MORE))
WORK(half_of_it, 200000)
WORK(tenth, 100000)
WORK(small_1, 60000)
WORK(small_2, 50000)
WORK(small_3, 40000)
WORK(small_4, 30000)
WORK(small_5, 30000)
WORK(small_6, 20000)
WORK(small_7, 20000)
WORK(small_8, 15000)
WORK(small_9, 15000)
WORK(small_10, 15000)

int main(int argc, char **argv)
{
    static unsigned (*const work[])(unsigned) = {changes, half_of_it, tenth,   small_1, small_2,
                                                 small_3, small_4,    small_5, small_6, small_7,
                                                 small_8, small_9,    small_10};
    unsigned x = (unsigned)argc;
    for (int i = 0; i < atoi(argv[1]); i++)
        for (size_t k = 0; k < sizeof(work) / sizeof(work[0]); k++)
            x = work[k](x);
    return x == 7;
}
