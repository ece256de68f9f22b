// SPDX-License-Identifier: Apache-2.0
// What unit tests of importers share: the profile, files of the fuzzer's corpus, and names.

#ifndef UNIT_IMPORT_CASE_H
#define UNIT_IMPORT_CASE_H

#include "harness.h"

#include "import/import.h"
#include "os/file.h"

static Arena arena;
static Error err;
static Profile p; // what was imported last

static int begin(void **state)
{
    (void)state;
    profile_init(&p);
    return 0;
}

static int end(void **state)
{
    (void)state;
    profile_deinit(&p);
    arena_deinit(&arena);
    return 0;
}

// A file of the corpus.
static Bytes load(const char *name)
{
    Bytes file;
    Str path = arena_printf(&arena, "%s/fuzz/corpus/import/%s", TEST_FOLDER, name);
    assert_ok(os_read_file(&arena, path, 1 << 20, &file, &err), &err);
    return file;
}

// Imports bytes of the format `want` into `p`, which is empty on false.
static bool import_as(Bytes file, const char *want)
{
    const ImportFormat *format;
    profile_deinit(&p);
    bool ok = import_bytes(file, NULL, &p, &format, &err);
    if (ok)
        assert_ok(profile_check(&p, &err), &err);
    else
        profile_init(&p);
    if (format)
        assert_string_equal(format->name, want);
    return ok;
}

#endif // UNIT_IMPORT_CASE_H
