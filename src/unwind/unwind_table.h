// SPDX-License-Identifier: Apache-2.0
// Builds compact unwind tables from the call frame information of a module.
// Formats: DWARF 5 §6.4; Linux Standard Base 5.0 Core §10.6 (.eh_frame,
// .eh_frame_hdr); System V psABI x86-64 §3.7; "DWARF for the Arm 64-bit
// Architecture" (negate_ra_state).

#ifndef UNWIND_UNWIND_TABLE_H
#define UNWIND_UNWIND_TABLE_H

#include "base/arena.h"
#include "base/error.h"
#include "unwind/core.h"

// Addresses as stated in the file (Svma).
typedef struct UnwindRange {
    uint64_t start, end;
} UnwindRange;

// Machine code and its address.
typedef struct UnwindCode {
    Bytes bytes;
    uint64_t svma;
} UnwindCode;

enum { UNWIND_PLT_RANGES_MAX = 4 };

// The input of the builder. Sections are uncompressed, borrowed for the call and not trusted. A
// section that the module does not have has length 0. Zero-initialise and fill in.
typedef struct UnwindSections {
    UnwindArch arch;
    Bytes eh_frame;
    uint64_t eh_frame_svma;
    // The end of .eh_frame is not known because it was found by .eh_frame_hdr: the bytes reach to
    // the end of the mapping, and an entry of length 0 ends the list.
    bool eh_frame_open_ended;
    Bytes debug_frame; // used for code without an entry in .eh_frame
    // The executable part of the module, from the lowest to the highest address. Entries outside
    // of it (left by discarded sections) are dropped. {0, 0}: all are kept.
    UnwindRange text;
    uint64_t data_svma; // base of DW_EH_PE_datarel, the .got; 0 when there is none
    // The PLT, for linkers (lld, mold) that write no rules for it: `plt` has the header entry and
    // entries that push, `plt_plain` has entries that only jump (.plt.sec, .plt.got).
    UnwindRange plt;
    UnwindRange plt_plain[UNWIND_PLT_RANGES_MAX];
    // The executable part as the file has it, to inspect code without rules. May be empty.
    UnwindCode code;
    // .init and .fini: crti.o has no rules for _init and _fini. Their rules are derived from the
    // code, as those of the functions of crtbegin.o in `code` are. x86-64 only.
    UnwindCode init, fini;
    // The code that a signal handler returns to, when it has no rules: __kernel_rt_sigreturn of
    // aarch64's vdso, __restore_rt of musl.
    UnwindRange sigreturn;
} UnwindSections;

typedef struct UnwindBuildStats {
    uint32_t entries;   // FDEs read
    uint32_t dropped;   // FDEs outside of `text`, empty, or repeated
    uint32_t broken;    // FDEs with an error; their code has no rules
    Error first_broken; // the error of the first of them
} UnwindBuildStats;

// Builds the table. Broken entries are left out and counted; when the list of entries itself is
// broken, the entries before that are used. A module without entries gives a table of size 0,
// which finds UNWIND_NONE everywhere. False only when the module is too large for one table. The
// table lies in `arena` and refers to nothing outside of it. `stats` may be NULL.
MUST_CHECK bool unwind_table_build(Arena *arena, const UnwindSections *sections, UnwindTable *ret,
                                   UnwindBuildStats *stats, Error *err);

// Finds the address of .eh_frame in the bytes of PT_GNU_EH_FRAME (.eh_frame_hdr), which lie at
// `hdr_svma`; for files without section headers and for images in memory.
MUST_CHECK bool unwind_eh_frame_hdr_parse(Bytes hdr, uint64_t hdr_svma, uint64_t data_svma,
                                          uint64_t *ret_eh_frame_svma, Error *err);

// The size of the table's arrays in bytes.
size_t unwind_table_size_bytes(const UnwindTable *t);

#endif // UNWIND_UNWIND_TABLE_H
