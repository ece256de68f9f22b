// SPDX-License-Identifier: Apache-2.0
// Fuzzes the symbol cache's reader. The checksum is put right first: behind it
// the payload is as untrusted as before.

#include "symbolise/symbol_cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD_BYTES = 32 };

static void decode(Bytes file)
{
    PlaceTable t;
    FileProbeVec probes = {0};
    Error err;
    place_table_init(&t);
    if (symbol_cache_decode(file, &t, &probes, &err)) {
        for (size_t i = 0; i < t.places.len; i++) {
            const Place *p = &t.places.at[i];
            assert(place_table_find(&t, p->address) == p);
            assert(p->first + p->count <= t.lines.len);
        }
        for (size_t i = 0; i < t.functions.len; i++)
            (void)intern_get(&t.strings, t.functions.at[i].name);
    }
    place_table_deinit(&t);
    vec_free(&probes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    decode(bytes_over(data, size));
    uint8_t *file = heap_alloc(HEAD_BYTES + size);
    bytes_copy(file + HEAD_BYTES, bytes_over(data, size));
    uint32_t version[2] = {2, 0};
    uint64_t sums[2] = {size, bytes_hash(bytes_over(data, size))};
    memcpy(file, "ASSAYSYM", 8);
    memcpy(file + 8, version, 8);
    memcpy(file + 16, sums, 16);
    decode(bytes_over(file, HEAD_BYTES + size));
    heap_free(file);
    return 0;
}
