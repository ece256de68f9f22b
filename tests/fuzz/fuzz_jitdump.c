// SPDX-License-Identifier: Apache-2.0
// Fuzzes jit-PID.dump: what comes out are lines of a map, one for each function
// and move.

#include "perfdata/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    StrBuf text = {0};
    JitdumpStats stats;
    Error err;
    if (jitdump_to_map(bytes_over(data, size), &text, &stats, &err)) {
        size_t lines = 0;
        for (size_t i = 0; i < text.len; i++)
            lines += text.ptr[i] == '\n';
        assert(lines == stats.functions + stats.moved);
    } else {
        assert(text.len == 0);
    }
    strbuf_deinit(&text);
    return 0;
}
