// SPDX-License-Identifier: Apache-2.0
// Walking stacks by unwind tables: the freestanding part. It uses no libc and
// allocates nothing, so that a signal handler in the observed program can use
// it too. Tables come from unwind/unwind_table.h, address spaces from unwind/space.h.

#ifndef UNWIND_CORE_H
#define UNWIND_CORE_H

#include "base/defs.h"

typedef enum UnwindArch { UNWIND_X86_64, UNWIND_AARCH64 } UnwindArch;

// Register numbers as DWARF has them (System V psABI x86-64 table 3.36;
// "DWARF for the Arm 64-bit Architecture" §4.1).
enum {
    UNWIND_X86_64_BX = 3,
    UNWIND_X86_64_FP = 6,
    UNWIND_X86_64_SP = 7,
    UNWIND_X86_64_PC = 16, // the return address column
    UNWIND_AARCH64_FP = 29,
    UNWIND_AARCH64_LR = 30,
    UNWIND_AARCH64_SP = 31,
    UNWIND_AARCH64_PC = 32,
    UNWIND_REG_COUNT = 33
};

// ---- Tables ------------------------------------------------------------------
// A table says for each pc of a module how its frame is left. `row` holds for
// each place where that changes the low 16 bits of (pc - base_svma) and, above
// them, the number of the action from there on. `bucket[pc >> bucket_shift]` is
// the first row at or after the start of that stretch of code.

typedef enum UnwindKind {
    UNWIND_NONE,        // no rule here
    UNWIND_END,         // the return address is undefined: the outermost frame
    UNWIND_AFTER_CLONE, // behind a system call that returns twice: the outermost frame
                        // where it gave 0, elsewhere the caller's address is where a call
                        // puts it
    UNWIND_FP_KEPT,     // x86-64: return address at cfa-8, frame pointer unchanged
    UNWIND_FP_AT_CFA,   // x86-64: … frame pointer saved at cfa+fp_off
    UNWIND_FP_AT_FP,    // x86-64: … frame pointer saved at fp+fp_off (realigned stacks)
    UNWIND_RA_IN_LR,    // aarch64: return address still in x30, frame pointer unchanged
    UNWIND_RA_AT_CFA,   // aarch64: return address at cfa+fp_off, frame pointer unchanged
    UNWIND_PAIR_AT_CFA, // aarch64: frame pointer at cfa+fp_off, return address 8 above it
    UNWIND_PLT,         // x86-64 .plt: cfa = sp + 8, and 8 more from byte fp_off of an entry on
    UNWIND_FULL         // a list of rules: UnwindTable.rule[cfa_off], fp_off of them
} UnwindKind;

enum {
    UNWIND_CFA_REG = 0x1f,     // bits of `cfa`: the register the CFA is based on
    UNWIND_CFA_DEREF = 0x20,   // cfa = *(reg + low half of cfa_off) + high half of cfa_off
    UNWIND_SIGNAL_FRAME = 0x40 // the caller was interrupted, not calling: its pc is exact
};

typedef struct UnwindAction {
    uint8_t kind; // UnwindKind
    uint8_t cfa;  // UNWIND_CFA_* and UNWIND_SIGNAL_FRAME
    int16_t fp_off;
    uint32_t cfa_off : 24; // two's complement: see unwind_cfa_off
    // x86-64: rbx is saved at cfa - 8 * bx_slot; 0: unchanged, UNWIND_BX_LOST. The
    // frame of the lazy binder has its CFA in rbx and calls on from there.
    uint32_t bx_slot : 8;
} UnwindAction;

enum { UNWIND_BX_LOST = 0xff, UNWIND_CFA_OFF_MASK = 0xffffff };

static inline int32_t unwind_cfa_off(UnwindAction a)
{
    return (int32_t)((uint32_t)a.cfa_off << 8) >> 8;
}

// One rule of an UNWIND_FULL action; the first of a list is the CFA's.
typedef enum UnwindRuleKind {
    UNWIND_RULE_SAME,
    UNWIND_RULE_UNDEFINED,
    UNWIND_RULE_AT_CFA,   // saved at cfa+value
    UNWIND_RULE_CFA_PLUS, // is cfa+value
    UNWIND_RULE_REG,      // is the value of register `value`; for the CFA: register `len` + value
    UNWIND_RULE_AT_EXPR,  // saved where the expression says; value: offset in UnwindTable.expr
    UNWIND_RULE_EXPR      // is what the expression says
} UnwindRuleKind;

typedef struct UnwindRule {
    int32_t value;
    uint16_t len; // of the expression, bytes
    uint8_t kind; // UnwindRuleKind
    uint8_t reg;  // the register that this restores
} UnwindRule;

// What a look-up reads stands first, in one cache line.
typedef struct UnwindTable {
    uint64_t base_svma;
    uint64_t size;          // covers [base_svma, base_svma + size), at most 4 GiB
    const uint32_t *bucket; // (size >> bucket_shift) + 2 of them
    const uint32_t *row;
    const UnwindAction *action;
    uint8_t bucket_shift; // 7 to 16
    uint8_t arch;         // UnwindArch
    uint32_t bucket_count;
    uint32_t row_count;
    uint32_t action_count;
    uint32_t rule_count;
    uint32_t expr_size;
    const UnwindRule *rule;
    const uint8_t *expr; // DWARF expressions of the rules
} UnwindTable;

// The action in force at an address of the module; kind UNWIND_NONE outside of
// the table.
UnwindAction unwind_table_find(const UnwindTable *t, uint64_t svma);

// ---- Address space -------------------------------------------------------------
enum {
    UNWIND_MAP_JIT = 1 << 0,  // code that a runtime made: has no table, and that is no surprise
    UNWIND_MAP_LAZY = 1 << 1, // `table` was not looked for yet: UnwindSpace.load does it
};

// One executable mapping of a process.
typedef struct UnwindMapping {
    uint64_t start, end;      // addresses in the process (Avma)
    uint64_t bias;            // Avma - Svma, modulo 2^64
    const UnwindTable *table; // NULL: none
    uint32_t flags;           // UNWIND_MAP_*
    uint32_t user;            // the owner's tag, for example its module number
} UnwindMapping;

typedef struct UnwindSpace UnwindSpace;

// The mappings of one process, sorted and disjoint.
struct UnwindSpace {
    UnwindMapping *at;
    uint32_t count;
    uint32_t cap;        // unwind/space.h
    uint32_t last;       // where the last look-up hit
    uint8_t arch;        // UnwindArch
    uint64_t generation; // changes with the mappings, equal only for equal ones; never 0
    // Bits of a return address that are not address: aarch64 pointer
    // authentication and tags. 0 takes the usual 48-bit layout there.
    uint64_t pac_mask;
    // Gives the table of a mapping with UNWIND_MAP_LAZY when a stack first leads
    // there; NULL for none. Must not change the space.
    const UnwindTable *(*load)(void *ctx, const UnwindMapping *m);
    // Called for a pc in no mapping; may be NULL. The result is copied, not kept:
    // for agents that ask the loader (_dl_find_object) in place of keeping `at`.
    bool (*find)(void *ctx, uint64_t pc, UnwindMapping *ret);
    void *ctx;
};

// The mapping that holds an address, or NULL. Asks neither load nor find.
UnwindMapping *unwind_space_find(UnwindSpace *s, uint64_t avma);

// ---- Walking -------------------------------------------------------------------
typedef struct UnwindRegs {
    uint64_t pc;
    uint64_t known; // bit i: reg[i] is valid; sp must be
    uint64_t reg[UNWIND_REG_COUNT];
} UnwindRegs;

// Takes registers as perf samples have them (PERF_SAMPLE_REGS_USER: the
// registers in `mask` in ascending order of their bit). False when pc or sp is
// not among them.
bool unwind_regs_from_perf(UnwindArch arch, uint64_t mask, const uint64_t *values, UnwindRegs *ret);
// What to ask perf for: the mask for attr.sample_regs_user.
uint64_t unwind_perf_regs_mask(UnwindArch arch);

// Memory of the stack. Words inside the window are loaded directly; others are
// asked of `read`, when there is one.
typedef struct UnwindMemory {
    const void *window;
    uint64_t window_addr; // address in the process of window's first byte; the sp of a dump
    uint64_t window_size; // bytes
    // The stack goes on above the window, which is a copy that was cut.
    bool window_cut;
    bool (*read)(void *ctx, uint64_t addr, uint64_t *ret);
    void *ctx;
} UnwindMemory;

// How a walk ended. The values of the cuts are those of the model's StackCut.
typedef enum UnwindEnd {
    UNWIND_COMPLETE,
    UNWIND_CUT_DUMP_SHORT,      // a word needed is above the window of a dump that was cut
    UNWIND_CUT_NO_TABLE,        // no rule for this pc, and the frame pointer led nowhere
    UNWIND_CUT_JIT,             // the same in an UNWIND_MAP_JIT mapping
    UNWIND_CUT_BAD_FRAME,       // the rule gave what cannot be
    UNWIND_CUT_UNKNOWN_MAP = 6, // pc in no mapping
    UNWIND_CUT_TOO_DEEP         // frames did not fit
} UnwindEnd;

enum {
    UNWIND_FRAME_GUESSED = 1 << 0, // found by the frame pointer, no table covered its callee
    UNWIND_FRAME_EXACT = 1 << 1,   // pc is where it stood; else pc is the return address - 1
};

typedef struct UnwindFrame {
    uint64_t pc; // Avma; see UNWIND_FRAME_EXACT
    uint32_t flags;
    // Its stack pointer: this many words of 8 bytes above the first frame's, or
    // UNWIND_SP_FAR where it is not above it or too far.
    uint32_t sp_words;
} UnwindFrame;

#define UNWIND_SP_FAR UINT32_MAX

enum { UNWIND_CACHE_SIZE = 1024 };

typedef struct UnwindCacheEntry {
    uint64_t key; // pc mixed with the space's generation; 0: empty
    UnwindAction action;
} UnwindCacheEntry;

// Rules by pc, for walks of one thread over any number of spaces. All zero is a
// valid empty cache. 16 KiB: a larger one costs misses of its own, and saves little
// of a look-up in the table.
typedef struct UnwindCache {
    UnwindCacheEntry at[UNWIND_CACHE_SIZE];
} UnwindCache;

typedef struct UnwindWalk {
    uint32_t frame_count;
    UnwindEnd end;
    uint32_t guessed; // frames with UNWIND_FRAME_GUESSED
    uint64_t end_pc;  // where it ended: the pc that could not be left
    uint64_t end_sp;  // its stack pointer
} UnwindWalk;

// Walks from `regs` outwards and stores at most `max` frames, innermost first.
// At least the first frame is stored (max > 0). `cache` may be NULL.
UnwindWalk unwind_walk(UnwindSpace *space, UnwindCache *cache, const UnwindRegs *regs,
                       const UnwindMemory *memory, UnwindFrame *frames, uint32_t max);

#endif // UNWIND_CORE_H
