// SPDX-License-Identifier: Apache-2.0
// Data that the BPF program that recognises stacks shares with the recorder: tables in shared
// memory, records in the rings, and the hash of a stack. Compiled for BPF, too.
//
// A walk of a stack reads return addresses, and sometimes saved frame pointers. The hash covers all
// words of the stack that point into code or into the stack itself, each with its distance from the
// stack pointer, and the rule that finds the caller of the innermost frame. So stacks with one hash
// have one walk, whatever else lies on them.

#ifndef WIRE_KNOWN_STACKS_H
#define WIRE_KNOWN_STACKS_H

#include <stdint.h>

enum {
    // Tables are hashed by a number modulo their size, a power of two. An entry lies in one of the
    // KNOWN_PROBES places from there on.
    KNOWN_THREADS = 1 << 13,
    KNOWN_PROCESSES = 1 << 10,
    KNOWN_LINES = 1 << 16,
    KNOWN_STACKS = 1 << 16,
    KNOWN_PROBES = 2,
    KNOWN_HASH_MAX = 16384,    // bytes of a stack; larger ones are always copied
    KNOWN_PIECE = 16384,       // … in pieces of so many bytes
    KNOWN_COPY_MAX = 32 << 14, // … up to so many
    // Of larger stacks only the two ends are copied: most of such a stack is one large array.
    KNOWN_ENDS_MAX = 64 << 20,
    KNOWN_HEAD = 4 << 14,  // bytes from the stack pointer on
    KNOWN_TAIL = 4 << 14,  // bytes up to the base
    KNOWN_LINE_SHIFT = 6,  // code is classed by pieces of 64 bytes
    KNOWN_CLASS_BITS = 16, // of an entry of `lines`; above them is a part of its hash
    KNOWN_CLASS_EXACT = 1, // each address of the line is a class of its own
    KNOWN_CHAIN_MAX = 127, // kernel.perf_event_max_stack
};

// The treatment of the stacks of a process.
enum {
    KNOWN_HOW_USUAL,
    KNOWN_HOW_COPY,  // too few come again: none is looked for
    KNOWN_HOW_CHECK, // known ones are copied all the same, so that their frames can be compared
};

typedef struct KnownThread {
    uint32_t tid; // 0: the entry is free
    uint32_t unused;
    uint64_t base; // stacks of this thread are hashed up to here
} KnownThread;

// A process whose stacks may be recognised. Its code lies in two ranges: the program's, and that of
// libraries.
typedef struct KnownProcess {
    uint32_t tgid; // 0: the entry is free
    uint32_t how;  // KNOWN_HOW_*
    uint64_t seed; // another one after code was replaced by other code
    uint64_t low, low_size, high, high_size;
} KnownProcess;

// Written by the recorder only.
typedef struct KnownShared {
    KnownThread threads[KNOWN_THREADS];
    KnownProcess processes[KNOWN_PROCESSES];
    // Lines of code with the class of the rule that is in force in them: known_line_hash.
    uint64_t lines[KNOWN_LINES];
    uint64_t stacks[KNOWN_STACKS]; // hashes of stacks that are known
} KnownShared;

// The registers that a walk may begin with, and where the stack is hashed to.
typedef struct KnownRegs {
    uint64_t ip, sp, bp, bx;
    uint64_t size; // bytes from sp up to the thread's base
} KnownRegs;

// A sample that takes the place of the kernel's own: with a known stack, or with a copy of exactly
// the stack, for which the kernel's own sample takes 64 KiB of a ring. In a record it is followed
// by `stack_size` bytes of the stack and `count` words of the kernel's frames.
typedef struct KnownSample {
    uint64_t hash;    // 0: the stack is not known
    uint64_t user_ip; // of the innermost frame of the program
    uint64_t ip;
    uint64_t period;
    uint32_t in_kernel;
    uint32_t count;      // PERF_CONTEXT_KERNEL and the kernel's frames
    uint32_t stack_size; // of the piece; 0: the stack was not copied
    uint32_t at;         // of the piece in the stack, bytes
    uint32_t total;      // bytes of the stack; above KNOWN_COPY_MAX its middle is left out
    uint32_t unused;
} KnownSample;

enum { KNOWN_REGS = 21 }; // words of struct pt_regs on x86-64, which stand before a copied stack

// The two hashes of a stack: `code` for walks that need return addresses only, `all` for those that
// need frame pointers.
typedef struct KnownHash {
    uint64_t code, all;
} KnownHash;

static inline __attribute__((always_inline)) uint64_t known_mix(uint64_t h)
{
    h = (h ^ h >> 32) * 0x9e3779b97f4a7c15ull;
    return h ^ h >> 29;
}

// All bits are set when `a` < `b`, which is below 2^63. It has no branch, because the kernel checks
// every path of a program.
static inline __attribute__((always_inline)) uint64_t known_less(uint64_t a, uint64_t b)
{
    return (uint64_t)((int64_t)((a - b) & ~a) >> 63);
}

static inline __attribute__((always_inline)) uint64_t known_word(uint64_t w, uint64_t at)
{
    uint64_t h = (w + at) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 29;
    return h * (2 * at + 1);
}

// Adds the word at number `at` of a stack to the sums that both hashes are made of.
static inline __attribute__((always_inline)) void known_add(KnownHash *sum, uint64_t w, uint64_t at,
                                                            const KnownProcess *p, uint64_t sp,
                                                            uint64_t size)
{
    uint64_t to = w - sp;
    sum->code += known_word(w, at) &
                 (known_less(w - p->low, p->low_size) | known_less(w - p->high, p->high_size));
    sum->all += known_word(to, at) & known_less(to, size);
}

// The key of a line of code: its upper bits stand in the entry, its lower ones say where. Never 0.
static inline __attribute__((always_inline)) uint64_t known_line_hash(uint64_t seed, uint64_t ip)
{
    uint64_t h = known_mix((ip >> KNOWN_LINE_SHIFT) + seed * 0xd6e8feb86659fd93ull);
    return h | (uint64_t)1 << 63;
}

// The hashes from the sums over all words. Neither is 0.
static inline __attribute__((always_inline)) KnownHash
known_finish(KnownHash sum, uint64_t seed, uint64_t class, const KnownRegs *r)
{
    uint64_t leaf = class == KNOWN_CLASS_EXACT ? r->ip : class;
    uint64_t bp = r->bp - r->sp, bx = r->bx - r->sp;
    KnownHash h;
    h.code = known_mix(sum.code + known_mix(leaf + (seed << 20)));
    bp &= known_less(bp, r->size);
    bx &= known_less(bx, r->size);
    h.all = known_mix(h.code + sum.all + bp * 0xff51afd7ed558ccdull + bx * 0xd6e8feb86659fd93ull);
    h.code |= 1;
    h.all |= 1;
    return h;
}

#endif // WIRE_KNOWN_STACKS_H
