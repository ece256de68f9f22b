// SPDX-License-Identifier: Apache-2.0
// Compact unwind tables out of a module's call frame information.
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

// Machine code and where it lies.
typedef struct UnwindCode {
    Bytes bytes;
    uint64_t svma;
} UnwindCode;

enum { UNWIND_PLT_RANGES_MAX = 4 };

// What the builder reads. Sections are uncompressed, borrowed for the call and
// not trusted. An absent section has length 0. Zero-initialise and fill in.
typedef struct UnwindSections {
    UnwindArch arch;
    Bytes eh_frame;
    uint64_t eh_frame_svma;
    // The end of .eh_frame is not known (it was found by .eh_frame_hdr): the
    // bytes go up to the end of what is mapped, a zero length ends the list.
    bool eh_frame_open_ended;
    Bytes debug_frame; // used where .eh_frame has no entry
    // The executable part of the module, lowest to highest address. Entries
    // outside (left-overs of discarded sections) are dropped. {0, 0}: all kept.
    UnwindRange text;
    uint64_t data_svma; // base of DW_EH_PE_datarel, the .got; 0 when there is none
    // Lazy-binding stubs, for linkers (lld, mold) that state no rule for them:
    // `plt` with the header entry that pushes, `plt_plain` of mere jumps
    // (.plt.sec, .plt.got).
    UnwindRange plt;
    UnwindRange plt_plain[UNWIND_PLT_RANGES_MAX];
    // The executable part as the file has it, for what stands where rules end. May
    // be empty.
    UnwindCode code;
    // .init and .fini: crti.o states no rules for _init and _fini. They are read out
    // of the code, as those of crtbegin.o in `code` are. x86-64.
    UnwindCode init, fini;
    // The code a signal handler returns to, where no rule is stated for it:
    // __kernel_rt_sigreturn of aarch64's vdso, __restore_rt of musl.
    UnwindRange sigreturn;
} UnwindSections;

typedef struct UnwindBuildStats {
    uint32_t entries;   // FDEs read
    uint32_t dropped;   // outside of `text`, empty, or repeated
    uint32_t broken;    // entries that could not be understood; their pc has no rule
    Error first_broken; // what was wrong with the first of them
} UnwindBuildStats;

// Builds the table. Broken entries are left out and counted; a section whose
// list of entries is broken is used up to there. A module without any entry
// gives a table of size 0, which finds UNWIND_NONE everywhere. False only when
// the module is more than one table can hold. The table lies in `arena` and
// refers to nothing outside of it. `stats` may be NULL.
MUST_CHECK bool unwind_table_build(Arena *arena, const UnwindSections *sections, UnwindTable *ret,
                                   UnwindBuildStats *stats, Error *err);

// Finds .eh_frame by PT_GNU_EH_FRAME's bytes, for files without section
// headers and for images in memory. `hdr_svma` is its address.
MUST_CHECK bool unwind_eh_frame_hdr_parse(Bytes hdr, uint64_t hdr_svma, uint64_t data_svma,
                                          uint64_t *ret_eh_frame_svma, Error *err);

// Bytes of the table's arrays.
size_t unwind_table_size_bytes(const UnwindTable *t);

#endif // UNWIND_UNWIND_TABLE_H
