// SPDX-License-Identifier: Apache-2.0
// Walks a stack of this process.

#include "agent/stack_walk.h"

#include "agent/mappings.h"
#include "agent/records.h"

#if defined(__x86_64__)
enum { OWN_ARCH = UNWIND_X86_64, SP = UNWIND_X86_64_SP };
#else
enum { OWN_ARCH = UNWIND_AARCH64, SP = UNWIND_AARCH64_SP };
#endif

// UnwindSpace.find: a table of one row.
static bool find_mapping(void *ctx, uint64_t pc, UnwindMapping *ret)
{
    StackWalk *s = ctx;
    AgentMapping m;
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
    else if (frame_search(&m.frames, pc, &s->found))
        ret->table = &s->found.table;
    return true;
}

static UnwindWalk walk(StackWalk *s, const UnwindRegs *regs, uint64_t stack_end)
{
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
    for (uint32_t i = 0; i < count; i++)
        if (!mappings_is_own_code(frames[i].pc))
            frames[kept++] = frames[i];
    return kept;
}

UnwindEnd stack_walk(StackWalk *s, const UnwindRegs *regs, uint64_t stack_end, StackTrust trust,
                     uint32_t *ret_count)
{
    if (mappings_are_stale())
        (void)mappings_refresh(record_mapping);
    UnwindWalk w = walk(s, regs, stack_end);
    bool unknown = w.end == UNWIND_CUT_UNKNOWN_MAP || s->is_stale ||
                   (trust == STACK_ASKS && !all_current(s, &w));
    if (unknown && mappings_refresh(record_mapping))
        w = walk(s, regs, stack_end);
    uint32_t count = drop_own_frames(s->frames, w.frame_count);
    *ret_count = MAX(count, 1u);
    return w.end;
}
