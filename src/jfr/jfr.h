// SPDX-License-Identifier: Apache-2.0
// Java Flight Recordings (.jfr) of version 2: a file is a row of chunks, each of which describes
// the classes of its values, holds values that events refer to by number, and events. Format:
// OpenJDK, jdk.jfr.internal.consumer (ChunkHeader, MetadataReader, ConstantMap, StringParser);
// HotSpot, jfr/recorder/checkpoint.

#ifndef JFR_JFR_H
#define JFR_JFR_H

#include "base/cursor.h"
#include "base/table.h"
#include "base/vec.h"

typedef enum JfrKind {
    JFR_OBJECT, // fields, one after the other
    JFR_BYTE,   // boolean, byte
    JFR_NUMBER, // char, short, int, long
    JFR_FLOAT,
    JFR_DOUBLE,
    JFR_STRING,
} JfrKind;

typedef struct JfrField {
    Str name;
    uint64_t class_id;
    bool is_pooled; // the value is a number of the class's pool
    bool is_array;  // a number of values stands before them
} JfrField;

typedef struct JfrClass {
    Str name; // "jdk.ExecutionSample"
    uint64_t id;
    JfrKind kind;
    Vec(JfrField) fields;
} JfrClass;

// A value of a pool: where it lies.
typedef struct JfrPooled {
    uint64_t class_id, number;
    size_t at;
} JfrPooled;

typedef struct JfrChunk {
    Arena *arena;
    Bytes bytes;          // the chunk alone
    uint64_t start_ns;    // since 1970
    uint64_t start_ticks; // of the clock of events
    uint64_t ticks_per_s;
    Vec(JfrClass) classes;
    Table class_by_id;
    Vec(JfrPooled) pooled;
    Table pooled_by_number;
    uint64_t text_class; // the number of java.lang.String
} JfrChunk;

// A value of a chunk. `of` is its class; NULL stands for "there is none", and every function below
// takes it.
typedef struct JfrValue {
    const JfrChunk *chunk;
    const JfrClass *of;
    size_t at; // in the chunk; it tells values of pools apart
} JfrValue;

// Whether the file begins with a chunk.
bool jfr_is(Bytes head);

// Reads the header, the classes and the pools of the chunk at the beginning of `rest`. `size`
// becomes the number of bytes to the next one. All memory comes from the arena but the tables: end
// with jfr_chunk_close. A chunk that is not whole is an error.
MUST_CHECK bool jfr_chunk_open(Arena *arena, Bytes rest, JfrChunk *ret, size_t *size, Error *err);
void jfr_chunk_close(JfrChunk *c);

// The next event at or behind `*at`, which begins with 0. False at the end, and where an event is
// broken: `err` has a kind then.
bool jfr_event_next(const JfrChunk *c, size_t *at, JfrValue *ret, Error *err);

// A field by its name, through the pool where it is there. No value when the class has no such
// field or it lies in no pool.
JfrValue jfr_field(JfrValue v, const char *name);
// A number of any kind but float and double; 0 for other values.
uint64_t jfr_number(JfrValue v, const char *field);
// A text; "" for other values. Memory comes from the chunk's arena where it has to be decoded.
Str jfr_text(JfrValue v, const char *field);
// The elements of a field that is an array. `each` returns false to end. False when it did.
bool jfr_each(JfrValue v, const char *field, bool (*each)(void *ctx, JfrValue element), void *ctx);

// For chunk.c and values.c. The varint of the format: seven bits a byte, the ninth has eight.
uint64_t jfr_varint(Cursor *c);
// A text; it moves on behind it.
Str jfr_string(const JfrChunk *chunk, Cursor *c);
// Moves on behind a value of a class; objects may lie in objects 16 deep.
void jfr_skip(const JfrChunk *chunk, Cursor *c, uint64_t class_id, unsigned depth);
// The class with this number, or NULL.
const JfrClass *jfr_class(const JfrChunk *chunk, uint64_t id);

#endif // JFR_JFR_H
