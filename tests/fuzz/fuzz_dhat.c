// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of files of dhat, with bytes that need not begin as such a file does.

#include <stdlib.h>

#include "import/heap/heap_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Profile p;
    Error err = {0};
    (void)dhat_is(bytes_over(data, size));
    if (!import_dhat(bytes_over(data, size), &p, &err)) {
        if (err.text[0] == '\0')
            abort();
        return 0;
    }
    if (!profile_check(&p, &err))
        abort();
    profile_deinit(&p);
    return 0;
}
