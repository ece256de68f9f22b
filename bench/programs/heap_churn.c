// SPDX-License-Identifier: Apache-2.0
// Allocation from deep stacks by several threads: each thread calls down 29 frames by one of many
// ways, keeps blocks in a table that all threads share, and replaces, resizes and frees what is
// there, also blocks of other threads. Arguments: threads, rounds of each, ways.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 40000, DEPTH = 24, WAYS = 390 };

static _Atomic(char *) slot[SLOTS];
static unsigned rounds = 1060000, ways = WAYS * 4;

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

// A block from the table, or NULL; its place is empty afterwards.
static char *take(uint64_t *state)
{
    return atomic_exchange(&slot[next(state) % SLOTS], NULL);
}

static void put(uint64_t *state, char *block)
{
    free(atomic_exchange(&slot[next(state) % SLOTS], block));
}

static void __attribute__((noinline)) work(uint64_t *state, unsigned kind)
{
    size_t size = 16 + next(state) % 200;
    char *block = kind % 4 == 0 ? take(state) : NULL;
    block = block ? realloc(block, size) : malloc(size);
    block[0] = (char)kind;
    put(state, block);
}

static void left(uint64_t *state, unsigned way, unsigned depth);
static void right(uint64_t *state, unsigned way, unsigned depth);

static void __attribute__((noinline)) left(uint64_t *state, unsigned way, unsigned depth)
{
    if (depth == 0)
        work(state, way);
    else if (way & 1)
        left(state, way >> 1, depth - 1);
    else
        right(state, way >> 1, depth - 1);
    __asm__ volatile("" ::: "memory");
}

static void __attribute__((noinline)) right(uint64_t *state, unsigned way, unsigned depth)
{
    if (depth == 0)
        work(state, way + 1);
    else if (way & 1)
        right(state, way >> 1, depth - 1);
    else
        left(state, way >> 1, depth - 1);
    __asm__ volatile("" ::: "memory");
}

static void *run(void *argument)
{
    uint64_t state = (uintptr_t)argument * 0x9e3779b97f4a7c15ull + 1;
    for (unsigned i = 0; i < rounds; i++)
        left(&state, (unsigned)(next(&state) % ways), DEPTH);
    return NULL;
}

int main(int argc, char **argv)
{
    enum { THREADS_MAX = 64 };
    unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 2;
    if (argc > 2)
        rounds = (unsigned)atoi(argv[2]);
    pthread_t thread[THREADS_MAX];
    if (argc > 3)
        ways = (unsigned)atoi(argv[3]);
    if (threads > THREADS_MAX || ways == 0)
        return 2;
    for (uintptr_t i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, run, (void *)(i + 1));
    for (unsigned i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    for (unsigned i = 0; i < SLOTS; i++)
        free(slot[i]);
    puts("done");
    return 0;
}
