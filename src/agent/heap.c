// SPDX-License-Identifier: Apache-2.0
// Notes blocks. The stack of an allocation is known at once where the same call was made before at
// the same depth with the same return addresses on the stack; else it is walked.

#include "agent/heap.h"

#include "agent/heap_maps.h"
#include "agent/heap_sample.h"
#include "agent/heap_sites.h"
#include "agent/mappings.h"
#include "agent/own_stack.h"
#include "agent/stack_walk.h"
#include "agent/sys.h"

#include <stdatomic.h>
#include <sys/mman.h>

enum {
    TRACES = 256,     // stacks that a thread remembers; a power of two
    TRACE_WORDS = 64, // of the stack that tell one from another; even
    TRIES = 1024,     // after so many walks it is asked whether remembering pays
    FEW_HITS = TRIES / 4,
    RESTS = 16 * TRIES, // if it does not, so many stacks are walked before it is tried again
    MAIN_STACK = 8 << 20,
    YOUNG = 1024, // blocks of which the order is known; a power of two
    LOOKS_BACK = 16,
};

// A stack that was walked before, and the words of it on which the walk depended: return addresses
// and saved frame pointers.
typedef struct Trace {
    uint64_t pc, sp, fp; // where the walk began
    uint64_t generation; // of the mappings
    uint64_t fp_mask;    // all bits where the walk depended on fp, else 0
    uint32_t site;       // 0: none
    uint32_t count;      // words of the TraceWords of the same number; even once it is filled
} Trace;

typedef struct TraceWords {
    uint32_t at[TRACE_WORDS]; // words above sp
    uint64_t value[TRACE_WORDS];
} TraceWords;

typedef struct HeapThread {
    struct HeapThread *next_spare;
    uint32_t tid;
    uint16_t number;
    _Atomic bool is_busy;
    bool in_pool; // a function of the program that allocates
    uint64_t busy_sp;
    uint32_t replaced;              // traces so far
    uint32_t walks, hits;           // since the last look at them
    uint32_t rests;                 // walks until stacks are remembered, and looked for, again
    uint64_t stack_low, stack_high; // words between may be loaded directly
    HeapCounts counts;
    uint32_t young_count; // of young, which goes round
    // The rows of blocks by age, the youngest last; some are freed already.
    const HeapRow *young[YOUNG];
    Trace trace[TRACES]; // two neighbours are for the same stacks
    TraceWords words[TRACES];
    StackWalk walk;
} HeapThread;

_Atomic bool agent_heap_is_on;
_Atomic uint8_t agent_heap_path;
HeapTimer heap_timer;
static __thread HeapThread *self __attribute__((tls_model("initial-exec")));
static __thread bool has_ended __attribute__((tls_model("initial-exec")));
static _Atomic uint32_t thread_count;
static uint32_t own_pid;
static bool notes_maps;
static bool hooks_are_ready;
static bool counts_threads; // each thread on its own; else all counts are those of the process

// ---- Threads ----------------------------------------------------------------------------

// What ended threads leave is for new ones: the kernel maps and unmaps memory for one thread of a
// process at a time, and clears each page. The rules that a thread has found hold in all threads;
// its stacks do not, as they may lie in a larger mapping.
enum { SPARES = 32 };
static HeapThread *spares;
static uint32_t spare_count;
static _Atomic bool spares_are_taken; // a lock that nobody waits for

static void forget_stacks(HeapThread *t)
{
    for (unsigned i = 0; i < TRACES; i++)
        t->trace[i].site = 0;
    t->young_count = 0;
}

static bool take_spares(void)
{
    return !atomic_exchange_explicit(&spares_are_taken, true, memory_order_acquire);
}

static void give_spares(void)
{
    atomic_store_explicit(&spares_are_taken, false, memory_order_release);
}

static HeapThread *pop_spare(void)
{
    if (!take_spares())
        return NULL;
    HeapThread *t = spares;
    if (t) {
        spares = t->next_spare;
        spare_count--;
    }
    give_spares();
    if (t) {
        atomic_store_explicit(&t->is_busy, false, memory_order_relaxed);
        t->in_pool = false;
        t->stack_low = t->stack_high = 0;
        t->counts = (HeapCounts){0};
        forget_stacks(t);
    }
    return t;
}

// False: there are enough.
static bool push_spare(HeapThread *t)
{
    if (!take_spares())
        return false;
    bool ok = spare_count < SPARES;
    if (ok) {
        t->next_spare = spares;
        spares = t;
        spare_count++;
    }
    give_spares();
    return ok;
}

static void forget_spares(void)
{
    spares = NULL;
    spare_count = 0;
    give_spares();
}

__attribute__((noinline)) static HeapThread *make_self(void)
{
    if (has_ended)
        return NULL;
    HeapThread *t = pop_spare();
    if (!t)
        t = sys_map(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!t)
        return NULL;
    t->tid = sys_tid();
    t->number = (uint16_t)atomic_fetch_add(&thread_count, 1);
    if (t->tid == own_pid && main_stack_end()) {
        t->stack_high = main_stack_end() + 8;
        t->stack_low = t->stack_high - MAIN_STACK;
    }
    self = t;
    return t;
}

void heap_thread_begin(uint64_t stack_bytes)
{
    HeapThread *t = self ? self : make_self();
    if (!t)
        return;
    t->stack_high = own_stack_end();
    t->stack_low = t->stack_high - stack_bytes;
}

#ifdef AGENT_ATTACHED
void heap_thread_stack(uint64_t low, uint64_t high)
{
    has_ended = false;
    HeapThread *t = self ? self : make_self();
    if (!t)
        return;
    t->stack_low = low;
    t->stack_high = high;
}
#endif

void heap_thread_end(void)
{
    HeapThread *t = self;
    self = NULL;
    has_ended = true;
    if (t && !push_spare(t))
        sys_unmap(t, sizeof(*t));
}

// Nothing is noted while this thread notes something already: then it is in a signal handler.
static inline HeapThread *enter(uint64_t sp)
{
    HeapThread *t = self;
    if (UNLIKELY(!t) && !(t = make_self()))
        return NULL;
    if (UNLIKELY(atomic_load_explicit(&t->is_busy, memory_order_relaxed))) {
        // A handler has left the interrupted code by longjmp.
        bool on_same_stack = sp >= t->stack_low && sp < t->stack_high;
        if (!on_same_stack || sp <= t->busy_sp)
            return NULL;
    }
    atomic_store_explicit(&t->is_busy, true, memory_order_relaxed);
    t->busy_sp = sp;
    t->in_pool = false;
    atomic_signal_fence(memory_order_seq_cst);
    return t;
}

static void leave(HeapThread *t)
{
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&t->is_busy, false, memory_order_relaxed);
}

// ---- Stacks -----------------------------------------------------------------------------

static uint64_t word_at(uint64_t address)
{
    uint64_t ret;
    __builtin_memcpy(&ret, (const void *)(uintptr_t)address, sizeof(ret));
    return ret;
}

// The number of the first of the two traces where a stack may be.
static unsigned trace_for(const HeapCaller *c)
{
    uint64_t h = (c->pc ^ c->sp << 7) * 0xff51afd7ed558ccdull;
    return h >> 56 & (TRACES - 2);
}

static inline bool still_there(const Trace *e, const TraceWords *w, const HeapCaller *c)
{
    if (e->pc != c->pc || e->sp != c->sp || e->site == 0)
        return false;
    uint64_t differs = (e->generation ^ mappings_generation()) | ((e->fp ^ c->fp) & e->fp_mask);
    for (uint32_t i = 0; i < e->count; i += 2) {
        differs |= word_at(c->sp + 8ull * w->at[i]) ^ w->value[i];
        differs |= word_at(c->sp + 8ull * w->at[i + 1]) ^ w->value[i + 1];
    }
    return differs == 0 && !mappings_are_stale();
}

#if defined(__x86_64__)
static bool add_word(Trace *e, TraceWords *w, uint64_t address)
{
    if (e->count == TRACE_WORDS)
        return false;
    w->at[e->count] = (uint32_t)((address - e->sp) / 8);
    w->value[e->count++] = word_at(address);
    return true;
}

// Adds the words from `low` to `high` that contain `value`: one of them is where a frame pointer
// was saved, and the others do no harm.
static bool add_saved(Trace *e, TraceWords *w, uint64_t low, uint64_t high, uint64_t value)
{
    bool found = false;
    for (uint64_t at = low; at < high; at += 8)
        if (word_at(at) == value) {
            found = true;
            if (!add_word(e, w, at))
                return false;
        }
    return found;
}

// Fills a trace with the stack that was walked last. False when a word on which the walk depended
// is not known: of a frame that a signal interrupted, or of another stack.
static bool fill(const HeapThread *t, Trace *e, TraceWords *w, uint32_t count)
{
    const UnwindFrame *f = t->walk.frames;
    uint64_t low = e->sp;
    uint64_t saved_low = 0, saved_high = 0; // where the present frame pointer was saved; 0: nowhere
    if (low < t->stack_low || low >= t->stack_high)
        return false;
    for (uint32_t i = 1; i < count; i++) {
        uint64_t high = e->sp + 8ull * f[i].sp_words;
        if ((f[i - 1].flags & UNWIND_FRAME_BY_FP) && !saved_high)
            e->fp_mask = UINT64_MAX;
        else if ((f[i - 1].flags & UNWIND_FRAME_BY_FP) &&
                 !add_saved(e, w, saved_low, saved_high, f[i - 1].fp))
            return false;
        if (f[i].sp_words == UNWIND_SP_FAR || (f[i].flags & UNWIND_FRAME_EXACT) || high <= low ||
            high > t->stack_high || word_at(high - 8) != f[i].pc + 1 || !add_word(e, w, high - 8))
            return false;
        if (f[i].fp != f[i - 1].fp) {
            saved_low = low;
            saved_high = high;
        }
        low = high;
    }
    return e->count % 2 == 0 || add_word(e, w, e->sp + 8ull * w->at[0]);
}
#else
static bool fill(const HeapThread *t, Trace *e, TraceWords *w, uint32_t count)
{
    (void)t, (void)e, (void)w, (void)count;
    return false;
}
#endif

// Remembers a stack in the place of the older one of the two that may be there.
static void remember(HeapThread *t, const HeapCaller *c, uint32_t count, uint32_t site)
{
    if (t->rests) {
        t->rests--;
        return;
    }
    if (++t->walks == TRIES) {
        // Programs with more hot stacks than there are traces only pay for them.
        t->rests = t->hits < FEW_HITS ? RESTS : 0;
        t->walks = t->hits = 0;
    }
    unsigned at = trace_for(c) | (t->replaced++ & 1);
    Trace *e = &t->trace[at];
    *e = (Trace){.pc = c->pc, .sp = c->sp, .fp = c->fp, .generation = mappings_generation()};
    if (fill(t, e, &t->words[at], count))
        e->site = site;
}

static void registers_of(const HeapCaller *c, UnwindRegs *ret)
{
    // The call stands before the address that it returns to.
    ret->pc = c->pc - 1;
#if defined(__x86_64__)
    ret->reg[UNWIND_X86_64_PC] = ret->pc;
    ret->reg[UNWIND_X86_64_SP] = c->sp;
    ret->reg[UNWIND_X86_64_FP] = c->fp;
    ret->known = 1u << UNWIND_X86_64_PC | 1u << UNWIND_X86_64_SP | 1u << UNWIND_X86_64_FP;
#else
    ret->reg[UNWIND_AARCH64_PC] = ret->pc;
    ret->reg[UNWIND_AARCH64_SP] = c->sp;
    ret->reg[UNWIND_AARCH64_FP] = c->fp;
    ret->known = 1ull << UNWIND_AARCH64_PC | 1ull << UNWIND_AARCH64_SP | 1ull << UNWIND_AARCH64_FP;
#endif
}

// Words from the stack pointer to the end of the thread's stack; 0 on another stack.
static inline uint64_t depth_of(const HeapThread *t, const HeapCaller *c)
{
    return c->sp >= t->stack_low && c->sp < t->stack_high ? (t->stack_high - c->sp) / 8 : 0;
}

__attribute__((noinline)) static uint32_t walk_site(HeapThread *t, const HeapCaller *c,
                                                    WireSiteKind kind)
{
    UnwindRegs regs;
    registers_of(c, &regs);
    bool known_stack = c->sp >= t->stack_low && c->sp < t->stack_high;
    uint32_t count;
    UnwindEnd end =
        stack_walk(&t->walk, &regs, known_stack ? t->stack_high : 0, STACK_TRUSTS, &count);
    HeapStack stack = {.frames = t->walk.frames,
                       .count = count,
                       .end = end,
                       .tid = t->tid,
                       .depth = depth_of(t, c),
                       .kind = kind};
    uint32_t site = heap_site_of(&stack);
    remember(t, c, count, site);
    return site;
}

// Calls of different kinds come from different places.
static inline uint32_t site_for(HeapThread *t, const HeapCaller *c, WireSiteKind kind)
{
    unsigned at = trace_for(c);
    if (UNLIKELY(t->rests))
        return walk_site(t, c, kind);
    if (UNLIKELY(!still_there(&t->trace[at], &t->words[at], c))) {
        at++;
        if (!still_there(&t->trace[at], &t->words[at], c))
            return walk_site(t, c, kind);
    }
    t->hits++;
    return t->trace[at].site;
}

// ---- Counts of a thread -----------------------------------------------------------------

// Adds a block to what is live, or takes one away.
static inline void count_live(HeapCounts *c, int64_t blocks, int64_t bytes)
{
    c->live_blocks += blocks;
    c->live_bytes += bytes;
    if (c->live_bytes < c->highest_bytes || bytes < 0)
        return;
    c->highest_bytes = c->live_bytes;
    c->highest_blocks = c->live_blocks;
    if (c->live_bytes >= c->max_bytes) {
        c->max_bytes = c->live_bytes;
        c->max_blocks = c->live_blocks;
    }
}

static inline void count_call(HeapCounts *c, uint64_t size)
{
    c->blocks++;
    c->bytes += size;
}

static void choose_path(void)
{
    HeapPath path = HEAP_ANY;
    if (heap_is_on() && hooks_are_ready) {
        if (heap_samples())
            path = HEAP_SAMPLED;
        else if (!counts_threads && heap_sites_are_lone())
            path = HEAP_LONE;
    }
    if (path == HEAP_SAMPLED)
        heap_filter_start();
    atomic_store(&agent_heap_path, (uint8_t)path);
}

void heap_hooks_ready(void)
{
    hooks_are_ready = true;
    choose_path();
}

// From now on each thread has counts of its own. Until now there was one thread.
static void count_threads(void)
{
    if (counts_threads || !heap_is_on())
        return;
    counts_threads = true;
    HeapThread *t = self ? self : make_self();
    if (t) {
        HeapCounts *c = &t->counts;
        heap_sites_total(&c->blocks, &c->bytes);
        c->live_blocks = (int64_t)wire_heap_live_blocks(agent_heap);
        c->live_bytes = (int64_t)atomic_load(&agent_heap->live_bytes);
        c->max_blocks = c->highest_blocks = (int64_t)atomic_load(&agent_heap->peak_blocks);
        c->max_bytes = c->highest_bytes = (int64_t)atomic_load(&agent_heap->peak_bytes);
    }
    choose_path();
}

HeapCounts *heap_thread_counts(void)
{
    count_threads();
    HeapThread *t = self ? self : make_self();
    return t ? &t->counts : NULL;
}

// ---- The filter of sampled blocks ---------------------------------------------------------

// How many noted blocks have an address of each class. A slot and its count change together, under
// the lock.
static _Atomic uint32_t filter_counts[HEAP_FILTER_SLOTS];
static _Atomic uint32_t filter_lock;

static void filter_add(const void *block)
{
    unsigned slot = heap_filter_slot(block);
    if (!heap_lock(&filter_lock)) {
        heap_filter_keep(block);
        return;
    }
    atomic_fetch_add(&filter_counts[slot], 1);
    if (!atomic_load(&heap_filter[slot]))
        atomic_store(&heap_filter[slot], 1);
    heap_unlock(&filter_lock);
}

static void filter_remove(const void *block)
{
    unsigned slot = heap_filter_slot(block);
    // Without the lock, and after an addition without it, the slot stays as it is.
    if (!heap_lock(&filter_lock))
        return;
    uint32_t count = atomic_load(&filter_counts[slot]);
    if (count)
        atomic_store(&filter_counts[slot], count - 1);
    if (count == 1 && atomic_load(&heap_filter[slot]) == 1)
        atomic_store(&heap_filter[slot], 0);
    heap_unlock(&filter_lock);
}

static void filter_clear(void)
{
    for (unsigned i = 0; heap_samples() && i < HEAP_FILTER_SLOTS; i++) {
        if (!atomic_load_explicit(&filter_counts[i], memory_order_relaxed))
            continue;
        atomic_store(&filter_counts[i], 0);
        if (atomic_load(&heap_filter[i]) == 1)
            atomic_store(&heap_filter[i], 0);
    }
    atomic_store(&filter_lock, 0);
}

// ---- Blocks -----------------------------------------------------------------------------

static inline void push_young(HeapThread *t, const HeapRow *block)
{
    t->young[t->young_count++ & (YOUNG - 1)] = block;
}

// Whether a block that is freed is the youngest that this thread has allocated and that is live. It
// is out of the table already.
static inline bool pop_young(HeapThread *t, const HeapRow *block)
{
    for (unsigned i = 0; i < LOOKS_BACK && t->young_count; i++) {
        const HeapRow *last = t->young[(t->young_count - 1) & (YOUNG - 1)];
        if (last != block && last &&
            atomic_load_explicit(&last->size_and_site, memory_order_relaxed) != 0)
            return false;
        t->young[--t->young_count & (YOUNG - 1)] = NULL;
        if (last == block)
            return true;
    }
    return false;
}

// The time of the calls that a sampled one stands for.
static uint64_t stand_for(uint64_t units, uint64_t size)
{
    return heap_samples() ? units * heap_weight(size).blocks >> WIRE_SAMPLED_SHIFT : units;
}

static inline void note_at(HeapThread *t, const void *block, uint64_t size, uint32_t site,
                           uint64_t units)
{
    HeapBlock b = {.site = site, .size = size, .thread = t->number};
    b.born = heap_site_allocated(b.site, size);
    count_call(&t->counts, size);
    count_live(&t->counts, 1, (int64_t)size);
    if (UNLIKELY(units))
        heap_site_timed(b.site, stand_for(units, size), false);
    if (UNLIKELY(!heap_blocks_put(block, &b))) {
        atomic_fetch_add(&agent_heap->no_table, 1);
        heap_site_freed(&b, &(HeapFree){.thread = t->number});
        count_live(&t->counts, -1, -(int64_t)size);
        return;
    }
    if (heap_samples())
        filter_add(block);
    else
        push_young(t, heap_row_of(block));
}

static inline void note(HeapThread *t, const void *block, uint64_t size, const HeapCaller *c,
                        uint64_t units)
{
    uint32_t site = site_for(t, c, WIRE_SITE_BLOCKS);
    if (LIKELY(site))
        note_at(t, block, size, site, units);
    else
        atomic_fetch_add(&agent_heap->no_room, 1);
}

void heap_allocated(const void *block, uint64_t size, const HeapCaller *caller, uint64_t units)
{
    if (!block)
        return;
    HeapThread *t = enter(caller->sp);
    if (UNLIKELY(!t)) {
        if (!self || !self->in_pool)
            atomic_fetch_add(&agent_heap->nested, 1);
        return;
    }
    note(t, block, size, caller, units);
    leave(t);
}

// ---- One thread ---------------------------------------------------------------------------
// The most frequent calls do without another call than libc's, so that they save few registers.

// The site of the stack, if it is remembered; 0: another, a first call, or a call from a signal
// handler.
static inline __attribute__((always_inline)) uint32_t near_site(HeapThread *t, uint64_t pc,
                                                                uint64_t sp, uint64_t fp)
{
    const HeapCaller c = {pc, sp, fp};
    if (UNLIKELY(!t || atomic_load_explicit(&t->is_busy, memory_order_relaxed) || t->rests))
        return 0;
    // The second place is as likely as the first.
    unsigned at = trace_for(&c);
    at += t->trace[at].pc != c.pc || t->trace[at].sp != c.sp;
    if (!still_there(&t->trace[at], &t->words[at], &c))
        return 0;
    t->hits++;
    return t->trace[at].site;
}

static inline void begin_lone(HeapThread *t)
{
    atomic_store_explicit(&t->is_busy, true, memory_order_relaxed);
    t->busy_sp = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    atomic_signal_fence(memory_order_seq_cst);
}

// Without a block, or without a row for it.
__attribute__((noinline, cold)) static void *note_rowless(HeapThread *t, void *block, uint64_t size,
                                                          uint32_t site)
{
    if (!block)
        return NULL;
    begin_lone(t);
    note_at(t, block, size, site, 0);
    leave(t);
    return block;
}

static inline void *note_lone(HeapThread *t, void *block, uint64_t size, uint32_t site)
{
    HeapRow *row = heap_row_of(block);
    if (UNLIKELY(!row))
        return note_rowless(t, block, size, site);
    begin_lone(t);
    HeapBlock b = {.site = site, .size = size, .thread = t->number};
    b.born = heap_site_allocated_lone(site, size);
    heap_row_put(row, &b);
    push_young(t, row);
    leave(t);
    return block;
}

__attribute__((noinline)) static void *malloc_walked(void *(*allocate)(size_t), size_t size,
                                                     uint64_t pc, uint64_t sp, uint64_t fp)
{
    void *block = allocate(size);
    heap_allocated(block, size, &(HeapCaller){pc, sp, fp}, 0);
    return block;
}

__attribute__((noinline)) void *heap_malloc_lone(void *(*allocate)(size_t), size_t size,
                                                 uint64_t pc, uint64_t sp, uint64_t fp)
{
    HeapThread *t = self;
    uint32_t site = near_site(t, pc, sp, fp);
    if (!site)
        return malloc_walked(allocate, size, pc, sp, fp);
    return note_lone(t, allocate(size), size, site);
}

__attribute__((noinline)) static void *calloc_walked(void *(*allocate)(size_t, size_t),
                                                     size_t count, size_t size, uint64_t pc,
                                                     uint64_t sp, uint64_t fp)
{
    void *block = allocate(count, size);
    heap_allocated(block, count * size, &(HeapCaller){pc, sp, fp}, 0);
    return block;
}

__attribute__((noinline)) void *heap_calloc_lone(void *(*allocate)(size_t, size_t), size_t count,
                                                 size_t size, uint64_t pc, uint64_t sp, uint64_t fp)
{
    HeapThread *t = self;
    uint32_t site = near_site(t, pc, sp, fp);
    if (!site)
        return calloc_walked(allocate, count, size, pc, sp, fp);
    return note_lone(t, allocate(count, size), count * size, site);
}

bool heap_freed_lone(const void *block, uint64_t pc, uint64_t sp)
{
    HeapThread *t = self;
    HeapRow *row = heap_row_of(block);
    HeapBlock b;
    if (UNLIKELY(!t || !row || atomic_load_explicit(&t->is_busy, memory_order_relaxed)) ||
        UNLIKELY(!heap_row_look(row, &b)))
        return false;
    HeapFree call = {.pc = pc, .depth = depth_of(t, &(HeapCaller){.sp = sp}), .thread = t->number};
    HeapInFrame in_frame = heap_site_in_frame(b.site, &call);
    if (UNLIKELY(in_frame == HEAP_IN_FRAME_ASKS))
        return false;
    atomic_store_explicit(&t->is_busy, true, memory_order_relaxed);
    t->busy_sp = sp;
    atomic_signal_fence(memory_order_seq_cst);
    heap_row_clear(row);
    call.is_last = pop_young(t, row);
    heap_site_freed_lone(&b, &call, in_frame == HEAP_IN_FRAME);
    leave(t);
    return true;
}

static inline void note_free(HeapThread *t, const HeapBlock *b, const void *block,
                             const HeapCaller *caller)
{
    HeapFree call = {.pc = caller->pc};
    if (t) {
        call.depth = depth_of(t, caller);
        call.thread = t->number;
        count_live(&t->counts, -1, -(int64_t)b->size);
        // Of sampled blocks the younger ones are not known.
        call.is_last = !heap_samples() && pop_young(t, heap_row_of(block));
    }
    heap_site_freed(b, &call);
    if (heap_samples())
        filter_remove(block);
}

void heap_freed(const void *block, const HeapCaller *caller, HeapBlock *ret)
{
    ret->site = 0;
    if (!block)
        return;
    HeapThread *t = enter(caller->sp);
    if (heap_blocks_take(block, ret))
        note_free(t, ret, block, caller);
    else if (!heap_samples())
        atomic_fetch_add(&agent_heap->unknown_frees, 1);
    if (t)
        leave(t);
}

void heap_free_timed(const HeapBlock *block, uint64_t units)
{
    if (block->site && heap_is_on())
        heap_site_timed(block->site, stand_for(units, block->size), true);
}

bool heap_before_realloc(const void *block, HeapBlock *ret)
{
    return heap_blocks_take(block, ret);
}

static void note_realloc(HeapThread *t, const void *block, const HeapBlock *before, const void *now,
                         uint64_t size, uint64_t units)
{
    HeapBlock b = *before;
    b.size = size;
    (void)heap_site_reallocated(before, size, now != block);
    if (t) {
        count_call(&t->counts, size);
        count_live(&t->counts, 0, (int64_t)(size - before->size));
    }
    if (units)
        heap_site_timed(b.site, units, false);
    if (!heap_blocks_put(now, &b))
        heap_site_freed(&b, &(HeapFree){.thread = t ? t->number : 0});
    else if (t && now != block)
        push_young(t, heap_row_of(now));
}

void heap_after_realloc(const void *block, const HeapBlock *before, const void *now, uint64_t size,
                        const HeapCaller *caller, uint64_t units)
{
    if (!now) {
        (void)heap_blocks_put(block, before);
        return;
    }
    HeapThread *t = enter(caller->sp);
    note_realloc(t, block, before, now, size, units);
    if (t)
        leave(t);
}

void heap_after_sampled_realloc(const void *block, const HeapBlock *before, const void *now,
                                uint64_t size, const HeapCaller *caller)
{
    if (!now && size) {
        (void)heap_blocks_put(block, before);
        return;
    }
    HeapThread *t = enter(caller->sp);
    if (size)
        heap_site_resized(before, size, now != block);
    note_free(t, before, block, caller);
    if (t)
        leave(t);
}

// ---- Functions of the program -------------------------------------------------------------

bool heap_pool_enter(const HeapCaller *caller)
{
    HeapThread *t = enter(caller->sp);
    if (t)
        t->in_pool = true;
    return t != NULL;
}

void heap_pool_leave(void)
{
    HeapThread *t = self;
    if (!t)
        return;
    t->in_pool = false;
    leave(t);
}

void heap_pool_allocated(const void *block, uint64_t size, const HeapCaller *caller, uint64_t units)
{
    if (self)
        note(self, block, size, caller, units);
}

void heap_pool_freed(const void *block, const HeapCaller *caller, HeapBlock *ret)
{
    ret->site = 0;
    if (heap_blocks_take(block, ret))
        note_free(self, ret, block, caller);
    else if (!heap_samples())
        atomic_fetch_add(&agent_heap->unknown_frees, 1);
}

void heap_pool_reallocated(const void *block, const HeapBlock *before, const void *now,
                           uint64_t size, const HeapCaller *caller, uint64_t units)
{
    if (!heap_samples()) {
        note_realloc(self, block, before, now, size, units);
        return;
    }
    heap_site_resized(before, size, now != block);
    note_free(self, before, block, caller);
}

#ifdef AGENT_ATTACHED
void heap_pool_freed_before(uint64_t size, uint64_t pc)
{
    static _Atomic uint32_t known;
    uint32_t site = atomic_load_explicit(&known, memory_order_relaxed);
    if (!site && self) {
        const UnwindFrame frame = {.pc = pc, .flags = UNWIND_FRAME_EXACT};
        site = heap_site_of(&(HeapStack){.frames = &frame,
                                         .count = 1,
                                         .end = UNWIND_COMPLETE,
                                         .tid = self->tid,
                                         .kind = WIRE_SITE_BEFORE});
        atomic_store(&known, site);
    }
    if (site)
        heap_site_marked(site, size);
}
#endif

// ---- Mappings ---------------------------------------------------------------------------

bool heap_notes_maps(void)
{
    return notes_maps;
}

void heap_mapped(const void *at, uint64_t size, uint32_t site, const HeapCaller *caller)
{
    HeapThread *t = enter(caller->sp);
    if (t && !site)
        site = site_for(t, caller, WIRE_SITE_MAPPINGS);
    if (t && site)
        heap_maps_add((uint64_t)(uintptr_t)at, size, site);
    else
        atomic_fetch_add(t ? &agent_heap->no_room : &agent_heap->nested, 1);
    if (t)
        leave(t);
}

uint32_t heap_unmapped(const void *at, uint64_t size, const HeapCaller *caller)
{
    HeapThread *t = enter(caller->sp);
    uint32_t site = t ? heap_maps_remove((uint64_t)(uintptr_t)at, size) : 0;
    if (t)
        leave(t);
    return site;
}

// ---- Marks and copies -------------------------------------------------------------------

static void count_event(WireSiteKind kind, uint64_t weight, const HeapCaller *caller)
{
    HeapThread *t = enter(caller->sp);
    uint32_t site = t ? site_for(t, caller, kind) : 0;
    if (site)
        heap_site_marked(site, weight);
    else
        atomic_fetch_add(t ? &agent_heap->no_room : &agent_heap->nested, 1);
    if (t)
        leave(t);
}

void heap_marked(uint64_t weight, const HeapCaller *caller)
{
    count_event(WIRE_SITE_MARKS, weight, caller);
}

void heap_copied(uint64_t bytes, const HeapCaller *caller)
{
    count_event(WIRE_SITE_COPIES, bytes, caller);
}

// ---- Start ------------------------------------------------------------------------------

void heap_start(const char *folder, uint32_t number, const WireSession *session)
{
    own_pid = sys_pid();
    enum { LONGEST_NS = 50000 };
    heap_timer = (HeapTimer){.floor = session->timer_floor,
                             .longest = (uint64_t)(LONGEST_NS / session->timer_ns),
                             .for_byte = (uint64_t)(1 / session->timer_ns) + 1};
    heap_sample_bytes = session->sample_bytes;
    notes_maps = session->notes_mappings;
    if (heap_sites_open(folder, number, session))
        atomic_store(&agent_heap_is_on, true);
#ifdef AGENT_ATTACHED // which has no functions before libc's
    if (heap_samples())
        heap_filter_start();
#endif
    choose_path();
}

void heap_executes_static(const char *path)
{
    if (!heap_is_on() || atomic_fetch_add(&agent_heap->unloading, 1) != 0)
        return;
    for (unsigned i = 0; i < WIRE_UNLOADING_PATH - 1 && path[i]; i++)
        agent_heap->unloading_path[i] = path[i];
}

void heap_after_fork(void)
{
    if (!agent_heap)
        return;
    atomic_store(&agent_heap_is_on, false);
    counts_threads = false;
    choose_path();
    heap_sites_forget();
    heap_blocks_forget();
    heap_maps_forget();
    forget_spares(); // another thread of the parent may have been at work there
    HeapThread *t = self;
    if (t) {
        forget_stacks(t);
        t->counts = (HeapCounts){0};
        t->tid = sys_tid();
        leave(t);
    }
    filter_clear();
}

void heap_before_threads(void)
{
    if (!heap_is_on())
        return;
    count_threads();
    heap_sites_share();
    choose_path();
}
