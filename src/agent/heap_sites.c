// SPDX-License-Identifier: Apache-2.0
// The sites of this process. While it has one thread nothing is locked.

#include "agent/heap_sites.h"

#include "agent/heap_sample.h"
#include "agent/mappings.h"
#include "agent/records.h"
#include "agent/ring.h"
#include "agent/sys.h"
#include "wire/timer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

enum {
    FILE_MODE = 0600,
    LEAST_SITES = 1 << 12, // with less address space than they take, there is no recording
    FEWER_SITES_SHIFT = 4,
    SPINS = 1 << 16,   // how often a lock is tried before the update is left out
    SPINS_BUSY = 64,   // … without giving up the processor
    WAIT_NS = 1000000, // for the collector to empty the ring
    WAITS = 200,
    POPULATE_WRITE = 23,   // MADV_POPULATE_WRITE; glibc 2.36 does not declare it
    CLOCK_ALLOCATIONS = 0, // HeapClock (model/heap_metrics.h)
    CLOCK_BYTES = 1,
};

// A stack is known by 128 bits of hash, which no two stacks of one program share by chance.
typedef struct Slot {
    uint64_t hash, more_hash;
    _Atomic uint32_t site; // its number plus 1; 0: empty
} Slot;

WireHeap *agent_heap;
static WireSite *sites;
static Slot *slots;
static int file = -1;
static uint32_t sites_with_room;
static uint32_t sites_max; // a power of two
// The table from stacks to sites starts small, because each of its pages that is touched costs a
// fault and 4 KiB. When it is half full, one of four times its size is filled, which lies behind
// it; a reader that still has the smaller one finds all that was there when it began.
enum { SLOTS_FIRST = 1 << 13, SLOTS_GROW = 4 };
static uint64_t slots_max; // of the largest table: SLOTS_FIRST times a power of SLOTS_GROW
static _Atomic uint64_t slots_count; // of the present one
static _Atomic bool is_shared;
static _Atomic uint32_t making; // the lock of those that make sites

// ---- Locks ------------------------------------------------------------------------------

static bool try_lock(_Atomic uint32_t *l)
{
    return atomic_load_explicit(l, memory_order_relaxed) == 0 &&
           atomic_exchange_explicit(l, 1, memory_order_acquire) == 0;
}

// Several threads may write, and one that was interrupted may never go on.
__attribute__((noinline)) static bool wait_for_lock(_Atomic uint32_t *l)
{
    for (unsigned i = 0; i < SPINS; i++) {
        if (try_lock(l))
            return true;
        if (i > SPINS_BUSY)
            (void)SYS0(SYS_sched_yield);
    }
    atomic_fetch_add(&agent_heap->stuck, 1);
    return false;
}

static inline bool lock(_Atomic uint32_t *l)
{
    return LIKELY(try_lock(l)) || wait_for_lock(l);
}

static inline void unlock(_Atomic uint32_t *l)
{
    atomic_store_explicit(l, 0, memory_order_release);
}

bool heap_lock(_Atomic uint32_t *l)
{
    return lock(l);
}

void heap_unlock(_Atomic uint32_t *l)
{
    unlock(l);
}

static inline bool shared(void)
{
    return atomic_load_explicit(&is_shared, memory_order_relaxed);
}

// The functions below take whether several threads run as a constant, so that each is compiled for
// both cases.
#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE bool lock_site(WireSite *s, bool many)
{
    return !many || lock(&s->lock);
}

ALWAYS_INLINE void unlock_site(WireSite *s, bool many)
{
    if (many)
        unlock(&s->lock);
}

// Adds, and gives the sum.
ALWAYS_INLINE uint64_t add(_Atomic uint64_t *to, uint64_t value, bool many)
{
    if (many)
        return atomic_fetch_add_explicit(to, value, memory_order_relaxed) + value;
    uint64_t sum = atomic_load_explicit(to, memory_order_relaxed) + value;
    atomic_store_explicit(to, sum, memory_order_relaxed);
    return sum;
}

void heap_sites_share(void)
{
    atomic_store(&is_shared, true);
}

// ---- The file ---------------------------------------------------------------------------

// Sites are made one after another, each on new memory: all pages of a step at once cost a third of
// as many faults. Kernels before 5.14 refuse it, and then they are faults.
static void touch_sites(uint32_t from, uint32_t count)
{
    const uint64_t page_mask = WIRE_PAGE - 1;
    if (!sites)
        return;
    uint64_t low = (uint64_t)(uintptr_t)&sites[from] & ~page_mask;
    uint64_t high = align_up((uint64_t)(uintptr_t)&sites[from + count], WIRE_PAGE);
    (void)SYS3(SYS_madvise, low, high - low, POPULATE_WRITE);
}

// Room in the file, so that a write to a page is never SIGBUS.
static bool need_room(uint32_t site)
{
    if (site < sites_with_room)
        return true;
    uint32_t more =
        MIN(MAX(sites_with_room, (uint32_t)WIRE_SITES_STEP), (uint32_t)WIRE_SITES_STEP_MAX);
    if (site >= sites_max ||
        SYS4(SYS_fallocate, file, 0, WIRE_HEAP_HEAD + (uint64_t)sites_with_room * sizeof(WireSite),
             more * sizeof(WireSite)) != 0)
        return false;
    touch_sites(sites_with_room, more);
    sites_with_room += more;
    return true;
}

static uint64_t file_bytes(void)
{
    return WIRE_HEAP_HEAD + (uint64_t)sites_max * sizeof(WireSite);
}

// Slots of the tables that are smaller than the one of `count` slots; that table follows them.
static uint64_t slots_before(uint64_t count)
{
    return (count - SLOTS_FIRST) / (SLOTS_GROW - 1);
}

static uint64_t all_slots(void)
{
    return slots_before(slots_max) + slots_max;
}

// Maps the sites, and the table of stacks unless it is there. False: there is not so much address
// space (ulimit -v).
static char *map_tables(void)
{
    enum { PROT = PROT_READ | PROT_WRITE, PRIVATE = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };
    char *at = sys_map(NULL, file_bytes(), PROT, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (at && !slots) {
        slots_max = 2 * (uint64_t)sites_max;
        slots = sys_map(NULL, all_slots() * sizeof(Slot), PROT, PRIVATE, -1, 0);
        atomic_store(&slots_count, SLOTS_FIRST);
    }
    if (at && slots)
        return at;
    sys_unmap(at, file_bytes());
    return NULL;
}

// The program needs addresses, too, and so does the table of blocks. False: there are too few.
static bool choose_sites_max(void)
{
    enum { SHARE = 4 };
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    sites_max = WIRE_SITES_MAX;
    if (SYS2(SYS_getrlimit, RLIMIT_AS, &limit) != 0)
        return true;
    while (file_bytes() > limit.rlim_cur / SHARE && sites_max > LEAST_SITES)
        sites_max >>= FEWER_SITES_SHIFT;
    return limit.rlim_cur >= WIRE_LEAST_ADDRESSES;
}

// Tells the collector that this process keeps no account.
static void tell_refusal(void)
{
    const WireHeap h = {.magic = WIRE_HEAP_MAGIC, .version = WIRE_VERSION, .pid = sys_pid()};
    (void)sys_write_all(file, &h, sizeof(h));
    sys_close(file);
    file = -1;
}

bool heap_sites_open(const char *folder, uint32_t number, const WireSession *session)
{
    char path[AGENT_PATH_MAX];
    SysText t = sys_text(path, sizeof(path));
    sys_text_add(&t, folder);
    sys_text_add(&t, "/" WIRE_HEAP_PREFIX);
    sys_text_number(&t, sys_pid());
    sys_text_add(&t, "-");
    sys_text_number(&t, number);
    file = sys_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
    if (file < 0)
        return false;
    char *at = NULL;
    bool ok = SYS4(SYS_fallocate, file, 0, 0, WIRE_HEAP_HEAD) == 0;
    if (ok && !choose_sites_max()) {
        tell_refusal();
        heap_blocks_give_back();
        return false;
    }
    ok = ok && need_room(0);
    while (ok && !(at = map_tables()) && sites_max > LEAST_SITES)
        sites_max >>= FEWER_SITES_SHIFT;
    if (!at) {
        sys_close(file);
        file = -1;
        return false;
    }
    WireHeap *h = (WireHeap *)(void *)at;
    sites = (WireSite *)(void *)(at + WIRE_HEAP_HEAD);
    h->version = WIRE_VERSION;
    h->pid = sys_pid();
    h->sites_max = sites_max;
    h->started_ns = sys_clock_ns(CLOCK_MONOTONIC);
    h->short_lived = session->short_lived;
    h->clock_kind = session->clock_kind;
    h->timer_ns = session->timer_ns;
    h->sample_bytes = session->sample_bytes;
    h->is_sampled = session->sample_bytes != 0;
    if (h->clock_kind > CLOCK_BYTES)
        h->short_lived =
            (uint64_t)((double)h->short_lived / (h->timer_ns * (1 << WIRE_TIMER_SHIFT)));
    atomic_store(&h->epoch, 1);
    atomic_thread_fence(memory_order_release);
    h->magic = WIRE_HEAP_MAGIC;
    agent_heap = h;
    return true;
}

// Stacks that were asked for lately: a look at `slots`, which is large, costs two cache misses. A
// place has two words. The second has the upper bits of more_hash, and the site below; the first is
// the hash combined with the second, so that a place that another thread changes at the same time
// does not match.
enum { NEAR = 1 << 13, NEAR_SITE_BITS = 24 };
static _Atomic uint64_t near[NEAR][2];

static void forget_near(void)
{
    for (unsigned i = 0; i < NEAR; i++)
        for (unsigned j = 0; j < 2 && atomic_load_explicit(&near[i][j], memory_order_relaxed); j++)
            atomic_store_explicit(&near[i][j], 0, memory_order_relaxed);
}

void heap_sites_forget(void)
{
    sys_unmap(agent_heap, file_bytes());
    agent_heap = NULL;
    sites = NULL;
    sys_close(file);
    sites_with_room = 0;
    forget_near();
    (void)SYS3(SYS_madvise, slots, all_slots() * sizeof(Slot), MADV_DONTNEED);
    atomic_store(&slots_count, SLOTS_FIRST);
    atomic_store(&making, 0);
    atomic_store(&is_shared, false);
}

// ---- From a stack to its site -----------------------------------------------------------

// Both halves of a product of 128 bits depend on all bits of both numbers.
static inline uint64_t product(uint64_t a, uint64_t b)
{
    unsigned __int128 p = (unsigned __int128)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

// Two sums for each hash, because a multiplication waits for the one before it.
static Slot hash_of(const HeapStack *stack)
{
    const UnwindFrame *f = stack->frames;
    uint64_t kind = (uint64_t)stack->count << 16 | (uint64_t)stack->end << 8 | stack->kind;
    uint64_t a = kind ^ 0x9e3779b97f4a7c15ull, b = 0xc4ceb9fe1a85ec53ull;
    uint64_t c = kind ^ 0xd6e8feb86659fd93ull, d = 0xa0761d6478bd642full;
    uint32_t i = 0;
    for (; i + 4 <= stack->count; i += 4) {
        a = product(f[i].pc ^ 0xe7037ed1a0b428dbull, f[i + 1].pc ^ a);
        b = product(f[i + 2].pc ^ 0x8ebc6af09c88c6e3ull, f[i + 3].pc ^ b);
        c = product(f[i].pc ^ c, f[i + 2].pc ^ 0x589965cc75374cc3ull);
        d = product(f[i + 1].pc ^ d, f[i + 3].pc ^ 0x1d8e4e27c47d124full);
    }
    for (; i < stack->count; i++) {
        a = product(f[i].pc ^ 0xe7037ed1a0b428dbull, a);
        c = product(f[i].pc ^ 0x589965cc75374cc3ull, c);
    }
    return (Slot){.hash = product(a ^ 0xeb44accab455d165ull, b),
                  .more_hash = product(c ^ 0x2d358dccaa6c78a5ull, d)};
}

static uint32_t find_near(const Slot *wanted)
{
    _Atomic uint64_t *at = near[wanted->hash & (NEAR - 1)];
    uint64_t word = atomic_load_explicit(&at[1], memory_order_acquire);
    bool same = (atomic_load_explicit(&at[0], memory_order_relaxed) ^ word) == wanted->hash &&
                (word ^ wanted->more_hash) >> NEAR_SITE_BITS == 0;
    return same ? (uint32_t)(word & ((1u << NEAR_SITE_BITS) - 1)) : 0;
}

static void keep_near(const Slot *wanted, uint32_t site)
{
    _Atomic uint64_t *at = near[wanted->hash & (NEAR - 1)];
    uint64_t word = wanted->more_hash >> NEAR_SITE_BITS << NEAR_SITE_BITS | site;
    atomic_store_explicit(&at[0], wanted->hash ^ word, memory_order_relaxed);
    atomic_store_explicit(&at[1], word, memory_order_release);
}

// The slot with that stack in the table of `count` slots, or the empty one for it. NULL: the table
// is full.
static Slot *slot_in(const Slot *wanted, uint64_t count)
{
    Slot *table = slots + slots_before(count);
    uint64_t at = wanted->hash;
    for (uint32_t i = 0; i < count; i++, at++) {
        Slot *s = &table[at & (count - 1)];
        if (atomic_load_explicit(&s->site, memory_order_acquire) == 0 ||
            (s->hash == wanted->hash && s->more_hash == wanted->more_hash))
            return s;
    }
    return NULL;
}

static Slot *slot_of(const Slot *wanted)
{
    return slot_in(wanted, atomic_load_explicit(&slots_count, memory_order_acquire));
}

static void fill_slot(Slot *s, const Slot *of, uint32_t site)
{
    s->hash = of->hash;
    s->more_hash = of->more_hash;
    atomic_store_explicit(&s->site, site, memory_order_release);
}

// Makes room in the table for one more site, by the holder of the lock `making`.
static void need_slots(uint32_t sites_so_far)
{
    uint64_t count = atomic_load(&slots_count), more = count * SLOTS_GROW;
    if (sites_so_far < count / 2 || more > slots_max)
        return;
    const Slot *from = slots + slots_before(count);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t site = atomic_load_explicit(&from[i].site, memory_order_relaxed);
        Slot *to = site ? slot_in(&from[i], more) : NULL;
        if (to)
            fill_slot(to, &from[i], site);
    }
    atomic_store_explicit(&slots_count, more, memory_order_release);
}

// Tells the collector which stack it is. While the ring is full the collector is given time.
static bool tell(uint32_t site, const HeapStack *stack)
{
    uint64_t now_ns = sys_clock_ns(CLOCK_MONOTONIC);
    SampleRecord record = {.event_id = WIRE_SITE_EVENT_ID,
                           // A sandbox may refuse the calls that ask for these two.
                           .time_ns = now_ns ? now_ns : agent_heap->started_ns,
                           .pid = agent_heap->pid,
                           .tid = stack->tid,
                           .value = (uint64_t)site + 1,
                           .frames = stack->frames,
                           .frame_count = stack->count,
                           .end = stack->end};
    for (unsigned i = 0; i < WAITS; i++) {
        if (record_sample(&record))
            return true;
        if (agent_state() == WIRE_OVER)
            return false;
        struct timespec pause = {.tv_nsec = WAIT_NS};
        (void)SYS2(SYS_nanosleep, &pause, NULL);
    }
    return false;
}

// Notes the frames in which a block may be freed by the function that is its owner.
static void note_callers(WireSite *s, const HeapStack *stack)
{
    uint32_t count = MIN(stack->count, (uint32_t)WIRE_SITE_CALLERS);
    for (uint32_t i = 0; i < count && stack->depth; i++) {
        uint32_t above = stack->frames[i].sp_words;
        if (above == UNWIND_SP_FAR || above >= stack->depth || stack->depth - above > UINT32_MAX)
            return;
        s->caller_words[i] = (uint32_t)(stack->depth - above);
        s->caller_pc[i] = stack->frames[i].pc;
        s->caller_bits |= (uint64_t)1 << s->caller_words[i] % 64;
    }
}

static uint32_t make_site(const Slot *wanted, const HeapStack *stack)
{
    uint32_t number = atomic_load(&agent_heap->site_count);
    need_slots(number);
    Slot *s = slot_of(wanted); // another thread may have made it meanwhile
    uint32_t site = s ? atomic_load(&s->site) : 0;
    if (site || !s)
        return site;
    if (!need_room(number) || !tell(number, stack))
        return 0;
    sites[number].frames = (uint16_t)MIN(stack->count, (uint32_t)UINT16_MAX);
    sites[number].kind = (uint16_t)stack->kind;
    note_callers(&sites[number], stack);
    atomic_store(&agent_heap->site_count, number + 1);
    fill_slot(s, wanted, number + 1);
    return number + 1;
}

uint32_t heap_site_of(const HeapStack *stack)
{
    Slot wanted = hash_of(stack);
    uint32_t site = find_near(&wanted);
    if (LIKELY(site))
        return site;
    const Slot *s = slot_of(&wanted);
    site = s ? atomic_load_explicit(&s->site, memory_order_acquire) : 0;
    if (!site && lock(&making)) {
        site = make_site(&wanted, stack);
        unlock(&making);
    }
    if (site)
        keep_near(&wanted, site);
    return site;
}

// ---- Sums -------------------------------------------------------------------------------

// The whole heap becomes smaller: if it was as large as ever, that was a peak.
ALWAYS_INLINE void shrink(uint64_t bytes, bool many)
{
    WireHeap *h = agent_heap;
    if (atomic_load_explicit(&h->at_peak, memory_order_relaxed) &&
        (!many || atomic_exchange(&h->at_peak, 0))) {
        atomic_store_explicit(&h->at_peak, 0, memory_order_relaxed);
        (void)add(&h->epoch, 1, many);
    }
    (void)add(&h->live_bytes, 0 - bytes, many);
}

ALWAYS_INLINE void grow(uint64_t bytes, uint64_t clock, bool many)
{
    WireHeap *h = agent_heap;
    uint64_t live = add(&h->live_bytes, bytes, many);
    uint64_t peak = atomic_load_explicit(&h->peak_bytes, memory_order_relaxed);
    // Of equal peaks the last counts, as with DHAT.
    while (live >= peak) {
        if (!many) {
            atomic_store_explicit(&h->peak_bytes, live, memory_order_relaxed);
        } else if (!atomic_compare_exchange_weak(&h->peak_bytes, &peak, live)) {
            continue;
        }
        atomic_store_explicit(&h->peak_blocks, wire_heap_live_blocks(h), memory_order_relaxed);
        atomic_store_explicit(&h->peak_clock, clock, memory_order_relaxed);
        atomic_store_explicit(&h->at_peak, 1, memory_order_relaxed);
        break;
    }
}

static inline uint64_t epoch_now(void)
{
    return atomic_load_explicit(&agent_heap->epoch, memory_order_relaxed);
}

// Before a site's live blocks change: keeps what was live at the peak.
static inline void keep_peak(WireSite *s, uint64_t epoch)
{
    if (s->peak_epoch != epoch) {
        s->peak_epoch = epoch;
        s->peak_bytes = s->live_bytes;
        s->peak_blocks = s->live_blocks;
        s->var_peak_bytes = s->var_live_bytes;
        s->var_peak_blocks = s->var_live_blocks;
    }
}

static inline void count_block(WireSite *s, uint64_t size, const HeapWeight *w)
{
    bool is_first = s->blocks == 0;
    s->bytes += w->bytes;
    s->blocks += w->blocks;
    if (s->live_bytes >= s->max_bytes) {
        s->max_bytes = s->live_bytes;
        s->max_blocks = s->live_blocks;
    }
    if (is_first)
        s->smallest = s->largest = s->first_size = size;
    if (size == s->first_size)
        return;
    s->smallest = MIN(s->smallest, size);
    s->largest = MAX(s->largest, size);
    unsigned class = size ? 64 - (unsigned)__builtin_clzll(size) : 0;
    s->by_size[MIN(class, WIRE_SIZE_CLASSES - 1u)] += w->blocks;
}

// Counts blocks that were allocated, of so many bytes. Returns the clock.
ALWAYS_INLINE uint64_t tick(uint64_t blocks, uint64_t bytes, bool many)
{
    WireHeap *h = agent_heap;
    uint64_t came = add(&h->came_blocks, blocks, many);
    if (LIKELY(h->clock_kind == CLOCK_ALLOCATIONS))
        return came;
    return h->clock_kind == CLOCK_BYTES ? add(&h->bytes_clock, bytes, many)
                                        : timer_read() >> WIRE_TIMER_SHIFT;
}

static inline uint64_t clock_now(void)
{
    const WireHeap *h = agent_heap;
    if (LIKELY(h->clock_kind == CLOCK_ALLOCATIONS))
        return atomic_load_explicit(&h->came_blocks, memory_order_relaxed);
    return h->clock_kind == CLOCK_BYTES
               ? atomic_load_explicit(&h->bytes_clock, memory_order_relaxed)
               : timer_read() >> WIRE_TIMER_SHIFT;
}

// From an earlier value of the clock, of which the table keeps the lower bits.
static inline uint64_t age_of(uint64_t born, uint64_t now)
{
    const uint64_t mask = ((uint64_t)1 << HEAP_BORN_BITS) - 1;
    uint64_t age = (now - born) & mask;
    return age > mask / 2 ? 0 : age; // another thread's clock is a little ahead
}

// Whether both addresses are in one function.
static bool same_function(uint64_t a, uint64_t b)
{
    AgentMapping m;
    if (!mappings_find(a, &m) || b < m.start || b >= m.end)
        return false;
    uint64_t of_a = frame_search_function(&m.frames, a);
    return of_a && of_a == frame_search_function(&m.frames, b);
}

// A block is freed by one of the functions that were active at its allocation, in the same frame,
// when that frame's stack pointer and function are those of the call that frees it. The function
// may have returned meanwhile and have been called again from the same depth: that is not told
// apart.
static inline bool may_be_caller(const WireSite *s, uint64_t depth)
{
    return s->caller_bits >> depth % 64 & 1;
}

// Its number among the callers; WIRE_SITE_CALLERS: it is none.
static inline unsigned find_caller(const WireSite *s, uint64_t depth)
{
    unsigned i = 0;
    while (i < WIRE_SITE_CALLERS && s->caller_words[i] != depth)
        i++;
    return i;
}

__attribute__((noinline)) static bool ask_in_frame(WireSite *s, const HeapFree *f)
{
    unsigned i = find_caller(s, f->depth);
    bool same = i < WIRE_SITE_CALLERS && same_function(s->caller_pc[i], f->pc - 1);
    *(same ? &s->in_frame_pc : &s->not_in_frame_pc) = f->pc;
    return same;
}

static inline HeapInFrame in_frame(const WireSite *s, const HeapFree *f)
{
    if (LIKELY(!may_be_caller(s, f->depth)) || f->depth == 0 || s->not_in_frame_pc == f->pc ||
        find_caller(s, f->depth) == WIRE_SITE_CALLERS)
        return HEAP_NOT_IN_FRAME;
    return s->in_frame_pc == f->pc ? HEAP_IN_FRAME : HEAP_IN_FRAME_ASKS;
}

HeapInFrame heap_site_in_frame(uint32_t site, const HeapFree *f)
{
    return in_frame(&sites[site - 1], f);
}

static inline bool is_in_frame(WireSite *s, const HeapFree *f)
{
    HeapInFrame known = in_frame(s, f);
    return known == HEAP_IN_FRAME_ASKS ? ask_in_frame(s, f) : known == HEAP_IN_FRAME;
}

// Says that the first lines of a site are wanted soon: a locked instruction waits for all loads
// before it, and those behind it wait.
ALWAYS_INLINE void prefetch_site(const WireSite *s, bool many)
{
    for (unsigned line = 0; many && line < 3; line++)
        __builtin_prefetch((const char *)s + 64 * line, 1);
}

ALWAYS_INLINE uint64_t count_allocated(uint32_t site, uint64_t size, bool many)
{
    WireSite *s = &sites[site - 1];
    prefetch_site(s, many);
    HeapWeight w = heap_weight(size);
    uint64_t now = tick(w.blocks, size, many);
    grow(w.bytes, now, many);
    if (!lock_site(s, many))
        return now;
    keep_peak(s, epoch_now());
    s->live_bytes += w.bytes;
    s->live_blocks += w.blocks;
    if (heap_samples()) {
        s->var_bytes += w.var_bytes;
        s->var_blocks += w.var_blocks;
        s->var_live_bytes += w.var_bytes;
        s->var_live_blocks += w.var_blocks;
    }
    count_block(s, size, &w);
    unlock_site(s, many);
    return now;
}

uint64_t heap_site_allocated(uint32_t site, uint64_t size)
{
    return shared() ? count_allocated(site, size, true) : count_allocated(site, size, false);
}

// Relaxed: there is one thread.
#define LOAD(at)         atomic_load_explicit(&(at), memory_order_relaxed)
#define STORE(at, value) atomic_store_explicit(&(at), value, memory_order_relaxed)

uint64_t heap_site_allocated_lone(uint32_t site, uint64_t size)
{
    // Locals, because each store might otherwise change the pointers.
    WireHeap *h = agent_heap;
    WireSite *s = &sites[site - 1];
    uint64_t now = LOAD(h->came_blocks) + 1, live_bytes = LOAD(h->live_bytes) + size;
    STORE(h->came_blocks, now);
    STORE(h->live_bytes, live_bytes);
    if (UNLIKELY(live_bytes >= LOAD(h->peak_bytes))) {
        STORE(h->peak_bytes, live_bytes);
        STORE(h->peak_blocks, now - LOAD(h->gone_blocks));
        STORE(h->peak_clock, now);
        STORE(h->at_peak, 1);
    }
    keep_peak(s, LOAD(h->epoch));
    s->live_bytes += size;
    s->live_blocks++;
    count_block(s, size, &(HeapWeight){.blocks = 1, .bytes = size});
    return now;
}

static inline void count_realloc(WireSite *s, const HeapBlock *before, uint64_t size, bool moved,
                                 uint64_t calls)
{
    s->reallocs += calls;
    s->grown_bytes += size > before->size ? (size - before->size) * calls : 0;
    s->moved += moved ? calls : 0;
    s->copied_bytes += moved ? MIN(size, before->size) * calls : 0;
}

ALWAYS_INLINE uint64_t count_reallocated(const HeapBlock *before, uint64_t size, bool moved,
                                         bool many)
{
    WireSite *s = &sites[before->site - 1];
    HeapWeight w = {.blocks = 1, .bytes = size};
    uint64_t now = tick(1, size, many);
    (void)add(&agent_heap->gone_blocks, 1, many);
    if (size >= before->size)
        grow(size - before->size, now, many);
    else
        shrink(before->size - size, many);
    if (!lock_site(s, many))
        return now;
    keep_peak(s, epoch_now());
    s->live_bytes += size - before->size;
    count_realloc(s, before, size, moved, 1);
    count_block(s, size, &w);
    unlock_site(s, many);
    return now;
}

uint64_t heap_site_reallocated(const HeapBlock *before, uint64_t size, bool moved)
{
    return shared() ? count_reallocated(before, size, moved, true)
                    : count_reallocated(before, size, moved, false);
}

void heap_site_resized(const HeapBlock *before, uint64_t size, bool moved)
{
    WireSite *s = &sites[before->site - 1];
    if (!lock_site(s, shared()))
        return;
    count_realloc(s, before, size, moved, heap_weight(before->size).blocks);
    unlock_site(s, shared());
}

// A lifetime times 256ths of blocks.
static uint64_t scaled(uint64_t age, uint64_t blocks)
{
    return (uint64_t)((unsigned __int128)age * blocks >> WIRE_SAMPLED_SHIFT);
}

ALWAYS_INLINE void count_freed(const HeapBlock *block, const HeapFree *call, bool many)
{
    WireSite *s = &sites[block->site - 1];
    prefetch_site(s, many);
    HeapWeight w = heap_weight(block->size);
    uint64_t age = age_of(block->born, clock_now());
    shrink(w.bytes, many);
    (void)add(&agent_heap->gone_blocks, w.blocks, many);
    if (!lock_site(s, many))
        return;
    keep_peak(s, epoch_now());
    s->live_bytes -= w.bytes;
    s->live_blocks -= w.blocks;
    if (heap_samples()) {
        s->var_live_bytes -= w.var_bytes;
        s->var_live_blocks -= w.var_blocks;
    }
    s->freed_blocks += w.blocks;
    s->lifetime += heap_samples() ? scaled(age, w.blocks) : age;
    s->short_lived += age <= agent_heap->short_lived ? w.blocks : 0;
    bool same_thread = block->thread == call->thread;
    s->freed_elsewhere += same_thread ? 0 : w.blocks;
    s->freed_last += same_thread && call->is_last ? w.blocks : 0;
    s->freed_in_frame += same_thread && is_in_frame(s, call) ? w.blocks : 0;
    unlock_site(s, many);
}

void heap_site_freed(const HeapBlock *block, const HeapFree *call)
{
    if (shared())
        count_freed(block, call, true);
    else
        count_freed(block, call, false);
}

void heap_site_freed_lone(const HeapBlock *block, const HeapFree *call, bool in_frame)
{
    WireHeap *h = agent_heap;
    WireSite *s = &sites[block->site - 1];
    uint64_t age = age_of(block->born, LOAD(h->came_blocks)), epoch = LOAD(h->epoch);
    if (UNLIKELY(LOAD(h->at_peak))) {
        STORE(h->at_peak, 0);
        STORE(h->epoch, ++epoch);
    }
    STORE(h->live_bytes, LOAD(h->live_bytes) - block->size);
    STORE(h->gone_blocks, LOAD(h->gone_blocks) + 1);
    keep_peak(s, epoch);
    s->live_bytes -= block->size;
    s->live_blocks--;
    s->freed_blocks++;
    s->lifetime += age;
    s->short_lived += age <= h->short_lived;
    if (LIKELY(block->thread == call->thread)) {
        s->freed_last += call->is_last;
        s->freed_in_frame += in_frame;
    } else {
        s->freed_elsewhere++;
    }
}

bool heap_sites_are_lone(void)
{
    return agent_heap && !shared() && agent_heap->clock_kind == CLOCK_ALLOCATIONS;
}

void heap_site_timed(uint32_t site, uint64_t units, bool to_free)
{
    WireSite *s = &sites[site - 1];
    if (!lock_site(s, shared()))
        return;
    *(to_free ? &s->frees_timed : &s->mallocs_timed) += units;
    unlock_site(s, shared());
}

void heap_site_marked(uint32_t site, uint64_t weight)
{
    WireSite *s = &sites[site - 1];
    if (!lock_site(s, shared()))
        return;
    s->blocks++;
    s->bytes += weight;
    unlock_site(s, shared());
}

void heap_site_mapped(uint32_t site, uint64_t size)
{
    WireSite *s = &sites[site - 1];
    if (!lock_site(s, shared()))
        return;
    s->blocks++;
    s->bytes += size;
    s->live_bytes += size;
    s->max_bytes = MAX(s->max_bytes, s->live_bytes);
    unlock_site(s, shared());
}

void heap_site_unmapped(uint32_t site, uint64_t size)
{
    WireSite *s = &sites[site - 1];
    if (!lock_site(s, shared()))
        return;
    s->live_bytes -= size;
    unlock_site(s, shared());
}

void heap_sites_total(uint64_t *ret_blocks, uint64_t *ret_bytes)
{
    uint32_t count = atomic_load(&agent_heap->site_count);
    *ret_blocks = *ret_bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (sites[i].kind != WIRE_SITE_BLOCKS)
            continue;
        *ret_blocks += sites[i].blocks;
        *ret_bytes += sites[i].bytes;
    }
}
