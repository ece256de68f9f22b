// SPDX-License-Identifier: Apache-2.0
// Ruby's Marshal format -> JsonValue.
// Format: Ruby's documentation, doc/marshal.rdoc, version 4.8.

#include "import/stacks/ruby_marshal.h"

#include <stdio.h>

#include "base/cursor.h"
#include "base/vec.h"

typedef struct Marshal {
    Arena *arena;
    Cursor c;
    StrVec symbols;           // in order of appearance, for links to them
    Vec(JsonValue *) objects; // the same; NULL while an object is being read
    unsigned depth;
} Marshal;

static bool read_value(Marshal *m, JsonValue *ret);

// A packed integer: 0, a value of one byte that is moved by 5, or a length of 1 to 4 bytes with its
// sign, and the bytes.
static int64_t read_int(Marshal *m)
{
    int8_t first = (int8_t)cursor_u8(&m->c);
    if (first == 0)
        return 0;
    if (first > 4)
        return first - 5;
    if (first < -4)
        return first + 5;
    unsigned n = (unsigned)(first < 0 ? -first : first);
    const uint8_t *p = cursor_take(&m->c, n);
    int64_t value = first < 0 ? -1 : 0;
    for (unsigned i = 0; p && i < n; i++)
        value = (value & ~((int64_t)0xff << (8 * i))) | (int64_t)p[i] << (8 * i);
    return value;
}

// A number of things that each take at least `size` bytes.
static size_t read_count(Marshal *m, size_t size)
{
    int64_t count = read_int(m);
    if (count >= 0 && (uint64_t)count <= cursor_left(&m->c) / size)
        return (size_t)count;
    cursor_fail(&m->c, "more items than the file has bytes");
    return 0;
}

static Str read_bytes(Marshal *m)
{
    size_t len = read_count(m, 1);
    const uint8_t *p = cursor_take(&m->c, len);
    return p ? str_over((const char *)p, len) : (Str){0};
}

static void set_number(Marshal *m, JsonValue *ret, bool negative, uint64_t magnitude)
{
    ret->kind = JSON_NUMBER;
    ret->number = negative ? -(double)magnitude : (double)magnitude;
    ret->text =
        arena_printf(m->arena, "%s%llu", negative ? "-" : "", (unsigned long long)magnitude);
}

static void read_fixnum(Marshal *m, JsonValue *ret)
{
    int64_t value = read_int(m);
    set_number(m, ret, value < 0, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

// A sign, the number of 16-bit words, and the words. Ids of frames are such numbers.
static void read_bignum(Marshal *m, JsonValue *ret)
{
    uint8_t sign = cursor_u8(&m->c);
    size_t len = read_count(m, 2) * 2;
    const uint8_t *p = cursor_take(&m->c, len);
    uint64_t magnitude = 0;
    for (size_t i = 0; p && i < len; i++) {
        if (i >= 8 && p[i])
            cursor_fail(&m->c, "a number of more than 64 bits");
        else if (i < 8)
            magnitude |= (uint64_t)p[i] << (8 * i);
    }
    if (sign != '+' && sign != '-')
        cursor_fail(&m->c, "a number without a sign");
    set_number(m, ret, sign == '-', magnitude);
}

static void read_float(Marshal *m, JsonValue *ret)
{
    ret->kind = JSON_NUMBER;
    ret->text = read_bytes(m);
    if (!str_parse_double(ret->text, &ret->number) && cursor_ok(&m->c))
        cursor_fail(&m->c, "a number that cannot be read");
}

static void read_symbol(Marshal *m, JsonValue *ret)
{
    ret->kind = JSON_STRING;
    ret->text = read_bytes(m);
    vec_push(m->arena, &m->symbols, ret->text);
}

static void read_symbol_link(Marshal *m, JsonValue *ret)
{
    int64_t at = read_int(m);
    ret->kind = JSON_STRING;
    if (at >= 0 && (uint64_t)at < m->symbols.len)
        ret->text = m->symbols.at[at];
    else
        cursor_fail(&m->c, "a link to a symbol that is not there");
}

// The value of a link is a copy of the object: it has its own place in a list.
static void read_object_link(Marshal *m, JsonValue *ret)
{
    int64_t at = read_int(m);
    if (at < 0 || (uint64_t)at >= m->objects.len)
        cursor_fail(&m->c, "a link to an object that is not there");
    else if (!m->objects.at[at])
        cursor_fail(&m->c, "an object that holds itself");
    else
        *ret = *m->objects.at[at];
    ret->next = NULL;
    ret->key = (Str){0};
}

static JsonValue *add_child(Marshal *m, JsonValue *of, JsonValue **last)
{
    JsonValue *v = arena_new(m->arena, JsonValue);
    if (*last)
        (*last)->next = v;
    else
        of->child = v;
    *last = v;
    of->count++;
    return v;
}

static void read_array(Marshal *m, JsonValue *ret)
{
    JsonValue *last = NULL;
    ret->kind = JSON_ARRAY;
    for (size_t n = read_count(m, 1); n && cursor_ok(&m->c); n--)
        if (!read_value(m, add_child(m, ret, &last)))
            return;
}

static void read_hash(Marshal *m, JsonValue *ret)
{
    JsonValue *last = NULL;
    ret->kind = JSON_OBJECT;
    for (size_t n = read_count(m, 2); n && cursor_ok(&m->c); n--) {
        JsonValue key = {0};
        if (!read_value(m, &key))
            return;
        if (key.kind != JSON_STRING && key.kind != JSON_NUMBER) {
            cursor_fail(&m->c, "a key that is neither text nor a number");
            return;
        }
        JsonValue *member = add_child(m, ret, &last);
        if (!read_value(m, member))
            return;
        member->key = key.text;
    }
}

// An object with instance variables. Those of a string name its encoding; they are not kept.
static void read_with_variables(Marshal *m, JsonValue *ret)
{
    if (!read_value(m, ret))
        return;
    for (size_t n = read_count(m, 2); n && cursor_ok(&m->c); n--) {
        JsonValue name = {0}, value = {0};
        if (!read_value(m, &name) || !read_value(m, &value))
            return;
    }
}

// Objects are numbered where they begin.
static void read_object(Marshal *m, uint8_t type, JsonValue *ret)
{
    size_t at = m->objects.len;
    vec_push(m->arena, &m->objects, NULL);
    switch (type) {
    case 'l':
        read_bignum(m, ret);
        break;
    case 'f':
        read_float(m, ret);
        break;
    case '"':
        ret->kind = JSON_STRING;
        ret->text = read_bytes(m);
        break;
    case '[':
        read_array(m, ret);
        break;
    default:
        read_hash(m, ret);
        if (type == '}') {
            JsonValue value_of_absent_keys = {0};
            if (!read_value(m, &value_of_absent_keys))
                return;
        }
    }
    JsonValue *kept = arena_new(m->arena, JsonValue);
    *kept = *ret;
    m->objects.at[at] = kept;
}

static bool read_value(Marshal *m, JsonValue *ret)
{
    uint8_t type = cursor_u8(&m->c);
    if (m->depth == JSON_DEPTH_MAX)
        cursor_fail(&m->c, "objects that are nested too deeply");
    if (!cursor_ok(&m->c))
        return false;
    m->depth++;
    switch (type) {
    case '0':
        break;
    case 'T':
    case 'F':
        ret->kind = JSON_BOOL;
        ret->boolean = type == 'T';
        break;
    case 'i':
        read_fixnum(m, ret);
        break;
    case ':':
        read_symbol(m, ret);
        break;
    case ';':
        read_symbol_link(m, ret);
        break;
    case '@':
        read_object_link(m, ret);
        break;
    case 'I':
        read_with_variables(m, ret);
        break;
    case 'l':
    case 'f':
    case '"':
    case '[':
    case '{':
    case '}':
        read_object(m, type, ret);
        break;
    default:
        cursor_fail_hex(&m->c, "an object of a type that profiles do not have", type);
    }
    m->depth--;
    return cursor_ok(&m->c);
}

bool ruby_marshal_is(Bytes head)
{
    return head.len >= 2 && head.ptr[0] == 4 && head.ptr[1] <= 8;
}

bool ruby_marshal_parse(Arena *arena, Bytes file, JsonValue **ret, Error *err)
{
    Marshal m = {.arena = arena, .c = cursor_over(file, "Ruby's Marshal format")};
    JsonValue *root = arena_new(arena, JsonValue);
    uint8_t major = cursor_u8(&m.c), minor = cursor_u8(&m.c);
    if (major != 4 || minor > 8)
        cursor_fail(&m.c, "a version other than 4.8");
    if (!read_value(&m, root))
        return cursor_check(&m.c, err);
    *ret = root;
    return true;
}
