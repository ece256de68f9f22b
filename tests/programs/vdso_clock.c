// SPDX-License-Identifier: Apache-2.0
// Truth: a good part of the time is in the vdso, in a function whose name
// contains "clock_gettime". With an argument, the program first removes its own
// file, or replaces it by the file of that name.

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static long hot(long turns)
{
    struct timespec t;
    long sum = 0;
    for (long i = 0; i < turns; i++) {
        clock_gettime(CLOCK_MONOTONIC, &t);
        for (int k = 0; k < 40; k++)
            sum = sum * 31 + (t.tv_nsec ^ k); // WORK
    }
    return sum;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "remove") == 0)
        unlink(argv[0]);
    else if (argc == 2)
        rename(argv[1], argv[0]);
    printf("%ld\n", hot(4000000) & 1);
    return 0;
}
