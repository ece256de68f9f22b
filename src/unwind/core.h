// SPDX-License-Identifier: Apache-2.0
// Unwinds stacks by unwind tables. This part is freestanding: it uses no libc and allocates
// nothing, so that a signal handler in the observed program can use it, too. Tables come
// from unwind/unwind_table.h, address spaces from unwind/space.h.

#ifndef UNWIND_CORE_H
#define UNWIND_CORE_H

#include "base/defs.h"

typedef enum UnwindArch { UNWIND_X86_64, UNWIND_AARCH64 } UnwindArch;

// Register numbers of DWARF (System V psABI x86-64 table 3.36;
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
// A table gives for each pc of a module the action that finds the caller's frame. There is a
// `row` for each address at which the action changes: its low 16 bits are those of
// (pc - base_svma), above them is the number of the action from there on.
// `bucket[(pc - base_svma) >> bucket_shift]` is the first row at or after the start of that
// range of code.

typedef enum UnwindKind {
    UNWIND_NONE,        // no rule here
    UNWIND_END,         // the return address is undefined: the outermost frame
    UNWIND_AFTER_CLONE, // after a system call that returns twice: the outermost frame where it
                        // returned 0; elsewhere the return address is where a call puts it
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
    UNWIND_SIGNAL_FRAME = 0x40 // the caller was interrupted and made no call: its pc is exact
};

typedef struct UnwindAction {
    uint8_t kind; // UnwindKind
    uint8_t cfa;  // UNWIND_CFA_* and UNWIND_SIGNAL_FRAME
    int16_t fp_off;
    uint32_t cfa_off : 24; // two's complement: see unwind_cfa_off
    // x86-64: rbx is saved at cfa - 8 * bx_slot; 0: it is unchanged; UNWIND_BX_LOST: its value is
    // lost. It is needed because the lazy binder of the dynamic linker has its CFA in rbx.
    uint32_t bx_slot : 8;
} UnwindAction;

enum { UNWIND_BX_LOST = 0xff, UNWIND_CFA_OFF_MASK = 0xffffff };

// The signed value of `cfa_off`.
static inline int32_t unwind_cfa_off(UnwindAction a)
{
    return (int32_t)((uint32_t)a.cfa_off << 8) >> 8;
}

// The kinds of rules in an UNWIND_FULL action. The first rule of its list is that of the CFA.
typedef enum UnwindRuleKind {
    UNWIND_RULE_SAME,
    UNWIND_RULE_UNDEFINED,
    UNWIND_RULE_AT_CFA,   // saved at cfa+value
    UNWIND_RULE_CFA_PLUS, // is cfa+value
    UNWIND_RULE_REG,      // is the value of register `value`; for the CFA: register `len` + value
    UNWIND_RULE_AT_EXPR,  // saved at the address that the expression gives, which is at offset
                          // `value` in UnwindTable.expr
    UNWIND_RULE_EXPR      // is the value that the expression gives
} UnwindRuleKind;

typedef struct UnwindRule {
    int32_t value;
    uint16_t len; // of the expression, bytes
    uint8_t kind; // UnwindRuleKind
    uint8_t reg;  // the register that this restores
} UnwindRule;

// An unwind table. The fields that a look-up reads come first and lie in one cache line.
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

// The action at an address of the module; of the kind UNWIND_NONE outside of the table.
UnwindAction unwind_table_find(const UnwindTable *t, uint64_t svma);
// Whether one action is in force at all `size` > 0 addresses from `svma` on, all in the table.
bool unwind_table_is_uniform(const UnwindTable *t, uint64_t svma, uint64_t size);

// ---- Address space -------------------------------------------------------------
enum {
    UNWIND_MAP_JIT = 1 << 0,  // code that a runtime generated; it never has a table
    UNWIND_MAP_LAZY = 1 << 1, // `table` is not set yet: UnwindSpace.load provides it
};

// One executable mapping of a process.
typedef struct UnwindMapping {
    uint64_t start, end;      // addresses in the process (Avma)
    uint64_t bias;            // Avma - Svma, modulo 2^64
    const UnwindTable *table; // NULL: none
    uint32_t flags;           // UNWIND_MAP_*
    uint32_t user;            // for the caller's use, for example a module number
} UnwindMapping;

typedef struct UnwindSpace UnwindSpace;

// A frame of generated code, and after a step that of its caller.
typedef struct UnwindGenerated {
    uint64_t pc, sp, fp;
    bool exact; // pc is the interrupted address; else a return address. A step makes it false
    // Reads a word of the stack.
    bool (*load)(void *ctx, uint64_t addr, uint64_t *ret);
    void *ctx;
} UnwindGenerated;

typedef enum UnwindGeneratedEnd {
    UNWIND_GENERATED_UNKNOWN, // the runtime says nothing about this code: the frame pointer decides
    UNWIND_GENERATED_STEPPED, // the frame is now that of the caller
    UNWIND_GENERATED_CUT      // the runtime knows the code, but the caller cannot be found
} UnwindGeneratedEnd;

// The mappings of one process, sorted and disjoint.
struct UnwindSpace {
    UnwindMapping *at;
    uint32_t count;
    uint32_t cap;        // unwind/space.h
    uint32_t last;       // index of the mapping that was found last
    uint8_t arch;        // UnwindArch
    uint64_t generation; // changes with the mappings; equal only for equal mappings; never 0
    // The bits of a return address that are no part of the address: pointer authentication and
    // tags of aarch64. 0 stands for the usual layout there, with addresses of 48 bits.
    uint64_t pac_mask;
    // Returns the table of a mapping with UNWIND_MAP_LAZY, NULL for none. Called when the first
    // stack leads to the mapping. Must not change the space.
    const UnwindTable *(*load)(void *ctx, const UnwindMapping *m);
    // The action at an address of a mapping with UNWIND_MAP_LAZY, without its table; never of the
    // kinds UNWIND_NONE and UNWIND_FULL. False: the table is loaded. May be NULL.
    bool (*search)(void *ctx, const UnwindMapping *m, uint64_t svma, UnwindAction *ret);
    // Called for a pc in no mapping; may be NULL. The result is used once and not stored: agents
    // ask the dynamic linker (_dl_find_object) instead of maintaining `at`.
    bool (*find)(void *ctx, uint64_t pc, UnwindMapping *ret);
    void *ctx;
    // Called for a frame in an UNWIND_MAP_JIT mapping without a table; may be NULL.
    UnwindGeneratedEnd (*generated)(void *ctx, UnwindGenerated *frame);
    void *generated_ctx;
};

// The mapping that contains an address, or NULL. Calls neither `load` nor `find`.
UnwindMapping *unwind_space_find(UnwindSpace *s, uint64_t avma);

// The same, or the mapping that `find` knows, which is put into `copy`. Does not call `load`.
UnwindMapping *unwind_space_mapping(UnwindSpace *s, uint64_t pc, UnwindMapping *copy);

// The mapping that contains an address, with its table loaded; NULL when there is none. Does not
// call `find`.
const UnwindMapping *unwind_space_loaded(UnwindSpace *s, uint64_t avma);

// The action in force at an address of the process; loads the table if need be.
UnwindAction unwind_space_action(UnwindSpace *s, uint64_t pc);

// ---- Walking -------------------------------------------------------------------
typedef struct UnwindRegs {
    uint64_t pc;
    uint64_t known; // bit i: reg[i] is valid; that of sp must be set
    uint64_t reg[UNWIND_REG_COUNT];
} UnwindRegs;

// Converts the registers of a perf sample (PERF_SAMPLE_REGS_USER: the registers in `mask`, in
// ascending order of their bits). False when pc or sp is not among them.
bool unwind_regs_from_perf(UnwindArch arch, uint64_t mask, const uint64_t *values, UnwindRegs *ret);
// The mask for attr.sample_regs_user: the registers that unwinding needs.
uint64_t unwind_perf_regs_mask(UnwindArch arch);
// The same for samples at functions, lines and markers: the registers from which compilers measure
// a frame there. The kernel takes about 50 ns for each register.
uint64_t unwind_perf_regs_mask_at_probes(UnwindArch arch);

// The memory of the stack. Words inside the window are loaded directly; for others `read` is
// called, unless it is NULL.
typedef struct UnwindMemory {
    const void *window;
    uint64_t window_addr; // address in the process of the first byte; for a stack copy its sp
    uint64_t window_size; // bytes
    // The window is a copy of a part of the stack; the stack continues above it.
    bool window_cut;
    bool (*read)(void *ctx, uint64_t addr, uint64_t *ret);
    void *ctx;
} UnwindMemory;

// How a walk ended. The values of the cuts are those of the model's StackCut.
typedef enum UnwindEnd {
    UNWIND_COMPLETE,
    UNWIND_CUT_DUMP_SHORT,      // a needed word is above the window, and window_cut is set
    UNWIND_CUT_NO_TABLE,        // no rule for this pc, and following the frame pointer failed
    UNWIND_CUT_JIT,             // the same in an UNWIND_MAP_JIT mapping
    UNWIND_CUT_BAD_FRAME,       // the rule gave an impossible frame
    UNWIND_CUT_UNKNOWN_MAP = 6, // the pc is in no mapping
    UNWIND_CUT_TOO_DEEP,        // more frames than there was room for
    UNWIND_CUT_SWITCH = 9       // set by callers: the stack goes on at an unknown place
} UnwindEnd;

enum {
    UNWIND_FRAME_GUESSED = 1 << 0, // found by the frame pointer: no table covers its callee
    UNWIND_FRAME_EXACT = 1 << 1,   // pc is the interrupted address; else the return address - 1
    // Its caller was found by its frame pointer, or by other registers than the stack pointer.
    UNWIND_FRAME_BY_FP = 1 << 2,
    UNWIND_FRAME_HOW = UNWIND_FRAME_GUESSED | UNWIND_FRAME_EXACT // how this frame was found
};

typedef struct UnwindFrame {
    uint64_t pc; // Avma; see UNWIND_FRAME_EXACT
    uint32_t flags;
    // The distance of its stack pointer from that of the first frame, in words of 8 bytes;
    // UNWIND_SP_FAR when it is not above that one, or too far away.
    uint32_t sp_words;
    uint64_t fp; // the frame pointer register in this frame; 0: not known
} UnwindFrame;

#define UNWIND_SP_FAR UINT32_MAX

enum { UNWIND_CACHE_SIZE = 1024, UNWIND_CACHE_STEPS = 4096 };

typedef struct UnwindCacheEntry {
    uint64_t key; // pc mixed with the space's generation; 0: empty
    UnwindAction action;
} UnwindCacheEntry;

// A cache of actions by pc, for one unwinding thread and any number of spaces. All zero is a valid
// empty cache. Its actions have 16 KiB: a larger one has more cache misses, and a look-up in the
// table costs little more.
typedef struct UnwindCache {
    UnwindCacheEntry at[UNWIND_CACHE_SIZE];
    // Words from a frame's stack pointer to its caller's, when a frame began there last. The stack
    // pointer in words, modulo UNWIND_CACHE_STEPS, is the place.
    uint16_t step[UNWIND_CACHE_STEPS];
} UnwindCache;

typedef struct UnwindWalk {
    uint32_t frame_count;
    UnwindEnd end;
    uint32_t guessed; // frames with UNWIND_FRAME_GUESSED
    uint64_t end_pc;  // pc of the last frame, whose caller was not found
    uint64_t end_sp;  // its stack pointer
    // Its frame pointer, where that frame is known to have saved its caller's there.
    uint64_t end_fp; // 0: not known
} UnwindWalk;

// Unwinds the stack that starts at `regs` and stores at most `max` frames, innermost first, but at
// least the first frame (max > 0). `cache` may be NULL.
UnwindWalk unwind_walk(UnwindSpace *space, UnwindCache *cache, const UnwindRegs *regs,
                       const UnwindMemory *memory, UnwindFrame *frames, uint32_t max);

#endif // UNWIND_CORE_H
