// SPDX-License-Identifier: Apache-2.0
// JSON (RFC 8259) read value by value, without a tree: coverage files of gigabytes are read so.
// The first value that is not as expected ends the reading: every later call then takes nothing,
// and `bad` says what was wrong.

#ifndef TRACEFILE_JSON_STREAM_H
#define TRACEFILE_JSON_STREAM_H

#include "base/arena.h"
#include "base/str.h"

typedef struct JsonStream {
    Str text;        // the document, borrowed
    size_t at;       // offset of the next byte; it may be one behind the end
    const char *bad; // NULL: nothing is wrong so far
    Arena *scratch;  // of strings with escapes
} JsonStream;

// A stream at the start of a document.
static inline JsonStream json_stream_over(Str text, Arena *scratch)
{
    return (JsonStream){.text = text, .scratch = scratch};
}

// Ends the reading for the reason `why` (a literal). The first reason stays.
void json_stream_fail(JsonStream *s, const char *why);

// The first byte of the next token; '\0' at the end of the document.
char json_stream_peek(JsonStream *s);

// Takes one byte that must come next: a bracket, a comma or a colon.
void json_stream_take(JsonStream *s, char c);

// The next item of an array or object whose opening bracket is taken. False behind the last item
// and after a failure. `any` is false before the first item.
bool json_stream_more(JsonStream *s, bool *any, char close);

// A string without its quotes, borrowed from the text or, with escapes, in the scratch arena.
Str json_stream_str(JsonStream *s);

// The key of a member and the colon behind it. Escapes stay as they are.
Str json_stream_key(JsonStream *s);

// An unsigned integer.
uint64_t json_stream_u64(JsonStream *s);

// true or false.
bool json_stream_bool(JsonStream *s);

// Passes over any value. Brackets are counted, not matched.
void json_stream_skip(JsonStream *s);

#endif // TRACEFILE_JSON_STREAM_H
