// SPDX-License-Identifier: Apache-2.0
// Variables of known values at known lines: variables N.
// Truths: measure runs N times with len 0 to N - 1, tag 65 ('A'), level -5 and a float between;
// local is 3 * len at "line local"; box.size is len + 7 there and box.kind 200; deep sees inner
// 1000 + len inside of a block, where an outer "inner" is 1; same is 2 * len in an inlined call.

#include <stdio.h>
#include <stdlib.h>

typedef unsigned char Kind;
typedef struct Box {
    long pad;
    int size;
    Kind kind;
    struct Box *next;
    double ratio;
} Box;

static volatile long sink;

static void use(const void *p)
{
    __asm__ volatile("" ::"r"(p) : "memory");
}

// Lines with a call of it begin with the call: all that was assigned before is in its place.
__attribute__((noinline)) static void mark(void)
{
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) long measure(int len, double ratio, char tag, signed char level,
                                       Box *head)
{
    Box box = {.size = len + 7, .kind = 200, .next = head, .ratio = ratio};
    int local = len * 3;
    use(&box);
    use(&local);
    mark(); // line local
    sink += tag + level;
    return local + box.size;
}

__attribute__((noinline)) long deep(int len)
{
    int inner = 1;
    use(&inner);
    {
        int inner = 1000 + len;
        use(&inner);
        mark(); // line deep
        sink += inner;
    }
    return inner;
}

static inline __attribute__((always_inline)) long inlined(int same)
{
    use(&same);
    mark(); // line inlined
    sink += same;
    return same;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 100;
    long sum = 0;
    for (int i = 0; i < count; i++) {
        sum += measure(i, 0.5 * i, 'A', -5, NULL);
        sum += deep(i);
        sum += inlined(i * 2);
    }
    printf("%ld\n", sum);
    return 0;
}
