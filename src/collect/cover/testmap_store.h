// SPDX-License-Identifier: Apache-2.0
// Which tests run which lines, in one small file that is used where it lies.
// Format: docs/formats/cover-tests.md.

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

// The number of a set, which is added when the table has no equal one. `index` is the
// caller's, empty at first.
uint32_t cover_tests_set(Arena *arena, CoverTestTable *table, Table *index, const uint64_t *words);

void cover_tests_encode(const CoverTestTable *table, StrBuf *out);

// ---- Reading -----------------------------------------------------------------

// Borrows the file.
typedef struct CoverTestStore {
    Bytes tests, sets, files, lines, text;
    uint32_t test_count, set_count, file_count, line_count, words;
} CoverTestStore;

bool cover_tests_is(Bytes file);
// Checks sizes and every reference, so that what follows cannot fail.
MUST_CHECK bool cover_tests_open(Bytes file, CoverTestStore *ret, Error *err);

CoverTest cover_tests_test(const CoverTestStore *s, uint32_t test);

typedef struct CoverTestFile {
    Str path;
    uint32_t first, count; // of lines
} CoverTestFile;
CoverTestFile cover_tests_file(const CoverTestStore *s, uint32_t file);

// Line and set of row `line`.
CoverTestLine cover_tests_line(const CoverTestStore *s, uint32_t line);
bool cover_tests_in_set(const CoverTestStore *s, uint32_t set, uint32_t test);

#endif // COLLECT_COVER_TESTMAP_STORE_H
