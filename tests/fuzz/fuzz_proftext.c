// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of text profiles.

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
    return 0;
}
