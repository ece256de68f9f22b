// SPDX-License-Identifier: Apache-2.0
// Extracts the mapping of a documentation test's program.

#include "collect/cover/doctest.h"

#include "base/cursor.h"
#include "coverage/llvm/functions.h"
#include "llvmcov/covmap.h"

// ---- Names ------------------------------------------------------------------------

// Skips a disambiguator, as "s1k_", before an identifier or the path of an impl.
static void skip_disambiguator(Str name, size_t *at)
{
    if (*at >= name.len || name.ptr[*at] != 's')
        return;
    while (*at < name.len && name.ptr[*at] != '_')
        ++*at;
    ++*at;
}

// Reads an identifier: "8rust_out", or "u3_…" for punycode.
static Str identifier_at(Str name, size_t at)
{
    size_t len = 0;
    at += at < name.len && name.ptr[at] == 'u';
    while (at < name.len && name.ptr[at] >= '0' && name.ptr[at] <= '9' && len < name.len)
        len = 10 * len + (size_t)(name.ptr[at++] - '0');
    at += at < name.len && name.ptr[at] == '_';
    return at < name.len && len <= name.len - at ? str_slice(name, at, at + len) : STR("");
}

Str cover_rust_crate_of(Str name)
{
    size_t at = 2;
    if (!str_starts_with(name, STR("_R")))
        return STR("");
    while (at < name.len)
        switch (name.ptr[at++]) {
        case 'I': // with generic arguments, which come after it
            break;
        case 'N': // nested: a letter for the kind of item
            at++;
            break;
        case 'M': // of an impl: the path of its place
        case 'X':
            skip_disambiguator(name, &at);
            break;
        case 'C':
            skip_disambiguator(name, &at);
            return identifier_at(name, at);
        default:
            return STR("");
        }
    return STR("");
}

// Whether a crate is one that rustdoc makes: for a single test, or for all tests of an edition.
static bool is_of_doctest(Str name)
{
    Str crate = cover_rust_crate_of(name);
    return str_equal(crate, STR("rust_out")) || str_starts_with(crate, STR("doctest_bundle")) ||
           str_starts_with(crate, STR("doctest_runner"));
}

// ---- The mapping ------------------------------------------------------------------

static void pad(StrBuf *out, size_t from)
{
    strbuf_add_repeated(out, 0, align_up(out->len - from, 8) - (out->len - from));
}

static void add_uleb(StrBuf *out, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        strbuf_add_char(out, (char)(value | 0x80));
    strbuf_add_char(out, (char)value);
}

// Appends all records but those of the doctest itself, unchanged.
static bool add_functions(const ProfNames *names, Bytes covfun, StrBuf *out, Error *err)
{
    enum { AFTER_NAME = 4 + 8 + 8 }; // size, hash, reference of the files
    Cursor c = cursor_over(covfun, "function records");
    while (cursor_more(&c)) {
        size_t start = c.at;
        uint64_t name = cursor_u64(&c);
        uint32_t size = cursor_u32(&c);
        cursor_skip(&c, AFTER_NAME - 4 + (uint64_t)size);
        size_t gap = align_up(c.at, 8) - c.at;
        if (!cursor_check(&c, err))
            return false;
        if (!is_of_doctest(prof_names_find(names, name))) {
            size_t from = out->len;
            strbuf_add_bytes(out, bytes_slice(covfun, start, c.at));
            pad(out, from);
        }
        cursor_skip(&c, MIN(gap, cursor_left(&c)));
    }
    return true;
}

bool cover_doctest_mapping(Arena *scratch, Bytes program, BuildId *id, StrBuf *out, Error *err)
{
    static const uint8_t magic[] = "llvmcovm\1\0\0\0\0\0\0"; // 8 bytes, then the number of the form
    Elf elf;
    CovMapSections s;
    ProfNames names = {0};
    if (!elf_parse(scratch, program, &elf, err) ||
        !cover_object_sections(scratch, program, &s, err) ||
        !prof_names_add_blob(scratch, &names, s.names, err))
        return false;
    size_t start = out->len;
    strbuf_add_bytes(out, bytes_over(magic, sizeof(magic)));
    add_uleb(out, s.names.len);
    add_uleb(out, s.names_address);
    strbuf_add_bytes(out, s.names);
    add_uleb(out, s.covmap.len);
    pad(out, start);
    strbuf_add_bytes(out, s.covmap);
    pad(out, start);
    bool ok = add_functions(&names, s.covfun, out, err);
    prof_names_deinit(&names);
    *id = elf_build_id(&elf);
    return ok;
}
