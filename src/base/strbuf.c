// SPDX-License-Identifier: Apache-2.0
// A growing byte buffer for output, and escapes for several kinds of output.

#include "base/strbuf.h"

#include "base/unshown.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

void strbuf_deinit(StrBuf *b)
{
    heap_free(b->ptr);
    *b = (StrBuf){0};
}

char *strbuf_reserve(StrBuf *b, size_t more)
{
    if (b->cap - b->len < more) {
        size_t need = b->len + more;
        assert(need >= more);
        size_t cap = MAX(b->cap * 2, (size_t)256);
        b->cap = MAX(cap, need);
        b->ptr = heap_grow(b->ptr, b->cap);
    }
    return b->ptr + b->len;
}

// Gives the pages that lie whole in `bytes` from `ptr` on back to the system: what they hold is
// not needed any more.
static void forget_pages(char *ptr, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = align_up((uintptr_t)ptr, page), to = align_down((uintptr_t)ptr + bytes, page);
    int saved = errno; // when it fails, the pages stay until the buffer is freed
    if (from < to)
        madvise(ptr + (from - (uintptr_t)ptr), to - from, MADV_DONTNEED);
    errno = saved;
}

Str strbuf_move(Arena *arena, StrBuf *b)
{
    enum { PIECE = 8 << 20 };
    char *to = arena_alloc(arena, b->len + 1, 8);
    for (size_t at = 0; at < b->len; at += PIECE) {
        size_t len = MIN(b->len - at, (size_t)PIECE);
        memcpy(to + at, b->ptr + at, len);
        if (b->len > PIECE)
            forget_pages(b->ptr + at, len);
    }
    Str moved = str_over(to, b->len);
    strbuf_deinit(b);
    return moved;
}

void strbuf_add(StrBuf *b, Str s)
{
    if (s.len == 0)
        return;
    memcpy(strbuf_reserve(b, s.len), s.ptr, s.len);
    b->len += s.len;
}

void strbuf_add_bytes(StrBuf *b, Bytes s)
{
    strbuf_add(b, str_from_bytes(s));
}

void strbuf_add_repeated(StrBuf *b, char c, size_t n)
{
    if (n == 0)
        return;
    memset(strbuf_reserve(b, n), c, n);
    b->len += n;
}

void strbuf_add_u64(StrBuf *b, uint64_t value)
{
    b->len = (size_t)(str_put_u64(strbuf_reserve(b, 20), value) - b->ptr);
}

void strbuf_vprintf(StrBuf *b, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    size_t room = b->cap - b->len;
    int len = vsnprintf(b->ptr ? b->ptr + b->len : NULL, room, fmt, args);
    assert(len >= 0);
    if ((size_t)len >= room) {
        strbuf_reserve(b, (size_t)len + 1);
        vsnprintf(b->ptr + b->len, (size_t)len + 1, fmt, again);
    }
    va_end(again);
    b->len += (size_t)len;
}

void strbuf_printf(StrBuf *b, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    strbuf_vprintf(b, fmt, args);
    va_end(args);
}

uint32_t utf8_next(Str s, size_t *at)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t *p = (const uint8_t *)s.ptr + *at;
    size_t left = s.len - *at;
    uint8_t first = p[0];
    size_t len = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (len == 0 || first > 0xf4 || len > left) {
        *at += 1;
        return 0xfffd;
    }
    uint32_t code = len == 1 ? first : first & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            *at += 1;
            return 0xfffd;
        }
        code = code << 6 | (p[i] & 0x3fu);
    }
    if (code < least[len] || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) {
        *at += 1;
        return 0xfffd;
    }
    *at += len;
    return code;
}

static void add_utf8(StrBuf *b, uint32_t code)
{
    char *p = strbuf_reserve(b, 4);
    size_t n = 0;
    if (code < 0x80) {
        p[n++] = (char)code;
    } else if (code < 0x800) {
        p[n++] = (char)(0xc0 | code >> 6);
        p[n++] = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        p[n++] = (char)(0xe0 | code >> 12);
        p[n++] = (char)(0x80 | (code >> 6 & 0x3f));
        p[n++] = (char)(0x80 | (code & 0x3f));
    } else {
        p[n++] = (char)(0xf0 | code >> 18);
        p[n++] = (char)(0x80 | (code >> 12 & 0x3f));
        p[n++] = (char)(0x80 | (code >> 6 & 0x3f));
        p[n++] = (char)(0x80 | (code & 0x3f));
    }
    b->len += n;
}

// The printable ASCII characters that are escaped in one kind of output.
typedef struct Touched {
    bool at[128];
} Touched;

static const Touched by_terminal = {{false}}; // only control characters
static const Touched by_xml = {
    {['&'] = true, ['<'] = true, ['>'] = true, ['"'] = true, ['\''] = true}};
static const Touched by_json = {{['"'] = true, ['\\'] = true, ['<'] = true}};
static const Touched by_csv = {{['"'] = true}};
static const Touched by_markdown = {{['|'] = true,
                                     ['<'] = true,
                                     ['\\'] = true,
                                     ['`'] = true,
                                     ['['] = true,
                                     ['*'] = true,
                                     ['_'] = true}};

static size_t plain_run(Str s, size_t at, const Touched *touched)
{
    size_t end = at;
    while (end < s.len) {
        unsigned char c = (unsigned char)s.ptr[end];
        if (c < 0x20 || c >= 0x7f || touched->at[c])
            break;
        end++;
    }
    return end - at;
}

static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

// Whether a character reorders those after it: marks, embeddings, overrides, isolates.
static bool is_bidi_control(uint32_t code)
{
    return code == 0x061c || code == 0x200e || code == 0x200f ||
           (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

static bool is_line_separator(uint32_t code)
{
    return code == 0x2028 || code == 0x2029;
}

size_t str_unshown(Str s, size_t at)
{
    unsigned char c = (unsigned char)s.ptr[at];
    size_t end = at;
    if (c >= 0x20 && c < 0x7f)
        return 0;
    uint32_t code = utf8_next(s, &end);
    bool is_invalid = code == 0xfffd && end == at + 1;
    return is_invalid || is_control(code) || is_bidi_control(code) || is_line_separator(code)
               ? end - at
               : 0;
}

int str_unshown_or_shown(Str s, size_t at)
{
    size_t unshown = str_unshown(s, at), end = at;
    if (unshown)
        return (int)unshown;
    (void)utf8_next(s, &end);
    return -(int)(end - at);
}

// Copies characters that need no escape, and gives every other code point to `add`.
static void add_escaped(StrBuf *b, Str s, const Touched *touched,
                        void (*add)(StrBuf *b, uint32_t code))
{
    for (size_t at = 0; at < s.len;) {
        size_t run = plain_run(s, at, touched);
        strbuf_add(b, str_slice(s, at, at + run));
        at += run;
        if (at < s.len)
            add(b, utf8_next(s, &at));
    }
}

static void add_terminal_code(StrBuf *b, uint32_t code)
{
    if (is_control(code))
        strbuf_printf(b, "\\x%02x", code);
    else if (is_bidi_control(code) || is_line_separator(code))
        strbuf_printf(b, "\\u{%x}", code);
    else
        add_utf8(b, code);
}

static void add_xml_code(StrBuf *b, uint32_t code)
{
    switch (code) {
    case '&':
        strbuf_add(b, STR("&amp;"));
        break;
    case '<':
        strbuf_add(b, STR("&lt;"));
        break;
    case '>':
        strbuf_add(b, STR("&gt;"));
        break;
    case '"':
        strbuf_add(b, STR("&quot;"));
        break;
    case '\'':
        strbuf_add(b, STR("&#39;"));
        break;
    default: // XML 1.0 cannot contain most control characters
        if (is_control(code) || code == 0xfffe || code == 0xffff)
            strbuf_printf(b, "\\x%02x", code);
        else if (is_bidi_control(code) || is_line_separator(code))
            strbuf_printf(b, "\\u{%x}", code);
        else
            add_utf8(b, code);
    }
}

static void add_json_code(StrBuf *b, uint32_t code)
{
    switch (code) {
    case '"':
        strbuf_add(b, STR("\\\""));
        break;
    case '\\':
        strbuf_add(b, STR("\\\\"));
        break;
    case '\n':
        strbuf_add(b, STR("\\n"));
        break;
    case '\r':
        strbuf_add(b, STR("\\r"));
        break;
    case '\t':
        strbuf_add(b, STR("\\t"));
        break;
    default: // '<' is escaped so that JSON can be inside an HTML script
        if (is_control(code) || code == '<' || is_line_separator(code) || is_bidi_control(code))
            strbuf_printf(b, "\\u%04x", code);
        else
            add_utf8(b, code);
    }
}

void strbuf_add_terminal(StrBuf *b, Str s)
{
    add_escaped(b, s, &by_terminal, add_terminal_code);
}

void strbuf_add_xml(StrBuf *b, Str s)
{
    add_escaped(b, s, &by_xml, add_xml_code);
}

static void add_markdown_code(StrBuf *b, uint32_t code)
{
    if (code == '\t' || code == '\n' || code == '\r') {
        strbuf_add_char(b, ' ');
        return;
    }
    if (is_control(code)) {
        strbuf_printf(b, "\\\\x%02x", code);
        return;
    }
    if (is_bidi_control(code) || is_line_separator(code)) {
        strbuf_printf(b, "\\\\u{%x}", code);
        return;
    }
    if (code < 0x80 && by_markdown.at[code])
        strbuf_add_char(b, '\\');
    add_utf8(b, code);
}

void strbuf_add_markdown(StrBuf *b, Str s)
{
    add_escaped(b, s, &by_markdown, add_markdown_code);
}

void strbuf_add_json(StrBuf *b, Str s)
{
    add_escaped(b, s, &by_json, add_json_code);
}

static void add_csv_code(StrBuf *b, uint32_t code)
{
    if (code == '"')
        strbuf_add(b, STR("\"\""));
    else if (code == '\n' || code == '\t')
        strbuf_add_char(b, (char)code);
    else
        add_terminal_code(b, code);
}

// Spreadsheets compute a cell that begins with one of these. A number is none.
static bool is_formula(Str s)
{
    double number;
    return s.len && str_find_char(STR("=+-@\t\r"), s.ptr[0]) != SIZE_MAX &&
           !str_parse_double(s, &number);
}

void strbuf_add_csv(StrBuf *b, Str s)
{
    bool quote = false;
    for (size_t i = 0; i < s.len; i++)
        quote |= s.ptr[i] == ',' || s.ptr[i] == '"' || s.ptr[i] == '\n' || s.ptr[i] == '\r';
    if (quote)
        strbuf_add_char(b, '"');
    if (is_formula(s))
        strbuf_add_char(b, '\'');
    add_escaped(b, s, &by_csv, add_csv_code);
    if (quote)
        strbuf_add_char(b, '"');
}

typedef struct CodeRange {
    uint32_t lo, hi;
} CodeRange;

static bool in_ranges(const CodeRange *ranges, size_t n, uint32_t code)
{
    for (size_t i = 0; i < n; i++)
        if (code >= ranges[i].lo && code <= ranges[i].hi)
            return true;
    return false;
}

static size_t code_columns(uint32_t code)
{
    static const CodeRange zero[] = {
        {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},
        {0x200b, 0x200d}, {0x20d0, 0x20f0}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
    };
    static const CodeRange wide[] = {
        {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xac00, 0xd7a3},
        {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
        {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
    };
    if (code < 0x300)
        return is_control(code) ? 4 : 1;
    if (in_ranges(zero, ARRAY_LEN(zero), code))
        return 0;
    if (is_bidi_control(code))
        return 8;
    return in_ranges(wide, ARRAY_LEN(wide), code) ? 2 : 1;
}

size_t str_columns(Str s)
{
    size_t columns = 0;
    for (size_t at = 0; at < s.len;)
        columns += code_columns(utf8_next(s, &at));
    return columns;
}

// ---- Shell words -----------------------------------------------------------

static bool is_plain_word(Str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char ch = s.ptr[i];
        bool plain = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
                     (ch >= '0' && ch <= '9') || (ch && strchr("_-+=./,:@%", ch));
        if (!plain)
            return false;
    }
    return s.len > 0;
}

void strbuf_add_shell_word(StrBuf *b, Str s)
{
    if (is_plain_word(s)) {
        strbuf_add(b, s);
        return;
    }
    strbuf_add_char(b, '\'');
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '\'')
            strbuf_add(b, STR("'\\''"));
        else
            strbuf_add_char(b, s.ptr[i]);
    }
    strbuf_add_char(b, '\'');
}

void strbuf_add_base64(StrBuf *out, Str bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *to = strbuf_reserve(out, (bytes.len + 2) / 3 * 4);
    const uint8_t *from = (const uint8_t *)bytes.ptr;
    size_t i = 0;
    for (; i + 3 <= bytes.len; i += 3) {
        uint32_t v = (uint32_t)from[i] << 16 | (uint32_t)from[i + 1] << 8 | from[i + 2];
        *to++ = digits[v >> 18];
        *to++ = digits[v >> 12 & 63];
        *to++ = digits[v >> 6 & 63];
        *to++ = digits[v & 63];
    }
    if (i < bytes.len) {
        bool two = bytes.len - i == 2;
        uint32_t v = (uint32_t)from[i] << 16 | (two ? (uint32_t)from[i + 1] << 8 : 0);
        *to++ = digits[v >> 18];
        *to++ = digits[v >> 12 & 63];
        *to++ = two ? digits[v >> 6 & 63] : '=';
        *to++ = '=';
    }
    out->len += (bytes.len + 2) / 3 * 4;
}
