// SPDX-License-Identifier: Apache-2.0
// One run of a reader of heap profiles, with bytes that need not begin as such a file does.

#ifndef FUZZ_HEAP_READER_H
#define FUZZ_HEAP_READER_H

#include <stdlib.h>

#include "import/heap/heap_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline int fuzz_heap_reader(bool (*is)(Bytes), bool (*import)(Bytes, Profile *, Error *),
                                   Bytes file)
{
    Profile p;
    Error err = {0};
    (void)is(file);
    if (!import(file, &p, &err)) {
        if (err.text[0] == '\0')
            abort();
        return 0;
    }
    if (!profile_check(&p, &err))
        abort();
    profile_deinit(&p);
    return 0;
}

#endif // FUZZ_HEAP_READER_H
