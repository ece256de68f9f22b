// SPDX-License-Identifier: Apache-2.0
// Walks a stack of this process.

#include "agent/stack_walk.h"

#include "agent/mappings.h"
#include "agent/records.h"
#include "unwind/entry_frames.h"

#include <stdatomic.h>

#if defined(__x86_64__)
enum { OWN_ARCH = UNWIND_X86_64, SP = UNWIND_X86_64_SP };
#else
enum { OWN_ARCH = UNWIND_AARCH64, SP = UNWIND_AARCH64_SP };
#endif

// ---- Rules that were found before ---------------------------------------------------------
// Programs with much code have more calls on their stacks than UnwindCache has places, and to
// search for a rule takes a hundred times as long as a look here. All threads share the table. A
// place has two words, of which the first is a key combined with the second: a look at a place that
// another thread changes at the same time finds no key.

enum { RULES = 1 << 15, RULE_HASH_SHIFT = 64 - 15 };
static _Atomic uint64_t rules[RULES][2];

static uint64_t rule_key(uint64_t pc)
{
    return pc + mappings_generation() * 0x9e3779b97f4a7c15ull;
}

static bool find_rule(uint64_t key, UnwindAction *ret)
{
    _Atomic uint64_t *at = rules[key * 0xff51afd7ed558ccdull >> RULE_HASH_SHIFT];
    uint64_t word = atomic_load_explicit(&at[1], memory_order_relaxed);
    if ((atomic_load_explicit(&at[0], memory_order_relaxed) ^ word) != key || word == 0)
        return false;
    _Static_assert(sizeof(*ret) == sizeof(word), "an action is one word");
    __builtin_memcpy(ret, &word, sizeof(word));
    return true;
}

static void keep_rule(uint64_t key, const UnwindAction *action)
{
    // The other rules of an UNWIND_FULL action are in a table of their own.
    if (action->kind == UNWIND_FULL || action->kind == UNWIND_NONE)
        return;
    uint64_t word;
    __builtin_memcpy(&word, action, sizeof(word));
    _Atomic uint64_t *at = rules[key * 0xff51afd7ed558ccdull >> RULE_HASH_SHIFT];
    atomic_store_explicit(&at[0], key ^ word, memory_order_relaxed);
    atomic_store_explicit(&at[1], word, memory_order_relaxed);
}

// ---- Walking ------------------------------------------------------------------------------

// UnwindSpace.find: a table of one row.
static bool find_mapping(void *ctx, uint64_t pc, UnwindMapping *ret)
{
    StackWalk *s = ctx;
    AgentMapping m;
    UnwindAction known;
    if (mappings_is_own_code(pc))
        s->meets_own = true;
    uint64_t key = rule_key(pc);
    if (find_rule(key, &known)) {
        found_frame_set(&s->found, pc, (UnwindArch)OWN_ARCH, known);
        *ret = (UnwindMapping){.start = pc, .end = pc + 1, .table = &s->found.table};
        return true;
    }
    if (!mappings_find(pc, &m)) {
        // A library that was loaded a moment ago: its name must not wait for the next reading.
        if (mappings_is_linked(pc))
            mappings_set_stale();
        return false;
    }
    *ret = (UnwindMapping){.start = pc, .end = pc + 1};
    if (m.inode == 0 && !m.frames.hdr)
        ret->flags = UNWIND_MAP_JIT;
    if (!mappings_is_current(&m, pc))
        s->is_stale = true;
    else if (frame_search(&m.frames, pc, &s->found)) {
        ret->table = &s->found.table;
        keep_rule(key, s->found.action);
    }
    return true;
}

// EntrySearch.code_before.
static bool code_before(void *ctx, uint64_t address, uint8_t *ret)
{
    (void)ctx;
    AgentMapping m;
    uint64_t start = address - ENTRY_CODE_BYTES;
    return mappings_find(start, &m) && address <= m.end && words_copy(start, ret, ENTRY_CODE_BYTES);
}

static UnwindWalk walk(StackWalk *s, const UnwindRegs *regs, uint64_t stack_end, StackTrust trust)
{
    enum { ENTRY_WORDS = 1024 };
    UnwindSpace space = {
        .arch = OWN_ARCH, .generation = mappings_generation(), .find = find_mapping, .ctx = s};
    uint64_t sp = regs->reg[SP];
    UnwindMemory memory = {.window = (const void *)(uintptr_t)sp,
                           .window_addr = sp,
                           .window_size = stack_end > sp ? stack_end - sp : 0,
                           .read = words_read,
                           .ctx = &s->pages};
    s->is_stale = false;
    words_begin(&s->pages);
    UnwindWalk w = unwind_walk(&space, &s->cache, regs, &memory, s->frames, WIRE_FRAMES_MAX);
    if (w.end == UNWIND_CUT_NO_TABLE && trust == STACK_ASKS) {
        EntrySearch search = {&space, &s->cache, code_before, NULL, ENTRY_WORDS};
        entry_frames_join(&search, &memory, s->frames, WIRE_FRAMES_MAX, &w);
    }
    words_end(&s->pages);
    return w;
}

// A stack that came from the cache may lead through a module that has been replaced since.
static bool all_current(const StackWalk *s, const UnwindWalk *w)
{
    AgentMapping m = {0};
    for (uint32_t i = 0; i < w->frame_count; i++) {
        uint64_t pc = s->frames[i].pc;
        bool same = pc >= m.start && pc < m.end;
        if (!same && (!mappings_find(pc, &m) || !mappings_is_current(&m, pc)))
            return false;
    }
    return true;
}

// The frames of the agent itself, below which a thread's first function runs.
static uint32_t drop_own_frames(UnwindFrame *frames, uint32_t count)
{
    uint32_t kept = 0;
    while (kept < count && LIKELY(!mappings_is_own_code(frames[kept].pc)))
        kept++;
    for (uint32_t i = kept; i < count; i++)
        if (!mappings_is_own_code(frames[i].pc))
            frames[kept++] = frames[i];
    return kept;
}

UnwindEnd stack_walk(StackWalk *s, const UnwindRegs *regs, uint64_t stack_end, StackTrust trust,
                     uint32_t *ret_count)
{
    if (mappings_are_stale())
        (void)mappings_refresh(record_mapping);
    UnwindWalk w = walk(s, regs, stack_end, trust);
    bool unknown = w.end == UNWIND_CUT_UNKNOWN_MAP || s->is_stale ||
                   (trust == STACK_ASKS && !all_current(s, &w));
    if (unknown && mappings_refresh(record_mapping))
        w = walk(s, regs, stack_end, trust);
    uint32_t count = s->meets_own ? drop_own_frames(s->frames, w.frame_count) : w.frame_count;
    *ret_count = MAX(count, 1u);
    return w.end;
}
