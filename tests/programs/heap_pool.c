// SPDX-License-Identifier: Apache-2.0
// A pool of the program's own: what assay heap --alloc-fn pool_alloc:2 --free-fn pool_free:2 is
// told.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline))
enum { CLASSES = 64, CHUNK = 65536 };

typedef struct Pool {
    char *at, *end;
    void *free_list[CLASSES];
} Pool;
static Pool *pool;

KEEP void *pool_alloc(Pool *p, size_t size)
{
    size_t class = (size + 15) / 16;
    void *block = class < CLASSES ? p->free_list[class] : NULL;
    if (block) {
        p->free_list[class] = *(void **)block;
        return block;
    }
    if (p->end - p->at < (long)(class * 16)) {
        p->at = malloc(CHUNK); // a part of what the pool gives out: it counts for no block
        p->end = p->at + CHUNK;
    }
    block = p->at;
    p->at += class * 16;
    return block;
}

// Begins with a short jump, which the hook has to make longer.
KEEP void pool_free(Pool *p, void *block, size_t size)
{
    if (!block)
        return;
    size_t class = (size + 15) / 16;
    if (class < CLASSES) {
        *(void **)block = p->free_list[class];
        p->free_list[class] = block;
    }
}

KEEP void *pool_array(size_t count, size_t size)
{
    return pool_alloc(pool, count * size);
}

KEEP void user(void) // 1000 blocks of 40 bytes, of which 100 stay
{
    for (int i = 0; i < 1000; i++) {
        char *block = pool_alloc(pool, 40);
        memset(block, 1, 40);
        if (i % 10)
            pool_free(pool, block, 40);
    }
}

KEEP void arrays(void) // 5 blocks of 3 * 100 bytes; the chunk that they need is the pool's own
{
    for (int i = 0; i < 5; i++)
        memset(pool_array(3, 100), 1, 300);
    pool_free(pool, NULL, 0);
}

int main(void)
{
    pool = calloc(1, sizeof(*pool));
    pool->at = malloc(4096); // the first block of the pool has the address of this one
    char *first = pool->at;
    pool->end = pool->at + 4096;
    user();
    arrays();
    free(first);
    puts("done");
    return 0;
}
