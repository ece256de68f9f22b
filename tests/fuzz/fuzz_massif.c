// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of files of massif.

#include "heap_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_heap_reader(massif_is, import_massif, bytes_over(data, size));
}
