// SPDX-License-Identifier: Apache-2.0
// Values of Java Flight Recordings.

#include "jfr/jfr.h"

#include "base/strbuf.h"

// Before a field that is asked for stand a few short ones. The limit keeps events that claim long
// arrays there from costing the length of the file each.
enum { DEPTH_MAX = 16, BEFORE_FIELD_MAX_BYTES = 4096 };

uint64_t jfr_varint(Cursor *c)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < 9; i++) {
        uint8_t byte = cursor_u8(c);
        if (i == 8)
            return value | (uint64_t)byte << 56;
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80)
            break;
    }
    return value;
}

// ---- Texts -----------------------------------------------------------------------------

enum {
    TEXT_NULL,
    TEXT_EMPTY,
    TEXT_POOLED,
    TEXT_UTF8,
    TEXT_UTF16, // each unit a varint
    TEXT_LATIN1,
};

static void add_utf8(StrBuf *out, uint32_t code)
{
    if (code < 0x80) {
        strbuf_add_char(out, (char)code);
    } else if (code < 0x800) {
        strbuf_add_char(out, (char)(0xc0 | code >> 6));
        strbuf_add_char(out, (char)(0x80 | (code & 0x3f)));
    } else if (code < 0x10000) {
        strbuf_add_char(out, (char)(0xe0 | code >> 12));
        strbuf_add_char(out, (char)(0x80 | (code >> 6 & 0x3f)));
        strbuf_add_char(out, (char)(0x80 | (code & 0x3f)));
    } else {
        strbuf_add_char(out, (char)(0xf0 | code >> 18));
        strbuf_add_char(out, (char)(0x80 | (code >> 12 & 0x3f)));
        strbuf_add_char(out, (char)(0x80 | (code >> 6 & 0x3f)));
        strbuf_add_char(out, (char)(0x80 | (code & 0x3f)));
    }
}

static Str utf16_text(const JfrChunk *chunk, Cursor *c, uint64_t units)
{
    StrBuf out = {0};
    if (units > cursor_left(c))
        cursor_fail(c, "a text of more characters than bytes");
    for (uint64_t i = 0; i < units && cursor_ok(c); i++) {
        uint32_t code = (uint16_t)jfr_varint(c);
        if (code >= 0xd800 && code < 0xdc00 && i + 1 < units) {
            uint32_t low = (uint16_t)jfr_varint(c);
            code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
            i++;
        }
        add_utf8(&out, code);
    }
    Str ret = arena_str(chunk->arena, strbuf_str(&out));
    strbuf_deinit(&out);
    return ret;
}

static Str latin1_text(const JfrChunk *chunk, Bytes bytes)
{
    StrBuf out = {0};
    for (size_t i = 0; i < bytes.len; i++)
        add_utf8(&out, bytes.ptr[i]);
    Str ret = arena_str(chunk->arena, strbuf_str(&out));
    strbuf_deinit(&out);
    return ret;
}

static JfrValue pooled(const JfrChunk *chunk, uint64_t class_id, uint64_t number)
{
    uint32_t row;
    uint64_t hash = hash_u64(class_id * 31 ^ number);
    for (TableProbe t = table_probe(&chunk->pooled_by_number, hash);
         table_next(&chunk->pooled_by_number, &t, &row);) {
        const JfrPooled *p = &chunk->pooled.at[row];
        if (p->class_id == class_id && p->number == number)
            return (JfrValue){chunk, jfr_class(chunk, class_id), p->at};
    }
    return (JfrValue){0};
}

// A text of the pool of texts, which must not refer to the pool again.
static Str pooled_text(const JfrChunk *chunk, uint64_t number)
{
    JfrValue v = pooled(chunk, chunk->text_class, number);
    Cursor c = cursor_over(chunk->bytes, "text");
    cursor_seek(&c, v.at);
    if (v.of && cursor_more(&c) && chunk->bytes.ptr[c.at] != TEXT_POOLED)
        return jfr_string(chunk, &c);
    return STR("");
}

// Moves on behind a text. What is only skipped costs no memory.
static uint8_t begin_text(Cursor *c, uint64_t *length)
{
    uint8_t encoding = cursor_u8(c);
    *length = encoding >= TEXT_POOLED ? jfr_varint(c) : 0;
    if (encoding > TEXT_LATIN1)
        cursor_fail_decimal(c, "unknown encoding of a text:", encoding);
    return encoding;
}

Str jfr_string(const JfrChunk *chunk, Cursor *c)
{
    uint64_t length;
    switch (begin_text(c, &length)) {
    case TEXT_POOLED:
        return pooled_text(chunk, length);
    case TEXT_UTF8:
        return str_from_bytes(cursor_bytes(c, length));
    case TEXT_UTF16:
        return utf16_text(chunk, c, length);
    case TEXT_LATIN1:
        return latin1_text(chunk, cursor_bytes(c, length));
    default:
        return STR("");
    }
}

static void skip_string(Cursor *c)
{
    uint64_t length;
    uint8_t encoding = begin_text(c, &length);
    if (encoding == TEXT_UTF8 || encoding == TEXT_LATIN1)
        cursor_skip(c, length);
    for (uint64_t i = 0; encoding == TEXT_UTF16 && i < length && cursor_ok(c); i++)
        (void)jfr_varint(c);
}

// ---- Classes -----------------------------------------------------------------------------

const JfrClass *jfr_class(const JfrChunk *chunk, uint64_t id)
{
    uint32_t row;
    for (TableProbe t = table_probe(&chunk->class_by_id, hash_u64(id));
         table_next(&chunk->class_by_id, &t, &row);)
        if (chunk->classes.at[row].id == id)
            return &chunk->classes.at[row];
    return NULL;
}

// Each value takes a byte at least, so that the work is bounded by the bytes.
static void skip_element(const JfrChunk *chunk, Cursor *c, const JfrField *field, unsigned depth)
{
    size_t before = c->at;
    if (field->is_pooled)
        (void)jfr_varint(c);
    else
        jfr_skip(chunk, c, field->class_id, depth + 1);
    if (c->at == before)
        cursor_fail(c, "a value without bytes");
}

static void skip_field(const JfrChunk *chunk, Cursor *c, const JfrField *field, unsigned depth)
{
    if (!field->is_array) {
        skip_element(chunk, c, field, depth);
        return;
    }
    uint64_t count = jfr_varint(c);
    if (count > cursor_left(c))
        cursor_fail(c, "an array of more elements than bytes");
    for (uint64_t i = 0; i < count && cursor_ok(c); i++)
        skip_element(chunk, c, field, depth);
}

void jfr_skip(const JfrChunk *chunk, Cursor *c, uint64_t class_id, unsigned depth)
{
    const JfrClass *of = jfr_class(chunk, class_id);
    if (!of || depth > DEPTH_MAX) {
        cursor_fail(c, of ? "objects in objects without end" : "a value of an unknown class");
        return;
    }
    switch (of->kind) {
    case JFR_BYTE:
        cursor_skip(c, 1);
        break;
    case JFR_NUMBER:
        (void)jfr_varint(c);
        break;
    case JFR_FLOAT:
        cursor_skip(c, 4);
        break;
    case JFR_DOUBLE:
        cursor_skip(c, 8);
        break;
    case JFR_STRING:
        skip_string(c);
        break;
    case JFR_OBJECT:
        for (size_t i = 0; i < of->fields.len && cursor_ok(c); i++)
            skip_field(chunk, c, &of->fields.at[i], depth);
    }
}

// ---- Fields ------------------------------------------------------------------------------

// The field's description, and the cursor at its value; NULL: there is none.
static const JfrField *seek_field(JfrValue v, const char *name, Cursor *c)
{
    if (!v.of || v.of->kind != JFR_OBJECT)
        return NULL;
    Bytes all = v.chunk->bytes;
    size_t end = all.len - v.at > BEFORE_FIELD_MAX_BYTES ? v.at + BEFORE_FIELD_MAX_BYTES : all.len;
    *c = cursor_over(bytes_slice(all, 0, end), "value");
    cursor_seek(c, v.at);
    for (size_t i = 0; i < v.of->fields.len && cursor_ok(c); i++) {
        const JfrField *field = &v.of->fields.at[i];
        if (str_equal(field->name, str_from_c(name))) {
            c->data = all;
            return field;
        }
        skip_field(v.chunk, c, field, 0);
    }
    return NULL;
}

// The element at the cursor, which moves on behind it.
static JfrValue take_element(const JfrChunk *chunk, Cursor *c, const JfrField *field)
{
    if (field->is_pooled) {
        uint64_t number = jfr_varint(c);
        return cursor_ok(c) ? pooled(chunk, field->class_id, number) : (JfrValue){0};
    }
    JfrValue ret = {chunk, jfr_class(chunk, field->class_id), c->at};
    jfr_skip(chunk, c, field->class_id, 0);
    return cursor_ok(c) ? ret : (JfrValue){0};
}

JfrValue jfr_field(JfrValue v, const char *name)
{
    Cursor c;
    const JfrField *field = seek_field(v, name, &c);
    return field && !field->is_array ? take_element(v.chunk, &c, field) : (JfrValue){0};
}

uint64_t jfr_number(JfrValue v, const char *field)
{
    JfrValue of = jfr_field(v, field);
    if (!of.of || (of.of->kind != JFR_NUMBER && of.of->kind != JFR_BYTE))
        return 0;
    Cursor c = cursor_over(of.chunk->bytes, "value");
    cursor_seek(&c, of.at);
    return of.of->kind == JFR_BYTE ? cursor_u8(&c) : jfr_varint(&c);
}

Str jfr_text(JfrValue v, const char *field)
{
    JfrValue of = jfr_field(v, field);
    // A Symbol is an object that holds a text.
    if (of.of && of.of->kind == JFR_OBJECT)
        of = jfr_field(of, "string");
    if (!of.of || of.of->kind != JFR_STRING)
        return STR("");
    Cursor c = cursor_over(of.chunk->bytes, "value");
    cursor_seek(&c, of.at);
    return jfr_string(of.chunk, &c);
}

bool jfr_each(JfrValue v, const char *name, bool (*each)(void *ctx, JfrValue element), void *ctx)
{
    Cursor c;
    const JfrField *field = seek_field(v, name, &c);
    if (!field || !field->is_array)
        return true;
    uint64_t count = jfr_varint(&c);
    for (uint64_t i = 0; i < count && cursor_more(&c); i++) {
        size_t before = c.at;
        JfrValue element = take_element(v.chunk, &c, field);
        if (c.at == before)
            break;
        if (!each(ctx, element))
            return false;
    }
    return true;
}
