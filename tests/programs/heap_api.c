// SPDX-License-Identifier: Apache-2.0
// Asks what it allocates (include/assay/heap.h). Status 0: every answer is right; 77: it is not
// recorded, and every answer says so.
#include <assay/heap.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what))                                                                               \
            printf("line %d: %s\n", __LINE__, #what), failures++;                                  \
    } while (0)

static void *volatile kept[100];

static void nested_scopes(void)
{
    AssayHeapScope outer, inner;
    AssayHeapStats s;
    CHECK(assay_heap_scope_begin(&outer) == 0);
    kept[0] = malloc(1000);
    kept[1] = malloc(500);
    free(kept[1]);
    CHECK(assay_heap_scope_begin(&inner) == 0);
    kept[2] = malloc(200);
    free(kept[2]);
    free(kept[0]); // from before
    CHECK(assay_heap_scope_end(&inner, &s) == 0);
    CHECK(s.blocks == 1 && s.bytes == 200 && s.live_blocks == -1 && s.live_bytes == -1000);
    CHECK(s.max_bytes == 200 && s.max_blocks == 1);
    CHECK(assay_heap_scope_end(&inner, &s) == -EINVAL && s.bytes == 0);
    CHECK(assay_heap_scope_stats(&outer, &s) == 0);
    CHECK(s.blocks == 3 && s.bytes == 1700 && s.live_blocks == 0 && s.live_bytes == 0);
    CHECK(s.max_bytes == 1500 && s.max_blocks == 2);
    kept[3] = malloc(10);
    kept[3] = realloc(kept[3], 2000);
    CHECK(assay_heap_scope_end(&outer, &s) == 0);
    CHECK(s.blocks == 5 && s.bytes == 3710 && s.live_blocks == 1 && s.live_bytes == 2000);
    CHECK(s.max_bytes == 2000 && s.max_blocks == 1);
    free(kept[3]);
}

static AssayHeapScope of_main;

// What each thread counts is its own, whatever the others do meanwhile.
static void *in_thread(void *argument)
{
    long number = (long)argument;
    AssayHeapScope scope;
    AssayHeapStats s;
    CHECK(assay_heap_scope_stats(&of_main, &s) == -EINVAL);
    for (int round = 0; round < 200; round++) {
        CHECK(assay_heap_scope_begin(&scope) == 0);
        for (long i = 0; i <= number; i++) {
            void *volatile block = malloc(64);
            free(block);
        }
        CHECK(assay_heap_scope_end(&scope, &s) == 0);
        CHECK((long)s.blocks == number + 1 && s.max_bytes == 64 && s.live_bytes == 0);
        (void)assay_heap_mark(number);
    }
    CHECK(assay_heap_thread_stats(&s) == 0 && (long)s.blocks >= 200 * (number + 1));
    return NULL;
}

__attribute__((noinline)) static void marks(void)
{
    for (unsigned i = 1; i <= 10; i++)
        CHECK(assay_heap_mark(i) == 0); // 10 marks, weight 55
}

static int not_recorded(void)
{
    AssayHeapStats s;
    AssayHeapScope scope;
    memset(&s, 1, sizeof(s));
    CHECK(assay_heap_stats(&s) == -ESRCH && s.blocks == 0 && s.max_bytes == 0);
    CHECK(assay_heap_thread_stats(&s) == -ESRCH);
    CHECK(assay_heap_scope_begin(&scope) == -ESRCH);
    CHECK(assay_heap_scope_stats(&scope, &s) == -ESRCH &&
          assay_heap_scope_end(&scope, NULL) == -ESRCH);
    CHECK(assay_heap_mark(1) == -ESRCH);
    return failures ? 1 : 77;
}

int main(void)
{
    pthread_t threads[4];
    AssayHeapStats before, after;
    if (assay_heap_stats(&before) == -ESRCH)
        return not_recorded();
    if (assay_heap_stats(&before) == -ENOTSUP) { // --sample
        CHECK(assay_heap_scope_begin(&of_main) == -ENOTSUP);
        marks();
        return failures ? 1 : 0;
    }
    nested_scopes();
    CHECK(assay_heap_scope_begin(&of_main) == 0);
    kept[4] = malloc(12345);
    CHECK(assay_heap_stats(&after) == 0);
    CHECK(after.blocks == before.blocks + 6 && after.bytes == before.bytes + 3710 + 12345);
    CHECK(after.live_bytes == before.live_bytes + 12345 && after.max_bytes >= after.live_bytes);
    for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, in_thread, (void *)i);
    for (long i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    marks();
    CHECK(assay_heap_scope_end(&of_main, NULL) == 0);
    return failures != 0;
}
