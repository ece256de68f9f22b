// SPDX-License-Identifier: Apache-2.0
// The sections of objects other than linked ELF files of 64 bits and little-endian, and
// where the coverage mapping lies in them: ELF that is not linked, 32-bit or big-endian, Mach-O,
// COFF and PE. Documents: System V gABI ch. 4; Apple, "Mach-O File Format Reference"; Microsoft,
// "PE Format"; compiler-rt, InstrProfData.inc for the names.

#ifndef LLVMCOV_SECTIONS_H
#define LLVMCOV_SECTIONS_H

#include "llvmcov/covmap.h"

// What a file's table of sections is in.
typedef struct CovObjectForm {
    uint8_t pointer_size;
    bool big_endian;
    bool is_coff;
} CovObjectForm;

// One section. `bytes` are cut where the file is; `size` is the stated one.
typedef struct CovSection {
    Str name;
    uint64_t address, size;
    Bytes bytes;
    bool has_bytes; // as opposed to zeros when loaded, and to what a debug file leaves out
} CovSection;

typedef void CovSectionEach(void *ctx, const CovSection *section);

// Whether the file starts as one of these.
bool cov_sections_known(Bytes file);

// Gives every section to `each`, in the order of the file's table; compressed ones of ELF
// are left out. Addresses are those that the linker planned with.
MUST_CHECK bool cov_sections_each(Bytes file, CovSectionEach *each, void *ctx, CovObjectForm *ret,
                                  Error *err);

// "NAME", or "NAME$…" as COFF objects have it before the linker takes it away.
bool cov_section_is(Str name, const char *wanted);

// Finds the sections of the mapping; those that are absent are empty, and a file without
// any is no error. Objects that are not linked yet have several of a name, which are joined
// in the arena; else the sections borrow the file.
MUST_CHECK bool cov_sections_find(Arena *arena, Bytes file, CovMapSections *ret, Error *err);

#endif // LLVMCOV_SECTIONS_H
