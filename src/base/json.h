// SPDX-License-Identifier: Apache-2.0
// JSON (RFC 8259): a streaming writer and a small reader.

#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"

// ---- Writing ---------------------------------------------------------------
// The writer adds commas, indentation and escapes. A value in the wrong place (without a key in
// an object, with one in an array) fails an assertion.
//
//     JsonWriter w = json_writer(&buf, 2);
//     json_begin_object(&w, NULL);
//     json_u64(&w, "samples", 4922);
//     json_begin_array(&w, "functions"); … json_end(&w);
//     json_end(&w);
enum { JSON_DEPTH_MAX = 64 };

typedef struct JsonWriter {
    StrBuf *out;
    unsigned indent;
    unsigned depth;
    bool has_items[JSON_DEPTH_MAX];
    bool is_array[JSON_DEPTH_MAX];
} JsonWriter;

// A writer that appends to `out`, which is borrowed. `indent` is the number of spaces for each
// level; 0 writes everything on one line.
static inline JsonWriter json_writer(StrBuf *out, unsigned indent)
{
    return (JsonWriter){.out = out, .indent = indent};
}

// Each writes one value, or begins one that json_end closes. `key` is NULL inside an array and
// at the top level.
void json_begin_object(JsonWriter *w, const char *key);
void json_begin_array(JsonWriter *w, const char *key);
void json_end(JsonWriter *w); // closes the innermost open object or array
void json_str(JsonWriter *w, const char *key, Str value);
void json_u64(JsonWriter *w, const char *key, uint64_t value);
void json_i64(JsonWriter *w, const char *key, int64_t value);
// The shortest decimal number that reads back as the same double; NaN and infinities become null.
void json_double(JsonWriter *w, const char *key, double value);
void json_bool(JsonWriter *w, const char *key, bool value);
void json_null(JsonWriter *w, const char *key);
// Writes a key that is not a literal. The value that follows takes NULL as its key.
void json_key(JsonWriter *w, Str key);

// ---- Reading ---------------------------------------------------------------
typedef enum JsonKind {
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
} JsonKind;

typedef struct JsonValue JsonValue;

// Children of an array or object are linked in order of appearance.
struct JsonValue {
    JsonKind kind;
    bool boolean;
    double number;
    Str text; // a string's value, or a number as it was written
    Str key;  // in an object: this member's name
    JsonValue *child;
    JsonValue *next;
    size_t count; // of children
};

// Parses one document. Strings without escapes borrow from `text`. Depth is
// limited to JSON_DEPTH_MAX. The error names the byte offset.
MUST_CHECK bool json_parse(Arena *arena, Str text, JsonValue **ret, Error *err);

// A member by name, NULL when absent or when `object` is NULL or no object.
const JsonValue *json_find(const JsonValue *object, const char *key);

#endif // BASE_JSON_H
