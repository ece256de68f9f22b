// SPDX-License-Identifier: Apache-2.0
// Fuzzes the importers that read a file's bytes alone, each by its content.

#include <stdlib.h>

#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Profile p;
    const ImportFormat *format;
    Error err = {0};
    if (!import_bytes(bytes_over(data, size), NULL, &p, &format, &err)) {
        if (err.text[0] == '\0')
            abort();
        return 0;
    }
    if (!profile_check(&p, &err))
        abort();
    profile_deinit(&p);
    return 0;
}
