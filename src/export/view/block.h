// SPDX-License-Identifier: Apache-2.0
// A block of a page: one JSON object and columns of numbers, packed by gzip and written as base64,
// so that no byte of it can end the element that holds it. Format: docs/formats/view.md.

#ifndef EXPORT_VIEW_BLOCK_H
#define EXPORT_VIEW_BLOCK_H

#include "base/error.h"
#include "base/json.h"
#include "base/strbuf.h"

// How a column's numbers are written, and their type in the page.
typedef enum ViewColumnKind {
    VIEW_U32 = 'u',    // LEB128, each below 2^32
    VIEW_U64 = 'U',    // LEB128
    VIEW_STEP = 's',   // LEB128 of the zigzag difference from the value before, modulo 2^32
    VIEW_DELTA = 'd',  // LEB128 of the zigzag difference from the value before, 0 at first
    VIEW_DOUBLE = 'D', // IEEE 754, little-endian
    VIEW_BYTES = 't',  // bytes as they are
} ViewColumnKind;

// A block that is being filled. Zero-initialised is a valid empty block. After view_block_add it
// is empty and may be filled again; release it with view_block_deinit.
typedef struct ViewBlock {
    StrBuf bytes;   // of all columns, one after the other
    StrBuf columns; // their descriptions, as JSON
    size_t column_start;
    int64_t last;                         // of a column of differences
    uint64_t count;                       // values of the open column
    struct libdeflate_compressor *packer; // made by the first view_block_add, for
    int packer_level;                     // this level
} ViewBlock;

// Begins the JSON object that describes a block, with its members `kind` and `recording`.
// `about` is emptied.
void view_about_begin(JsonWriter *json, StrBuf *about, uint32_t recording, const char *kind);

// Begins a column, adds values to it, ends it.
void view_column_begin(ViewBlock *b);
void view_column_end(ViewBlock *b, const char *name, ViewColumnKind kind);
// Appends a value to an open column of VIEW_U32 or VIEW_U64.
void view_add_u64(ViewBlock *b, uint64_t value);
// Appends a value to an open column of VIEW_DELTA.
void view_add_delta(ViewBlock *b, int64_t value);
// Appends a value to an open column of VIEW_DOUBLE.
void view_add_double(ViewBlock *b, double value);
// Appends text to an open column of VIEW_BYTES; invalid UTF-8 becomes U+FFFD in the page.
void view_add_text(ViewBlock *b, Str text);

// Columns `name`.0, `name`.1, ... of VIEW_BYTES: the lowest byte of each number, the next one, as
// many as the largest number needs. They unpack faster than LEB128, and pack better where the
// lowest bytes are as good as random.
void view_column_planes(ViewBlock *b, const char *name, const uint32_t *at, size_t count);
// A whole column of numbers below 2^32: VIEW_U32, or VIEW_STEP where steps repeat more often than
// numbers do.
void view_column_u32(ViewBlock *b, const char *name, const uint32_t *at, size_t count);

// Appends the block as an element of the page and empties it. `json` is a JSON object that
// describes the block. `level` is gzip's.
MUST_CHECK bool view_block_add(ViewBlock *b, Str json, int level, StrBuf *out, Error *err);
// The same for a block that the page unpacks when its contents are first needed.
MUST_CHECK bool view_block_add_for_later(ViewBlock *b, Str json, int level, StrBuf *out,
                                         Error *err);
// Frees what a block holds.
void view_block_deinit(ViewBlock *b);

#endif // EXPORT_VIEW_BLOCK_H
