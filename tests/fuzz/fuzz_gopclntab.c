// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of Go programs' tables: look-ups and call frame information.
// The input is the table; its last quarter stands for code and inlined calls, too.

#include "gopclntab/gopclntab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    GoPclntab t;
    Error err;
    Bytes rest = bytes_slice(bytes_over(data, size), size - size / 4, size);
    if (!gopclntab_open(bytes_over(data, size), &t, &err)) {
        assert(err.text[0]);
        return 0;
    }
    t.function_data = rest;
    GoFrame frames[GO_FRAMES_MAX];
    for (uint32_t i = 0; i < MIN(t.function_count, 256u); i++) {
        GoFunction f;
        if (!gopclntab_function_get(&t, i, &f))
            continue;
        assert(f.start <= f.end);
        for (uint64_t at = f.start; at < f.end && at < f.start + 64; at += 8)
            assert(gopclntab_lookup(&t, at, frames) <= GO_FRAMES_MAX);
    }
    StrBuf rules = {0};
    gopclntab_debug_frame(&t, rest, &rules);
    assert(rules.len % 8 == 0);
    strbuf_deinit(&rules);
    return 0;
}
