// SPDX-License-Identifier: Apache-2.0
// Blocks of value profiles: {u32 bytes, u32 kinds}, and for each kind {u32 kind, u32 sites, for
// each site a byte with the number of values, padding to 8, the values}.

#include "llvmcov/prof_values.h"

static void parse_kind(Cursor *c, ProfValues *v)
{
    uint32_t kind = cursor_u32(c), sites = cursor_u32(c);
    if (!cursor_ok(c))
        return;
    if (kind >= PROF_VALUE_KINDS) {
        cursor_fail_decimal(c, "unknown kind of a value profile:", kind);
        return;
    }
    ProfValueKind k = {.site_count = sites};
    if (v->kinds[kind].site_count) {
        cursor_fail(c, "a kind of value profile stands twice");
        return;
    }
    k.lengths = cursor_bytes(c, align_up((uint64_t)sites, 8)).ptr;
    uint64_t count = 0;
    for (uint32_t i = 0; i < sites && cursor_ok(c); i++)
        count += k.lengths[i];
    k.values = cursor_bytes(c, count * sizeof(ProfValue)).ptr;
    if (cursor_ok(c))
        v->kinds[kind] = k;
}

void prof_values_parse(Cursor *c, ProfValues *ret)
{
    *ret = (ProfValues){.big_endian = c->big_endian};
    Cursor block = *c;
    uint32_t size = cursor_u32(&block), kinds = cursor_u32(&block);
    if (cursor_ok(&block) && (size < 8 || size % 8))
        cursor_fail(&block, "size of a value profile is not a multiple of 8");
    else if (cursor_ok(&block) && kinds > PROF_VALUE_KINDS)
        cursor_fail_decimal(&block, "value profile of more kinds than are known:", kinds);
    else if (cursor_ok(&block) && size > cursor_left(&block) + 8)
        cursor_fail(&block, "value profile is cut short");
    if (cursor_ok(&block))
        block.data.len = c->at + size;
    for (uint32_t i = 0; i < kinds && cursor_ok(&block); i++)
        parse_kind(&block, ret);
    if (!cursor_ok(&block)) {
        c->at = block.at;
        cursor_fail_as(c, &block);
        return;
    }
    cursor_skip(c, size);
}

// ---- Writing ---------------------------------------------------------------

static void put_u32(StrBuf *out, uint32_t v)
{
    strbuf_add_bytes(out, bytes_over(&v, sizeof(v)));
}

static void write_kind(StrBuf *out, uint32_t kind, uint32_t count, const ProfValueSite *sites)
{
    put_u32(out, kind);
    put_u32(out, count);
    for (uint32_t i = 0; i < count; i++)
        strbuf_add_char(out, (char)sites[i].len);
    strbuf_add_repeated(out, '\0', align_up((size_t)count, 8) - count);
    for (uint32_t i = 0; i < count; i++)
        strbuf_add_bytes(out, bytes_over(sites[i].values, sites[i].len * sizeof(ProfValue)));
}

void prof_values_write(StrBuf *out, const uint32_t site_counts[PROF_VALUE_KINDS],
                       const ProfValueSite *sites)
{
    uint32_t kinds = 0;
    for (uint32_t k = 0; k < PROF_VALUE_KINDS; k++)
        kinds += site_counts[k] != 0;
    if (kinds == 0)
        return;
    size_t start = out->len;
    put_u32(out, 0); // the size, which is set at the end
    put_u32(out, kinds);
    for (uint32_t k = 0; k < PROF_VALUE_KINDS; k++) {
        if (site_counts[k])
            write_kind(out, k, site_counts[k], sites);
        sites += site_counts[k];
    }
    uint32_t size = (uint32_t)(out->len - start);
    memcpy(out->ptr + start, &size, sizeof(size));
}

// Inserts a value into the sorted ones before it.
static void sink(ProfValue *values, size_t at, ProfValue v)
{
    for (; at && values[at - 1].count < v.count; at--)
        values[at] = values[at - 1];
    values[at] = v;
}

void prof_values_sort_by_count(ProfValue *values, size_t len)
{
    for (size_t i = 1; i < len; i++)
        sink(values, i, values[i]);
}

size_t prof_values_keep_largest(ProfValue *values, size_t len)
{
    enum { LAST = PROF_VALUES_PER_SITE_MAX - 1 };
    size_t kept = MIN(len, (size_t)PROF_VALUES_PER_SITE_MAX);
    prof_values_sort_by_count(values, kept);
    for (size_t i = kept; i < len; i++)
        if (values[i].count > values[LAST].count)
            sink(values, LAST, values[i]);
    return kept;
}
