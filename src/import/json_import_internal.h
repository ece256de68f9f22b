// SPDX-License-Identifier: Apache-2.0
// Code that the importers of JSON formats share: columns out of arrays.

#ifndef IMPORT_JSON_IMPORT_INTERNAL_H
#define IMPORT_JSON_IMPORT_INTERNAL_H

#include "base/json.h"
#include "model/profile.h"

// The elements of an array, for access by index. Empty for anything else.
typedef struct JsonColumn {
    const JsonValue **at;
    size_t len;
} JsonColumn;

// A JSON array as a column; its elements are borrowed.
static inline JsonColumn json_column(Arena *arena, const JsonValue *array)
{
    if (!array || array->kind != JSON_ARRAY)
        return (JsonColumn){0};
    JsonColumn c = {arena_array(arena, const JsonValue *, array->count), array->count};
    size_t i = 0;
    for (const JsonValue *v = array->child; v; v = v->next)
        c.at[i++] = v;
    return c;
}

// The number at a row; `absent` when the row does not exist or is not a number.
static inline double json_column_number(const JsonColumn *c, size_t row, double absent)
{
    if (row >= c->len || c->at[row]->kind != JSON_NUMBER)
        return absent;
    return c->at[row]->number;
}

// The number as a row of another table of `limit` rows; false when there is no such row.
static inline bool json_number_as_row(double number, size_t limit, size_t *ret)
{
    if (!(number >= 0) || number >= (double)limit || number != (double)(size_t)number)
        return false;
    *ret = (size_t)number;
    return true;
}

// The number without its fraction; 0 when an uint32_t cannot hold it.
static inline uint32_t json_number_as_u32(double number)
{
    return number > 0 && number < (double)UINT32_MAX ? (uint32_t)number : 0;
}

// The rounded number; the nearest int64_t when it is out of range.
static inline int64_t json_number_as_i64(double number)
{
    if (!(number > -9.2e18))
        return INT64_MIN + 1;
    if (number > 9.2e18)
        return INT64_MAX;
    return (int64_t)(number + (number < 0 ? -0.5 : 0.5));
}

// The text of a string; "" for any other value, NULL included.
static inline Str json_text(const JsonValue *v)
{
    return v && v->kind == JSON_STRING ? v->text : STR("");
}

// The number; `absent` for any other value, NULL included.
static inline double json_number(const JsonValue *v, double absent)
{
    return v && v->kind == JSON_NUMBER ? v->number : absent;
}

#endif // IMPORT_JSON_IMPORT_INTERNAL_H
