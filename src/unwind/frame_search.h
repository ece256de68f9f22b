// SPDX-License-Identifier: Apache-2.0
// Finds the unwind rule of one address in the .eh_frame of a module that is mapped in this
// process, by its search table .eh_frame_hdr, or by an index that is made here. Freestanding, like
// core.h: agents have no room to build a table. Formats: see unwind_table.h.

#ifndef UNWIND_FRAME_SEARCH_H
#define UNWIND_FRAME_SEARCH_H

#include "unwind/core.h"

enum { FRAME_SEARCH_RULES_MAX = UNWIND_REG_COUNT + 1 };

// A function of a module in an index, by which it is found as by .eh_frame_hdr.
typedef struct FrameIndexRow {
    uint64_t start;     // the address of its code
    const uint8_t *fde; // its entry in .eh_frame
} FrameIndexRow;

// Where a module has its call frame information. The addresses are those of this process. A module
// has either `hdr` or `index`.
typedef struct FrameSections {
    const uint8_t *hdr;         // .eh_frame_hdr; NULL: none
    size_t hdr_size;            // bytes
    const FrameIndexRow *index; // [index_count], by start: frame_index_make; NULL: none
    uint32_t index_count;
    const uint8_t *eh_frame; // with `hdr`, NULL: where `hdr` states, which must be trusted
    const uint8_t *end;      // the end of .eh_frame, or of the mapping that contains it
    const uint8_t *code;     // the executable mapping of the module
    const uint8_t *code_end;
    UnwindArch arch;
} FrameSections;

// An entry of .eh_frame has at least so many bytes.
enum { FRAME_INDEX_ENTRY_BYTES = 16 };
// Writes the functions between `eh_frame` and `end` to `index`, by their start, as far as the
// entries can be read; no more than `max`. Returns how many it has written.
uint32_t frame_index_make(const FrameSections *sections, FrameIndexRow *index, uint32_t max);

// A table of one row, for one address. It refers to itself: do not copy it.
typedef struct FoundFrame {
    UnwindTable table;
    uint32_t bucket[2];
    uint32_t row[1];
    UnwindAction action[1];
    UnwindRule rule[FRAME_SEARCH_RULES_MAX];
} FoundFrame;

// Fills `ret` with the rule at `pc`. False when the module has none for it.
MUST_CHECK bool frame_search(const FrameSections *sections, uint64_t pc, FoundFrame *ret);

// Fills `ret` with an action for `pc` that is known already; not of the kind UNWIND_FULL.
void found_frame_set(FoundFrame *ret, uint64_t pc, UnwindArch arch, UnwindAction action);

// Tells functions apart: the address of the module's entry for the function at `pc`, which is the
// same for each address of a function. 0: the module says nothing of functions.
uint64_t frame_search_function(const FrameSections *sections, uint64_t pc);

#endif // UNWIND_FRAME_SEARCH_H
