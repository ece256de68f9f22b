// SPDX-License-Identifier: Apache-2.0
// Fuzzes the finder of coverage mappings in ELF, Mach-O, COFF and PE.

#include "llvmcov/sections.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    CovMapSections s;
    CovMap map;
    Error err;
    Bytes file = bytes_over(data, size);
    if (cov_sections_known(file) && cov_sections_find(&arena, file, &s, &err) &&
        covmap_parse(&arena, s, &map, &err))
        covmap_deinit(&map);
    arena_deinit(&arena);
    return 0;
}
