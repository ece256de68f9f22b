// SPDX-License-Identifier: Apache-2.0
// large_frame N: a function with 100 KiB of local variables calls one that takes all
// the time. Truth: `spin` stands below `large`, `outer` and `main`.

#include <stdlib.h>

static volatile long sum;

__attribute__((noinline)) static void spin(long n)
{
    for (long i = 0; i < n; i++)
        sum += i;
}

__attribute__((noinline)) static long large(long n)
{
    volatile char room[100 << 10];
    room[0] = 1;
    room[sizeof(room) - 1] = 2;
    spin(n);
    return room[0] + room[sizeof(room) - 1];
}

__attribute__((noinline)) static long outer(long n)
{
    return large(n) + 1;
}

int main(int argc, char **argv)
{
    return outer(argc > 1 ? atol(argv[1]) : 300000000) != 4;
}
