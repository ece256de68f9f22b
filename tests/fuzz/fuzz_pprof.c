// SPDX-License-Identifier: Apache-2.0
// Fuzzes the importer of pprof's profile.proto.

#include <stdlib.h>

#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Profile p;
    Error err = {0};
    if (!import_pprof(bytes_over(data, size), &p, &err))
        return 0;
    if (!profile_check(&p, &err))
        abort();
    profile_deinit(&p);
    return 0;
}
