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

static inline Str str_over(const char *ptr, size_t len)
{
    return (Str){ptr, len};
}

// Borrows a C string; NULL gives the empty Str.
static inline Str str_from_c(const char *c_str)
{
    return (Str){c_str, c_str ? strlen(c_str) : 0};
}

static inline bool str_equal(Str a, Str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline Str str_from_bytes(Bytes b)
{
    return (Str){(const char *)b.ptr, b.len};
}

static inline Bytes bytes_from_str(Str s)
{
    return (Bytes){(const uint8_t *)s.ptr, s.len};
}

static inline Bytes bytes_over(const void *ptr, size_t len)
{
    return (Bytes){(const uint8_t *)ptr, len};
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

static inline Bytes bytes_slice(Bytes b, size_t from, size_t to)
{
    return bytes_from_str(str_slice(str_from_bytes(b), from, to));
}

// Byte order, shorter first among equals: <0, 0, >0.
int str_compare(Str a, Str b);
bool str_starts_with(Str s, Str prefix);
bool str_ends_with(Str s, Str suffix);

// Position of the first or last match, or SIZE_MAX.
size_t str_find(Str s, Str needle);
size_t str_find_char(Str s, char c);
size_t str_find_last_char(Str s, char c);

Str str_trim(Str s); // without ASCII white space at both ends

// The last component of a path ("/a/b.c" -> "b.c") and what stands before it
// without the slash ("/a"; "" when there is no slash; "/" for "/b").
Str str_base_name(Str path);
Str str_dir_name(Str path);

// Takes the text up to `sep` off the front of `rest` (and drops the separator).
// False when `rest` is used up; a last part without separator is returned.
bool str_next_part(Str *rest, char sep, Str *part);
// The same for lines; a "\r" before the "\n" is dropped too.
bool str_next_line(Str *rest, Str *line);
// Splits at the first `sep`. False when there is none; outputs are then untouched.
bool str_split(Str s, char sep, Str *head, Str *tail);

// The whole of `s` must be a number. `base` is 10 or 16; base 0 takes "0x…" or
// decimal. No sign, no white space; overflow is false.
MUST_CHECK bool str_parse_u64(Str s, int base, uint64_t *ret);
MUST_CHECK bool str_parse_i64(Str s, int64_t *ret);
MUST_CHECK bool str_parse_double(Str s, double *ret);

// Shell-style match: '*' any text, '?' one byte, '[…]' a set. Linear in
// practice: only the last '*' is retried.
bool str_glob_match(Str pattern, Str text);

// XXH3, 64 bits. Stable across machines: the store and the caches rely on it.
uint64_t str_hash(Str s);
uint64_t bytes_hash(Bytes b);
uint64_t bytes_hash_seeded(Bytes b, uint64_t seed);

static inline bool bytes_equal(Bytes a, const void *ptr, size_t len)
{
    return a.len == len && (len == 0 || memcmp(a.ptr, ptr, len) == 0);
}

static inline void bytes_copy(void *to, Bytes from)
{
    if (from.len)
        memcpy(to, from.ptr, from.len);
}

#endif // BASE_STR_H
