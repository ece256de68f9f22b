// SPDX-License-Identifier: Apache-2.0
// The file that says which tests run which lines. A reader uses its bytes directly, without
// decoding them first. Format: docs/formats/cover-tests.md.

#ifndef COLLECT_COVER_TESTMAP_STORE_H
#define COLLECT_COVER_TESTMAP_STORE_H

#include "base/error.h"
#include "base/strbuf.h"
#include "base/table.h"
#include "base/vec.h"

#define COVER_TESTS_FILE STR("tests.assay-cover")

typedef struct CoverTest {
    Str name;
    uint32_t status;      // 0: passed; else as a shell reports it
    uint32_t duration_us; // at most 71 minutes
} CoverTest;

// ---- Writing -----------------------------------------------------------------

// Lines in order of file and line; `set` is a row of `sets`, each of `words` words.
typedef struct CoverTestLine {
    uint32_t file, line, set;
} CoverTestLine;

typedef struct CoverTestTable {
    Vec(CoverTest) tests;
    StrVec files;
    Vec(CoverTestLine) lines;
    U64Vec sets; // bit t of a set: test t runs the line
    uint32_t words;
} CoverTestTable;

// The number of the set with these words; a new one is added when the table has no equal set.
// `index` is an empty Table at first, which the caller keeps between calls and frees.
uint32_t cover_tests_set(Arena *arena, CoverTestTable *table, Table *index, const uint64_t *words);

// Appends the bytes of the file.
void cover_tests_encode(const CoverTestTable *table, StrBuf *out);

// ---- Reading -----------------------------------------------------------------

// An open file, whose bytes it borrows.
typedef struct CoverTestStore {
    Bytes tests, sets, files, lines, text;
    uint32_t test_count, set_count, file_count, line_count, words;
} CoverTestStore;

// Whether the bytes start with the magic number of such a file.
bool cover_tests_is(Bytes file);
// Opens a file and checks all sizes and references, so that the functions below cannot fail.
MUST_CHECK bool cover_tests_open(Bytes file, CoverTestStore *ret, Error *err);

// Test number `test` < test_count. Texts borrow the file, here and below.
CoverTest cover_tests_test(const CoverTestStore *s, uint32_t test);

typedef struct CoverTestFile {
    Str path;
    uint32_t first, count; // of lines
} CoverTestFile;
// Source file number `file` < file_count.
CoverTestFile cover_tests_file(const CoverTestStore *s, uint32_t file);

// Row `line` < line_count: a source line and its set of tests.
CoverTestLine cover_tests_line(const CoverTestStore *s, uint32_t line);
bool cover_tests_in_set(const CoverTestStore *s, uint32_t set, uint32_t test); // bit `test` is 1

#endif // COLLECT_COVER_TESTMAP_STORE_H
