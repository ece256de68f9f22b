// SPDX-License-Identifier: Apache-2.0
// Derives unwind rules from startup code: see startup_internal.h.

#include "unwind/startup_internal.h"

#include <string.h>

enum {
    FIXED_MAX = 4, // leading bytes that identify an instruction
    JUMPS_MAX = 8, // forward jumps in one function
    WORDS_MAX = 8
};

typedef enum Effect {
    KEEPS, // keeps the depth of the stack and the frame pointer
    PADS,  // keeps them, too; also stands between functions
    PUSHES_FP,
    POPS_FP,
    COPIES_SP, // copies sp to the frame pointer
    PUSHES,    // a word that is not the value of a register
    POPS,
    BRANCHES, // may jump, by its last 1 or 4 bytes
    JUMPS,    // by its last 1 or 4 bytes
    LEAVES
} Effect;

typedef struct Instruction {
    uint8_t fixed[FIXED_MAX];
    uint8_t fixed_len;
    uint8_t len; // with its operands
    uint8_t effect;
} Instruction;

// Instructions that compilers were seen to make of gcc's crtstuff.c and LLVM's crtbegin.c.
static const Instruction instructions[] = {
    {{0x90}, 1, 1, PADS},                     // nop
    {{0x0f, 0x1f, 0x00}, 3, 3, PADS},         // nopl (%rax)
    {{0x0f, 0x1f, 0x40}, 3, 4, PADS},         // nopl 0x0(%rax)
    {{0x0f, 0x1f, 0x44}, 3, 5, PADS},         // nopl 0x0(%rax,%rax,1)
    {{0x0f, 0x1f, 0x80}, 3, 7, PADS},         // the same with 4 bytes
    {{0x0f, 0x1f, 0x84}, 3, 8, PADS},         //
    {{0xf3, 0x0f, 0x1e, 0xfa}, 4, 4, KEEPS},  // endbr64
    {{0x55}, 1, 1, PUSHES_FP},                // push %rbp
    {{0x5d}, 1, 1, POPS_FP},                  // pop %rbp
    {{0x48, 0x89, 0xe5}, 3, 3, COPIES_SP},    // mov %rsp,%rbp
    {{0x50}, 1, 1, PUSHES},                   // push %rax
    {{0x58}, 1, 1, POPS},                     // pop %rax
    {{0x48, 0x83, 0xec, 0x08}, 4, 4, PUSHES}, // sub $8,%rsp
    {{0x48, 0x83, 0xc4, 0x08}, 4, 4, POPS},   // add $8,%rsp
    {{0xc3}, 1, 1, LEAVES},                   // ret
    {{0xf3, 0xc3}, 2, 2, LEAVES},             // repz ret
    {{0xff, 0xe0}, 2, 2, LEAVES},             // jmp *%rax
    {{0xff, 0xe2}, 2, 2, LEAVES},             // jmp *%rdx
    {{0xeb}, 1, 2, JUMPS},                    // jmp
    {{0xe9}, 1, 5, JUMPS},                    //
    {{0x72}, 1, 2, BRANCHES},                 // jb
    {{0x73}, 1, 2, BRANCHES},                 // jae
    {{0x74}, 1, 2, BRANCHES},                 // je
    {{0x75}, 1, 2, BRANCHES},                 // jne
    {{0x76}, 1, 2, BRANCHES},                 // jbe
    {{0x77}, 1, 2, BRANCHES},                 // ja
    {{0x0f, 0x84}, 2, 6, BRANCHES},           // je
    {{0x0f, 0x85}, 2, 6, BRANCHES},           // jne
    {{0xe8}, 1, 5, KEEPS},                    // call
    {{0xff, 0xd0}, 2, 2, KEEPS},              // call *%rax
    {{0xff, 0x15}, 2, 6, KEEPS},              // call *…(%rip)
    {{0xb8}, 1, 5, KEEPS},                    // mov $…,%eax
    {{0xbe}, 1, 5, KEEPS},                    // mov $…,%esi
    {{0xbf}, 1, 5, KEEPS},                    // mov $…,%edi
    {{0x48, 0xc7, 0xc0}, 3, 7, KEEPS},        // mov $…,%rax
    {{0x48, 0x2d}, 2, 6, KEEPS},              // sub $…,%rax
    {{0x48, 0x3d}, 2, 6, KEEPS},              // cmp $…,%rax
    {{0x48, 0x81, 0xee}, 3, 7, KEEPS},        // sub $…,%rsi
    {{0x48, 0x83, 0xf8}, 3, 4, KEEPS},        // cmp $…,%rax
    {{0x48, 0x83, 0x3f}, 3, 4, KEEPS},        // cmpq $…,(%rdi)
    {{0x48, 0x83, 0x3d}, 3, 8, KEEPS},        // cmpq $…,…(%rip)
    {{0x80, 0x3d}, 2, 7, KEEPS},              // cmpb $…,…(%rip)
    {{0xf6, 0x05}, 2, 7, KEEPS},              // testb $…,…(%rip)
    {{0xc6, 0x05}, 2, 7, KEEPS},              // movb $…,…(%rip)
    {{0x48, 0x8d, 0x05}, 3, 7, KEEPS},        // lea …(%rip),%rax
    {{0x48, 0x8d, 0x35}, 3, 7, KEEPS},        // lea …(%rip),%rsi
    {{0x48, 0x8d, 0x3d}, 3, 7, KEEPS},        // lea …(%rip),%rdi
    {{0x48, 0x8b, 0x05}, 3, 7, KEEPS},        // mov …(%rip),%rax
    {{0x48, 0x8b, 0x15}, 3, 7, KEEPS},        // mov …(%rip),%rdx
    {{0x48, 0x8b, 0x3d}, 3, 7, KEEPS},        // mov …(%rip),%rdi
    {{0x48, 0x85, 0xc0}, 3, 3, KEEPS},        // test %rax,%rax
    {{0x48, 0x85, 0xd2}, 3, 3, KEEPS},        // test %rdx,%rdx
    {{0x48, 0x39, 0xf8}, 3, 3, KEEPS},        // cmp %rdi,%rax
    {{0x48, 0x29, 0xf8}, 3, 3, KEEPS},        // sub %rdi,%rax
    {{0x48, 0x29, 0xfe}, 3, 3, KEEPS},        // sub %rdi,%rsi
    {{0x48, 0x01, 0xc6}, 3, 3, KEEPS},        // add %rax,%rsi
    {{0x48, 0x01, 0xd0}, 3, 3, KEEPS},        // add %rdx,%rax
    {{0x48, 0x89, 0xf0}, 3, 3, KEEPS},        // mov %rsi,%rax
    {{0x48, 0x89, 0xc2}, 3, 3, KEEPS},        // mov %rax,%rdx
    {{0x48, 0x89, 0xc6}, 3, 3, KEEPS},        // mov %rax,%rsi
    {{0x48, 0xc1, 0xee, 0x3f}, 4, 4, KEEPS},  // shr $0x3f,%rsi
    {{0x48, 0xc1, 0xea, 0x3f}, 4, 4, KEEPS},  // shr $0x3f,%rdx
    {{0x48, 0xc1, 0xf8, 0x03}, 4, 4, KEEPS},  // sar $3,%rax
    {{0x48, 0xc1, 0xfe, 0x03}, 4, 4, KEEPS},  // sar $3,%rsi
    {{0x48, 0xd1, 0xfe}, 3, 3, KEEPS},        // sar %rsi
    {{0x48, 0xd1, 0xf8}, 3, 3, KEEPS},        // sar %rax
};

typedef struct Depth {
    uint8_t words, fp_word; // as in StartupRow
} Depth;

typedef struct Jump {
    size_t to;
    Depth depth;
} Jump;

// The state while one function is read.
typedef struct Function {
    StartupRow row[STARTUP_ROWS_MAX];
    uint32_t row_count;
    Depth depth;
    Jump jump[JUMPS_MAX];
    uint32_t jump_count;
    bool has_left; // the next instruction is reached only by jumps
} Function;

static const Instruction *find_instruction(const uint8_t *at, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(instructions); i++) {
        const Instruction *in = &instructions[i];
        if (in->len <= len && memcmp(in->fixed, at, in->fixed_len) == 0)
            return in;
    }
    return NULL;
}

// The length of the prefixes with which compilers make a nop longer.
static size_t pad_prefixes(const uint8_t *at, size_t len)
{
    size_t n = 0;
    while (n < len && (at[n] == 0x66 || at[n] == 0x2e))
        n++;
    return n;
}

static bool depth_equal(Depth a, Depth b)
{
    return a.words == b.words && a.fp_word == b.fp_word;
}

// The depth at a jump's target is that at the jump. False when two ways to `pos` have different
// depths, or when a jump leads into bytes that were skipped.
static bool join_jumps(Function *f, size_t pos)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->jump_count; i++) {
        Jump j = f->jump[i];
        if (j.to > pos) {
            f->jump[kept++] = j;
            continue;
        }
        if (j.to < pos || (!f->has_left && !depth_equal(f->depth, j.depth)))
            return false;
        f->depth = j.depth;
        f->has_left = false;
    }
    f->jump_count = kept;
    return true;
}

static bool note_jump(Function *f, size_t to)
{
    if (f->jump_count == JUMPS_MAX)
        return false;
    f->jump[f->jump_count++] = (Jump){to, f->depth};
    return true;
}

static bool note_depth(Function *f, size_t pos)
{
    if (f->row_count) {
        StartupRow last = f->row[f->row_count - 1];
        if (depth_equal((Depth){last.words, last.fp_word}, f->depth))
            return true;
    }
    if (f->row_count == STARTUP_ROWS_MAX)
        return false;
    f->row[f->row_count++] = (StartupRow){(uint32_t)pos, f->depth.words, f->depth.fp_word};
    return true;
}

static int32_t jump_distance(const Instruction *in, const uint8_t *at)
{
    if (in->len == 2)
        return (int8_t)at[1];
    uint32_t v;
    memcpy(&v, at + in->len - sizeof(v), sizeof(v));
    return (int32_t)v;
}

// Runs one instruction. False when such a function does not have it at that place.
static bool run(Function *f, const Instruction *in, const uint8_t *at, size_t end)
{
    Depth *d = &f->depth;
    switch ((Effect)in->effect) {
    case KEEPS:
    case PADS:
        return true;
    case COPIES_SP:
        return d->fp_word != 0;
    case PUSHES_FP:
    case PUSHES:
        if (d->words == WORDS_MAX || (in->effect == PUSHES_FP && d->fp_word))
            return false;
        d->words++;
        if (in->effect == PUSHES_FP)
            d->fp_word = d->words;
        return true;
    case POPS_FP:
    case POPS:
        if (d->words == 0 || (d->words == d->fp_word) != (in->effect == POPS_FP))
            return false;
        if (in->effect == POPS_FP)
            d->fp_word = 0;
        d->words--;
        return true;
    case BRANCHES:
    case JUMPS: {
        int32_t distance = jump_distance(in, at);
        f->has_left = in->effect == JUMPS;
        // A jump backwards is a loop, or it ends the function by a call of another one, with
        // nothing pushed.
        if (distance < 0)
            return in->effect == BRANCHES || d->words == 0;
        return note_jump(f, end + (size_t)distance);
    }
    case LEAVES:
        f->has_left = true;
        return d->words == 0;
    }
    return false;
}

// Reads the function at `pos`. Returns its end, or 0 when it has an unknown instruction.
static size_t read_function(Bytes code, size_t pos, Function *f)
{
    *f = (Function){0};
    while (pos < code.len) {
        if (!join_jumps(f, pos))
            return 0;
        if (f->has_left && f->jump_count == 0)
            return pos;
        size_t prefixes = pad_prefixes(code.ptr + pos, code.len - pos);
        const uint8_t *at = code.ptr + pos + prefixes;
        const Instruction *in = find_instruction(at, code.len - pos - prefixes);
        if (!in || (prefixes && in->effect != PADS))
            return 0;
        size_t end = pos + prefixes + in->len;
        if (f->has_left ? in->effect != PADS : !note_depth(f, pos) || !run(f, in, at, end))
            return 0;
        pos = end;
    }
    return f->has_left && f->jump_count == 0 ? pos : 0;
}

// Skips nop, int3, and zeros between sections.
static size_t skip_padding(Bytes code, size_t pos)
{
    while (pos < code.len) {
        if (code.ptr[pos] == 0 || code.ptr[pos] == 0xcc) {
            pos++;
            continue;
        }
        size_t prefixes = pad_prefixes(code.ptr + pos, code.len - pos);
        const Instruction *in =
            find_instruction(code.ptr + pos + prefixes, code.len - pos - prefixes);
        if (!in || in->effect != PADS)
            break;
        pos += prefixes + in->len;
    }
    return pos;
}

void startup_read(Bytes code, uint64_t svma, uint32_t align, StartupCode *ret)
{
    *ret = (StartupCode){0};
    Function f;
    for (;;) {
        size_t start = skip_padding(code, ret->end);
        if (start >= code.len || (svma + start) % align != 0)
            return;
        size_t end = read_function(code, start, &f);
        if (end == 0 || f.row_count > STARTUP_ROWS_MAX - ret->row_count)
            return;
        memcpy(ret->row + ret->row_count, f.row, f.row_count * sizeof(f.row[0]));
        ret->row_count += f.row_count;
        ret->end = (uint32_t)end;
    }
}
