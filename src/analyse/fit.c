// SPDX-License-Identifier: Apache-2.0
// Cuts names and other text to columns.

#include "analyse/fit.h"

Str text_prefix(Str text, size_t max)
{
    if (text.len <= max)
        return text;
    size_t end = max;
    while (end > 0 && max - end < 4 && ((unsigned char)text.ptr[end] & 0xc0) == 0x80)
        end--;
    return str_slice(text, 0, end);
}

// The number of bytes at the start of `s` that fit `columns`. `s` is escaped, so that each code
// point has 0 to 2 columns.
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

// The start of the longest suffix that fits `columns`.
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

// The longest suffix of `name` that starts after a "::" outside of brackets and fits `columns`;
// empty when there is none.
static Str fitting_tail(Str name, size_t columns)
{
    size_t depth = 0;
    for (size_t i = 0; i + 2 < name.len; i++) {
        char c = name.ptr[i];
        if (c == '<' || c == '(' || c == '{' || c == '[')
            depth++;
        else if ((c == '>' || c == ')' || c == '}' || c == ']') && depth > 0)
            depth--;
        if (depth > 0 || c != ':' || name.ptr[i + 1] != ':')
            continue;
        Str tail = str_slice(name, i + 2, name.len);
        // The name of a closure or of a call operator alone would say nothing.
        bool says_something = tail.ptr[0] != '{' && !str_starts_with(tail, STR("operator()"));
        if (says_something && str_columns(tail) <= columns)
            return tail;
    }
    return str_slice(name, 0, 0);
}

// Whether a shorter form has the type of the method and fits. `form` is scratch space.
static bool method_fits(Str name, size_t columns, StrBuf *form)
{
    for (int with_trait = 1; with_trait >= 0; with_trait--) {
        strbuf_clear(form);
        if (name_add_method(name, with_trait, form) && str_columns(strbuf_str(form)) <= columns)
            return true;
    }
    strbuf_clear(form);
    return false;
}

void name_add_fitting(StrBuf *out, Str name, size_t columns)
{
    StrBuf form = {0};
    name = text_prefix(name, NAME_SHOWN_MAX);
    for (NameLength length = NAME_FULL; length <= NAME_NO_TEMPLATES; length++) {
        strbuf_clear(&form);
        name_shorten(name, length, &form);
        if (str_columns(strbuf_str(&form)) <= columns)
            break;
    }
    Str fitting = strbuf_str(&form);
    StrBuf last = {0};
    if (str_columns(fitting) > columns) {
        fitting =
            method_fits(name, columns, &last) ? strbuf_str(&last) : fitting_tail(fitting, columns);
        if (fitting.len == 0) {
            name_shorten(name, NAME_LAST, &last);
            fitting = strbuf_str(&last);
        }
    }
    text_add_fitting(out, fitting, columns, true);
    strbuf_deinit(&last);
    strbuf_deinit(&form);
}

// The columns of what stands in the last line, without the codes of colours.
static size_t columns_taken(const StrBuf *out)
{
    size_t from = out->len, columns = 0;
    while (from > 0 && out->ptr[from - 1] != '\n')
        from--;
    Str rest = str_slice(strbuf_str(out), from, out->len), part;
    for (bool is_first = true; str_next_part(&rest, '\x1b', &part); is_first = false) {
        size_t code = is_first ? SIZE_MAX : str_find_char(part, 'm');
        columns += str_columns(str_slice(part, code == SIZE_MAX ? 0 : code + 1, part.len));
    }
    return columns;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// The groups of three digits at the start that belong to a number before them: "1 048 576".
static size_t digit_groups(Str rest)
{
    size_t taken = 0;
    while (rest.len >= taken + 3 && is_digit(rest.ptr[taken]) && is_digit(rest.ptr[taken + 1]) &&
           is_digit(rest.ptr[taken + 2]) && (rest.len == taken + 3 || rest.ptr[taken + 3] == ' '))
        taken += rest.len == taken + 3 ? 3 : 4;
    return taken;
}

// The next word; a number is one with its groups of digits.
static bool next_word(Str *rest, Str *word)
{
    if (!str_next_part(rest, ' ', word))
        return false;
    size_t more = word->len && is_digit(word->ptr[word->len - 1]) ? digit_groups(*rest) : 0;
    if (more) {
        Str whole = str_over(word->ptr, word->len + 1 + more);
        *word = str_trim(whole);
        *rest = str_slice(*rest, more, rest->len);
    }
    return true;
}

void text_add_wrapped(StrBuf *out, Str text, size_t columns_max, size_t indent)
{
    Str rest = text, word;
    size_t at = columns_taken(out);
    bool is_begun = false;
    while (next_word(&rest, &word)) {
        if (is_begun && at + 1 + str_columns(word) > columns_max) {
            strbuf_add_char(out, '\n');
            strbuf_add_repeated(out, ' ', indent);
            at = indent;
            is_begun = false;
            if (str_equal(word, STR("·"))) // a separator does not begin a line
                continue;
        }
        if (is_begun) {
            strbuf_add_char(out, ' ');
            at++;
        }
        at += text_add_fitting(out, word, columns_max > at ? columns_max - at : 1, false);
        is_begun |= word.len > 0;
    }
    if (is_begun)
        strbuf_add_char(out, '\n');
}
