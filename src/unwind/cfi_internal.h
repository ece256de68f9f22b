// SPDX-License-Identifier: Apache-2.0
// Call frame information: entries of .eh_frame and .debug_frame, and the state
// machine that their instructions drive. Freestanding, like core.h: an agent
// may interpret one entry in place of building a table.
// Formats: see table.h.

#ifndef UNWIND_CFI_INTERNAL_H
#define UNWIND_CFI_INTERNAL_H

#include "unwind/core.h"

typedef struct CfiSection {
    const uint8_t *data;
    size_t size; // less than 2 GiB
    uint64_t svma;
    uint64_t data_svma; // base of DW_EH_PE_datarel
    bool is_debug_frame;
    bool open_ended; // a zero length ends the list, where otherwise it is padding
    UnwindArch arch;
} CfiSection;

// A register without a rule (UNWIND_RULE_SAME with `reg` 0 as zeroed memory
// gives it) keeps its value. Expressions: `value` is an offset in the section.
typedef struct CfiState {
    UnwindRule cfa;     // UNWIND_RULE_REG (register in `len`) or UNWIND_RULE_EXPR
    int32_t cfa_offset; // the last one stated, also while the CFA is an expression
    UnwindRule reg[UNWIND_REG_COUNT];
} CfiState;

typedef enum CfiEntryKind { CFI_CIE, CFI_FDE, CFI_END, CFI_BROKEN } CfiEntryKind;

typedef struct CfiEntry {
    CfiEntryKind kind;
    const char *why;  // CFI_BROKEN: what is wrong
    size_t offset;    // of the entry's length field in the section
    size_t body, end; // what follows the CIE id or pointer
    size_t cie;       // CFI_FDE: offset of its CIE
} CfiEntry;

typedef struct CfiCie {
    size_t offset;
    const char *why; // NULL, or why it cannot be used
    uint64_t code_align;
    int64_t data_align;
    size_t instructions, end;
    CfiState initial;    // after its instructions
    uint8_t pc_encoding; // DW_EH_PE_*
    uint8_t ra_reg;
    bool has_augmentation; // entries have a length of augmentation data
    bool is_signal;
} CfiCie;

typedef struct CfiFde {
    uint64_t start, end; // Svma
    size_t instructions, instructions_end;
} CfiFde;

// Reads the entry at *at and moves *at behind it. CFI_END at the end of the
// section; after CFI_BROKEN nothing further can be found.
CfiEntry cfi_entry_next(const CfiSection *s, size_t *at);

// Reads a CIE and runs its instructions; `ret->why` tells failure.
void cfi_cie_read(const CfiSection *s, const CfiEntry *entry, CfiCie *ret);

// NULL, or what is wrong with the entry.
const char *cfi_fde_read(const CfiSection *s, const CfiCie *cie, const CfiEntry *entry,
                         CfiFde *ret);

// Called with the rules in force from `pc` on, in ascending order of pc.
typedef void CfiEmit(void *ctx, uint64_t pc, const CfiState *state);

// Runs the instructions of an entry. NULL, or what is wrong; rows up to there
// have been emitted.
const char *cfi_run(const CfiSection *s, const CfiCie *cie, const CfiFde *fde, CfiEmit *emit,
                    void *ctx);

// A state as an action. Kind UNWIND_FULL: `rule` holds `*rule_count` rules (at
// most CFI_RULES_MAX), whose expressions are still offsets in the section, and
// cfa_off and fp_off are for the caller to fill in.
enum { CFI_RULES_MAX = UNWIND_REG_COUNT + 1 };
UnwindAction cfi_action(const CfiSection *s, const CfiCie *cie, const CfiState *state,
                        UnwindRule *rule, uint32_t *rule_count);

// Reading, shared with the expressions: past the end gives 0 and sets `bad`.
typedef struct CfiCursor {
    const uint8_t *at, *end;
    bool bad;
} CfiCursor;

uint64_t cfi_uleb(CfiCursor *c);
int64_t cfi_sleb(CfiCursor *c);
uint64_t cfi_uint(CfiCursor *c, size_t size); // 1, 2, 4 or 8 bytes, little-endian

// An encoded pointer (DW_EH_PE_*) whose first byte lies at address `svma`.
uint64_t cfi_pointer(CfiCursor *c, uint8_t encoding, uint64_t svma, uint64_t data_svma);

#endif // UNWIND_CFI_INTERNAL_H
