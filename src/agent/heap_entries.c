// SPDX-License-Identifier: Apache-2.0
// A jump at an entry leads to a hook of this file, which has a number for each entry. The hook
// calls the instructions that the jump destroyed, at another place near the program; they lead on
// into the function. Each hook passes on six arguments in registers, and what the function returns
// in one.

#include "agent/heap_entries.h"

#include "agent/attached_threads.h"
#include "agent/heap_calls.h"
#include "agent/heap_sites.h"
#include "agent/mappings.h"
#include "agent/records.h"
#include "agent/sys.h"
#include "wire/entries.h"
#include "wire/ring.h"

#include <fcntl.h>
#include <sys/mman.h>

typedef long Function(long, long, long, long, long, long);

enum {
    PAGE = 4096,
    FAR_JUMP = 14, // bytes of a jump to any address
    PLACE = 128,   // bytes for one entry: the jump to the hook, then the moved code
    MOVED_AT = 16,
    POOL_GRANULE_BITS = 3,
};

static const WireEntries *entries;
static Function *originals[WIRE_ENTRIES_MAX];

// ---- Calls --------------------------------------------------------------------------------

static uint64_t size_of_call(const WireEntry *e, const long *arg)
{
    uint64_t size = e->size_arg ? (uint64_t)arg[e->size_arg] : 0;
    return e->count_arg ? size * (uint64_t)arg[e->count_arg] : size;
}

static const void *pool_block(long block)
{
    return heap_pool_block((const void *)block);
}

#ifdef AGENT_ATTACHED
static bool blocks_are_glibcs;

// What glibc keeps in front of a block: its size with that, and three flags, of which the second
// says that it is a mapping of its own.
static uint64_t size_before(const void *block)
{
    uint64_t word, flags = 7, is_mapped = 2;
    if (!blocks_are_glibcs)
        return 0;
    __builtin_memcpy(&word, (const char *)block - sizeof(word), sizeof(word));
    return (word & ~flags) - (word & is_mapped ? 16 : 8);
}

// Blocks that the agent does not know were there before it.
static void note_before(const void *block, uint64_t size)
{
    if (block && !heap_samples())
        heap_pool_freed_before(size, (uint64_t)(uintptr_t)&originals);
}
#else
static uint64_t size_before(const void *block)
{
    (void)block;
    return 0;
}

static void note_before(const void *block, uint64_t size)
{
    (void)block, (void)size;
}
#endif

static long free_block(Function *f, const WireEntry *e, const long *arg, const HeapCaller *c)
{
    HeapBlock noted = {0};
    if (arg[e->block_arg] && heap_may_know(pool_block(arg[e->block_arg])))
        heap_pool_freed(pool_block(arg[e->block_arg]), c, &noted);
    if (!noted.site) {
        const void *block = (const void *)arg[e->block_arg];
        note_before(block, block ? size_before(block) : 0);
    }
    uint64_t begun = heap_call_begin(noted.site != 0);
    long ret = f(arg[1], arg[2], arg[3], arg[4], arg[5], arg[6]);
    if (UNLIKELY(begun))
        heap_free_timed(&noted, heap_call_end(begun, noted.site ? noted.size : 0));
    return ret;
}

static long reallocate(Function *f, const WireEntry *e, const long *arg, const HeapCaller *c)
{
    const void *block = pool_block(arg[e->block_arg]);
    uint64_t size = size_of_call(e, arg);
    HeapBlock before;
    bool known = arg[e->block_arg] && heap_may_know(block) && heap_before_realloc(block, &before);
    bool noted = heap_call_chooses(size);
    const void *unknown = known ? NULL : (const void *)arg[e->block_arg];
    uint64_t old_size = unknown ? size_before(unknown) : 0;
    uint64_t begun = heap_call_begin(noted);
    long ret = f(arg[1], arg[2], arg[3], arg[4], arg[5], arg[6]);
    uint64_t units = heap_call_end(begun, size);
    if (ret)
        note_before(unknown, old_size);
    if (known && ret)
        heap_pool_reallocated(block, &before, pool_block(ret), size, c, units);
    else if (known) // it failed, or its size is 0: then the block is as before, or comes free
        (void)heap_blocks_put(block, &before);
    if (ret && noted && (!known || heap_samples()))
        heap_pool_allocated(pool_block(ret), size, c, units);
    return ret;
}

static long allocate(Function *f, const WireEntry *e, const long *arg, const HeapCaller *c)
{
    uint64_t size = size_of_call(e, arg);
    bool noted = heap_call_chooses(size);
    uint64_t begun = heap_call_begin(noted);
    long ret = f(arg[1], arg[2], arg[3], arg[4], arg[5], arg[6]);
    uint64_t units = heap_call_end(begun, size);
    long block = ret;
    if (e->kind == WIRE_ENTRY_POSIX)
        block = (int)ret == 0 ? *(const long *)arg[1] : 0;
    if (noted && block)
        heap_pool_allocated(pool_block(block), size, c, units);
    return ret;
}

static long call_original(Function *f, const long *arg)
{
    return f(arg[1], arg[2], arg[3], arg[4], arg[5], arg[6]);
}

static long note_call(unsigned number, const HeapCaller *c, const long *arg)
{
    const WireEntry *e = &entries->at[number];
    Function *f = originals[number];
    // A function that is called by another one that is hooked is a part of it.
    if (!heap_is_on() || !heap_pool_enter(c))
        return call_original(f, arg);
    long ret = e->kind == WIRE_ENTRY_FREE      ? free_block(f, e, arg, c)
               : e->kind == WIRE_ENTRY_REALLOC ? reallocate(f, e, arg, c)
                                               : allocate(f, e, arg, c);
    heap_pool_leave();
    return ret;
}

#ifdef AGENT_ATTACHED
__attribute__((noinline)) static void begin_thread(const AttachedCall *call)
{
    if (call->had_other)
        heap_thread_end();
    heap_thread_stack(call->stack_low, call->stack_high);
}

__attribute__((noinline)) static long run(unsigned number, const HeapCaller *c, const long *arg)
{
    AttachedCall call;
    bool notes = attach_enter(c->sp, &call);
    if (UNLIKELY(call.is_first))
        begin_thread(&call);
    long ret = notes ? note_call(number, c, arg) : call_original(originals[number], arg);
    attach_leave(&call);
    return ret;
}
#else
__attribute__((noinline)) static long run(unsigned number, const HeapCaller *c, const long *arg)
{
    return note_call(number, c, arg);
}
#endif

#define HOOK(n)                                                                                    \
    static long hook_##n(long a, long b, long c, long d, long e, long f)                           \
    {                                                                                              \
        const long arg[WIRE_ENTRY_ARGS + 1] = {0, a, b, c, d, e, f};                               \
        return run(n, HEAP_CALLER, arg);                                                           \
    }
#define EIGHT(x, t) x(t##0) x(t##1) x(t##2) x(t##3) x(t##4) x(t##5) x(t##6) x(t##7)
#define EACH(x)                                                                                    \
    EIGHT(x, 00)                                                                                   \
    EIGHT(x, 01)                                                                                   \
    EIGHT(x, 02)                                                                                   \
    EIGHT(x, 03)                                                                                   \
    EIGHT(x, 04)                                                                                   \
    EIGHT(x, 05) EIGHT(x, 06) EIGHT(x, 07) EIGHT(x, 010) EIGHT(x, 011) EIGHT(x, 012) EIGHT(x, 013)
EACH(HOOK) // octal: 0000 to 0137
#define NAME(n) hook_##n,
static Function *const hooks[] = {EACH(NAME)};

_Static_assert(sizeof(hooks) / sizeof(*hooks) == WIRE_ENTRIES_MAX, "a hook for each entry");

// ---- Writing the jumps ----------------------------------------------------------------------

// jmp *(%rip), and the address.
static void put_far_jump(uint8_t *at, uint64_t to)
{
    static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
    __builtin_memcpy(at, jump, sizeof(jump));
    __builtin_memcpy(at + sizeof(jump), &to, sizeof(to));
}

static bool put_distance(uint8_t *at, uint64_t from, uint64_t to)
{
    int64_t distance = (int64_t)(to - from);
    int32_t narrow = (int32_t)distance;
    __builtin_memcpy(at, &narrow, sizeof(narrow));
    return narrow == distance;
}

// Memory that a jump of 32 bits from the mapping reaches.
static uint8_t *map_near(const AgentMapping *m, size_t size)
{
    enum { STEP = 1 << 20, STEPS = 1500, PROT = PROT_READ | PROT_WRITE };
    for (uint64_t i = 1; i < 2 * STEPS; i++) {
        uint64_t by = i / 2 * STEP;
        uint64_t at = i & 1 ? align_up(m->end, PAGE) + by : (m->start - by) & ~(uint64_t)(PAGE - 1);
        if (!(i & 1) && m->start < by + STEP)
            continue;
        uint8_t *there = sys_map((void *)(uintptr_t)at, size, PROT,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (there == (uint8_t *)(uintptr_t)at)
            return there;
        sys_unmap(there, there ? size : 0);
    }
    return NULL;
}

// Fills the place of an entry. False: something is out of reach.
static bool fill_place(uint8_t *place, const WireEntry *e, uint64_t entry, Function *hook)
{
    uint8_t *code = place + MOVED_AT;
    uint64_t base = (uint64_t)(uintptr_t)code;
    put_far_jump(place, (uint64_t)(uintptr_t)hook);
    __builtin_memcpy(code, e->code, e->code_size);
    for (unsigned i = 0; i < e->fix_count; i++)
        if (!put_distance(code + e->fix[i].at, base + e->fix[i].end,
                          entry + (uint64_t)e->fix[i].target))
            return false;
    put_far_jump(code + e->code_size, entry + e->moved);
    return true;
}

static bool protect(uint64_t start, uint64_t end, int prot)
{
    start &= ~(uint64_t)(PAGE - 1);
    return SYS3(SYS_mprotect, start, align_up(end, PAGE) - start, prot) == 0;
}

static bool hook_entry(unsigned number, uint64_t entry, uint8_t *place)
{
    const WireEntry *e = &entries->at[number];
    uint8_t *at = (uint8_t *)(uintptr_t)entry;
    uint8_t jump[WIRE_ENTRY_JUMP] = {0xe9};
    if (__builtin_memcmp(at, e->before, e->moved) != 0 ||
        !fill_place(place, e, entry, hooks[number]) ||
        !put_distance(jump + 1, entry + sizeof(jump), (uint64_t)(uintptr_t)place) ||
        !protect(entry, entry + sizeof(jump), PROT_READ | PROT_WRITE | PROT_EXEC))
        return false;
    originals[number] = (Function *)(uintptr_t)(place + MOVED_AT);
    __builtin_memcpy(at, jump, sizeof(jump));
    return protect(entry, entry + sizeof(jump), PROT_READ | PROT_EXEC);
}

// Where in memory the entry is; 0: nowhere.
static uint64_t place_of(const WireEntry *e, AgentMapping *ret)
{
    return mappings_find_offset(entries->inode, e->offset, ret)
               ? ret->start + (e->offset - ret->offset)
               : 0;
}

static const WireEntries *load(const char *folder)
{
    char path[AGENT_PATH_MAX];
    SysText t = sys_text(path, sizeof(path));
    sys_text_add(&t, folder);
    sys_text_add(&t, "/" WIRE_ENTRIES_FILE);
    int fd = sys_open(path, O_RDONLY | O_NOFOLLOW, 0);
    if (fd < 0)
        return NULL;
    const WireEntries *e = sys_map(NULL, sizeof(*e), PROT_READ, MAP_PRIVATE, fd, 0);
    sys_close(fd);
    if (e && e->magic == WIRE_ENTRIES_MAGIC && e->version == WIRE_VERSION &&
        e->count <= WIRE_ENTRIES_MAX)
        return e;
    sys_unmap((void *)(uintptr_t)e, e ? sizeof(*e) : 0);
    return NULL;
}

void heap_entries_hook(const char *folder)
{
    AgentMapping m;
    if (entries) { // the parent of this process has written them
        heap_blocks_set_granule(POOL_GRANULE_BITS);
        return;
    }
    entries = load(folder);
    if (!entries || !place_of(&entries->at[0], &m))
        return;
    const size_t size = align_up((size_t)entries->count * PLACE, PAGE);
    uint8_t *places = map_near(&m, size);
    uint32_t hooked = 0;
    for (unsigned i = 0; places && i < entries->count; i++) {
        uint64_t entry = place_of(&entries->at[i], &m);
        hooked += entry && hook_entry(i, entry, places + (size_t)i * PLACE);
    }
    // No hook runs before: this is the only thread, and none of them is called here.
    if (places && SYS3(SYS_mprotect, places, size, PROT_READ | PROT_EXEC) != 0)
        hooked = 0;
    agent_heap->entries_hooked = hooked;
    agent_heap->entries_missed = entries->count - hooked;
    heap_blocks_set_granule(POOL_GRANULE_BITS);
}

#ifdef AGENT_ATTACHED
bool heap_entries_place(const char *folder, WireAttach *a)
{
    enum { GLIBC_GRANULE_BITS = 5 };
    AgentMapping m;
    blocks_are_glibcs = a->granule_bits == GLIBC_GRANULE_BITS;
    entries = load(folder);
    if (!entries || !place_of(&entries->at[0], &m))
        return false;
    const size_t size = align_up((size_t)entries->count * PLACE, PAGE);
    uint8_t *places = map_near(&m, size);
    for (unsigned i = 0; places && i < entries->count; i++) {
        const WireEntry *e = &entries->at[i];
        uint64_t entry = place_of(e, &m);
        uint8_t *place = places + (size_t)i * PLACE;
        if (!entry || __builtin_memcmp((const void *)(uintptr_t)entry, e->before, e->moved) != 0 ||
            !fill_place(place, e, entry, hooks[i]))
            continue;
        originals[i] = (Function *)(uintptr_t)(place + MOVED_AT);
        a->placed[i] = (WirePlaced){entry, (uint64_t)(uintptr_t)place};
        a->count++;
    }
    a->places = (uint64_t)(uintptr_t)places;
    a->places_end = a->places + size;
    return places && a->count && SYS3(SYS_mprotect, places, size, PROT_READ | PROT_EXEC) == 0;
}
#endif
