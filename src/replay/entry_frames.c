// SPDX-License-Identifier: Apache-2.0
// Going on behind code without rules. Calls of x86-64: Intel SDM vol. 2A, CALL.

#include "replay/entry_frames.h"

#include <string.h>

enum {
    WORDS_MAX = 4096,  // above the stack pointer of the code without rules
    WALKS_MAX = 64,    // from return addresses that fit
    STEPS_MAX = 64,    // out of code without rules in one stack
    OWN_BYTES = 65536, // a function by hand is not longer
    // From GHC's code to the return address of StgRun: RESERVED_C_STACK_BYTES and the registers
    // that it saves. Calls of C put some words before them.
    GHC_BYTES = 16432,
    GHC_WORDS = 16
};

// The length of the operand of an indirect call: ModRM, SIB and displacement.
static size_t operand_length(uint8_t modrm, uint8_t sib)
{
    unsigned mod = modrm >> 6, rm = modrm & 7;
    size_t n = 1;
    if (mod != 3 && rm == 4) {
        n++;
        if (mod == 0 && (sib & 7) == 5)
            n += 4;
    }
    if (mod == 0 && rm == 5)
        n += 4;
    return n + (mod == 1 ? 1u : mod == 2 ? 4u : 0u);
}

// Whether a call through a register or through memory ends where the bytes end.
static bool is_indirect_call(const uint8_t *code)
{
    enum { OPCODE = 0xff, CALL = 2 };
    for (size_t at = 0; at + 2 <= ENTRY_CODE_BYTES; at++)
        if (code[at] == OPCODE && (code[at + 1] >> 3 & 7) == CALL) {
            uint8_t sib = at + 2 < ENTRY_CODE_BYTES ? code[at + 2] : 0;
            if (at + 1 + operand_length(code[at + 1], sib) == ENTRY_CODE_BYTES)
                return true;
        }
    return false;
}

bool entry_is_call(const uint8_t *code)
{
    enum { OPCODE = 0xe8, BYTES = 5 };
    return code[ENTRY_CODE_BYTES - BYTES] == OPCODE || is_indirect_call(code);
}

// Whether a direct call ends where the bytes end, at `address`; `*target` is what it calls.
static bool is_direct_call(const uint8_t *code, uint64_t address, uint64_t *target)
{
    enum { OPCODE = 0xe8, BYTES = 5 };
    int32_t distance;
    memcpy(&distance, code + ENTRY_CODE_BYTES - sizeof(distance), sizeof(distance));
    *target = address + (uint64_t)(int64_t)distance;
    return code[ENTRY_CODE_BYTES - BYTES] == OPCODE;
}

// Whether the function at `target` may be one that jumps into code without rules, and has rules
// that say where its own caller is found from there: GHC's StgRun. Such rules are rarely needed
// elsewhere.
static bool jumps_into_code(const EntrySearch *s, uint64_t target)
{
    enum { BYTES = 64, STEP = 4 };
    for (uint64_t at = target; at < target + BYTES; at += STEP)
        if (unwind_space_action(s->space, at).kind == UNWIND_FULL)
            return true;
    return false;
}

// Whether a call that may have entered the code without rules around `pc` left this return address.
static bool is_caller(const EntrySearch *s, uint64_t word, uint64_t pc, bool is_generated,
                      bool by_ghc)
{
    uint8_t code[ENTRY_CODE_BYTES];
    uint64_t target;
    const UnwindMapping *m = unwind_space_find(s->space, word - 1);
    if (!m)
        return false;
    bool from_generated = m->flags & UNWIND_MAP_JIT;
    if (from_generated != (unwind_space_action(s->space, word - 1).kind == UNWIND_NONE) ||
        (from_generated && !is_generated) || !s->code_before(s->ctx, word, code))
        return false;
    if (is_indirect_call(code))
        return !by_ghc;
    if (!is_direct_call(code, word, &target))
        return false;
    if (is_generated)
        return from_generated;
    if (by_ghc)
        return jumps_into_code(s, target);
    return target <= pc && pc - target < OWN_BYTES &&
           unwind_space_action(s->space, target).kind == UNWIND_NONE;
}

// Walks on from the return address at `addr`. The frames are appended behind `n`.
static UnwindWalk walk_from(const EntrySearch *s, const UnwindMemory *memory, uint64_t addr,
                            uint64_t ra, UnwindFrame *frames, uint32_t n, uint32_t max)
{
    UnwindRegs regs = {.pc = ra - 1, .known = (uint64_t)1 << UNWIND_X86_64_SP};
    regs.reg[UNWIND_X86_64_SP] = addr + 8;
    if (frames[n - 1].fp > addr) {
        regs.known |= (uint64_t)1 << UNWIND_X86_64_FP;
        regs.reg[UNWIND_X86_64_FP] = frames[n - 1].fp;
    }
    UnwindWalk walk = unwind_walk(s->space, s->cache, &regs, memory, frames + n, max - n);
    uint64_t words = (addr + 8 - memory->window_addr) / 8;
    for (uint32_t i = n; i < n + walk.frame_count; i++) {
        UnwindFrame *f = &frames[i];
        f->flags = (f->flags & ~(uint32_t)UNWIND_FRAME_EXACT) | UNWIND_FRAME_GUESSED;
        if (f->sp_words != UNWIND_SP_FAR)
            f->sp_words += (uint32_t)words;
    }
    walk.frame_count += n;
    return walk;
}

// Whether the walk ended in a function that threads and programs begin with. Words that are left
// from earlier calls may lead to a return address of 0.
static bool is_whole(const EntrySearch *s, const UnwindWalk *walk, const UnwindFrame *frames)
{
    UnwindKind last = unwind_space_action(s->space, frames[walk->frame_count - 1].pc).kind;
    return walk->end == UNWIND_COMPLETE && (last == UNWIND_END || last == UNWIND_AFTER_CLONE);
}

static bool load(const UnwindMemory *memory, uint64_t addr, uint64_t *ret)
{
    uint64_t at = addr - memory->window_addr;
    if (memory->window_size < sizeof(*ret) || at > memory->window_size - sizeof(*ret))
        return memory->read && memory->read(memory->ctx, addr, ret);
    memcpy(ret, (const char *)memory->window + at, sizeof(*ret));
    return true;
}

typedef struct Search {
    const EntrySearch *s;
    const UnwindMemory *memory;
    UnwindFrame *frames;
    uint32_t max;
    uint32_t walks; // so far
} Search;

// Appends to `walk` the one from the first word that fits among `words` from `addr` on; false when
// none does.
static bool leave_code_at(Search *search, uint64_t addr, uint32_t words, bool by_ghc,
                          UnwindWalk *walk)
{
    const EntrySearch *s = search->s;
    bool is_generated = walk->end == UNWIND_CUT_JIT;
    uint64_t word;
    for (; words > 0 && search->walks < WALKS_MAX; words--, addr += 8) {
        if (!load(search->memory, addr, &word))
            return false;
        if (!is_caller(s, word, walk->end_pc, is_generated, by_ghc))
            continue;
        search->walks++;
        UnwindWalk on = walk_from(s, search->memory, addr, word, search->frames, walk->frame_count,
                                  search->max);
        if (is_generated ? on.end == UNWIND_CUT_JIT || is_whole(s, &on, search->frames)
                         : !on.guessed && is_whole(s, &on, search->frames)) {
            *walk = on;
            return true;
        }
    }
    return false;
}

// The walk from the frame that entered the code in which `walk` ended; false when there is none.
static bool leave_code(Search *search, UnwindWalk *walk)
{
    uint64_t addr = (walk->end_sp + 7) & ~(uint64_t)7;
    if (walk->frame_count >= search->max || walk->end_sp < search->memory->window_addr)
        return false;
    return (walk->end == UNWIND_CUT_NO_TABLE &&
            leave_code_at(search, addr + GHC_BYTES, GHC_WORDS, true, walk)) ||
           leave_code_at(search, addr, WORDS_MAX, false, walk);
}

void entry_frames_join(const EntrySearch *search, const UnwindMemory *memory, UnwindFrame *frames,
                       uint32_t max, UnwindWalk *walk)
{
    UnwindWalk on = *walk;
    Search all = {search, memory, frames, max, 0};
    if (search->space->arch != UNWIND_X86_64)
        return;
    for (uint32_t steps = 0; steps < STEPS_MAX && on.end != UNWIND_COMPLETE; steps++)
        if (!leave_code(&all, &on))
            return;
    if (on.end == UNWIND_COMPLETE)
        *walk = on;
}
