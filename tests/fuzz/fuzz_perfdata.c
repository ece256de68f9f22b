// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of perf.data files.

#include <stdlib.h>

#include "perfdata/perfdata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    Error err = {0};
    PerfDataReader *r;
    if (perfdata_open(&arena, bytes_over(data, size), &r, &err)) {
        PerfDataRecord record;
        PerfDataNext next;
        while ((next = perfdata_next(r, &record, &err)) == PERFDATA_RECORD)
            if (record.bytes.len < 8)
                abort();
        if (next != PERFDATA_END && err.text[0] == '\0')
            abort();
        perfdata_close(r);
    }
    arena_deinit(&arena);
    return 0;
}
