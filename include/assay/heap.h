/* SPDX-License-Identifier: Apache-2.0 */
/* What a program that runs under `assay heap` or `assay record --heap` allocates, asked by the
 * program itself: for tests that state how much a piece of code may allocate, and for events of its
 * own that are to be counted by stack. Nothing is linked: the header finds the recorder at run
 * time.
 *
 *     #include <assay/heap.h>
 *
 *     AssayHeapScope scope;
 *     AssayHeapStats stats;
 *     assay_heap_scope_begin(&scope);
 *     parse(row);
 *     if (assay_heap_scope_end(&scope, &stats) == 0)   // else: nobody records this process
 *         assert(stats.blocks == 0);
 *
 * A scope counts the calling thread only, so that tests may run in parallel threads.
 *
 * All functions return 0, or a number of errno(3) as a negative value, and do not set errno:
 * -ESRCH when the heap of this process is not recorded (then the result is all zero), -ENOTSUP when
 * it is recorded by samples (--sample), which gives no exact counts. They allocate nothing, and may
 * be called from any thread. heap.rs has the same for Rust. */

#ifndef ASSAY_HEAP_H
#define ASSAY_HEAP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counts of blocks with the sizes that were asked for. A call of realloc with a block counts as one
 * more block of its new size in the first two, and changes what is live by the difference. */
typedef struct AssayHeapStats {
    uint64_t blocks, bytes;          /* allocated in all */
    int64_t live_blocks, live_bytes; /* allocated and not freed */
    int64_t max_blocks, max_bytes;   /* the most that live_bytes was; and live_blocks then */
} AssayHeapStats;

/* A piece of a thread's run. What is in it is the recorder's. */
typedef struct AssayHeapScope {
    uint64_t own[8];
} AssayHeapScope;

/* For this header: the recorder's functions. Later versions add fields at the end. */
typedef struct AssayHeapFunctions {
    size_t size; /* of this structure */
    int (*stats)(AssayHeapStats *ret);
    int (*thread_stats)(AssayHeapStats *ret);
    int (*scope_begin)(AssayHeapScope *scope);
    int (*scope_stats)(const AssayHeapScope *scope, AssayHeapStats *ret);
    int (*scope_end)(AssayHeapScope *scope, AssayHeapStats *ret);
    int (*mark)(uint64_t weight);
} AssayHeapFunctions;

enum { ASSAY_HEAP_NOT_RECORDED = -3 /* -ESRCH */ };

/* libc's, by another name: the program may declare dlsym itself. */
extern void *assay_heap_dlsym_(void *handle, const char *name) __asm__("dlsym")
    __attribute__((weak));

/* The recorder's functions; NULL when there is no recorder. */
static inline const AssayHeapFunctions *assay_heap_functions_(void)
{
    static const AssayHeapFunctions none = {sizeof(none), 0, 0, 0, 0, 0, 0};
    static const AssayHeapFunctions *found;
    const AssayHeapFunctions *f = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
    if (!f) {
        typedef const AssayHeapFunctions *(*Get)(void);
        void *symbol = assay_heap_dlsym_ ? assay_heap_dlsym_(NULL, "assay_heap_functions") : NULL;
        Get get;
        __builtin_memcpy(&get, &symbol, sizeof(get));
        f = get ? get() : NULL;
        f = f ? f : &none;
        __atomic_store_n(&found, f, __ATOMIC_RELEASE);
    }
    return f->stats ? f : NULL;
}

static inline int assay_heap_none_(AssayHeapStats *ret)
{
    if (ret)
        __builtin_memset(ret, 0, sizeof(*ret));
    return ASSAY_HEAP_NOT_RECORDED;
}

/* The whole process since its start, or since fork(2). It takes a moment for each stack that
 * allocates. What libraries allocate counts, too. */
static inline int assay_heap_stats(AssayHeapStats *ret)
{
    const AssayHeapFunctions *f = assay_heap_functions_();
    return f ? f->stats(ret) : assay_heap_none_(ret);
}

/* The calling thread since its start. Live is what it allocated less what it freed: a thread that
 * frees blocks of others may have less than none. */
static inline int assay_heap_thread_stats(AssayHeapStats *ret)
{
    const AssayHeapFunctions *f = assay_heap_functions_();
    return f ? f->thread_stats(ret) : assay_heap_none_(ret);
}

/* Begins a scope on the calling thread; it is the caller's memory until the scope ends. Scopes of a
 * thread may be nested; the one that began last ends first. */
static inline int assay_heap_scope_begin(AssayHeapScope *scope)
{
    const AssayHeapFunctions *f = assay_heap_functions_();
    return f ? f->scope_begin(scope) : ASSAY_HEAP_NOT_RECORDED;
}

/* What the calling thread allocated since the scope began. Live is the change since then: less than
 * none when older blocks were freed. The maximum is at least 0.
 * -EINVAL: the scope did not begin on this thread, or has ended. */
static inline int assay_heap_scope_stats(const AssayHeapScope *scope, AssayHeapStats *ret)
{
    const AssayHeapFunctions *f = assay_heap_functions_();
    return f ? f->scope_stats(scope, ret) : assay_heap_none_(ret);
}

/* The same, and ends the scope. `ret` may be NULL. */
static inline int assay_heap_scope_end(AssayHeapScope *scope, AssayHeapStats *ret)
{
    const AssayHeapFunctions *f = assay_heap_functions_();
    return f ? f->scope_end(scope, ret) : assay_heap_none_(ret);
}

/* int assay_heap_mark(uint64_t weight)
 *
 * Counts an event of the program's own at the calling stack, with a weight: the metrics "marks" and
 * "weight of marks" of the recording. For what is neither a block nor time: rows compared, bytes
 * sent, how full a buffer was. Exact with --sample, too. A macro, so that the line is the
 * caller's. */
#define assay_heap_mark(weight)                                                                    \
    (assay_heap_functions_() ? assay_heap_functions_()->mark(weight) : (int)ASSAY_HEAP_NOT_RECORDED)

#ifdef __cplusplus
}
#endif

#endif /* ASSAY_HEAP_H */
