// SPDX-License-Identifier: Apache-2.0
// Fuzzes the importers of text: perf script and folded stacks.

#include <stdlib.h>

#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok, Profile *p, Error *err)
{
    if (!ok)
        return;
    if (!profile_check(p, err))
        abort();
    profile_deinit(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Profile p;
    Error err = {0};
    Bytes file = bytes_over(data, size);
    (void)import_format(file);
    check(import_perf_script(file, &p, &err), &p, &err);
    check(import_folded(file, &p, &err), &p, &err);
    return 0;
}
