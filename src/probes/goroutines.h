// SPDX-License-Identifier: Apache-2.0
// Where the runtime of Go keeps the number of a goroutine.

#ifndef PROBES_GOROUTINES_H
#define PROBES_GOROUTINES_H

#include "elf/elf.h"

// The offset of the number (goid) in the structure that the register r14 points to in Go's code on
// x86-64, by the version of Go that the file states. 0: that version is not known.
uint16_t go_goid_offset(const Elf *elf);
// The same for the content of the section .go.buildinfo (debug/buildinfo of Go's library).
uint16_t go_goid_offset_by_info(Bytes info);

#endif // PROBES_GOROUTINES_H
