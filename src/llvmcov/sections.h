// SPDX-License-Identifier: Apache-2.0
// Reads the sections of other objects than linked, little-endian ELF-64, and finds the coverage
// mapping in them: relocatable, 32-bit and big-endian ELF, Mach-O, COFF and PE. Documents: System V
// gABI ch. 4; Apple, "Mach-O File Format Reference"; Microsoft, "PE Format"; compiler-rt,
// InstrProfData.inc for the names.

#ifndef LLVMCOV_SECTIONS_H
#define LLVMCOV_SECTIONS_H

#include "llvmcov/covmap.h"

// The form of an object file.
typedef struct CovObjectForm {
    uint8_t pointer_size;
    bool big_endian;
    bool is_coff;
} CovObjectForm;

// One section. `size` is as stated; `bytes` may be fewer, when the file is cut.
typedef struct CovSection {
    Str name;
    uint64_t address, size;
    Bytes bytes;
    bool has_bytes; // false: zeros when it is loaded, or left out of a debug file
} CovSection;

typedef void CovSectionEach(void *ctx, const CovSection *section);

// Whether the file starts with the magic number of such an object.
bool cov_sections_known(Bytes file);

// Calls `each` for every section, in the order of the file's table, without compressed sections of
// ELF. Addresses are those that the linker planned for.
MUST_CHECK bool cov_sections_each(Bytes file, CovSectionEach *each, void *ctx, CovObjectForm *ret,
                                  Error *err);

// Whether a section has this name. COFF objects that are not linked have "NAME$…" for "NAME".
bool cov_section_is(Str name, const char *wanted);

// Finds the sections of the mapping; a section that the file lacks is empty, and a file without any
// is no error. An object that is not linked has several sections of a name: these are joined in the
// arena. Otherwise the sections borrow the file.
MUST_CHECK bool cov_sections_find(Arena *arena, Bytes file, CovMapSections *ret, Error *err);

#endif // LLVMCOV_SECTIONS_H
