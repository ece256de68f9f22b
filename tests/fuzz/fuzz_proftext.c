// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of text profiles, and summing and writing what it gives.

#include "coverage/llvm/counts.h"
#include "llvmcov/proftext.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Bytes file = bytes_over(data, size);
    ProfText p;
    ProfRecord r;
    Error err;
    (void)proftext_is(file);
    if (!proftext_open(file, &p, &err))
        return 0;
    while (proftext_next(&p, &r, &err))
        assert(r.counters.len == 8 * (size_t)r.counter_count);
    proftext_close(&p);
    Arena arena = {0};
    CoverCounts c = {.arena = &arena};
    StrBuf out = {0};
    if (cover_counts_add(&c, STR("fuzz"), file, 1, &err) &&
        cover_counts_add(&c, STR("fuzz"), file, 3, &err) && cover_counts_finish(&c, &err) &&
        cover_counts_write(&c, 0, true, &out, &err)) {
        strbuf_clear(&out);
        (void)!cover_counts_write(&c, 12, false, &out, &err);
    }
    strbuf_deinit(&out);
    cover_counts_deinit(&c);
    arena_deinit(&arena);
    return 0;
}
