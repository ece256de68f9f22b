// SPDX-License-Identifier: Apache-2.0
// Lengths of the x86-64 instructions that compilers write most, without decoding them.
// Document: Intel SDM volume 2, chapter 2 and the opcode maps of appendix A.

#ifndef DISASM_X86_LENGTH_H
#define DISASM_X86_LENGTH_H

#include "base/str.h"

// No instruction is longer.
enum { X86_LENGTH_MAX = 15 };

// The length in bytes of the instruction at the beginning of `code`, equal to that of a complete
// decoder. 0 when it is not a common instruction, or when `code` has less than X86_LENGTH_MAX
// bytes: the caller needs a complete decoder then.
uint32_t x86_length_common(Bytes code);

#endif // DISASM_X86_LENGTH_H
