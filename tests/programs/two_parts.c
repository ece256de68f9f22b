// SPDX-License-Identifier: Apache-2.0
// two_parts N [second]: N times first_part, and with a second word second_part, each for a
// million additions. Truth: half of the time in each, or all of it in first_part.

#include <stdlib.h>

static volatile long sum;

__attribute__((noinline)) static void first_part(void)
{
    for (long i = 0; i < 1000000; i++)
        sum += i;
}

__attribute__((noinline)) static void second_part(void)
{
    for (long i = 0; i < 1000000; i++)
        sum ^= i;
}

int main(int argc, char **argv)
{
    for (long n = argc > 1 ? atol(argv[1]) : 1; n > 0; n--) {
        first_part();
        if (argc > 2)
            second_part();
    }
    return 0;
}
