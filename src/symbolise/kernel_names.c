// SPDX-License-Identifier: Apache-2.0
// The functions that the running kernel was linked with, in a file of the symbol cache.

#include "symbolise/kernel_names.h"

#include "base/cursor.h"

static const char magic[8] = {'A', 'S', 'S', 'A', 'Y', 'K', 'R', 'N'};
enum { HEAD_BYTES = 32 };

// A range of code. Its name ends where that of the next row begins.
typedef struct Row {
    uint32_t start, size; // the start less that of the core
    uint32_t name;        // offset into the names
} Row;

static void add_row(StrBuf *out, Row row)
{
    strbuf_add(out, str_over((const char *)&row, sizeof(row)));
}

static bool is_inside(const Symbol *s, AddressRange core)
{
    return s->start >= core.start && s->start < core.end;
}

bool kernel_names_encode(const SymbolIndex *index, AddressRange core, StrBuf *out)
{
    size_t head = out->len;
    uint32_t count = 0;
    StrBuf names = {0};
    if (core.start >= core.end || core.end - core.start > UINT32_MAX)
        return false;
    strbuf_add_repeated(out, 0, HEAD_BYTES);
    strbuf_add(out, str_over((const char *)&core, sizeof(core)));
    for (size_t i = 0; i < index->symbols.len; i++) {
        const Symbol *s = &index->symbols.at[i];
        if (!is_inside(s, core))
            continue;
        add_row(out, (Row){(uint32_t)(s->start - core.start),
                           (uint32_t)(MIN(s->end, core.end) - s->start), (uint32_t)names.len});
        strbuf_add(&names, s->name);
        count++;
    }
    bool ok = count > 0 && names.len < UINT32_MAX;
    if (ok) {
        add_row(out, (Row){.name = (uint32_t)names.len});
        strbuf_add(out, strbuf_str(&names));
        Bytes payload = bytes_over(out->ptr + head + HEAD_BYTES, out->len - head - HEAD_BYTES);
        uint32_t numbers[2] = {KERNEL_NAMES_VERSION, count};
        uint64_t sums[2] = {payload.len, bytes_hash(payload)};
        memcpy(out->ptr + head, magic, sizeof(magic));
        memcpy(out->ptr + head + 8, numbers, sizeof(numbers));
        memcpy(out->ptr + head + 16, sums, sizeof(sums));
    } else {
        out->len = head;
    }
    strbuf_deinit(&names);
    return ok;
}

bool kernel_names_open(Bytes file, KernelNames *ret, Error *err)
{
    Cursor c = cursor_over(file, "kernel names");
    Bytes head = cursor_bytes(&c, sizeof(magic));
    KernelNames k = {0};
    uint32_t version = cursor_u32(&c);
    k.count = cursor_u32(&c);
    uint64_t length = cursor_u64(&c), sum = cursor_u64(&c);
    k.core.start = cursor_u64(&c);
    k.core.end = cursor_u64(&c);
    if (!cursor_check(&c, err))
        return false;
    if (!bytes_equal(head, magic, sizeof(magic)) || version != KERNEL_NAMES_VERSION)
        return error_set(err, ERROR_UNSUPPORTED, "no kernel names of version %u",
                         KERNEL_NAMES_VERSION);
    Bytes payload = bytes_slice(file, HEAD_BYTES, file.len);
    uint64_t rows = ((uint64_t)k.count + 1) * sizeof(Row);
    if (payload.len != length || rows > length - sizeof(k.core) || bytes_hash(payload) != sum)
        return error_set(err, ERROR_FORMAT, "kernel names: checksum differs");
    k.rows = bytes_slice(payload, sizeof(k.core), sizeof(k.core) + (size_t)rows);
    k.names = bytes_slice(payload, sizeof(k.core) + (size_t)rows, payload.len);
    *ret = k;
    return true;
}

static Row row_at(const KernelNames *k, uint32_t number)
{
    Row row;
    memcpy(&row, k->rows.ptr + (size_t)number * sizeof(row), sizeof(row));
    return row;
}

bool kernel_names_find(const KernelNames *k, uint64_t address, Str *ret)
{
    if (address < k->core.start || address >= k->core.end)
        return false;
    uint64_t at = address - k->core.start;
    uint32_t low = 0, high = k->count;
    while (low < high) { // the first row that begins behind the address
        uint32_t mid = low + (high - low) / 2;
        if (row_at(k, mid).start <= at)
            low = mid + 1;
        else
            high = mid;
    }
    *ret = (Str){0};
    if (low == 0)
        return true;
    Row row = row_at(k, low - 1);
    uint32_t end = row_at(k, low).name;
    if (at - row.start < row.size && row.name <= end && end <= k->names.len)
        *ret = str_from_bytes(bytes_slice(k->names, row.name, end));
    return true;
}
