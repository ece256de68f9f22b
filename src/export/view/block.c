// SPDX-License-Identifier: Apache-2.0
// Blocks of a page: columns to gzip to base64.

#include "export/view/block.h"

#include <libdeflate.h>
#include <stdio.h>

void view_about_begin(JsonWriter *json, StrBuf *about, uint32_t recording, const char *kind)
{
    strbuf_clear(about);
    *json = json_writer(about, 0);
    json_begin_object(json, NULL);
    json_str(json, "kind", str_from_c(kind));
    json_u64(json, "recording", recording);
}

void view_column_begin(ViewBlock *b)
{
    b->column_start = b->bytes.len;
    b->last = 0;
    b->count = 0;
}

void view_column_end(ViewBlock *b, const char *name, ViewColumnKind kind)
{
    strbuf_printf(&b->columns, "%s[\"%s\",\"%c\",%llu,%zu]", b->columns.len ? "," : "", name,
                  (char)kind, (unsigned long long)b->count, b->bytes.len - b->column_start);
}

void view_add_u64(ViewBlock *b, uint64_t value)
{
    enum { LEB128_MAX = 10 };
    char *start = strbuf_reserve(&b->bytes, LEB128_MAX), *to = start;
    for (; value >= 0x80; value >>= 7)
        *to++ = (char)(value | 0x80);
    *to++ = (char)value;
    b->bytes.len += (size_t)(to - start);
    b->count++;
}

void view_add_delta(ViewBlock *b, int64_t value)
{
    // Unsigned arithmetic: a difference may overflow, and wraps back in the page's sum.
    int64_t difference = (int64_t)((uint64_t)value - (uint64_t)b->last);
    b->last = value;
    view_add_u64(b, (uint64_t)difference << 1 ^ (uint64_t)(difference >> 63));
}

void view_add_double(ViewBlock *b, double value)
{
    memcpy(strbuf_reserve(&b->bytes, sizeof(value)), &value, sizeof(value));
    b->bytes.len += sizeof(value);
    b->count++;
}

void view_add_text(ViewBlock *b, Str text)
{
    strbuf_add(&b->bytes, text);
    b->count += text.len;
}

// Whether gzip finds more to repeat in the differences than in the numbers themselves.
static bool has_steps(const uint32_t *at, size_t count)
{
    enum { LEAST_SHARE = 8 }; // one in so many, to be worth it
    size_t values = 0, steps = 0;
    for (size_t i = 2; i < count; i++) {
        values += at[i] == at[i - 1];
        steps += at[i] - at[i - 1] == at[i - 1] - at[i - 2];
    }
    return steps > values + count / LEAST_SHARE;
}

void view_column_u32(ViewBlock *b, const char *name, const uint32_t *at, size_t count)
{
    bool by_step = has_steps(at, count);
    uint32_t last = 0;
    view_column_begin(b);
    for (size_t i = 0; i < count; i++) {
        uint32_t step = at[i] - last;
        view_add_u64(b, by_step ? step << 1 ^ (step >> 31 ? UINT32_MAX : 0) : at[i]);
        last = at[i];
    }
    view_column_end(b, name, by_step ? VIEW_STEP : VIEW_U32);
}

void view_column_planes(ViewBlock *b, const char *name, const uint32_t *at, size_t count)
{
    uint32_t most = 0;
    for (size_t i = 0; i < count; i++)
        most |= at[i];
    for (unsigned plane = 0; plane == 0 || (plane < 4 && most >> (8 * plane)); plane++) {
        char title[40];
        snprintf(title, sizeof(title), "%s.%u", name, plane);
        view_column_begin(b);
        char *to = strbuf_reserve(&b->bytes, count);
        for (size_t i = 0; i < count; i++)
            to[i] = (char)(at[i] >> (8 * plane));
        b->bytes.len += count;
        b->count = count;
        view_column_end(b, title, VIEW_BYTES);
    }
}

void view_block_deinit(ViewBlock *b)
{
    strbuf_deinit(&b->bytes);
    strbuf_deinit(&b->columns);
    if (b->packer)
        libdeflate_free_compressor(b->packer);
    *b = (ViewBlock){0};
}

static struct libdeflate_compressor *packer_of(ViewBlock *b, int level)
{
    if (b->packer && b->packer_level != level) {
        libdeflate_free_compressor(b->packer);
        b->packer = NULL;
    }
    if (!b->packer)
        b->packer = libdeflate_alloc_compressor(level);
    b->packer_level = level;
    return b->packer;
}

// Packs the head and the columns of a block: u32 length of the JSON, the JSON, the columns.
static bool pack(ViewBlock *b, Str json, int level, StrBuf *packed, Error *err)
{
    StrBuf plain = {0}, head = {0};
    strbuf_add(&head, STR("{\"about\":"));
    strbuf_add(&head, json);
    strbuf_add(&head, STR(",\"columns\":["));
    strbuf_add(&head, strbuf_str(&b->columns));
    strbuf_add(&head, STR("]}"));
    uint32_t length = (uint32_t)head.len;
    strbuf_reserve(&plain, sizeof(length) + head.len + b->bytes.len);
    strbuf_add(&plain, str_over((const char *)&length, sizeof(length)));
    strbuf_add(&plain, strbuf_str(&head));
    strbuf_add(&plain, strbuf_str(&b->bytes));
    strbuf_deinit(&head);
    struct libdeflate_compressor *c = packer_of(b, level);
    if (c) {
        size_t bound = libdeflate_gzip_compress_bound(c, plain.len);
        packed->len =
            libdeflate_gzip_compress(c, plain.ptr, plain.len, strbuf_reserve(packed, bound), bound);
    }
    strbuf_deinit(&plain);
    return c || error_set(err, ERROR_LIMIT, "no memory to pack the page");
}

static bool add_element(ViewBlock *b, Str json, int level, Str start, StrBuf *out, Error *err)
{
    StrBuf packed = {0};
    bool ok = pack(b, json, level, &packed, err);
    if (ok) {
        strbuf_add(out, start);
        strbuf_add_base64(out, strbuf_str(&packed));
        strbuf_add(out, STR("</template>\n"));
    }
    strbuf_deinit(&packed);
    strbuf_clear(&b->bytes);
    strbuf_clear(&b->columns);
    return ok;
}

bool view_block_add(ViewBlock *b, Str json, int level, StrBuf *out, Error *err)
{
    return add_element(b, json, level, STR("<template class=\"assay\">"), out, err);
}

bool view_block_add_for_later(ViewBlock *b, Str json, int level, StrBuf *out, Error *err)
{
    return add_element(b, json, level, STR("<template class=\"assay-later\">"), out, err);
}
