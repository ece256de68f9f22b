// SPDX-License-Identifier: Apache-2.0
// Writes one Parquet file: flat rows in groups, columns that are dictionary or delta encoded, pages
// packed by zstd. Knows nothing of profiles.
// Format: apache/parquet-format, README.md, Encodings.md and parquet.thrift (Thrift's compact
// protocol).

#ifndef EXPORT_PARQUET_FILE_H
#define EXPORT_PARQUET_FILE_H

#include "base/error.h"
#include "base/intern.h"
#include "base/strbuf.h"
#include "base/vec.h"

typedef enum ParquetType {
    PARQUET_BOOL,
    PARQUET_I32,
    PARQUET_I64,
    PARQUET_F64,
    PARQUET_TEXT, // UTF-8; other bytes and NUL become U+FFFD
} ParquetType;

// Values of a delta column are close to those before them; all others go to a dictionary where
// that is smaller. Only for PARQUET_I64, and PARQUET_I32 without negative values.
typedef struct ParquetColumn {
    const char *name;
    ParquetType type;
    bool is_delta;
    bool can_be_null;
} ParquetColumn;

// A column of the row group that is being filled.
typedef struct ParquetValues {
    // While all values of the group are `same`, only their number is kept.
    int64_t same;
    size_t same_count;
    I64Vec at;     // [value]: a number, the bits of a double, or the text's number in `texts`
    U8Vec is_null; // [row]; empty while no row is null. Null rows have no value.
    Intern texts;
    uint32_t *recent; // [PARQUET_RECENT], by a text's address: 1 + its number; most come again
} ParquetValues;

enum { PARQUET_RECENT = 8192 };

typedef struct ParquetFile {
    const ParquetColumn *columns;
    size_t column_count;
    ParquetValues *values; // [column]
    uint32_t row;          // rows in the group
    uint64_t rows;         // rows in the file
    uint64_t offset;       // bytes that went to `out`
    Vec(struct ParquetGroup *) groups;
    Arena arena, texts;
    void *zstd;
    // Takes the bytes; false ends the writing.
    bool (*write)(void *ctx, Str bytes);
    void *ctx;
    StrBuf raw, packed, header;
    U32Vec slots;    // numbers in a dictionary, by value
    I64Vec distinct; // the values of a chunk's dictionary
    U32Vec numbers;  // [value] its number in the dictionary
    U32Vec levels;   // of a page: 0 for null rows, else 1
    bool failed;
} ParquetFile;

// Starts a file. `columns` must outlive it.
void parquet_open(ParquetFile *f, const ParquetColumn *columns, size_t count,
                  bool (*write)(void *ctx, Str bytes), void *ctx);

// Each gives the column's value in the row under way: of its type, or null. A row needs a value for
// every column, in any order.
void parquet_number(ParquetFile *f, size_t column, int64_t value); // I32, I64, BOOL
void parquet_double(ParquetFile *f, size_t column, double value);
void parquet_text(ParquetFile *f, size_t column, Str text);
void parquet_null(ParquetFile *f, size_t column);
// Ends the row.
void parquet_end_row(ParquetFile *f);

// Many rows at once, of one column after the other: at most so many.
size_t parquet_room(const ParquetFile *f);
// The column has these numbers in the next `count` rows; those that equal `null` are null, where
// the column can be.
void parquet_numbers(ParquetFile *f, size_t column, const int64_t *values, size_t count,
                     int64_t null);
// The column has this text in the next `count` rows.
void parquet_texts(ParquetFile *f, size_t column, Str text, size_t count);
// Ends the rows.
void parquet_end_rows(ParquetFile *f, size_t count);

// Writes the rest and frees everything. False, with ERROR_NONE, when `write` gave up, else with
// the reason.
MUST_CHECK bool parquet_close(ParquetFile *f, Str created_by, Error *err);

#endif // EXPORT_PARQUET_FILE_H
