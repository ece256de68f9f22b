// SPDX-License-Identifier: Apache-2.0
// Borrowed text and bytes that carry their length. Neither owns its memory and
// neither is NUL-terminated; C strings exist only at the OS edge.

#ifndef BASE_STR_H
#define BASE_STR_H

#include "base/defs.h"

#include <string.h>

typedef struct Str {
    const char *ptr;
    size_t len;
} Str;

typedef struct Bytes {
    const uint8_t *ptr;
    size_t len;
} Bytes;

// STR("literal") and, for use in a static initialiser, STR_INIT("literal").
#define STR(lit) ((Str){"" lit, sizeof(lit) - 1})
#define STR_INIT(lit)                                                                              \
    {                                                                                              \
        "" lit, sizeof(lit) - 1                                                                    \
    }

// printf a Str: printf("%" STR_FMT "\n", STR_ARG(s));
#define STR_FMT    ".*s"
#define STR_ARG(s) ((int)((s).len > INT32_MAX ? INT32_MAX : (s).len)), ((s).ptr ? (s).ptr : "")

// Borrows `len` bytes of text.
static inline Str str_over(const char *ptr, size_t len)
{
    return (Str){ptr, len};
}

// Borrows a C string; NULL gives the empty Str.
static inline Str str_from_c(const char *c_str)
{
    return (Str){c_str, c_str ? strlen(c_str) : 0};
}

// Same length and same bytes.
static inline bool str_equal(Str a, Str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

// The same memory as text; the bytes are not checked.
static inline Str str_from_bytes(Bytes b)
{
    return (Str){(const char *)b.ptr, b.len};
}

// The same memory as bytes.
static inline Bytes bytes_from_str(Str s)
{
    return (Bytes){(const uint8_t *)s.ptr, s.len};
}

// Borrows `len` bytes.
static inline Bytes bytes_over(const void *ptr, size_t len)
{
    return (Bytes){(const uint8_t *)ptr, len};
}

// The same bytes; where there are none at all, an address to which a length may be added. Readers
// that walk over bytes with pointers begin with it: C allows no arithmetic on a null pointer.
static inline Bytes bytes_addressable(Bytes b)
{
    return b.ptr ? b : (Bytes){(const uint8_t *)"", 0};
}

// The part [from, to); both are clamped to the text.
static inline Str str_slice(Str s, size_t from, size_t to)
{
    if (to > s.len)
        to = s.len;
    if (from > to)
        from = to;
    return (Str){s.ptr ? s.ptr + from : NULL, to - from};
}

// The same of bytes.
static inline Bytes bytes_slice(Bytes b, size_t from, size_t to)
{
    return bytes_from_str(str_slice(str_from_bytes(b), from, to));
}

// Compares bytes as unsigned numbers: < 0, 0 or > 0. A text comes before any longer text that
// starts with it.
int str_compare(Str a, Str b);
// Whether the text begins, or ends, with the other one; true for an empty one.
bool str_starts_with(Str s, Str prefix);
bool str_ends_with(Str s, Str suffix);

// The position of the first match (str_find_last_char: of the last one); SIZE_MAX: no match.
size_t str_find(Str s, Str needle);
size_t str_find_char(Str s, char c);
size_t str_find_last_char(Str s, char c);

Str str_trim(Str s); // without ASCII white space at both ends

// str_base_name is the last component of a path ("b.c" for "/a/b.c"), str_dir_name the path
// before it without the slash ("/a" for "/a/b.c", "/" for "/b", "" for "b").
Str str_base_name(Str path);
Str str_dir_name(Str path);

// Moves the text before the first `sep` from `rest` to `part` and drops the separator. Without a
// separator the whole of `rest` is the last part. False when `rest` is empty.
bool str_next_part(Str *rest, char sep, Str *part);
// The same for lines; a "\r" before the "\n" is dropped, too.
bool str_next_line(Str *rest, Str *line);
// Moves the next word, between spaces and line feeds, from `rest` to `word`. False when there is
// none.
bool str_next_word(Str *rest, Str *word);
// Splits `s` at the first `sep`, which is in neither part. False when `s` has no `sep`; `head`
// and `tail` are untouched then.
bool str_split(Str s, char sep, Str *head, Str *tail);

// Each parses the whole of `s` as a number and returns false when it is none or too large.
// str_parse_u64 takes no sign and no white space; `base` is 10, 16, or 0 for decimal or "0x…".
// str_parse_i64 is decimal and takes a '-'. str_parse_double takes the forms of strtod, in at
// most 63 bytes.
MUST_CHECK bool str_parse_u64(Str s, int base, uint64_t *ret);
MUST_CHECK bool str_parse_i64(Str s, int64_t *ret);
MUST_CHECK bool str_parse_double(Str s, double *ret);

// Whether the whole text matches a shell pattern: '*' any text, '?' one byte, '[…]' a set. Only
// the last '*' is retried, so that the time stays close to linear.
bool str_glob_match(Str pattern, Str text);

// XXH3 hashes of 64 bits, equal on every machine: the store and the caches rely on that.
uint64_t str_hash(Str s);
uint64_t bytes_hash(Bytes b);
uint64_t bytes_hash_seeded(Bytes b, uint64_t seed);

// Whether `a` has `len` bytes and they equal those at `ptr`.
static inline bool bytes_equal(Bytes a, const void *ptr, size_t len)
{
    return a.len == len && (len == 0 || memcmp(a.ptr, ptr, len) == 0);
}

// Copies all bytes to memory that has room for them and does not overlap them.
static inline void bytes_copy(void *to, Bytes from)
{
    if (from.len)
        memcpy(to, from.ptr, from.len);
}

#endif // BASE_STR_H
