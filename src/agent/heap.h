// SPDX-License-Identifier: Apache-2.0
// Notes the blocks that the program allocates and frees, each with the stack that allocated it.
// Called by the functions that stand before libc's (heap_hooks.c), on the program's own threads and
// stacks. Nothing here allocates from the program's heap, or sets errno.

#ifndef AGENT_HEAP_H
#define AGENT_HEAP_H

#include "agent/heap_blocks.h"
#include "wire/ring.h"

#include <stdatomic.h>

// Where a function of libc was called: the address it returns to, and the registers there.
typedef struct HeapCaller {
    uint64_t pc, sp, fp;
} HeapCaller;

// The three words of the function that calls the present one.
#define HEAP_CALLER_WORDS                                                                          \
    (uint64_t)(uintptr_t) __builtin_return_address(0), (uint64_t)(uintptr_t)__builtin_dwarf_cfa(), \
        *(uint64_t *)__builtin_frame_address(0)
#define HEAP_CALLER (&(HeapCaller){HEAP_CALLER_WORDS})

// Whether blocks are noted.
extern _Atomic bool agent_heap_is_on;
static inline bool heap_is_on(void)
{
    return atomic_load_explicit(&agent_heap_is_on, memory_order_relaxed);
}

// What the functions that stand before libc's have to do for most calls.
typedef enum HeapPath {
    HEAP_ANY,    // nothing is known
    HEAP_LONE,   // every block is noted, there is one thread, and no one asks for the counts of a
                 // thread: the three functions below are enough
    HEAP_SAMPLED // a block is noted when heap_call_chooses
} HeapPath;

extern _Atomic uint8_t agent_heap_path; // HeapPath
static inline HeapPath heap_path(void)
{
    return (HeapPath)atomic_load_explicit(&agent_heap_path, memory_order_relaxed);
}

// Calls that are not timed: they call libc's function, and note the block.
void *heap_malloc_lone(void *(*allocate)(size_t), size_t size, uint64_t pc, uint64_t sp,
                       uint64_t fp);
void *heap_calloc_lone(void *(*allocate)(size_t, size_t), size_t count, size_t size, uint64_t pc,
                       uint64_t sp, uint64_t fp);
// Before libc gets a block back, by a call that is not timed. False: nothing was done.
bool heap_freed_lone(const void *block, uint64_t pc, uint64_t sp);
// The functions of libc are found, and those of this library stand before them for all calls.
void heap_hooks_ready(void);

// In units of the timer (wire/timer.h), once blocks are noted.
typedef struct HeapTimer {
    uint64_t floor;   // two readings at once lie so far apart
    uint64_t longest; // a call that takes longer, and for_byte for each byte, was interrupted
    uint64_t for_byte;
} HeapTimer;

extern HeapTimer heap_timer;

// The allocations of one thread, and its highest level: of the whole thread, and since the
// innermost scope began (include/assay/heap.h).
typedef struct HeapCounts {
    uint64_t blocks, bytes;
    int64_t live_blocks, live_bytes;
    int64_t max_blocks, max_bytes;
    int64_t highest_blocks, highest_bytes;
} HeapCounts;

// Of the calling thread, which changes them; NULL: there is no memory for them.
HeapCounts *heap_thread_counts(void);
// Whether mappings are noted, too.
bool heap_notes_maps(void);
// After memory was mapped. `site` is that of the mapping that it was before; 0: it is new.
void heap_mapped(const void *at, uint64_t size, uint32_t site, const HeapCaller *caller);
// Before memory is unmapped: the site that mapped it (its number plus 1), or 0.
uint32_t heap_unmapped(const void *at, uint64_t size, const HeapCaller *caller);
// Counts an event of the program's own.
void heap_marked(uint64_t weight, const HeapCaller *caller);

// Counts a copy of so many bytes.
void heap_copied(uint64_t bytes, const HeapCaller *caller);

// Joins the heap session of `folder`; `number` is that of the ring.
void heap_start(const char *folder, uint32_t number, const WireSession *session);
// A program is executed next that loads no library: its blocks are not noted.
void heap_executes_static(const char *path);
// For the child of a fork: the parent's notes stay the parent's. heap_start may follow.
void heap_after_fork(void);
// Before the first thread beside the main one starts.
void heap_before_threads(void);
// On a thread at its start and at its end. `stack_bytes` of stack lie below its thread pointer.
void heap_thread_begin(uint64_t stack_bytes);
void heap_thread_end(void);
// The same as the first for a thread that has begun before: where its stack lies.
void heap_thread_stack(uint64_t low, uint64_t high);

// After libc has given out a block. A NULL block is ignored. `units` of the timer were spent in
// libc, if this call was timed, else 0.
void heap_allocated(const void *block, uint64_t size, const HeapCaller *caller, uint64_t units);
// Before libc gets a block back. `*ret` is its record; its site is 0 if nothing was.
void heap_freed(const void *block, const HeapCaller *caller, HeapBlock *ret);
// The same for functions that the program has itself. After heap_pool_enter comes one or more of
// the others, and then heap_pool_leave; blocks that libc returns in between are not recorded.
// `block` is the result of heap_pool_block. False: nothing is to be noted.
bool heap_pool_enter(const HeapCaller *caller);
void heap_pool_leave(void);
void heap_pool_allocated(const void *block, uint64_t size, const HeapCaller *caller,
                         uint64_t units);
void heap_pool_freed(const void *block, const HeapCaller *caller, HeapBlock *ret);
void heap_pool_reallocated(const void *block, const HeapBlock *before, const void *now,
                           uint64_t size, const HeapCaller *caller, uint64_t units);
#ifdef AGENT_ATTACHED
// A block from before the agent was attached was freed, or became another by realloc; between
// heap_pool_enter and heap_pool_leave. `pc` is one address, at which all of them are recorded.
void heap_pool_freed_before(uint64_t size, uint64_t pc);
#endif
// The free of a block was timed.
void heap_free_timed(const HeapBlock *block, uint64_t units);
// Around realloc: takes the block before; notes what became of it after. `now` is NULL when realloc
// failed, and then the block is as before.
// The call of libc was timed when `units` is not 0.
bool heap_before_realloc(const void *block, HeapBlock *ret);
void heap_after_realloc(const void *block, const HeapBlock *before, const void *now, uint64_t size,
                        const HeapCaller *caller, uint64_t units);
// The same where blocks are sampled: what becomes of the block is a matter of its own.
void heap_after_sampled_realloc(const void *block, const HeapBlock *before, const void *now,
                                uint64_t size, const HeapCaller *caller);

#endif // AGENT_HEAP_H
