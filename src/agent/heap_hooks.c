// SPDX-License-Identifier: Apache-2.0
// Stands before the functions of libc that allocate and free memory. Each calls the function behind
// it, and records the result.

#include "agent/heap.h"
#include "agent/heap_calls.h"
#include "agent/join.h"
#include "agent/mappings.h"
#include "agent/sys.h"
#include "wire/heap.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>

#define WEAK __attribute__((weak))

extern void *dlsym(void *restrict handle, const char *restrict name) WEAK;
extern int *__errno_location(void) WEAK;
extern void *__libc_malloc(size_t size) WEAK;

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *block, size_t size);
void *reallocarray(void *block, size_t count, size_t size);
void free(void *block);
void free_sized(void *block, size_t size);
void free_aligned_sized(void *block, size_t alignment, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
int posix_memalign(void **ret, size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size);
void *valloc(size_t size);
void *pvalloc(size_t size);

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
} behind;
// The program has a malloc of its own, which stands before this library. Of the functions here it
// is called by those alone that the program's allocator lacks; their calls are passed on, but not
// recorded: it is noted at the entries of the program's own functions, if at all.
static bool is_behind_own;
static _Atomic uint32_t state; // 0: not asked yet; 1: being found; 2: found

// ---- Before the functions behind are known ----------------------------------------------

// dlsym may allocate while it looks for malloc: so much memory is enough, and is never freed.
enum { EARLY_BYTES = 64 << 10, EARLY_ALIGN = 16, OTHER_GRANULE_BITS = 3 };
static _Alignas(EARLY_ALIGN) uint8_t early[EARLY_BYTES];
static _Atomic uint64_t early_used;

static bool is_early(const void *block)
{
    return (uint64_t)(uintptr_t)block - (uint64_t)(uintptr_t)early < EARLY_BYTES;
}

static void *early_alloc(size_t size)
{
    if (size > EARLY_BYTES)
        return NULL;
    uint64_t at = atomic_fetch_add(&early_used, align_up(size, EARLY_ALIGN));
    if (at + size > EARLY_BYTES)
        return NULL;
    heap_filter_keep(early + at); // it must never get to libc's free
    return early + at;
}

static void *next(const char *name)
{
    return dlsym ? dlsym(RTLD_NEXT, name) : NULL;
}

// Their addresses in this library cannot be compared: the linker names the program's.
static bool is_ours(const void *function)
{
    return mappings_is_own_code((uint64_t)(uintptr_t)function);
}

// An executable with fixed addresses that takes the address of a function has a jump to it, by
// which dlsym knows the function. The jump leads here.
static bool is_jump(const void *function)
{
#if defined(__x86_64__)
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    const uint8_t *at = function;
    if (__builtin_memcmp(at, endbr, sizeof(endbr)) == 0)
        at += sizeof(endbr);
    if (*at == 0xf2) // bnd
        at++;
    return at[0] == 0xff && at[1] == 0x25; // jmp *displacement(%rip)
#else
    (void)function;
    return false;
#endif
}

static void find_own(void)
{
    void *first = dlsym ? dlsym(RTLD_DEFAULT, "malloc") : NULL;
    void *first_realloc = dlsym ? dlsym(RTLD_DEFAULT, "realloc") : NULL;
    void *first_free = dlsym ? dlsym(RTLD_DEFAULT, "free") : NULL;
    if (!first || is_ours(first) || is_jump(first))
        return;
    is_behind_own = true;
    if (first_realloc && !is_ours(first_realloc) && !is_jump(first_realloc))
        behind.realloc = (void *(*)(void *, size_t))first_realloc;
    if (first_free && !is_ours(first_free) && !is_jump(first_free))
        behind.free = (void (*)(void *))first_free;
}

// Finds the functions behind, and the session. False: they are being found now, by this thread.
static bool find_behind(void)
{
    uint32_t nobody = 0;
    if (!atomic_compare_exchange_strong(&state, &nobody, 1))
        return atomic_load(&state) == 2;
    behind.calloc = (void *(*)(size_t, size_t))next("calloc");
    behind.realloc = (void *(*)(void *, size_t))next("realloc");
    behind.free = (void (*)(void *))next("free");
    behind.aligned_alloc = (void *(*)(size_t, size_t))next("aligned_alloc");
    behind.posix_memalign = (int (*)(void **, size_t, size_t))next("posix_memalign");
    behind.memalign = (void *(*)(size_t, size_t))next("memalign");
    behind.valloc = (void *(*)(size_t))next("valloc");
    behind.pvalloc = (void *(*)(size_t))next("pvalloc");
    behind.malloc = (void *(*)(size_t))next("malloc");
    find_own();
    // Other allocators than glibc's put small blocks closer together.
    if (behind.malloc != __libc_malloc)
        heap_blocks_set_granule(OTHER_GRANULE_BITS);
    atomic_store(&state, 2);
    if (!is_behind_own)
        heap_hooks_ready();
    return true;
}

static inline bool is_ready(void)
{
    return LIKELY(atomic_load_explicit(&state, memory_order_acquire) == 2) || find_behind();
}

// The first allocations come before any constructor has run.
static inline bool is_on(void)
{
    return heap_is_on() || (join_is_pending() && (join_session(), heap_is_on()));
}

// Whether a block that is to be allocated is noted.
static inline bool notes(uint64_t size)
{
    return is_on() && heap_call_chooses(size);
}

static void *no_memory(void)
{
    if (__errno_location)
        *__errno_location() = ENOMEM;
    return NULL;
}

// ---- The functions ----------------------------------------------------------------------

// Whether heap_malloc_lone, heap_calloc_lone and heap_freed_lone do for a call, which is not timed.
static inline bool is_lone(void)
{
    return LIKELY(heap_path() == HEAP_LONE) && LIKELY(heap_call_passes());
}

__attribute__((noinline)) static void *malloc_any(size_t size, uint64_t pc, uint64_t sp,
                                                  uint64_t fp)
{
    if (UNLIKELY(!is_ready()))
        return early_alloc(size);
    bool noted = notes(size);
    uint64_t begun = heap_call_begin(noted);
    void *block = behind.malloc(size);
    uint64_t units = heap_call_end(begun, size);
    if (noted)
        heap_allocated(block, size, &(HeapCaller){pc, sp, fp}, units);
    return block;
}

// The exported functions do nothing but jump, so that they save no registers where blocks are
// sampled.
AGENT_EXPORT void *malloc(size_t size)
{
    if (heap_call_is_left_out(size))
        return behind.malloc(size);
    return is_lone() ? heap_malloc_lone(behind.malloc, size, HEAP_CALLER_WORDS)
                     : malloc_any(size, HEAP_CALLER_WORDS);
}

__attribute__((noinline)) static void *calloc_any(size_t count, size_t size, uint64_t pc,
                                                  uint64_t sp, uint64_t fp)
{
    if (UNLIKELY(!is_ready()))
        return size && count > EARLY_BYTES / size ? NULL : early_alloc(count * size);
    bool noted = notes(count * size);
    uint64_t begun = heap_call_begin(noted);
    void *block = behind.calloc(count, size);
    uint64_t units = heap_call_end(begun, count * size);
    if (noted)
        heap_allocated(block, count * size, &(HeapCaller){pc, sp, fp}, units);
    return block;
}

AGENT_EXPORT void *calloc(size_t count, size_t size)
{
    if (heap_call_is_left_out(count * size))
        return behind.calloc(count, size);
    return is_lone() ? heap_calloc_lone(behind.calloc, count, size, HEAP_CALLER_WORDS)
                     : calloc_any(count, size, HEAP_CALLER_WORDS);
}

__attribute__((noinline)) static void free_any(void *block, uint64_t pc, uint64_t sp, uint64_t fp)
{
    if (UNLIKELY(is_early(block) || !is_ready()))
        return;
    if (!heap_is_on() || !heap_may_know(block) || UNLIKELY(is_behind_own)) {
        behind.free(block);
        return;
    }
    heap_prefetch(block);
    HeapBlock noted;
    heap_freed(block, &(HeapCaller){pc, sp, fp}, &noted);
    uint64_t begun = heap_call_begin(noted.site != 0);
    behind.free(block);
    if (UNLIKELY(begun))
        heap_free_timed(&noted, heap_call_end(begun, noted.site ? noted.size : 0));
}

__attribute__((noinline)) static void free_noted(void *block, uint64_t pc, uint64_t sp, uint64_t fp)
{
    if (is_lone() && LIKELY(heap_freed_lone(block, pc, sp)))
        behind.free(block);
    else
        free_any(block, pc, sp, fp);
}

AGENT_EXPORT void free(void *block)
{
    if (!heap_may_know(block))
        behind.free(block);
    else
        free_noted(block, HEAP_CALLER_WORDS);
}

AGENT_EXPORT void free_sized(void *block, size_t size)
{
    (void)size;
    free(block);
}

AGENT_EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size)
{
    (void)alignment, (void)size;
    free(block);
}

static void *move_early(void *block, size_t size)
{
    void *to = is_ready() ? behind.malloc(size) : early_alloc(size);
    size_t behind_block = (size_t)(early + EARLY_BYTES - (uint8_t *)block);
    if (to)
        __builtin_memcpy(to, block, MIN(size, behind_block));
    return to;
}

// Of sampled blocks: one that is reallocated is a block that is freed and another that is
// allocated.
static void *reallocate_sampled(void *block, size_t size, const HeapCaller *caller)
{
    HeapBlock before;
    bool known = block && heap_may_know(block) && heap_before_realloc(block, &before);
    bool noted = heap_call_chooses(size);
    uint64_t begun = heap_call_begin(noted);
    void *now = behind.realloc(block, size);
    uint64_t units = heap_call_end(begun, size);
    if (known)
        heap_after_sampled_realloc(block, &before, now, size, caller);
    if (noted && (size || !block))
        heap_allocated(now, size, caller, units);
    return now;
}

static inline void *reallocate(void *block, size_t size, const HeapCaller *caller)
{
    if (UNLIKELY(is_early(block) || !is_ready()))
        return block ? move_early(block, size) : early_alloc(size);
    if (!is_on() || is_behind_own)
        return behind.realloc(block, size);
    if (heap_samples())
        return reallocate_sampled(block, size, caller);
    if (block && size == 0) {
        HeapBlock freed;
        heap_freed(block, caller, &freed);
        return behind.realloc(block, size);
    }
    HeapBlock before;
    heap_prefetch(block);
    bool known = block && heap_before_realloc(block, &before);
    uint64_t begun = heap_call_begin(true);
    void *now = behind.realloc(block, size);
    uint64_t units = heap_call_end(begun, size);
    if (known)
        heap_after_realloc(block, &before, now, size, caller, units);
    else
        heap_allocated(now, size, caller, units);
    return now;
}

AGENT_EXPORT void *realloc(void *block, size_t size)
{
    if (heap_path() == HEAP_SAMPLED && !heap_may_know(block) && heap_call_is_left_out(size))
        return behind.realloc(block, size);
    return reallocate(block, size, HEAP_CALLER);
}

AGENT_EXPORT void *reallocarray(void *block, size_t count, size_t size)
{
    size_t all;
    return __builtin_mul_overflow(count, size, &all) ? no_memory()
                                                     : reallocate(block, all, HEAP_CALLER);
}

AGENT_EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    if (!is_ready() || !behind.aligned_alloc)
        return no_memory();
    bool noted = notes(size);
    uint64_t begun = heap_call_begin(noted);
    void *block = behind.aligned_alloc(alignment, size);
    uint64_t units = heap_call_end(begun, size);
    if (noted)
        heap_allocated(block, size, HEAP_CALLER, units);
    return block;
}

AGENT_EXPORT int posix_memalign(void **ret, size_t alignment, size_t size)
{
    if (!is_ready() || !behind.posix_memalign)
        return ENOMEM;
    bool noted = notes(size);
    uint64_t begun = heap_call_begin(noted);
    int rc = behind.posix_memalign(ret, alignment, size);
    uint64_t units = heap_call_end(begun, size);
    if (rc == 0 && noted)
        heap_allocated(*ret, size, HEAP_CALLER, units);
    return rc;
}

AGENT_EXPORT void *memalign(size_t alignment, size_t size)
{
    if (!is_ready() || !behind.memalign)
        return no_memory();
    bool noted = notes(size);
    uint64_t begun = heap_call_begin(noted);
    void *block = behind.memalign(alignment, size);
    uint64_t units = heap_call_end(begun, size);
    if (noted)
        heap_allocated(block, size, HEAP_CALLER, units);
    return block;
}

AGENT_EXPORT void *valloc(size_t size)
{
    if (!is_ready() || !behind.valloc)
        return no_memory();
    bool noted = notes(size);
    uint64_t begun = heap_call_begin(noted);
    void *block = behind.valloc(size);
    uint64_t units = heap_call_end(begun, size);
    if (noted)
        heap_allocated(block, size, HEAP_CALLER, units);
    return block;
}

AGENT_EXPORT void *pvalloc(size_t size)
{
    if (!is_ready() || !behind.pvalloc)
        return no_memory();
    bool noted = notes(size);
    uint64_t begun = heap_call_begin(noted);
    void *block = behind.pvalloc(size);
    uint64_t units = heap_call_end(begun, size);
    if (noted)
        heap_allocated(block, size, HEAP_CALLER, units);
    return block;
}
