// SPDX-License-Identifier: Apache-2.0
// Uses processor time in functions that its C library calls: musl's has no unwind rules.
//   musl_calls ROUNDS: main -> qsort -> compare, and thread -> work
// Truths: compare has the callers main, …, compare; work has the callers thread, work; half of the
// time is in each.

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static volatile uint64_t sink;

__attribute__((noinline, noclone)) static uint64_t spin(uint64_t n)
{
    for (uint64_t i = 0; i < 2000; i++)
        n = n * 6364136223846793005u + i;
    return n;
}

__attribute__((noinline, noclone)) int compare(const void *a, const void *b)
{
    sink += spin(*(const uint32_t *)a);
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

__attribute__((noinline, noclone)) void work(int rounds)
{
    for (int i = 0; i < rounds * 11; i++)
        sink += spin((uint64_t)i);
}

static void *thread(void *rounds)
{
    work(*(int *)rounds);
    return rounds;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1000;
    pthread_t t;
    uint32_t numbers[8];
    pthread_create(&t, NULL, thread, &rounds);
    for (int i = 0; i < rounds; i++) {
        for (uint32_t k = 0; k < 8; k++)
            numbers[k] = (k * 2654435761u) >> 7;
        qsort(numbers, 8, sizeof(numbers[0]), compare);
    }
    return pthread_join(t, NULL);
}
