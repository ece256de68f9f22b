// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of indexed profiles; what it reads is written and read again.

#include "coverage/llvm/counts.h"
#include "llvmcov/profdata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Bytes file = bytes_over(data, size);
    Arena arena = {0};
    CoverCounts c = {.arena = &arena};
    StrBuf out = {0};
    Error err;
    if (profdata_is(file) && cover_counts_add(&c, STR("fuzz"), file, 1, &err) &&
        cover_counts_finish(&c, &err) && cover_counts_write(&c, 12, false, &out, &err)) {
        CoverCounts again = {.arena = &arena};
        bool ok = cover_counts_add(&again, STR("own"), bytes_from_str(strbuf_str(&out)), 1, &err);
        assert(ok && again.rows.len == c.rows.len);
        cover_counts_deinit(&again);
    }
    strbuf_deinit(&out);
    cover_counts_deinit(&c);
    arena_deinit(&arena);
    return 0;
}
