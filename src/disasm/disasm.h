// SPDX-License-Identifier: Apache-2.0
// Disassembles machine code: Zydis for x86-64, Capstone for aarch64. The libraries are
// opened when they are first needed, so that assay starts quickly and runs without them.

#ifndef DISASM_DISASM_H
#define DISASM_DISASM_H

#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"

typedef enum DisasmArch { DISASM_X86_64, DISASM_AARCH64 } DisasmArch;

typedef enum DisasmFlow {
    DISASM_PLAIN,
    DISASM_CALL,
    DISASM_JUMP, // conditional or not
    DISASM_RETURN,
} DisasmFlow;

typedef struct DisasmInstruction {
    uint64_t address;
    uint32_t length; // bytes
    DisasmFlow flow;
    bool has_target;
    uint64_t target; // of a direct call or jump
    Str text;        // "mov rax, qword ptr [rbx+0x8]"; in the arena
} DisasmInstruction;

typedef struct Disasm Disasm;

// Opens the decoder. ERROR_UNSUPPORTED, with a hint that names the package, when its library is
// not installed.
MUST_CHECK bool disasm_open(Arena *arena, DisasmArch arch, Disasm **ret, Error *err);
void disasm_close(Disasm *d); // accepts NULL

// Decodes the instruction at the beginning of `code`, which lies at `address`. Bytes that are no
// instruction give one of 1 byte (aarch64: 4) with the text "(bad)". False when `code` is empty.
bool disasm_next(Disasm *d, Arena *arena, Bytes code, uint64_t address, DisasmInstruction *ret);

// Where an instruction of x86-64 holds a distance from its own end: to the target of a jump or
// call, or to data.
typedef struct DisasmRelative {
    uint32_t offset, size; // in bytes; size 0: nowhere
} DisasmRelative;

// The length of the instruction at the beginning of `code`, and where such a distance stands in it.
// 0 when there is no instruction.
uint32_t disasm_relative(Disasm *d, Bytes code, DisasmRelative *ret);

// The length of the instruction at the beginning of `code`, 0 when there is none.
// Several times faster than disasm_next.
uint32_t disasm_length(Disasm *d, Bytes code);

#endif // DISASM_DISASM_H
