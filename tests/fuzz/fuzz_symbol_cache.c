// SPDX-License-Identifier: Apache-2.0
// Fuzzes the readers of the symbol cache: of a module's places, of the kernel's functions, and of
// decompressed debug sections. The checksum is put right first: behind it the payload is as
// untrusted as before.

#include "symbolise/kernel_names.h"
#include "symbolise/section_cache.h"
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

static void find_names(Bytes file)
{
    KernelNames k;
    Error err;
    Str name;
    if (!kernel_names_open(file, &k, &err))
        return;
    uint64_t step = (k.core.end - k.core.start) / 64 + 1;
    for (uint64_t i = 0; i < 64; i++)
        if (kernel_names_find(&k, k.core.start + i * step, &name) && name.len)
            assert((const uint8_t *)name.ptr >= file.ptr &&
                   (const uint8_t *)name.ptr + name.len <= file.ptr + file.len);
}

// Looks for sections, the first of which has the right checksums.
static void find_sections(Bytes file)
{
    SectionSet set;
    Error err;
    Bytes content, packed = bytes_slice(file, 0, HEAD_BYTES);
    if (!section_set_open(file, &set, &err))
        return;
    for (uint32_t i = 0; i < set.count; i++)
        set.rows[i].hash = bytes_hash(bytes_slice(
            file, (size_t)set.rows[i].at, (size_t)set.rows[i].at + (size_t)set.rows[i].size));
    if (set.count)
        set.rows[0].packed_hash = bytes_hash(packed);
    if (section_set_find(&set, packed, &content))
        assert(content.len == 0 ||
               (content.ptr >= file.ptr && content.ptr + content.len <= file.ptr + file.len));
}

// Puts a head before the bytes that says they are whole.
static void put_head(uint8_t *file, const char *magic, uint32_t version, uint32_t count,
                     Bytes payload)
{
    uint32_t numbers[2] = {version, count};
    uint64_t sums[2] = {payload.len, bytes_hash(payload)};
    memcpy(file, magic, 8);
    memcpy(file + 8, numbers, sizeof(numbers));
    memcpy(file + 16, sums, sizeof(sums));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    decode(bytes_over(data, size));
    uint8_t *file = heap_alloc(HEAD_BYTES + size);
    bytes_copy(file + HEAD_BYTES, bytes_over(data, size));
    put_head(file, "ASSAYSYM", SYMBOL_CACHE_VERSION, 0, bytes_over(data, size));
    decode(bytes_over(file, HEAD_BYTES + size));
    uint32_t rows = (uint32_t)(size / 16); // leaves room for names
    put_head(file, "ASSAYKRN", KERNEL_NAMES_VERSION, rows, bytes_over(data, size));
    find_names(bytes_over(file, HEAD_BYTES + size));
    rows = (uint32_t)MIN(size / sizeof(CachedSection), (size_t)SECTION_CACHE_ROWS_MAX / 2);
    put_head(file, "ASSAYDBG", SECTION_CACHE_VERSION, rows,
             bytes_over(data, rows * sizeof(CachedSection)));
    find_sections(bytes_over(file, HEAD_BYTES + size));
    heap_free(file);
    return 0;
}
