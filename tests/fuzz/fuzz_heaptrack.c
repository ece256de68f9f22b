// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of files of heaptrack.

#include "heap_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_heap_reader(heaptrack_is, import_heaptrack, bytes_over(data, size));
}
