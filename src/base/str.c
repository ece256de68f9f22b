// SPDX-License-Identifier: Apache-2.0
// Borrowed text and bytes: searching, splitting, parsing numbers, hashing.

#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

int str_compare(Str a, Str b)
{
    size_t len = MIN(a.len, b.len);
    int order = len ? memcmp(a.ptr, b.ptr, len) : 0;
    if (order != 0)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

bool str_starts_with(Str s, Str prefix)
{
    return s.len >= prefix.len && str_equal(str_slice(s, 0, prefix.len), prefix);
}

bool str_ends_with(Str s, Str suffix)
{
    return s.len >= suffix.len && str_equal(str_slice(s, s.len - suffix.len, s.len), suffix);
}

size_t str_find(Str s, Str needle)
{
    if (needle.len == 0)
        return 0;
    const char *hit = s.len ? memmem(s.ptr, s.len, needle.ptr, needle.len) : NULL;
    return hit ? (size_t)(hit - s.ptr) : SIZE_MAX;
}

size_t str_find_char(Str s, char c)
{
    const char *hit = s.len ? memchr(s.ptr, c, s.len) : NULL;
    return hit ? (size_t)(hit - s.ptr) : SIZE_MAX;
}

size_t str_find_last_char(Str s, char c)
{
    const char *hit = s.len ? memrchr(s.ptr, c, s.len) : NULL;
    return hit ? (size_t)(hit - s.ptr) : SIZE_MAX;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

Str str_trim(Str s)
{
    while (s.len && is_space(s.ptr[0]))
        s = str_slice(s, 1, s.len);
    while (s.len && is_space(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

Str str_base_name(Str path)
{
    size_t slash = str_find_last_char(path, '/');
    return slash == SIZE_MAX ? path : str_slice(path, slash + 1, path.len);
}

Str str_dir_name(Str path)
{
    size_t slash = str_find_last_char(path, '/');
    if (slash == SIZE_MAX)
        return str_slice(path, 0, 0);
    return str_slice(path, 0, slash == 0 ? 1 : slash);
}

bool str_next_part(Str *rest, char sep, Str *part)
{
    if (rest->len == 0)
        return false;
    size_t at = str_find_char(*rest, sep);
    if (at == SIZE_MAX) {
        *part = *rest;
        *rest = str_slice(*rest, rest->len, rest->len);
    } else {
        *part = str_slice(*rest, 0, at);
        *rest = str_slice(*rest, at + 1, rest->len);
    }
    return true;
}

bool str_next_word(Str *rest, Str *word)
{
    size_t start = 0, end;
    while (start < rest->len && (rest->ptr[start] == ' ' || rest->ptr[start] == '\n'))
        start++;
    for (end = start; end < rest->len && rest->ptr[end] != ' ' && rest->ptr[end] != '\n';)
        end++;
    *word = str_slice(*rest, start, end);
    *rest = str_slice(*rest, end, rest->len);
    return end > start;
}

bool str_next_line(Str *rest, Str *line)
{
    if (!str_next_part(rest, '\n', line))
        return false;
    if (line->len && line->ptr[line->len - 1] == '\r')
        line->len--;
    return true;
}

bool str_split(Str s, char sep, Str *head, Str *tail)
{
    size_t at = str_find_char(s, sep);
    if (at == SIZE_MAX)
        return false;
    *head = str_slice(s, 0, at);
    *tail = str_slice(s, at + 1, s.len);
    return true;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 255;
}

bool str_parse_u64(Str s, int base, uint64_t *ret)
{
    if (base == 0) {
        bool hex = str_starts_with(s, STR("0x")) || str_starts_with(s, STR("0X"));
        base = hex ? 16 : 10;
        if (hex)
            s = str_slice(s, 2, s.len);
    }
    if (s.len == 0)
        return false;
    uint64_t value = 0;
    for (size_t i = 0; i < s.len; i++) {
        int digit = digit_value(s.ptr[i]);
        if (digit >= base)
            return false;
        if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value))
            return false;
    }
    *ret = value;
    return true;
}

bool str_parse_i64(Str s, int64_t *ret)
{
    bool negative = s.len && s.ptr[0] == '-';
    uint64_t value;
    if (!str_parse_u64(negative ? str_slice(s, 1, s.len) : s, 10, &value))
        return false;
    if (value > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return false;
    *ret = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

bool str_parse_double(Str s, double *ret)
{
    char text[64];
    if (s.len == 0 || s.len >= sizeof(text) || is_space(s.ptr[0]))
        return false;
    memcpy(text, s.ptr, s.len);
    text[s.len] = '\0';
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end != text + s.len || errno == ERANGE)
        return false;
    *ret = value;
    return true;
}

// Matches one pattern element against one byte; `*next` becomes the element after it.
static bool glob_element_matches(Str pattern, size_t at, char c, size_t *next)
{
    char p = pattern.ptr[at];
    *next = at + 1;
    if (p == '?')
        return true;
    if (p != '[')
        return p == c;
    size_t i = at + 1;
    bool negate = i < pattern.len && (pattern.ptr[i] == '!' || pattern.ptr[i] == '^');
    if (negate)
        i++;
    bool hit = false;
    size_t first = i;
    while (i < pattern.len && (pattern.ptr[i] != ']' || i == first)) {
        char lo = pattern.ptr[i];
        char hi = lo;
        if (i + 2 < pattern.len && pattern.ptr[i + 1] == '-' && pattern.ptr[i + 2] != ']') {
            hi = pattern.ptr[i + 2];
            i += 2;
        }
        hit |= lo <= c && c <= hi;
        i++;
    }
    if (i >= pattern.len) // no closing bracket: a plain '['
        return c == '[';
    *next = i + 1;
    return hit != negate;
}

bool str_glob_match(Str pattern, Str text)
{
    size_t p = 0;
    size_t t = 0;
    size_t star = SIZE_MAX;
    size_t star_text = 0;
    while (t < text.len) {
        size_t next;
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            star_text = t;
        } else if (p < pattern.len && glob_element_matches(pattern, p, text.ptr[t], &next)) {
            p = next;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++star_text;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*')
        p++;
    return p == pattern.len;
}

uint64_t str_hash(Str s)
{
    return bytes_hash(bytes_from_str(s));
}

uint64_t bytes_hash(Bytes b)
{
    return XXH3_64bits(b.ptr ? b.ptr : (const uint8_t *)"", b.len);
}

uint64_t bytes_hash_seeded(Bytes b, uint64_t seed)
{
    return XXH3_64bits_withSeed(b.ptr ? b.ptr : (const uint8_t *)"", b.len, seed);
}
