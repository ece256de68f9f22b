// SPDX-License-Identifier: Apache-2.0
// The JSON of `assay export -f json` -> Profile: its tables are those of the schema.
// Format: docs/formats/export.md, "json".

#include "import/own_json_internal.h"

#include <math.h>

#include "base/decoded.h"
#include "base/json.h"
#include "model/schema.h"

enum { VERSION = 1, METRICS_MAX = 1000 };

typedef struct Reader {
    Profile *p;
    size_t input_bytes;
    uint64_t made;    // about how much memory the rows have taken
    U32Vec string_of; // [string of the file]: row of the profile's strings
    Error *err;
} Reader;

bool own_json_is(Bytes head)
{
    enum { BEGINNING = 200 };
    Str text = str_from_bytes(bytes_slice(head, 0, BEGINNING));
    return str_starts_with(str_trim(text), STR("{")) &&
           str_find(text, STR("\"assay-profile\"")) != SIZE_MAX;
}

// Two strings of a recording may be one here: what is not UTF-8 became U+FFFD.
static bool read_strings(Reader *r, const JsonValue *strings)
{
    if (!strings || strings->kind != JSON_ARRAY || strings->count == 0)
        return error_set(r->err, ERROR_FORMAT, "the JSON of a recording has no strings");
    for (const JsonValue *v = strings->child; v; v = v->next) {
        if (v->kind != JSON_STRING || (r->string_of.len == 0 && v->text.len))
            return error_set(r->err, ERROR_FORMAT, "string %zu is not a string", r->string_of.len);
        vec_push(NULL, &r->string_of, profile_str(r->p, v->text).v);
    }
    return true;
}

static bool put_number(Reader *r, const Column *c, const JsonValue *v, void *at, size_t row)
{
    uint64_t u = 0;
    int64_t i = TIME_NONE;
    bool ok;
    switch (c->type) {
    case COLUMN_I64:
        ok = v->kind == JSON_NULL || (v->kind == JSON_NUMBER && str_parse_i64(v->text, &i));
        ((int64_t *)at)[row] = i;
        return ok;
    case COLUMN_F64: // no number is null
        ((double *)at)[row] = v->kind == JSON_NUMBER ? v->number : NAN;
        return v->kind == JSON_NUMBER || v->kind == JSON_NULL;
    default:
        break;
    }
    ok = v->kind == JSON_NUMBER && str_parse_u64(v->text, 10, &u);
    if (ok && c->refers_to == TABLE_STRINGS) {
        ok = u < r->string_of.len;
        u = ok ? r->string_of.at[u] : 0;
    }
    if (c->type == COLUMN_U64)
        ((uint64_t *)at)[row] = u;
    else if (c->type == COLUMN_U32 && (ok = ok && u <= UINT32_MAX))
        ((uint32_t *)at)[row] = (uint32_t)u;
    else if (c->type == COLUMN_U8 && (ok = ok && u <= UINT8_MAX))
        ((uint8_t *)at)[row] = (uint8_t)u;
    return ok;
}

// Fills a column, which has `rows` rows already.
static bool fill_column(Reader *r, const TableSchema *t, const Column *c, RawVec *vec,
                        const JsonValue *array, size_t rows)
{
    if (!array)
        return true; // of an older version: zeros
    if (array->kind != JSON_ARRAY || array->count != rows)
        return error_set(r->err, ERROR_FORMAT, "table '%s': column '%s' has %zu rows, not %zu",
                         t->name, c->name, array->count, rows);
    size_t row = 0;
    for (const JsonValue *v = array->child; v; v = v->next, row++)
        if (!put_number(r, c, v, vec->at, row))
            return error_set(r->err, ERROR_FORMAT, "table '%s': column '%s' row %zu is no value",
                             t->name, c->name, row);
    return true;
}

static bool read_sample_values(Reader *r, const TableSchema *t, const JsonValue *values,
                               size_t rows)
{
    static const Column column = {.name = "values", .type = COLUMN_I64};
    Profile *p = r->p;
    Samples *s = &p->samples;
    size_t metrics = p->metrics.name.len;
    if (metrics > METRICS_MAX || (values ? values->count : 0) != metrics)
        return error_set(r->err, ERROR_FORMAT, "%zu columns of values for %zu metrics",
                         values ? values->count : 0, metrics);
    s->values = arena_grow(&p->arena, s->values, s->value_columns * sizeof(I64Vec),
                           metrics * sizeof(I64Vec), _Alignof(I64Vec));
    const JsonValue *array = values ? values->child : NULL;
    for (s->value_columns = 0; s->value_columns < metrics; array = array->next) {
        I64Vec *v = &s->values[s->value_columns++];
        *v = (I64Vec){0};
        column_resize(p, (RawVec *)(void *)v, COLUMN_I64, rows);
        if (!fill_column(r, t, &column, (RawVec *)(void *)v, array, rows))
            return false;
    }
    return true;
}

static bool read_table(Reader *r, const TableSchema *t, const JsonValue *table)
{
    size_t rows = profile_table_rows(r->p, t);
    for (size_t i = 0; i < t->column_count; i++) {
        const JsonValue *array = json_find(table, t->columns[i].name);
        rows = MAX(rows, array && array->kind == JSON_ARRAY ? array->count : 0);
    }
    r->made += rows * (t->column_count + (t->id == TABLE_SAMPLES ? r->p->metrics.name.len : 0)) * 8;
    if (!decoded_check(r->made, r->input_bytes, r->err))
        return false;
    for (size_t i = 0; i < t->column_count; i++) {
        const Column *c = &t->columns[i];
        RawVec *vec = column_vec(r->p, c);
        column_resize(r->p, vec, c->type, rows);
        if (!fill_column(r, t, c, vec, json_find(table, c->name), rows))
            return false;
    }
    return t->id != TABLE_SAMPLES || read_sample_values(r, t, json_find(table, "values"), rows);
}

static bool read_all(Reader *r, Arena *scratch, Bytes file)
{
    JsonValue *top;
    if (!json_parse(scratch, str_from_bytes(file), &top, r->err))
        return false;
    const JsonValue *version = json_find(top, "version");
    if (!version || version->kind != JSON_NUMBER || version->number != VERSION) {
        error_set(r->err, ERROR_UNSUPPORTED, "the JSON of a recording in another version than %d",
                  VERSION);
        return error_hint(r->err, "open it with a newer assay");
    }
    if (!read_strings(r, json_find(top, "strings")))
        return false;
    for (size_t i = 0; i < profile_schema_count; i++)
        if (!read_table(r, &profile_schema[i], json_find(top, profile_schema[i].name)))
            return false;
    return profile_check(r->p, r->err);
}

bool import_own_json(Bytes file, size_t input_bytes, Profile *p, Error *err)
{
    Arena scratch = {0};
    Reader r = {.p = p, .input_bytes = input_bytes, .err = err};
    profile_init(p);
    bool ok = read_all(&r, &scratch, file);
    if (!ok)
        profile_deinit(p);
    vec_free(&r.string_of);
    arena_deinit(&scratch);
    return ok;
}
