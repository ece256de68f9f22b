// SPDX-License-Identifier: Apache-2.0
// Takes the values of a JSON document in their order.

#include "tracefile/json_stream.h"

#include "base/json.h"

void json_stream_fail(JsonStream *s, const char *why)
{
    if (!s->bad)
        s->bad = why;
}

char json_stream_peek(JsonStream *s)
{
    while (s->at < s->text.len && (s->text.ptr[s->at] == ' ' || s->text.ptr[s->at] == '\n' ||
                                   s->text.ptr[s->at] == '\r' || s->text.ptr[s->at] == '\t'))
        s->at++;
    return s->at < s->text.len ? s->text.ptr[s->at] : '\0';
}

void json_stream_take(JsonStream *s, char c)
{
    if (json_stream_peek(s) != c)
        json_stream_fail(s, "another value was expected");
    s->at++;
}

// The next item of an array or object whose bracket is taken: false behind the last.
bool json_stream_more(JsonStream *s, bool *any, char close)
{
    if (s->bad)
        return false;
    if (json_stream_peek(s) == close) {
        s->at++;
        return false;
    }
    if (*any)
        json_stream_take(s, ',');
    *any = true;
    return !s->bad;
}

// The text between the quotes, escapes and all.
static Str take_raw(JsonStream *s)
{
    json_stream_take(s, '"');
    size_t start = s->at;
    while (s->at < s->text.len && s->text.ptr[s->at] != '"')
        s->at += s->text.ptr[s->at] == '\\' ? 2 : 1;
    if (s->at >= s->text.len) {
        json_stream_fail(s, "a string is not closed");
        return STR("");
    }
    return str_slice(s->text, start, s->at++);
}

Str json_stream_str(JsonStream *s)
{
    size_t start = s->at;
    Str raw = take_raw(s);
    if (s->bad || str_find_char(raw, '\\') == SIZE_MAX)
        return raw;
    // Rare: the whole reader knows the escapes.
    JsonValue *v;
    Error err;
    if (json_parse(s->scratch, str_slice(s->text, start, s->at), &v, &err))
        return v->text;
    json_stream_fail(s, "a string has an escape that JSON does not have");
    return STR("");
}

Str json_stream_key(JsonStream *s)
{
    json_stream_peek(s);
    Str key = take_raw(s);
    json_stream_take(s, ':');
    return key;
}

uint64_t json_stream_u64(JsonStream *s)
{
    uint64_t v = 0;
    json_stream_peek(s);
    size_t start = s->at;
    while (s->at < s->text.len && s->text.ptr[s->at] >= '0' && s->text.ptr[s->at] <= '9')
        s->at++;
    if (!str_parse_u64(str_slice(s->text, start, s->at), 10, &v))
        json_stream_fail(s, "a number was expected");
    return v;
}

bool json_stream_bool(JsonStream *s)
{
    bool v = json_stream_peek(s) == 't';
    Str word = v ? STR("true") : STR("false");
    Str rest = str_slice(s->text, s->at, s->text.len);
    if (!str_starts_with(rest, word)) {
        json_stream_fail(s, "true or false was expected");
        if (!str_starts_with(word, rest)) // else it is cut
            return false;
    }
    s->at += word.len;
    return v;
}

// Passes over any value; brackets are counted, not matched.
void json_stream_skip(JsonStream *s)
{
    size_t depth = 0;
    do {
        char c = json_stream_peek(s);
        if (c == '"') {
            take_raw(s);
        } else if (c == '{' || c == '[') {
            depth++;
            s->at++;
        } else if ((c == '}' || c == ']') && depth) {
            depth--;
            s->at++;
        } else if (c == '\0') {
            json_stream_fail(s, "the document ends within a value");
        } else if ((c == ',' || c == ':') && depth) {
            s->at++;
        } else {
            size_t start = s->at;
            while (s->at < s->text.len && !strchr(",:]}[{\" \t\r\n", s->text.ptr[s->at]))
                s->at++;
            if (s->at == start)
                json_stream_fail(s, "a value was expected");
        }
    } while (depth && !s->bad);
}
