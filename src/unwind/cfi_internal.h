// SPDX-License-Identifier: Apache-2.0
// Call frame information: reads the entries of .eh_frame and .debug_frame and runs their
// instructions. Freestanding, like core.h: an agent may interpret one entry instead of
// building a table. Formats: see unwind_table.h.

#ifndef UNWIND_CFI_INTERNAL_H
#define UNWIND_CFI_INTERNAL_H

#include "unwind/core.h"

typedef struct CfiSection {
    const uint8_t *data;
    size_t size; // less than 2 GiB
    uint64_t svma;
    uint64_t data_svma; // base of DW_EH_PE_datarel
    bool is_debug_frame;
    bool open_ended; // an entry of length 0 ends the list; otherwise it is padding
    UnwindArch arch;
} CfiSection;

// The rules at one address. A register without a rule keeps its value; it has UNWIND_RULE_SAME and
// `reg` 0, as in zeroed memory. For expressions `value` is an offset in the section.
typedef struct CfiState {
    UnwindRule cfa;     // UNWIND_RULE_REG (register in `len`) or UNWIND_RULE_EXPR
    int32_t cfa_offset; // the last offset that was set; kept while the CFA is an expression
    UnwindRule reg[UNWIND_REG_COUNT];
} CfiState;

// The defect of an entry, and the number that is not understood, such as that of an unknown
// instruction.
typedef struct CfiTrouble {
    const char *why; // NULL: nothing
    uint64_t met;
    uint8_t met_base; // 10 or 16: how `met` is printed behind `why`; 0: there is none
} CfiTrouble;

typedef enum CfiEntryKind { CFI_CIE, CFI_FDE, CFI_END, CFI_BROKEN } CfiEntryKind;

typedef struct CfiEntry {
    CfiEntryKind kind;
    const char *why;  // CFI_BROKEN: what is wrong
    size_t offset;    // of the entry's length field in the section
    size_t body, end; // of the bytes after the CIE id or CIE pointer
    size_t cie;       // CFI_FDE: offset of its CIE
} CfiEntry;

typedef struct CfiCie {
    size_t offset;
    CfiTrouble trouble; // why the CIE cannot be used
    uint64_t code_align;
    int64_t data_align;
    size_t instructions, end;
    CfiState initial;    // the rules after its instructions
    uint8_t pc_encoding; // DW_EH_PE_*
    uint8_t ra_reg;
    bool has_augmentation; // its FDEs state the length of their augmentation data
    bool is_signal;
} CfiCie;

typedef struct CfiFde {
    uint64_t start, end; // Svma
    uint64_t wanted;     // rules that are valid only before this address are not emitted
    size_t instructions, instructions_end;
} CfiFde;

// Reads the entry at `*at` and moves `*at` after it. Returns CFI_END at the end of the section. No
// entry can be found after CFI_BROKEN.
CfiEntry cfi_entry_next(const CfiSection *s, size_t *at);

// Reads a CIE and runs its instructions. On failure `ret->trouble` is set.
void cfi_cie_read(const CfiSection *s, const CfiEntry *entry, CfiCie *ret);

// Reads an FDE. Returns the defect of the entry.
CfiTrouble cfi_fde_read(const CfiSection *s, const CfiCie *cie, const CfiEntry *entry, CfiFde *ret);

// Called with the rules that are valid from `pc` on, in ascending order of pc.
typedef void CfiEmit(void *ctx, uint64_t pc, const CfiState *state);

// Runs the instructions of an FDE and emits a row wherever the rules change. Returns what is
// wrong; the rows before the damage have been emitted then.
CfiTrouble cfi_run(const CfiSection *s, const CfiCie *cie, const CfiFde *fde, CfiEmit *emit,
                   void *ctx);

// The most rules of one state: those of the CFA and of each register.
enum { CFI_RULES_MAX = UNWIND_REG_COUNT + 1 };
// Converts a state to an action. For the kind UNWIND_FULL it writes `*rule_count` rules (at most
// CFI_RULES_MAX) to `rule`; their expressions are offsets in the section, and the caller sets
// cfa_off and fp_off.
UnwindAction cfi_action(const CfiSection *s, const CfiCie *cie, const CfiState *state,
                        UnwindRule *rule, uint32_t *rule_count);

// A freestanding cursor, which the expressions use, too. A read past the end gives 0 and sets
// `bad`.
typedef struct CfiCursor {
    const uint8_t *at, *end;
    bool bad;
} CfiCursor;

// An unsigned and a signed LEB128 number.
uint64_t cfi_uleb(CfiCursor *c);
int64_t cfi_sleb(CfiCursor *c);
uint64_t cfi_uint(CfiCursor *c, size_t size); // 1, 2, 4 or 8 bytes, little-endian

// Whether cfi_pointer reads pointers of this encoding (DW_EH_PE_*).
bool cfi_pointer_encoding_is_known(uint8_t encoding);

// An encoded pointer (DW_EH_PE_*) whose first byte lies at address `svma`.
uint64_t cfi_pointer(CfiCursor *c, uint8_t encoding, uint64_t svma, uint64_t data_svma);

#endif // UNWIND_CFI_INTERNAL_H
