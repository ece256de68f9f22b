// SPDX-License-Identifier: Apache-2.0
// XML, tag by tag.

#include "tracefile/xml.h"

#include "base/strbuf.h"

static bool fail(Xml *x, const char *why)
{
    if (!x->bad)
        x->bad = why;
    return false;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == ':' || c == '-' || c == '.' || (c & 0x80);
}

static char peek(const Xml *x)
{
    return x->at < x->text.len ? x->text.ptr[x->at] : '\0';
}

static bool starts(const Xml *x, Str with)
{
    return str_starts_with(str_slice(x->text, x->at, x->text.len), with);
}

static void skip_space(Xml *x)
{
    while (x->at < x->text.len && is_space(x->text.ptr[x->at]))
        x->at++;
}

static bool skip_past(Xml *x, Str what)
{
    size_t at = str_find(str_slice(x->text, x->at, x->text.len), what);
    if (at == SIZE_MAX)
        return fail(x, "it is not closed");
    x->at += at + what.len;
    return true;
}

static Str take_name(Xml *x)
{
    size_t start = x->at;
    while (x->at < x->text.len && is_name(x->text.ptr[x->at]))
        x->at++;
    if (x->at == start)
        fail(x, "a name was expected");
    return str_slice(x->text, start, x->at);
}

static bool skip_doctype(Xml *x)
{
    size_t end = str_find_char(str_slice(x->text, x->at, x->text.len), '>');
    size_t inner = str_find_char(str_slice(x->text, x->at, x->text.len), '[');
    if (inner < end)
        return fail(x, "a DOCTYPE with declarations is not read");
    return skip_past(x, STR(">"));
}

// Up to the next tag; comments, instructions and CDATA are passed over.
static bool skip_to_tag(Xml *x)
{
    size_t start = x->at;
    while (x->at < x->text.len) {
        size_t tag = str_find_char(str_slice(x->text, x->at, x->text.len), '<');
        x->at = tag == SIZE_MAX ? x->text.len : x->at + tag;
        x->content = str_slice(x->text, start, x->at);
        bool ok = true;
        if (x->at == x->text.len)
            return false;
        if (starts(x, STR("<!--")))
            ok = skip_past(x, STR("-->"));
        else if (starts(x, STR("<?")))
            ok = skip_past(x, STR("?>"));
        else if (starts(x, STR("<![CDATA[")))
            ok = skip_past(x, STR("]]>"));
        else if (starts(x, STR("<!DOCTYPE")))
            ok = skip_doctype(x);
        else
            return true;
        if (!ok)
            return false;
    }
    return false;
}

static bool take_attribute(Xml *x)
{
    XmlAttribute a = {.name = take_name(x)};
    skip_space(x);
    if (peek(x) != '=')
        return fail(x, "an attribute has no value");
    x->at++;
    skip_space(x);
    char quote = peek(x);
    if (quote != '"' && quote != '\'')
        return fail(x, "an attribute's value has no quotes");
    size_t start = ++x->at;
    size_t len = str_find_char(str_slice(x->text, start, x->text.len), quote);
    if (len == SIZE_MAX)
        return fail(x, "an attribute's value is not closed");
    a.value = str_slice(x->text, start, start + len);
    x->at = start + len + 1;
    if (x->attribute_count == XML_ATTRIBUTES_MAX)
        return fail(x, "too many attributes");
    x->attributes[x->attribute_count++] = a;
    return true;
}

static bool take_end(Xml *x)
{
    x->at += 2;
    x->name = take_name(x);
    x->is_end = true;
    skip_space(x);
    if (x->bad || peek(x) != '>')
        return fail(x, "a tag is not closed");
    x->at++;
    if (x->depth == 0 || !str_equal(x->open[x->depth - 1], x->name))
        return fail(x, "an end tag without its start tag");
    x->depth--;
    return true;
}

static bool take_start(Xml *x)
{
    x->at++;
    x->name = take_name(x);
    x->is_end = false;
    for (;;) {
        skip_space(x);
        if (x->bad || peek(x) == '>' || peek(x) == '/')
            break;
        if (!take_attribute(x))
            return false;
    }
    x->is_empty = peek(x) == '/';
    x->at += x->is_empty;
    if (x->bad || peek(x) != '>')
        return fail(x, "a tag is not closed");
    x->at++;
    if (x->depth == XML_DEPTH_MAX)
        return fail(x, "elements are nested too deep");
    if (x->depth == 0 && x->seen_root)
        return fail(x, "a second root");
    x->seen_root = true;
    x->open[x->depth++] = x->name;
    return true;
}

bool xml_next(Xml *x)
{
    if (x->bad)
        return false;
    x->attribute_count = 0;
    x->content = (Str){0};
    if (x->is_empty) {
        x->is_empty = false;
        x->is_end = true;
        x->depth--;
        return true;
    }
    if (!skip_to_tag(x))
        return x->bad || x->depth == 0 ? false : fail(x, "the document ends within an element");
    return starts(x, STR("</")) ? take_end(x) : take_start(x);
}

bool xml_check(const Xml *x, Error *err)
{
    if (!x->bad)
        return true;
    return error_set(err, ERROR_FORMAT, "XML: %s at offset 0x%zx", x->bad, x->at);
}

bool xml_is_cut(const Xml *x)
{
    return x->bad && x->depth > 0 &&
           str_find_char(str_slice(x->text, x->at, x->text.len), '>') == SIZE_MAX;
}

static void add_code(StrBuf *out, uint32_t code)
{
    char *to = strbuf_reserve(out, 4);
    if (code < 0x80) {
        to[0] = (char)code;
        out->len += 1;
    } else if (code < 0x800) {
        to[0] = (char)(0xc0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3f));
        out->len += 2;
    } else if (code < 0x10000) {
        to[0] = (char)(0xe0 | code >> 12);
        to[1] = (char)(0x80 | (code >> 6 & 0x3f));
        to[2] = (char)(0x80 | (code & 0x3f));
        out->len += 3;
    } else {
        to[0] = (char)(0xf0 | code >> 18);
        to[1] = (char)(0x80 | (code >> 12 & 0x3f));
        to[2] = (char)(0x80 | (code >> 6 & 0x3f));
        to[3] = (char)(0x80 | (code & 0x3f));
        out->len += 4;
    }
}

// What "&name;" stands for. Entities that are not known stay as they are.
static bool decode_entity(Str name, uint32_t *code)
{
    static const struct {
        const char *name;
        char code;
    } known[] = {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (str_equal(name, str_from_c(known[i].name))) {
            *code = (uint32_t)known[i].code;
            return true;
        }
    }
    uint64_t number;
    bool hex = str_starts_with(name, STR("#x"));
    if (!str_starts_with(name, STR("#")) ||
        !str_parse_u64(str_slice(name, hex ? 2 : 1, name.len), hex ? 16 : 10, &number) ||
        number == 0 || number > 0x10ffff)
        return false;
    *code = (uint32_t)number;
    return true;
}

Str xml_decode(Arena *arena, Str raw)
{
    if (str_find_char(raw, '&') == SIZE_MAX)
        return raw;
    StrBuf out = {0};
    for (size_t i = 0; i < raw.len; i++) {
        Str rest = str_slice(raw, i + 1, raw.len);
        size_t end = raw.ptr[i] == '&' ? str_find_char(rest, ';') : SIZE_MAX;
        uint32_t code;
        if (end != SIZE_MAX && end < 12 && decode_entity(str_slice(rest, 0, end), &code)) {
            add_code(&out, code);
            i += end + 1;
        } else {
            strbuf_add_char(&out, raw.ptr[i]);
        }
    }
    Str decoded = arena_str(arena, strbuf_str(&out));
    strbuf_deinit(&out);
    return decoded;
}

Str xml_value(const Xml *x, Arena *arena, const char *name)
{
    for (size_t i = 0; i < x->attribute_count; i++)
        if (str_equal(x->attributes[i].name, str_from_c(name)))
            return xml_decode(arena, x->attributes[i].value);
    return STR("");
}
