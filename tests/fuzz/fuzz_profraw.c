// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of raw profiles, and summing what it gives.

#include "coverage/llvm/counts.h"
#include "llvmcov/profraw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Bytes file = bytes_over(data, size);
    ProfRaw p;
    Error err;
    uint64_t sum = 0;
    if (profraw_parse(file, 0, &p, &err)) {
        assert(p.size <= size);
        for (uint64_t i = 0; i < p.record_count; i++) {
            ProfRecord r;
            if (!profraw_record(&p, i, &r, &err))
                continue;
            for (uint32_t k = 0; k < r.counter_count && k < 64; k++)
                sum += prof_record_counter(&r, k);
        }
    }
    if (!profraw_is(file) || sum == 1)
        return 0;
    Arena arena = {0};
    CoverCounts c = {.arena = &arena};
    StrBuf out = {0};
    if (cover_counts_add(&c, STR("fuzz"), file, 1, &err) &&
        cover_counts_add(&c, STR("fuzz"), file, 3, &err) && cover_counts_finish(&c, &err) &&
        c.rows.len < 64)
        (void)!cover_counts_write(&c, 12, false, &out, &err);
    strbuf_deinit(&out);
    cover_counts_deinit(&c);
    arena_deinit(&arena);
    return 0;
}
