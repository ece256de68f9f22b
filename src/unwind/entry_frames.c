// SPDX-License-Identifier: Apache-2.0
// Going on behind code without rules. Calls of x86-64: Intel SDM vol. 2A, CALL. Freestanding: no
// libc, no allocation.

#include "unwind/entry_frames.h"

enum {
    WORDS_MAX = 4096,  // above the stack pointer of the code without rules
    WALKS_MAX = 64,    // from return addresses that fit
    DEPTH_MAX = 16,    // code without rules that calls other functions, and is called by them
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
    __builtin_memcpy(&distance, code + ENTRY_CODE_BYTES - sizeof(distance), sizeof(distance));
    *target = address + (uint64_t)(int64_t)distance;
    return code[ENTRY_CODE_BYTES - BYTES] == OPCODE;
}

// Whether the bytes begin a stub of a procedure linkage table: a jump through memory, maybe behind
// endbr64 and with the prefix bnd.
static bool is_stub(const uint8_t *code)
{
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    size_t at = __builtin_memcmp(code, endbr, sizeof(endbr)) == 0 ? sizeof(endbr) : 0;
    at += code[at] == 0xf2;
    return code[at] == 0xff && code[at + 1] == 0x25;
}

// Whether the code at a return address is that with which a program or a thread begins, in a C
// library that states no rules for it: musl. _start aligns the stack pointer before its call, and
// behind the call that __clone makes, the thread ends.
static bool is_outermost(const EntrySearch *s, uint64_t ra)
{
    static const uint8_t aligns[] = {0x83, 0xe4, 0xf0, 0xe8}; // and $-16,%rsp; call
    // mov %eax,%edi; xor %eax,%eax; mov $SYS_exit,%al; syscall
    static const uint8_t ends[] = {0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05};
    uint8_t code[ENTRY_CODE_BYTES];
    if (s->code_before(s->ctx, ra, code) && __builtin_memcmp(code, aligns, sizeof(aligns)) == 0)
        return true;
    return s->code_before(s->ctx, ra + sizeof(ends), code) &&
           __builtin_memcmp(code, ends, sizeof(ends)) == 0;
}

// Whether signal handlers return to this code, and an interrupted frame is above it on the stack.
static bool is_sigreturn(const EntrySearch *s, uint64_t pc)
{
    static const uint8_t moves[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f}; // mov $15,%rax; syscall
    uint8_t code[ENTRY_CODE_BYTES];
    return s->code_before(s->ctx, pc + sizeof(moves), code) &&
           __builtin_memcmp(code, moves, sizeof(moves)) == 0;
}

// Whether `word` lies behind a call that leads, by a stub, out of its module: into the one of `pc`.
static bool calls_other_module(const EntrySearch *s, uint64_t word, uint64_t target, uint64_t pc)
{
    uint8_t code[ENTRY_CODE_BYTES];
    const UnwindMapping *from = unwind_space_find(s->space, word - 1);
    uint32_t user = from ? from->user : 0;
    const UnwindMapping *to = unwind_space_find(s->space, pc);
    return !(from && to && to->user == user) &&
           s->code_before(s->ctx, target + ENTRY_CODE_BYTES, code) && is_stub(code);
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
    UnwindMapping copy;
    const UnwindMapping *m = unwind_space_mapping(s->space, word - 1, &copy);
    if (!m)
        return false;
    bool from_generated = m->flags & UNWIND_MAP_JIT;
    bool has_rule = unwind_space_action(s->space, word - 1).kind != UNWIND_NONE;
    if (!from_generated && !has_rule)
        return !is_generated && !by_ghc && is_outermost(s, word);
    if (from_generated == has_rule || (from_generated && !is_generated) ||
        !s->code_before(s->ctx, word, code))
        return false;
    if (is_indirect_call(code))
        return !by_ghc;
    if (!is_direct_call(code, word, &target))
        return false;
    if (is_generated)
        return from_generated;
    if (by_ghc)
        return jumps_into_code(s, target);
    if (target <= pc && pc - target < OWN_BYTES &&
        unwind_space_action(s->space, target).kind == UNWIND_NONE)
        return true;
    return calls_other_module(s, word, target, pc);
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
static bool is_whole(const EntrySearch *s, UnwindWalk *walk, const UnwindFrame *frames)
{
    uint64_t pc = frames[walk->frame_count - 1].pc;
    if (walk->end != UNWIND_COMPLETE && walk->end != UNWIND_CUT_NO_TABLE)
        return false;
    UnwindKind last = unwind_space_action(s->space, pc).kind;
    if (walk->end == UNWIND_COMPLETE && (last == UNWIND_END || last == UNWIND_AFTER_CLONE))
        return true;
    if (last != UNWIND_NONE || !is_outermost(s, pc + 1))
        return false;
    walk->end = UNWIND_COMPLETE;
    return true;
}

static bool load(const UnwindMemory *memory, uint64_t addr, uint64_t *ret)
{
    uint64_t at = addr - memory->window_addr;
    if (memory->window_size < sizeof(*ret) || at > memory->window_size - sizeof(*ret))
        return memory->read && memory->read(memory->ctx, addr, ret);
    __builtin_memcpy(ret, (const char *)memory->window + at, sizeof(*ret));
    return true;
}

typedef struct Search {
    const EntrySearch *s;
    const UnwindMemory *memory;
    UnwindFrame *frames;
    uint32_t max;
    uint32_t walks; // so far
    uint32_t words; // looked at so far
} Search;

static bool leave_code(Search *search, UnwindWalk *walk, uint32_t depth);

// Whether the walk leads to the outermost frame, if need be through more code without rules.
static bool leads_out(Search *search, UnwindWalk *on, bool is_generated, uint32_t depth)
{
    if (is_generated)
        return on->end == UNWIND_CUT_JIT || is_whole(search->s, on, search->frames);
    return !on->guessed && (is_whole(search->s, on, search->frames) ||
                            (on->end == UNWIND_CUT_NO_TABLE && depth < DEPTH_MAX &&
                             leave_code(search, on, depth + 1)));
}

// Appends to `walk` the one from the first word that fits among `words` from `addr` on; false when
// none does.
static bool leave_code_at(Search *search, uint64_t addr, uint32_t words, bool by_ghc,
                          UnwindWalk *walk, uint32_t depth)
{
    const EntrySearch *s = search->s;
    bool is_generated = walk->end == UNWIND_CUT_JIT;
    uint64_t word;
    for (; words > 0 && search->walks < WALKS_MAX; words--, addr += 8) {
        if (++search->words > s->words_max || !load(search->memory, addr, &word))
            return false;
        if (!is_caller(s, word, walk->end_pc, is_generated, by_ghc))
            continue;
        search->walks++;
        UnwindWalk on = walk_from(s, search->memory, addr, word, search->frames, walk->frame_count,
                                  search->max);
        if (leads_out(search, &on, is_generated, depth)) {
            *walk = on;
            return true;
        }
    }
    return false;
}

// The walk from the frame that entered the code in which `walk` ended; false when there is none.
static bool leave_code(Search *search, UnwindWalk *walk, uint32_t depth)
{
    uint64_t addr = (walk->end_sp + 7) & ~(uint64_t)7;
    if (walk->frame_count >= search->max || walk->end_sp < search->memory->window_addr ||
        is_sigreturn(search->s, search->frames[walk->frame_count - 1].pc + 1))
        return false;
    return (walk->end == UNWIND_CUT_NO_TABLE &&
            leave_code_at(search, addr + GHC_BYTES, GHC_WORDS, true, walk, depth)) ||
           leave_code_at(search, addr, WORDS_MAX, false, walk, depth);
}

void entry_frames_join(const EntrySearch *search, const UnwindMemory *memory, UnwindFrame *frames,
                       uint32_t max, UnwindWalk *walk)
{
    UnwindWalk on = *walk;
    Search all = {search, memory, frames, max, 0, 0};
    if (search->space->arch != UNWIND_X86_64)
        return;
    (void)(on.end == UNWIND_CUT_NO_TABLE && is_whole(search, &on, frames));
    for (uint32_t steps = 0; steps < STEPS_MAX && on.end != UNWIND_COMPLETE; steps++)
        if (!leave_code(&all, &on, 0))
            return;
    if (on.end == UNWIND_COMPLETE)
        *walk = on;
}
