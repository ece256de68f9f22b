// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of files of dhat.

#include "heap_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_heap_reader(dhat_is, import_dhat, bytes_over(data, size));
}
