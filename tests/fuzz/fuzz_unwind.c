// SPDX-License-Identifier: Apache-2.0
// Fuzzes tables out of call frame information, and walks by them: every row is
// tried with registers and a stack out of the same bytes.
// Input: a byte of flags, then the section, whose bytes may be the code as well.

#include "unwind/space.h"
#include "unwind/unwind_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { AARCH64 = 1, DEBUG_FRAME = 2, OPEN_ENDED = 4, SHORT = 8, STUBS = 16, CODE = 32 };
enum { WORDS = 64, FRAMES = 64, ROWS_MAX = 64 };
#define SVMA  ((uint64_t)0x10000)
#define BIAS  ((uint64_t)0x7f0000000000)
#define STACK ((uint64_t)0x7ffc00000000)

// Words that lead somewhere: into the code, onto the stack, nowhere.
static uint64_t make_word(const UnwindTable *t, uint64_t random)
{
    switch (random >> 61) {
    case 0:
        return random;
    case 1:
    case 2:
    case 3:
        return STACK + (random & 0x1ff);
    default:
        return BIAS + t->base_svma + (t->size ? random % t->size : 0);
    }
}

static void walk_rows(UnwindTable *t, Bytes bytes, bool cut)
{
    static UnwindCache cache;
    UnwindSpace space;
    uint64_t words[WORDS];
    UnwindFrame frames[FRAMES];
    unwind_space_init(&space, (UnwindArch)t->arch);
    unwind_space_map(&space, (UnwindMapping){.start = BIAS + t->base_svma,
                                             .end = BIAS + t->base_svma + t->size,
                                             .bias = BIAS,
                                             .table = t});
    uint64_t seed = bytes_hash(bytes);
    for (uint32_t row = 0; row < MIN(t->row_count, (uint32_t)ROWS_MAX); row++) {
        UnwindRegs regs = {.known = seed | 1u << 7 | (uint64_t)1 << 31};
        for (unsigned i = 0; i < WORDS; i++)
            words[i] = make_word(t, seed = seed * 6364136223846793005u + 1442695040888963407u);
        for (unsigned i = 0; i < UNWIND_REG_COUNT; i++)
            regs.reg[i] = words[i];
        regs.reg[t->arch == UNWIND_AARCH64 ? UNWIND_AARCH64_SP : UNWIND_X86_64_SP] = STACK;
        regs.pc = BIAS + t->base_svma + t->size * row / t->row_count;
        UnwindMemory memory = {.window = words,
                               .window_addr = STACK,
                               .window_size = sizeof(words) - (seed & 15),
                               .window_cut = cut};
        UnwindWalk w = unwind_walk(&space, &cache, &regs, &memory, frames, FRAMES);
        assert(w.frame_count >= 1 && w.frame_count <= FRAMES);
    }
    unwind_space_deinit(&space);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    Arena arena = {0};
    uint8_t flags = data[0];
    Bytes section = bytes_over(data + 1, size - 1);
    UnwindSections s = {.arch = flags & AARCH64 ? UNWIND_AARCH64 : UNWIND_X86_64,
                        .eh_frame_svma = SVMA,
                        .eh_frame_open_ended = flags & OPEN_ENDED};
    UnwindTable table;
    UnwindBuildStats stats;
    Error err;
    if (flags & DEBUG_FRAME)
        s.debug_frame = section;
    else
        s.eh_frame = section;
    if (flags & STUBS) {
        s.plt = (UnwindRange){SVMA - 0x100, SVMA - 0x80};
        s.sigreturn = (UnwindRange){SVMA - 0x80, SVMA - 0x70};
    }
    if (flags & CODE) {
        s.code = (UnwindCode){section, SVMA};
        s.init = (UnwindCode){section, SVMA - 0x100 - section.len};
    }
    if (unwind_table_build(&arena, &s, &table, &stats, &err)) {
        assert(stats.broken == 0 || stats.first_broken.text[0]);
        assert(unwind_table_size_bytes(&table) < (1u << 20) + 64 * size);
        walk_rows(&table, section, flags & SHORT);
    }
    uint64_t svma;
    (void)!unwind_eh_frame_hdr_parse(section, SVMA, 0, &svma, &err);
    arena_deinit(&arena);
    return 0;
}
