// SPDX-License-Identifier: Apache-2.0
// The account that an agent keeps of the heap of its process: a file that it shares with the
// collector, so that nothing is lost when the process is killed. A site is a stack that allocates;
// its record in the process's ring (wire/ring.h) is a sample of the event WIRE_SITE_EVENT_ID, whose
// period is the number of the site plus 1.

#ifndef WIRE_HEAP_H
#define WIRE_HEAP_H

#include "wire/ring.h"

enum {
    WIRE_SITE_EVENT_ID = 2,
    WIRE_SITES_MAX = 1 << 20,
    // So many at least, and at most, get room in the file at once: each time as many as have it.
    WIRE_SITES_STEP = 1 << 6,
    WIRE_SITES_STEP_MAX = 1 << 10,
    WIRE_SIZE_CLASSES = 24, // as in model/heap_metrics.h; the last one has all larger blocks, too
    WIRE_SITE_CALLERS = 8,
    WIRE_SAMPLED_SHIFT = 8, // sums of sampled blocks are in units of 1/256
    WIRE_TIMER_SHIFT = 3,   // the clock of time has units of 8 of the timer's
    WIRE_TIMED_SHIFT = 6,   // one of 64 calls is timed
    WIRE_UNLOADING_PATH = 128,
    // Where fewer bytes of addresses are allowed (ulimit -v) a process keeps no account: the
    // program would lack them for its own blocks and stacks.
    WIRE_LEAST_ADDRESSES = 256 << 20,
};

#define WIRE_HEAP_MAGIC  0x7061656879617361ull // "asayheap"
#define WIRE_HEAP_PREFIX "heap-"               // of the file's name; then as that of the ring

// What a site is of.
typedef enum WireSiteKind {
    WIRE_SITE_BLOCKS,   // of the heap
    WIRE_SITE_MAPPINGS, // made by mmap, mremap or brk
    WIRE_SITE_MARKS,    // the program's own events (include/assay/heap.h): `bytes` is their weight
    WIRE_SITE_COPIES,   // of memory and strings, by a function of libc: `bytes` were written
    WIRE_SITE_BEFORE    // one of a process that was attached to: blocks from before that it freed
} WireSiteKind;

// Events of the blocks of one site. A block belongs to the site that allocated it first,
// also after realloc. Every call of realloc with a block counts as one more block, as DHAT counts
// it. Times are in units of WireHeap.clock_kind.
typedef struct WireSite {
    _Atomic uint32_t lock;
    uint16_t frames;      // of its stack
    uint16_t kind;        // WireSiteKind
    uint64_t bytes;       // allocated in all
    uint64_t blocks;      // allocated in all
    uint64_t live_bytes;  // not freed yet
    uint64_t live_blocks; // not freed yet
    uint64_t max_bytes;   // the most that were live at once
    uint64_t max_blocks;  // live at that time
    uint64_t peak_epoch;  // WireHeap.epoch at the last change

    uint64_t freed_blocks;
    uint64_t lifetime;        // sum over freed blocks; never in 256ths
    uint64_t short_lived;     // freed within WireHeap.short_lived
    uint64_t first_size;      // of the first block: by_size leaves out the blocks of that size
    uint64_t freed_elsewhere; // freed by another thread than allocated them
    uint64_t freed_in_frame;  // freed in the frame that allocated them, or one of its callers
    uint64_t freed_last;      // freed while no younger block of the thread was live
    uint64_t caller_bits;     // for the agent: for each of caller_words the bit of its last 6 bits

    // Live when the epoch began, which is when the whole heap was largest.
    uint64_t peak_bytes, peak_blocks;
    uint64_t smallest, largest; // sizes of blocks; 0 and 0: there was none
    // For the agent: the stack pointers of the caller and of its callers, in words below the end of
    // the stack, 0: not known; where they call; and where blocks were freed that is, or is not, in
    // one of these functions.
    uint32_t caller_words[WIRE_SITE_CALLERS];

    uint64_t caller_pc[WIRE_SITE_CALLERS];

    uint64_t in_frame_pc, not_in_frame_pc;
    uint64_t mallocs_timed; // in timer's units, of one of 64 calls; of sampled blocks, of all
    uint64_t reallocs;      // calls of realloc
    uint64_t moved;         // of these, that moved the block
    uint64_t copied_bytes;  // that realloc had to copy for that
    uint64_t grown_bytes;   // by which realloc made blocks larger
    // Of estimates from samples: the square of a block, and of 1024 bytes.
    uint64_t var_blocks;

    uint64_t var_bytes;
    uint64_t var_live_blocks, var_live_bytes;
    uint64_t var_peak_blocks, var_peak_bytes;
    uint64_t frees_timed; // in timer's units, of one of 64 calls
    uint64_t reserved[2];

    uint64_t by_size[WIRE_SIZE_CLASSES];
} WireSite;

typedef struct WireHeap {
    uint64_t magic;
    uint32_t version; // WIRE_VERSION
    uint32_t pid;
    uint64_t started_ns;  // CLOCK_MONOTONIC
    uint64_t short_lived; // a block that lives at most so long is short-lived
    uint32_t clock_kind;  // HeapClock (model/heap_metrics.h)
    uint32_t is_sampled;  // 1: sums of sites are estimates in units of 1/256
    uint64_t sample_bytes;
    double timer_ns; // of one of the timer's units
    // All that each allocation and each free changes is in one cache line, which threads take from
    // each other.
    // Sums over all sites. Blocks that were allocated, and those that were freed: a call of realloc
    // counts for both. The first is the clock of allocations.
    _Alignas(64) _Atomic uint64_t came_blocks;
    _Atomic uint64_t live_bytes;
    _Atomic uint64_t gone_blocks;
    _Atomic uint64_t peak_bytes; // the most that were live at once
    _Atomic uint64_t peak_blocks;
    _Atomic uint64_t peak_clock; // when
    // Counts the ends of peaks. While `at_peak` is set the heap is as large as it ever was: what is
    // live is what is live at the peak. Else a site whose peak_epoch is `epoch` has changed since.
    _Atomic uint64_t epoch;
    _Atomic uint32_t at_peak;
    _Alignas(64) _Atomic uint32_t site_count;
    _Atomic uint64_t bytes_clock;   // bytes so far, where they are the clock
    _Atomic uint64_t unknown_frees; // of blocks from before the start, or left out below
    _Atomic uint64_t nested;        // allocations while another one was noted: in a signal handler
    _Atomic uint64_t no_room;       // allocations left out: no memory for the record of the block
    _Atomic uint64_t no_table;      // of these, blocks for which there was no address space
    uint32_t entries_hooked;        // functions of the program (wire/entries.h)
    // Room for so many: less than WIRE_SITES_MAX where addresses are scarce; 0: the process has
    // fewer than WIRE_LEAST_ADDRESSES, and keeps no account.
    uint32_t sites_max;
    uint32_t entries_missed; // of these, that could not be
    _Atomic uint64_t stuck;  // updates left out because another thread held the site too long
    // Calls of hooked functions in child processes of one that the agent was put into: they are
    // not noted.
    _Atomic uint64_t calls_of_children;
    // Programs that the process executed and that load no library: how many, and the first one's
    // path, which ends in NUL unless it is cut.
    _Atomic uint32_t unloading;
    char unloading_path[WIRE_UNLOADING_PATH];
} WireHeap;

// Both counts change while they are read.
static inline uint64_t wire_heap_live_blocks(const WireHeap *h)
{
    uint64_t gone = atomic_load_explicit(&h->gone_blocks, memory_order_acquire);
    uint64_t came = atomic_load_explicit(&h->came_blocks, memory_order_relaxed);
    return came > gone ? came - gone : 0;
}

enum { WIRE_HEAP_HEAD = WIRE_PAGE };

_Static_assert(sizeof(WireSite) == 576, "whole cache lines");
_Static_assert(sizeof(WireHeap) <= WIRE_HEAP_HEAD, "the sites begin on the second page");

#endif // WIRE_HEAP_H
