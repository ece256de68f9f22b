// SPDX-License-Identifier: Apache-2.0
// Where the coverage mapping lies in objects other than linked ELF files of 64 bits and
// little-endian: ELF that is not linked, 32-bit or big-endian, Mach-O, COFF and PE.
// Documents: System V gABI ch. 4; Apple, "Mach-O File Format Reference"; Microsoft,
// "PE Format"; compiler-rt, InstrProfData.inc for the names.

#ifndef LLVMCOV_SECTIONS_H
#define LLVMCOV_SECTIONS_H

#include "llvmcov/covmap.h"

// Whether the file starts as one of these.
bool cov_sections_known(Bytes file);

// Finds the sections; those that are absent are empty, and a file without any
// mapping is no error. Objects that are not linked yet have several of a name, which
// are joined in the arena; else the sections borrow the file. Compressed sections
// are not read.
MUST_CHECK bool cov_sections_find(Arena *arena, Bytes file, CovMapSections *ret, Error *err);

#endif // LLVMCOV_SECTIONS_H
