// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of markers for probes in ELF files, and of their arguments.

#include "probes/usdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t sink; // what was read must not be optimised away

static void touch(Str s)
{
    for (size_t i = 0; i < s.len; i++)
        sink += (unsigned char)s.ptr[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    Elf elf;
    Error err;
    UsdtMarkers markers = {0};
    if (elf_parse(&arena, bytes_over(data, size), &elf, &err))
        usdt_read(&arena, &elf, &markers);
    for (size_t i = 0; i < markers.len; i++) {
        touch(markers.at[i].provider);
        touch(markers.at[i].name);
        touch(markers.at[i].args);
    }
    arena_deinit(&arena);
    return 0;
}
