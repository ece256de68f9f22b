// SPDX-License-Identifier: Apache-2.0
// The sites of this process (wire/heap.h): which stack has which number, and the sums of each.

#ifndef AGENT_HEAP_SITES_H
#define AGENT_HEAP_SITES_H

#include "agent/heap_blocks.h"
#include "unwind/core.h"
#include "wire/heap.h"

#include <stdatomic.h>

// The heap of this process; NULL before there is a file for it.
extern WireHeap *agent_heap;

// Makes the file of the heap in `folder` and maps it. False: there is none.
bool heap_sites_open(const char *folder, uint32_t number, const WireSession *session);
// For the child of a fork, before heap_sites_open: forgets the sites and the file of the parent.
void heap_sites_forget(void);
// Says that from now on several threads allocate.
void heap_sites_share(void);

// A stack that allocates. Frames innermost first.
typedef struct HeapStack {
    const UnwindFrame *frames;
    uint32_t count;
    UnwindEnd end;
    uint32_t tid;
    uint64_t
        depth; // words from the stack pointer of the first frame to the stack's end; 0: not known
    WireSiteKind kind;
} HeapStack;

// The number plus 1 of a stack's site, which is made when the stack is new; 0 when there is no room
// for more.
uint32_t heap_site_of(const HeapStack *stack);

// The call that frees a block.
typedef struct HeapFree {
    uint64_t pc;    // where it returns to
    uint64_t depth; // as in HeapStack
    uint16_t thread;
    bool is_last; // no younger block of that thread is live
} HeapFree;

// Sums up what happened; `site` is a number plus 1. The first two give the clock's value.
uint64_t heap_site_allocated(uint32_t site, uint64_t size);
uint64_t heap_site_reallocated(const HeapBlock *before, uint64_t size, bool moved);
// Of sampled blocks: counts a call of realloc, and leaves the block as it is.
void heap_site_resized(const HeapBlock *before, uint64_t size, bool moved);
void heap_site_freed(const HeapBlock *block, const HeapFree *call);
// The first and the last for a process with one thread, every block noted, and the clock of
// allocations.
uint64_t heap_site_allocated_lone(uint32_t site, uint64_t size);
void heap_site_freed_lone(const HeapBlock *block, const HeapFree *call, bool in_frame);
// Whether a block is freed in the frame that allocated it, as far as it is known without a search:
// heap_site_freed makes that.
typedef enum HeapInFrame { HEAP_NOT_IN_FRAME, HEAP_IN_FRAME, HEAP_IN_FRAME_ASKS } HeapInFrame;
HeapInFrame heap_site_in_frame(uint32_t site, const HeapFree *call);
// Whether there is one thread and that clock.
bool heap_sites_are_lone(void);
// For tables that several threads change: a lock that is given up after a while, because a thread
// that was interrupted may never go on. False: it is not held.
bool heap_lock(_Atomic uint32_t *lock);
void heap_unlock(_Atomic uint32_t *lock); // the holder's
// Of sites of mappings.
void heap_site_mapped(uint32_t site, uint64_t size);
void heap_site_unmapped(uint32_t site, uint64_t size); // all of a mapping, or a part
// An event of the program's own.
void heap_site_marked(uint32_t site, uint64_t weight);
// Blocks and bytes that were allocated at all sites so far.
void heap_sites_total(uint64_t *ret_blocks, uint64_t *ret_bytes);
// One call of 64 took so many units of the timer: to allocate, or to free.
void heap_site_timed(uint32_t site, uint64_t units, bool to_free);

#endif // AGENT_HEAP_SITES_H
