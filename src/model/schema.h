// SPDX-License-Identifier: Apache-2.0
// The profile's tables described as data: one list for the store, profile_check and the dump. Table
// and column numbers are part of the file format (docs/formats/assay.md): added, never reused.

#ifndef MODEL_SCHEMA_H
#define MODEL_SCHEMA_H

#include "model/profile.h"

typedef enum TableId {
    TABLE_NONE = 0,
    TABLE_STRINGS = 1,
    TABLE_MODULES = 2,
    TABLE_FUNCTIONS = 3,
    TABLE_FRAMES = 4,       // known while recording
    TABLE_FRAME_PLACES = 5, // added to the same rows by symbolising
    TABLE_STACKS = 6,
    TABLE_PROCESSES = 7,
    TABLE_THREADS = 8,
    TABLE_METRICS = 9,
    TABLE_SAMPLES = 10,
    TABLE_SERIES = 11,
    TABLE_INTERVALS = 12,
    TABLE_LINE_COUNTS = 13,
    TABLE_FUNCTION_COUNTS = 14,
    TABLE_BRANCH_COUNTS = 15,
    TABLE_REGION_COUNTS = 16,
    TABLE_SOURCE_LINES = 17,
    TABLE_NOTES = 18,
    TABLE_FACTS = 19,
    TABLE_CONDITION_COUNTS = 20,
    TABLE_RUNS = 21,
    TABLE_RUN_VALUES = 22,
    TABLE_WAITS = 23,
    TABLE_WAIT_TIMES = 24,
    TABLE_STATES = 25,
    TABLE_CALLS = 26,
    TABLE_CALL_VALUES = 27,
    TABLE_COVER_TOTALS = 30,
    TABLE_BRANCH_SITES = 31,
    TABLE_SEGMENTS = 32,
    TABLE_EXCERPTS = 33,
    TABLE_EXCERPT_LINES = 34,
    TABLE_DECISIONS = 35,
    TABLE_DECISION_CONDITIONS = 36,
} TableId;

typedef enum ColumnType { COLUMN_U8, COLUMN_U32, COLUMN_U64, COLUMN_I64, COLUMN_F64 } ColumnType;

typedef struct Column {
    const char *name;
    uint8_t id; // within its table, from 1
    ColumnType type;
    size_t offset;     // of the Vec in Profile
    TableId refers_to; // the values are rows of that table; TABLE_NONE: plain numbers
    bool delta;        // neighbours are close: differences are stored
} Column;

typedef struct TableSchema {
    const char *name;
    TableId id;
    const Column *columns;
    size_t column_count;
    // Rows change after they were added (a thread ends, a fact is set again), so
    // the table is written whole each time; the others only grow.
    bool is_mutable;
    bool has_none_row; // row 0 stands for "none" and is not stored
    // The rows of this table are those of another one (frame places).
    TableId same_rows_as;
} TableSchema;

// All tables but the strings, in the order in which they are written: a row
// refers only to tables before its own.
extern const TableSchema profile_schema[];
extern const size_t profile_schema_count;

// NULL for a number that no table has.
const TableSchema *profile_schema_find(uint32_t table_id);

// Every Vec looks like this.
typedef struct RawVec {
    void *at;
    size_t len;
    size_t cap;
} RawVec;

// A column of the profile, whatever its type.
static inline RawVec *column_vec(Profile *p, const Column *c)
{
    return (RawVec *)(void *)((char *)p + c->offset);
}

// The same for a profile that must not change.
static inline const RawVec *column_vec_const(const Profile *p, const Column *c)
{
    return (const RawVec *)(const void *)((const char *)p + c->offset);
}

// Bytes of one element.
size_t column_type_size(ColumnType type);

// The number of rows a table has: the length of its first column.
size_t profile_table_rows(const Profile *p, const TableSchema *t);

// Makes the column `rows` long, new elements zero. `rows` must not be fewer
// than it has.
void column_resize(Profile *p, RawVec *v, ColumnType type, size_t rows);

// Leaves the rows of a table that `kept` names, in ascending order, and drops the
// others. Only for a table that no other refers to, and not for the samples.
void profile_keep_rows(Profile *p, TableId table, const U32Vec *kept);

#endif // MODEL_SCHEMA_H
