// SPDX-License-Identifier: Apache-2.0
// JSON (RFC 8259): writer and reader.

#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void new_line(JsonWriter *w)
{
    if (w->indent == 0)
        return;
    strbuf_add_char(w->out, '\n');
    strbuf_add_repeated(w->out, ' ', (size_t)w->indent * w->depth);
}

static void before_item(JsonWriter *w)
{
    if (w->depth == 0)
        return;
    if (w->has_items[w->depth - 1])
        strbuf_add_char(w->out, ',');
    w->has_items[w->depth - 1] = true;
    new_line(w);
}

void json_key(JsonWriter *w, Str key)
{
    assert(w->depth > 0 && !w->is_array[w->depth - 1]);
    before_item(w);
    strbuf_add_char(w->out, '"');
    strbuf_add_json(w->out, key);
    strbuf_add(w->out, w->indent ? STR("\": ") : STR("\":"));
}

// After json_key the value follows without a key of its own.
static void begin_value(JsonWriter *w, const char *key)
{
    bool after_key = w->out->len && !key && w->depth && !w->is_array[w->depth - 1];
    if (key)
        json_key(w, str_from_c(key));
    else if (!after_key)
        before_item(w);
}

static void begin(JsonWriter *w, const char *key, char open, bool is_array)
{
    begin_value(w, key);
    assert(w->depth < JSON_DEPTH_MAX);
    strbuf_add_char(w->out, open);
    w->has_items[w->depth] = false;
    w->is_array[w->depth] = is_array;
    w->depth++;
}

void json_begin_object(JsonWriter *w, const char *key)
{
    begin(w, key, '{', false);
}

void json_begin_array(JsonWriter *w, const char *key)
{
    begin(w, key, '[', true);
}

void json_end(JsonWriter *w)
{
    assert(w->depth > 0);
    w->depth--;
    if (w->has_items[w->depth])
        new_line(w);
    strbuf_add_char(w->out, w->is_array[w->depth] ? ']' : '}');
    if (w->depth == 0 && w->indent)
        strbuf_add_char(w->out, '\n');
}

void json_str(JsonWriter *w, const char *key, Str value)
{
    begin_value(w, key);
    strbuf_add_char(w->out, '"');
    strbuf_add_json(w->out, value);
    strbuf_add_char(w->out, '"');
}

void json_u64(JsonWriter *w, const char *key, uint64_t value)
{
    begin_value(w, key);
    strbuf_add_u64(w->out, value);
}

void json_i64(JsonWriter *w, const char *key, int64_t value)
{
    begin_value(w, key);
    strbuf_printf(w->out, "%" PRId64, value);
}

void json_double(JsonWriter *w, const char *key, double value)
{
    if (!isfinite(value)) {
        json_null(w, key);
        return;
    }
    begin_value(w, key);
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    strbuf_add(w->out, str_from_c(text));
}

void json_bool(JsonWriter *w, const char *key, bool value)
{
    begin_value(w, key);
    strbuf_add(w->out, value ? STR("true") : STR("false"));
}

void json_null(JsonWriter *w, const char *key)
{
    begin_value(w, key);
    strbuf_add(w->out, STR("null"));
}

typedef struct Parser {
    Arena *arena;
    Str text;
    size_t at;
    Error *err;
} Parser;

static bool fail(Parser *p, const char *why)
{
    return error_set(p->err, ERROR_FORMAT, "JSON: %s at offset %zu", why, p->at);
}

static void skip_space(Parser *p)
{
    while (p->at < p->text.len && strchr(" \t\r\n", p->text.ptr[p->at]) && p->text.ptr[p->at])
        p->at++;
}

static bool take(Parser *p, char c)
{
    if (p->at >= p->text.len || p->text.ptr[p->at] != c)
        return false;
    p->at++;
    return true;
}

static bool hex4(Parser *p, uint32_t *ret)
{
    uint64_t value;
    Str digits = str_slice(p->text, p->at, p->at + 4);
    if (digits.len != 4 || !str_parse_u64(digits, 16, &value))
        return fail(p, "bad \\u escape");
    p->at += 4;
    *ret = (uint32_t)value;
    return true;
}

static void put_utf8(char *out, size_t *len, uint32_t code)
{
    uint8_t *o = (uint8_t *)out + *len;
    if (code < 0x80) {
        o[0] = (uint8_t)code;
        *len += 1;
    } else if (code < 0x800) {
        o[0] = (uint8_t)(0xc0 | code >> 6);
        o[1] = (uint8_t)(0x80 | (code & 0x3f));
        *len += 2;
    } else if (code < 0x10000) {
        o[0] = (uint8_t)(0xe0 | code >> 12);
        o[1] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
        o[2] = (uint8_t)(0x80 | (code & 0x3f));
        *len += 3;
    } else {
        o[0] = (uint8_t)(0xf0 | code >> 18);
        o[1] = (uint8_t)(0x80 | (code >> 12 & 0x3f));
        o[2] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
        o[3] = (uint8_t)(0x80 | (code & 0x3f));
        *len += 4;
    }
}

static bool unescape_unicode(Parser *p, char *out, size_t *len)
{
    uint32_t code = 0;
    if (!hex4(p, &code))
        return false;
    bool high = code >= 0xd800 && code < 0xdc00;
    if (high && p->at + 6 <= p->text.len && p->text.ptr[p->at] == '\\' &&
        p->text.ptr[p->at + 1] == 'u') {
        size_t before = p->at;
        uint32_t low = 0;
        p->at += 2;
        if (!hex4(p, &low))
            return false;
        if (low >= 0xdc00 && low < 0xe000)
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        else
            p->at = before;
    }
    put_utf8(out, len, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
    return true;
}

static bool unescape(Parser *p, size_t end, Str *ret)
{
    // An escape is never shorter than the character it stands for.
    char *out = arena_alloc(p->arena, end - p->at + 1, 1);
    size_t len = 0;
    while (p->at < end) {
        char c = p->text.ptr[p->at++];
        if (c != '\\') {
            out[len++] = c;
            continue;
        }
        static const char from[] = "\"\\/bfnrt";
        static const char to[] = "\"\\/\b\f\n\r\t";
        char e = p->text.ptr[p->at++];
        const char *hit = e ? strchr(from, e) : NULL;
        if (hit)
            out[len++] = to[hit - from];
        else if (e != 'u')
            return fail(p, "unknown escape");
        else if (!unescape_unicode(p, out, &len))
            return false;
    }
    *ret = str_over(out, len);
    return true;
}

static bool parse_string(Parser *p, Str *ret)
{
    if (!take(p, '"'))
        return fail(p, "expected a string");
    size_t start = p->at;
    bool escaped = false;
    size_t end = start;
    while (end < p->text.len && p->text.ptr[end] != '"') {
        if ((unsigned char)p->text.ptr[end] < 0x20) {
            p->at = end;
            return fail(p, "control character in a string");
        }
        if (p->text.ptr[end] == '\\') {
            escaped = true;
            end++;
        }
        end++;
    }
    if (end >= p->text.len) {
        p->at = p->text.len;
        return fail(p, "string without an end");
    }
    if (escaped) {
        if (!unescape(p, end, ret))
            return false;
    } else {
        *ret = str_slice(p->text, start, end);
    }
    p->at = end + 1;
    return true;
}

static bool parse_number(Parser *p, JsonValue *v)
{
    size_t start = p->at;
    while (p->at < p->text.len && p->text.ptr[p->at] &&
           strchr("+-.eE0123456789", p->text.ptr[p->at]))
        p->at++;
    v->kind = JSON_NUMBER;
    v->text = str_slice(p->text, start, p->at);
    char buf[64];
    if (v->text.len == 0 || v->text.len >= sizeof(buf)) {
        p->at = start;
        return fail(p, "expected a value");
    }
    memcpy(buf, v->text.ptr, v->text.len);
    buf[v->text.len] = '\0';
    char *end;
    v->number = strtod(buf, &end);
    if (end != buf + v->text.len) {
        p->at = start;
        return fail(p, "malformed number");
    }
    return true;
}

static bool parse_word(Parser *p, Str word)
{
    if (!str_starts_with(str_slice(p->text, p->at, p->text.len), word))
        return fail(p, "expected a value");
    p->at += word.len;
    return true;
}

static bool parse_value(Parser *p, unsigned depth, JsonValue *v);

static bool parse_children(Parser *p, unsigned depth, JsonValue *parent, char close)
{
    if (depth >= JSON_DEPTH_MAX)
        return fail(p, "nested too deeply");
    p->at++;
    skip_space(p);
    if (take(p, close))
        return true;
    JsonValue **link = &parent->child;
    for (;;) {
        JsonValue *v = arena_new(p->arena, JsonValue);
        skip_space(p);
        if (parent->kind == JSON_OBJECT) {
            if (!parse_string(p, &v->key))
                return false;
            skip_space(p);
            if (!take(p, ':'))
                return fail(p, "expected ':'");
        }
        if (!parse_value(p, depth + 1, v))
            return false;
        *link = v;
        link = &v->next;
        parent->count++;
        skip_space(p);
        if (take(p, close))
            return true;
        if (!take(p, ','))
            return fail(p, "expected ',' or the end of the list");
    }
}

static bool parse_value(Parser *p, unsigned depth, JsonValue *v)
{
    skip_space(p);
    char c = p->at < p->text.len ? p->text.ptr[p->at] : '\0';
    switch (c) {
    case '{':
        v->kind = JSON_OBJECT;
        return parse_children(p, depth, v, '}');
    case '[':
        v->kind = JSON_ARRAY;
        return parse_children(p, depth, v, ']');
    case '"':
        v->kind = JSON_STRING;
        return parse_string(p, &v->text);
    case 't':
    case 'f':
        v->kind = JSON_BOOL;
        v->boolean = c == 't';
        return parse_word(p, v->boolean ? STR("true") : STR("false"));
    case 'n':
        v->kind = JSON_NULL;
        return parse_word(p, STR("null"));
    default:
        return parse_number(p, v);
    }
}

bool json_parse(Arena *arena, Str text, JsonValue **ret, Error *err)
{
    Parser p = {.arena = arena, .text = text, .err = err};
    JsonValue *v = arena_new(arena, JsonValue);
    if (!parse_value(&p, 0, v))
        return false;
    skip_space(&p);
    if (p.at != text.len)
        return fail(&p, "text after the end");
    *ret = v;
    return true;
}

const JsonValue *json_find(const JsonValue *object, const char *key)
{
    if (!object || object->kind != JSON_OBJECT)
        return NULL;
    for (const JsonValue *v = object->child; v; v = v->next)
        if (str_equal(v->key, str_from_c(key)))
            return v;
    return NULL;
}
