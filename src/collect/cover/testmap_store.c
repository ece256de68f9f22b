// SPDX-License-Identifier: Apache-2.0
// Writes and reads the file of tests and lines: docs/formats/cover-tests.md.

#include "collect/cover/testmap_store.h"

#include "base/cursor.h"

static const char magic[8] = {'A', 'S', 'S', 'A', 'Y', 'C', 'T', '1'};

enum {
    TEST_BYTES = 16,
    FILE_BYTES = 16,
    LINE_BYTES = 8,
    HEADER_BYTES = 8 + 6 * 4,
    TESTS_MAX = 1 << 20,
};

// ---- Writing -----------------------------------------------------------------

uint32_t cover_tests_set(Arena *arena, CoverTestTable *t, Table *index, const uint64_t *words)
{
    assert(t->words > 0);
    size_t size = t->words * sizeof(uint64_t);
    uint64_t hash = bytes_hash(bytes_over(words, size));
    uint32_t row;
    for (TableProbe p = table_probe(index, hash); table_next(index, &p, &row);)
        if (memcmp(t->sets.at + (size_t)row * t->words, words, size) == 0)
            return row;
    row = (uint32_t)(t->sets.len / t->words);
    uint64_t *to = vec_extend(arena, &t->sets, t->words);
    memcpy(to, words, size);
    table_insert(index, hash, row);
    return row;
}

static void add_u32(StrBuf *out, uint64_t value)
{
    uint32_t v = (uint32_t)value;
    strbuf_add(out, str_over((const char *)&v, sizeof(v)));
}

// Appends a text, and its offset and length.
static void add_text(StrBuf *out, StrBuf *texts, Str text)
{
    add_u32(out, texts->len);
    add_u32(out, text.len);
    strbuf_add(texts, text);
}

static void add_files(const CoverTestTable *t, StrBuf *out, StrBuf *texts)
{
    size_t line = 0;
    for (size_t i = 0; i < t->files.len; i++) {
        size_t first = line;
        while (line < t->lines.len && t->lines.at[line].file == i)
            line++;
        add_text(out, texts, t->files.at[i]);
        add_u32(out, first);
        add_u32(out, line - first);
    }
}

void cover_tests_encode(const CoverTestTable *t, StrBuf *out)
{
    StrBuf texts = {0};
    size_t set_count = t->words ? t->sets.len / t->words : 0;
    strbuf_add(out, str_over(magic, sizeof(magic)));
    add_u32(out, t->tests.len);
    add_u32(out, set_count);
    add_u32(out, t->files.len);
    add_u32(out, t->lines.len);
    add_u32(out, t->words);
    size_t text_bytes_at = out->len;
    add_u32(out, 0);
    strbuf_add(out, str_over((const char *)t->sets.at, set_count * t->words * sizeof(uint64_t)));
    for (size_t i = 0; i < t->tests.len; i++) {
        add_text(out, &texts, t->tests.at[i].name);
        add_u32(out, t->tests.at[i].status);
        add_u32(out, t->tests.at[i].duration_us);
    }
    add_files(t, out, &texts);
    for (size_t i = 0; i < t->lines.len; i++) {
        add_u32(out, t->lines.at[i].line);
        add_u32(out, t->lines.at[i].set);
    }
    uint32_t text_bytes = (uint32_t)texts.len;
    memcpy(out->ptr + text_bytes_at, &text_bytes, sizeof(text_bytes));
    strbuf_add(out, strbuf_str(&texts));
    strbuf_deinit(&texts);
}

// ---- Reading -----------------------------------------------------------------

bool cover_tests_is(Bytes file)
{
    return file.len >= sizeof(magic) && memcmp(file.ptr, magic, sizeof(magic)) == 0;
}

static uint32_t u32_at(Bytes b, size_t at)
{
    uint32_t v;
    memcpy(&v, b.ptr + at, sizeof(v));
    return v;
}

static bool text_fits(const CoverTestStore *s, Bytes row, size_t at)
{
    return (uint64_t)u32_at(row, at) + u32_at(row, at + 4) <= s->text.len;
}

static bool references_hold(const CoverTestStore *s)
{
    for (uint32_t i = 0; i < s->test_count; i++)
        if (!text_fits(s, s->tests, (size_t)i * TEST_BYTES))
            return false;
    for (uint32_t i = 0; i < s->file_count; i++) {
        size_t at = (size_t)i * FILE_BYTES;
        if (!text_fits(s, s->files, at) ||
            (uint64_t)u32_at(s->files, at + 8) + u32_at(s->files, at + 12) > s->line_count)
            return false;
    }
    for (uint32_t i = 0; i < s->line_count; i++)
        if (u32_at(s->lines, (size_t)i * LINE_BYTES + 4) >= s->set_count)
            return false;
    return true;
}

bool cover_tests_open(Bytes file, CoverTestStore *ret, Error *err)
{
    CoverTestStore s = {0};
    Cursor c = cursor_over(file, "tests of a coverage run");
    if (!cover_tests_is(file))
        return error_set(err, ERROR_FORMAT, "not a file of tests and their lines");
    cursor_skip(&c, sizeof(magic));
    s.test_count = cursor_u32(&c);
    s.set_count = cursor_u32(&c);
    s.file_count = cursor_u32(&c);
    s.line_count = cursor_u32(&c);
    s.words = cursor_u32(&c);
    uint32_t text_bytes = cursor_u32(&c);
    if (s.test_count > TESTS_MAX || s.words != (s.test_count + 63) / 64)
        cursor_fail(&c, "its number of tests is not that of its sets");
    s.sets = cursor_bytes(&c, (uint64_t)s.set_count * s.words * sizeof(uint64_t));
    s.tests = cursor_bytes(&c, (uint64_t)s.test_count * TEST_BYTES);
    s.files = cursor_bytes(&c, (uint64_t)s.file_count * FILE_BYTES);
    s.lines = cursor_bytes(&c, (uint64_t)s.line_count * LINE_BYTES);
    s.text = cursor_bytes(&c, text_bytes);
    if (!cursor_check(&c, err))
        return false;
    if (!references_hold(&s))
        return error_set(err, ERROR_FORMAT, "a reference in it leads out of its tables");
    *ret = s;
    return true;
}

static Str text_at(const CoverTestStore *s, Bytes row, size_t at)
{
    return str_from_bytes(
        bytes_slice(s->text, u32_at(row, at), (size_t)u32_at(row, at) + u32_at(row, at + 4)));
}

CoverTest cover_tests_test(const CoverTestStore *s, uint32_t test)
{
    size_t at = (size_t)test * TEST_BYTES;
    return (CoverTest){text_at(s, s->tests, at), u32_at(s->tests, at + 8),
                       u32_at(s->tests, at + 12)};
}

CoverTestFile cover_tests_file(const CoverTestStore *s, uint32_t file)
{
    size_t at = (size_t)file * FILE_BYTES;
    return (CoverTestFile){text_at(s, s->files, at), u32_at(s->files, at + 8),
                           u32_at(s->files, at + 12)};
}

CoverTestLine cover_tests_line(const CoverTestStore *s, uint32_t line)
{
    size_t at = (size_t)line * LINE_BYTES;
    return (CoverTestLine){.line = u32_at(s->lines, at), .set = u32_at(s->lines, at + 4)};
}

static uint64_t word_at(const CoverTestStore *s, uint32_t set, uint32_t word)
{
    uint64_t v;
    memcpy(&v, s->sets.ptr + ((size_t)set * s->words + word) * sizeof(v), sizeof(v));
    return v;
}

bool cover_tests_in_set(const CoverTestStore *s, uint32_t set, uint32_t test)
{
    return word_at(s, set, test / 64) >> (test % 64) & 1;
}
