// SPDX-License-Identifier: Apache-2.0
// Shortening demangled names.

#include "analyse/name.h"

#include <string.h>

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || (unsigned char)c >= 0x80;
}

static bool starts_at(Str s, size_t at, const char *word)
{
    size_t len = strlen(word);
    return s.len - at >= len && memcmp(s.ptr + at, word, len) == 0;
}

// The end of the bracketed group that opens at `at`; s.len when it never closes.
// "->" inside does not close "<".
static size_t group_end(Str s, size_t at)
{
    size_t depth = 0;
    for (size_t i = at; i < s.len; i++) {
        char c = s.ptr[i];
        if (c == '-' && i + 1 < s.len && s.ptr[i + 1] == '>')
            i++;
        else if (c == '(' || c == '<' || c == '{' || c == '[')
            depth++;
        else if ((c == ')' || c == '>' || c == '}' || c == ']') && --depth == 0)
            return i + 1;
    }
    return s.len;
}

// The end of "operator…" that starts at `at`, or `at` when none does.
static size_t operator_end(Str s, size_t at)
{
    if (!starts_at(s, at, "operator") || (at > 0 && is_word(s.ptr[at - 1])))
        return at;
    size_t i = at + strlen("operator");
    if (i < s.len && is_word(s.ptr[i]))
        return at;
    static const char *const symbols[] = {
        "()",  "[]", " new[]", " delete[]", " new", " delete", "<=>", "<<=", ">>=",
        "->*", "->", "<<",     ">>",        "<=",   ">=",      "<",   ">",
    };
    for (size_t k = 0; k < ARRAY_LEN(symbols); k++)
        if (starts_at(s, i, symbols[k]))
            return i + strlen(symbols[k]);
    if (i < s.len && s.ptr[i] == ' ') { // a conversion: up to its parameters
        while (i < s.len && s.ptr[i] != '(')
            i = s.ptr[i] == '<' ? group_end(s, i) : i + 1;
        return i;
    }
    while (i < s.len && s.ptr[i] != '(' && !is_word(s.ptr[i]) && s.ptr[i] != ' ' && s.ptr[i] != '<')
        i++;
    return i;
}

// "::h" and 16 hex digits: what Rust's legacy mangling adds.
static Str without_rust_hash(Str s)
{
    if (s.len < 19 || memcmp(s.ptr + s.len - 19, "::h", 3) != 0)
        return s;
    for (size_t i = s.len - 16; i < s.len; i++)
        if (!((s.ptr[i] >= '0' && s.ptr[i] <= '9') || (s.ptr[i] >= 'a' && s.ptr[i] <= 'f')))
            return s;
    return str_slice(s, 0, s.len - 19);
}

static void add_no_args(StrBuf *out, Str s, bool drop_templates);

// A Rust qualified path "<A as B>" or an inherent "<A>": inner templates go too.
static void add_qualified(StrBuf *out, Str s, size_t from, size_t to, bool drop_templates)
{
    if (!drop_templates || to < from + 2) {
        strbuf_add(out, str_slice(s, from, to));
        return;
    }
    Str inner = str_slice(s, from + 1, to - 1);
    strbuf_add_char(out, '<');
    for (size_t i = 0; i < inner.len;) {
        if (inner.ptr[i] == '<') {
            i = group_end(inner, i);
            continue;
        }
        strbuf_add_char(out, inner.ptr[i++]);
    }
    strbuf_add_char(out, '>');
}

// "{lambda(int)#1}" -> "{lambda#1}" when templates go.
static void add_braced(StrBuf *out, Str s, size_t from, size_t to, bool drop_templates)
{
    for (size_t i = from; i < to;) {
        if (drop_templates && s.ptr[i] == '(') {
            i = MIN(group_end(s, i), to);
            continue;
        }
        strbuf_add_char(out, s.ptr[i++]);
    }
}

static void add_no_args(StrBuf *out, Str s, bool drop_templates)
{
    size_t start = out->len; // of what may still turn out to be a return type
    for (size_t i = 0; i < s.len;) {
        size_t end = operator_end(s, i);
        bool at_segment = out->len == start || out->ptr[out->len - 1] == ':';
        if (end > i) {
            strbuf_add(out, str_slice(s, i, end));
            i = end;
            continue;
        }
        switch (s.ptr[i]) {
        case '(':
            if (starts_at(s, i, "(anonymous namespace)")) {
                end = i + strlen("(anonymous namespace)");
                strbuf_add(out, str_slice(s, i, end));
                i = end;
            } else if (str_ends_with(str_slice(strbuf_str(out), start, out->len),
                                     STR("decltype"))) {
                i = group_end(s, i);
            } else {
                // The parameters: what follows is "const", "[clone …]", or, for a
                // function's local entity, "::name".
                end = group_end(s, i);
                while (starts_at(s, end, " const") || starts_at(s, end, " volatile"))
                    end += s.ptr[end + 1] == 'c' ? strlen(" const") : strlen(" volatile");
                if (!starts_at(s, end, "::"))
                    return;
                i = end;
            }
            break;
        case '<':
            end = group_end(s, i);
            if (at_segment)
                add_qualified(out, s, i, end, drop_templates);
            else if (!drop_templates)
                strbuf_add(out, str_slice(s, i, end));
            i = end;
            break;
        case '{':
            end = group_end(s, i);
            add_braced(out, s, i, end, drop_templates);
            i = end;
            break;
        case '[': // "[clone .part.0]", "[abi:cxx11]"
            i = group_end(s, i);
            break;
        case ' ': // the end of a return type, of "non-virtual thunk to" …
            // "operator<< <…>" is one name; before "[clone …]" the name is over.
            if (i + 1 < s.len && s.ptr[i + 1] != '[' && s.ptr[i + 1] != '<')
                out->len = start;
            i++;
            break;
        default:
            strbuf_add_char(out, s.ptr[i++]);
        }
    }
}

// Where the last `segments` of `s` begin. A segment in braces does not count.
static size_t tail_start(Str s, unsigned segments)
{
    size_t starts[64]; // of segments, as a ring
    size_t count = 0;
    starts[count++] = 0;
    for (size_t i = 0; i < s.len;) {
        size_t end = operator_end(s, i);
        if (end > i) {
            i = end;
        } else if (s.ptr[i] == '<' || s.ptr[i] == '{' || s.ptr[i] == '(') {
            i = group_end(s, i);
        } else if (starts_at(s, i, "::")) {
            i += 2;
            starts[count++ % ARRAY_LEN(starts)] = i;
        } else {
            i++;
        }
    }
    size_t oldest = count > ARRAY_LEN(starts) ? count - ARRAY_LEN(starts) : 0;
    for (size_t k = count; k-- > oldest;) {
        size_t at = starts[k % ARRAY_LEN(starts)];
        bool is_braced = at < s.len && s.ptr[at] == '{';
        if (!is_braced && --segments == 0)
            return at;
    }
    return starts[oldest % ARRAY_LEN(starts)];
}

void name_add(StrBuf *out, Str name, NameLevel level)
{
    name = text_prefix(name, NAME_SHOWN_MAX);
    if (level == NAME_FULL || name.len == 0 || name.ptr[0] == '[') {
        strbuf_add(out, name);
        return;
    }
    StrBuf plain = {0};
    add_no_args(&plain, without_rust_hash(name), level >= NAME_NO_TEMPLATES);
    Str s = plain.len ? strbuf_str(&plain) : name;
    if (level >= NAME_TAIL)
        s = str_slice(s, tail_start(s, level == NAME_LAST ? 1 : 2), s.len);
    strbuf_add(out, s);
    strbuf_deinit(&plain);
}

Str text_prefix(Str text, size_t max)
{
    if (text.len <= max)
        return text;
    size_t end = max;
    while (end > 0 && max - end < 4 && ((unsigned char)text.ptr[end] & 0xc0) == 0x80)
        end--;
    return str_slice(text, 0, end);
}

// How many bytes of `s` (already escaped, so each code point is 0 to 2 columns
// wide) fit `columns` from the front.
static size_t fit_front(Str s, size_t columns)
{
    size_t at = 0, used = 0;
    while (at < s.len) {
        size_t next = at;
        utf8_next(s, &next);
        used += str_columns(str_slice(s, at, next));
        if (used > columns)
            break;
        at = next;
    }
    return at;
}

// Where the longest suffix that fits `columns` begins.
static size_t fit_back(Str s, size_t columns)
{
    size_t at = s.len, used = 0;
    while (at > 0) {
        size_t before = at - 1;
        while (before > 0 && ((unsigned char)s.ptr[before] & 0xc0) == 0x80)
            before--;
        used += str_columns(str_slice(s, before, at));
        if (used > columns)
            break;
        at = before;
    }
    return at;
}

size_t text_add_fitting(StrBuf *out, Str text, size_t columns, bool keep_end)
{
    StrBuf safe = {0};
    strbuf_add_terminal(&safe, text_prefix(text, NAME_SHOWN_MAX));
    Str s = strbuf_str(&safe);
    size_t taken = str_columns(s);
    if (taken > columns) {
        size_t room = columns - 1;
        size_t back = keep_end ? (room * 3 + 4) / 5 : 0;
        size_t front_end = fit_front(s, room - back);
        size_t back_start = MAX(fit_back(s, back), front_end);
        Str front = str_slice(s, 0, front_end);
        Str tail = str_slice(s, back_start, s.len);
        strbuf_add(out, front);
        strbuf_add(out, STR("…"));
        strbuf_add(out, tail);
        taken = str_columns(front) + 1 + str_columns(tail);
    } else {
        strbuf_add(out, s);
    }
    strbuf_deinit(&safe);
    return taken;
}

void name_add_fitting(StrBuf *out, Str name, size_t columns)
{
    StrBuf form = {0};
    for (NameLevel level = NAME_FULL; level < NAME_LEVEL_COUNT; level++) {
        strbuf_clear(&form);
        name_add(&form, name, level);
        if (str_columns(strbuf_str(&form)) <= columns || level + 1 == NAME_LEVEL_COUNT) {
            text_add_fitting(out, strbuf_str(&form), columns, true);
            break;
        }
    }
    strbuf_deinit(&form);
}
