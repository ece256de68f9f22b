// SPDX-License-Identifier: Apache-2.0
// The opcode maps, as far as an instruction has the same length with all operands.

#include "disasm/x86_length.h"

#include <stdbool.h>

// What comes after an opcode, and with which prefixes its length is known.
enum {
    KNOWN = 1,
    MODRM = 2 | KNOWN,
    IMM8 = 4 | KNOWN,
    IMMZ = 8 | KNOWN, // 4 bytes; 2 with prefix 66 and without REX.W
    NO_66 = 16,       // processors treat prefix 66 differently, or it makes another instruction
    MEMORY = 32,      // with a register operand (mod 3) it is another instruction, or none
    MODRM_IMM8 = MODRM | IMM8,
    MODRM_IMMZ = MODRM | IMMZ,
    WITH_F2 = 64, // prefix F2 selects an instruction, too
    WITH_F3 = 128,
    ALL = MODRM | WITH_F2 | WITH_F3,
};

#define ARITHMETIC(base) [(base)...(base) + 3] = MODRM, [(base) + 4] = IMM8, [(base) + 5] = IMMZ

static const uint8_t one_byte[256] = {
    ARITHMETIC(0x00),
    ARITHMETIC(0x08),
    ARITHMETIC(0x10),
    ARITHMETIC(0x18),
    ARITHMETIC(0x20),
    ARITHMETIC(0x28),
    ARITHMETIC(0x30),
    ARITHMETIC(0x38),
    [0x50 ... 0x5f] = KNOWN, // push, pop
    [0x63] = MODRM,          // movsxd
    [0x68] = IMMZ,
    [0x69] = MODRM_IMMZ,
    [0x6a] = IMM8,
    [0x6b] = MODRM_IMM8,
    [0x70 ... 0x7f] = IMM8 | NO_66, // jcc
    [0x80] = MODRM_IMM8,
    [0x81] = MODRM_IMMZ,
    [0x83] = MODRM_IMM8,
    [0x84 ... 0x8b] = MODRM, // test, xchg, mov
    [0x8d] = MODRM | MEMORY, // lea
    [0x90] = KNOWN,
    [0x98 ... 0x99] = KNOWN,
    [0xa8] = IMM8,
    [0xa9] = IMMZ,
    [0xb0 ... 0xb7] = IMM8,
    [0xc3] = KNOWN | NO_66, // ret
    [0xc9] = KNOWN | NO_66, // leave
    [0xe8 ... 0xe9] = IMMZ | NO_66,
    [0xeb] = IMM8 | NO_66,
};

static const uint8_t two_byte[256] = {
    [0x10 ... 0x11] = ALL, // movups, movss, movsd
    [0x1f] = MODRM,        // nop
    [0x28 ... 0x29] = MODRM,
    [0x2a] = ALL, // cvtsi2sd
    [0x2c ... 0x2d] = ALL,
    [0x2e ... 0x2f] = MODRM, // ucomis
    [0x40 ... 0x4f] = MODRM, // cmovcc
    [0x51] = ALL,
    [0x54 ... 0x57] = MODRM,
    [0x58 ... 0x5a] = ALL,
    [0x5c ... 0x5f] = ALL,
    [0x6e] = MODRM,
    [0x6f] = MODRM | WITH_F3,
    [0x7e] = MODRM | WITH_F3,
    [0x7f] = MODRM | WITH_F3,
    [0x80 ... 0x8f] = IMMZ | NO_66, // jcc
    [0x90 ... 0x9f] = MODRM,        // setcc
    [0xa3] = MODRM,
    [0xaf] = MODRM,
    [0xb6 ... 0xb7] = MODRM, // movzx
    [0xbe ... 0xbf] = MODRM, // movsx
    [0xef] = MODRM,          // pxor
};

// Opcodes for which the register field of the next byte selects the instruction.
static uint8_t selected(uint8_t opcode, uint8_t modrm)
{
    unsigned which = modrm >> 3 & 7;
    switch (opcode) {
    case 0xc0: // shifts
    case 0xc1:
        return which == 6 ? 0 : MODRM_IMM8;
    case 0xd0 ... 0xd3:
        return which == 6 ? 0 : MODRM;
    case 0xc6: // mov
        return which ? 0 : MODRM_IMM8;
    case 0xc7:
        return which ? 0 : MODRM_IMMZ;
    case 0xf6: // test, not, neg, mul, div
        return which == 0 ? MODRM_IMM8 : which == 1 ? 0 : MODRM;
    case 0xf7:
        return which == 0 ? MODRM_IMMZ : which == 1 ? 0 : MODRM;
    case 0xff: // inc, dec, call, jmp, push
        return which < 2 ? MODRM : which == 2 || which == 4 || which == 6 ? MODRM | NO_66 : 0;
    default:
        return 0;
    }
}

// The length of the operand: the ModRM byte, with its SIB byte and displacement.
static uint32_t operand_length(const uint8_t *at)
{
    static const uint8_t displacement[] = {0, 1, 4, 0};
    unsigned mod = at[0] >> 6, rm = at[0] & 7;
    bool has_sib = mod != 3 && rm == 4;
    bool is_absolute = mod == 0 && (has_sib ? (at[1] & 7) == 5 : rm == 5);
    return 1u + has_sib + (is_absolute ? 4u : displacement[mod]);
}

uint32_t x86_length_common(Bytes code)
{
    const uint8_t *p = code.ptr;
    bool is_short = false;
    uint8_t repeat = 0, rex = 0;
    if (code.len < X86_LENGTH_MAX)
        return 0;
    if (*p == 0x66)
        is_short = *p++;
    else if (*p == 0xf2 || *p == 0xf3)
        repeat = *p++ == 0xf2 ? WITH_F2 : WITH_F3;
    else if (*p == 0x64) // fs:
        p++;
    if ((*p & 0xf0) == 0x40)
        rex = *p++;
    bool is_wide = rex & 8;
    uint8_t opcode = *p++;
    uint8_t form = one_byte[opcode];
    if (opcode == 0x0f) {
        opcode = *p++;
        form = two_byte[opcode];
    } else if (opcode >= 0xb8 && opcode <= 0xbf) { // mov of a constant to a register
        form = IMMZ;
        p += is_wide ? 4 : 0;
    } else if (form == 0)
        form = selected(opcode, *p);
    if (form == 0 || (repeat & ~form) || (is_short && form & NO_66) ||
        (form & MEMORY && *p >> 6 == 3))
        return 0;
    if ((form & MODRM) == MODRM)
        p += operand_length(p);
    if ((form & IMM8) == IMM8)
        p += 1;
    if ((form & IMMZ) == IMMZ)
        p += is_short && !is_wide ? 2 : 4;
    return (uint32_t)(p - code.ptr);
}
