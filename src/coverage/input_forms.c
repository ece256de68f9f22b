// SPDX-License-Identifier: Apache-2.0
// The table of kinds of files.

#include "coverage/input_forms.h"

#include "base/gzip.h"
#include "gcov/gcov.h"
#include "llvmcov/containers.h"
#include "llvmcov/profdata.h"
#include "llvmcov/profraw.h"
#include "llvmcov/proftext.h"
#include "llvmcov/sections.h"
#include "store/store.h"
#include "tracefile/tracefile.h"

static bool is_lcov(Bytes file)
{
    return tracefile_kind(file) == TRACEFILE_LCOV;
}

static bool is_cobertura(Bytes file)
{
    return tracefile_kind(file) == TRACEFILE_COBERTURA;
}

static bool is_llvm_json(Bytes file)
{
    return tracefile_kind(file) == TRACEFILE_LLVM_JSON;
}

static bool is_gcov_json(Bytes file)
{
    return tracefile_kind(file) == TRACEFILE_GCOV_JSON;
}

static bool is_go_cover(Bytes file)
{
    return tracefile_kind(file) == TRACEFILE_GO_COVER;
}

#define BY_NAME  "with the functions of objects, by name and hash"
#define BY_STAMP "notes with the counts of the same stamp, wherever they lie"
#define BY_PATH  "with other inputs, by path and line"

const CoverForm cover_forms[] = {
    {"notes of gcc", ".gcno", COVER_FORM_UNIT, gcov_is_notes, true, &gcov_versions,
     "gcc or clang --coverage, for each source when it is compiled; both byte orders", BY_STAMP,
     NULL},
    {"counts of gcc", ".gcda", COVER_FORM_UNIT, gcov_is_data, true, &gcov_versions,
     "programs that gcc or clang --coverage built, when they end", BY_STAMP, NULL},
    {"raw profile", ".profraw", COVER_FORM_PROFILE, profraw_is, true, &profraw_versions,
     "programs that clang or rustc built, when they end; 32 and 64 bits, both byte orders, several "
     "in one file",
     BY_NAME, NULL},
    {"object", "programs, libraries, .o", COVER_FORM_OBJECT, cov_sections_known, false,
     &covmap_versions, "clang, rustc; ELF, Mach-O, COFF and PE, 32 and 64 bits, both byte orders",
     "with profiles, by name and hash of functions", NULL},
    {"archive", ".a", COVER_FORM_OBJECT, cov_archive_is, true, &covmap_versions,
     "ar, of objects of clang and rustc", "with profiles, by name and hash of functions", NULL},
    {"universal binary", "of macOS", COVER_FORM_OBJECT, cov_universal_is, true, &covmap_versions,
     "lipo, of programs or archives for several processors, of which one is read (--arch)",
     "with profiles, by name and hash of functions", NULL},
    {"object in test form", ".covmapping", COVER_FORM_OBJECT, covmap_is_test_form, false,
     &covmap_versions, "llvm-cov convert-for-testing, both of its forms",
     "with profiles, by name and hash of functions", NULL},
    {"lcov tracefile", ".info", COVER_FORM_LINES, is_lcov, false, NULL,
     "lcov and geninfo 1.x and 2.x, llvm-cov export -format=lcov, grcov, and others", BY_PATH,
     "export --format lcov"},
    {"Cobertura report", ".xml", COVER_FORM_LINES, is_cobertura, false, NULL,
     "gcovr, coverage.py, tarpaulin, grcov, and others", BY_PATH, "export --format cobertura"},
    {"llvm-cov export", ".json", COVER_FORM_LINES, is_llvm_json, false, &tracefile_json_versions,
     "llvm-cov export, cargo llvm-cov --json", BY_PATH, "export --format llvm-json"},
    {"gcov's JSON", ".gcov.json.gz", COVER_FORM_LINES, is_gcov_json, false,
     &tracefile_gcov_json_versions, "gcov --json-format, with -b also branches", BY_PATH,
     "export --format gcov-json"},
    {"Go profile", "cover.out", COVER_FORM_LINES, is_go_cover, false, NULL,
     "go test -coverprofile, go tool covdata textfmt", BY_PATH, NULL},
    {"recording", ".assay", COVER_FORM_LINES, store_is_recording, false, NULL,
     "assay cover merge -o x.assay", BY_PATH, "merge -o x.assay"},
    {"indexed profile", ".profdata", COVER_FORM_PROFILE, profdata_is, false, &profdata_versions,
     "llvm-profdata merge", BY_NAME, "merge -o x.profdata [--profdata-version N]"},
    {"text profile", ".proftext", COVER_FORM_PROFILE, proftext_is, false, NULL,
     "llvm-profdata merge -text", BY_NAME, "merge -o x.proftext"},
};
const size_t cover_form_count = ARRAY_LEN(cover_forms);

static const CoverForm *plain_form(Bytes file, bool by_start)
{
    for (size_t i = 0; i < cover_form_count; i++)
        if ((!by_start || cover_forms[i].by_start) && cover_forms[i].is(file))
            return &cover_forms[i];
    return NULL;
}

// What a packed file holds: only counts of lines may be packed.
static const CoverForm *packed_form(Bytes file)
{
    Arena arena = {0};
    Error err;
    const CoverForm *form = NULL;
    if (gzip_unpack(&arena, file, &file, &err))
        form = plain_form(file, false);
    arena_deinit(&arena);
    return form && form->kind == COVER_FORM_LINES && form->is != store_is_recording ? form : NULL;
}

const CoverForm *cover_form_find(Bytes file, bool by_start)
{
    const CoverForm *form = plain_form(file, by_start);
    return form || by_start || !gzip_is(file) ? form : packed_form(file);
}
