// SPDX-License-Identifier: Apache-2.0
// Translation units of gcc: notes with their counts, which may lie elsewhere.

#include <stdlib.h>

#include "cli/cli.h"
#include "cli/cover/cover_loader.h"
#include "os/file.h"

static int compare_inputs(const void *a, const void *b)
{
    return str_compare(((const CoverInput *)a)->path, ((const CoverInput *)b)->path);
}

// What serves one translation unit after the other.
typedef struct UnitReader {
    U8Vec notes_file, counts_file;
    GcovNotes notes;
} UnitReader;

// Counts that cannot be used are said and count as zero.
static void add_unit_counts(CoverResult *r, GcovNotes *notes, Str path, Bytes file)
{
    Error why = {0};
    if (file.len && gcov_data_add(notes, file, &why))
        return;
    if (file.len == 0)
        cli_say("'%" STR_FMT "' is empty: its functions count as never run", STR_ARG(path));
    else if (why.kind == ERROR_FORMAT)
        cli_say("'%" STR_FMT "': %s: functions before that count, the others as never run",
                STR_ARG(path), why.text);
    else
        cli_say_left_out((error_context(&why, "'%" STR_FMT "'", STR_ARG(path)), &why));
    r->stale += why.kind == ERROR_NOT_FOUND; // of an older build
    gcov_data_none(notes);
}

static bool add_counts_file(CoverResult *r, UnitReader *u, Str path, Error *err)
{
    uint32_t mismatched = u->notes.mismatched;
    if (!os_load_file(path, &u->counts_file, NULL, err))
        return false;
    add_unit_counts(r, &u->notes, path, bytes_over(u->counts_file.at, u->counts_file.len));
    mismatched = u->notes.mismatched - mismatched;
    r->stale += mismatched;
    if (mismatched)
        cli_say("'%" STR_FMT "': the counts of %u functions are of another build", STR_ARG(path),
                mismatched);
    return true;
}

// The counts beside the notes, and those of the same compilation that are elsewhere.
static bool read_counts(CoverLoader *l, UnitReader *u, Str path, Error *err)
{
    bool any = os_file_exists(path);
    Bytes notes = bytes_over(u->notes_file.at, u->notes_file.len);
    if (any && !add_counts_file(l->r, u, path, err))
        return false;
    for (size_t i = 0; i < l->strays.len; i++) {
        CoverStrayCounts *stray = &l->strays.at[i];
        if (!gcov_same_build(notes, bytes_over(stray->start, sizeof(stray->start))))
            continue;
        if (!add_counts_file(l->r, u, stray->path, err))
            return false;
        any = stray->is_used = true;
    }
    if (!any)
        gcov_data_none(&u->notes);
    return true;
}

static bool load_unit(CoverLoader *l, const CoverInput *input, UnitReader *u, Error *err)
{
    Str path = input->path;
    CoverResult *r = l->r;
    FileIdentity identity = {0};
    Str counts = cover_with_suffix(&r->arena, path, ".gcda");
    bool ok = os_load_file(path, &u->notes_file, &identity, err);
    if (!ok && err->kind == ERROR_NOT_FOUND)
        error_hint(err, "counts of gcc need the .gcno that the compiler wrote beside the object; "
                        "name it, or its folder, too");
    ok = ok && gcov_notes_parse(&u->notes, bytes_over(u->notes_file.at, u->notes_file.len), err) &&
         read_counts(l, u, counts, err);
    if (ok) {
        gcov_data_scale(&u->notes, input->weight);
        ok = gcov_sum_add(&r->gcov, &u->notes, counts, err);
    }
    r->built_ns = MAX(r->built_ns, identity.mtime_ns);
    return ok || error_context(err, "'%" STR_FMT "'", STR_ARG(path));
}

// -fprofile-dir, -fprofile-note and GCOV_PREFIX put counts and notes apart.
static void find_strays(CoverLoader *l)
{
    Arena *arena = &l->r->arena;
    for (size_t i = 0; i < l->notes.len; i++) {
        CoverStrayCounts stray = {.path = cover_with_suffix(arena, l->notes.at[i].path, ".gcda")};
        if (os_file_exists(l->notes.at[i].path) ||
            os_read_start(stray.path, stray.start, sizeof(stray.start)) != sizeof(stray.start))
            continue;
        l->notes.at[i].stray = l->strays.len + 1;
        vec_push(arena, &l->strays, stray);
    }
}

static void drop_repeated(CoverLoader *l)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->notes.len; i++)
        if (kept == 0 || !str_equal(l->notes.at[i].path, l->notes.at[kept - 1].path))
            l->notes.at[kept++] = l->notes.at[i];
    l->notes.len = kept;
}

// The units with notes, or the counts that found none.
static bool load_pass(CoverLoader *l, UnitReader *u, bool strays, size_t *units, Error *err)
{
    for (size_t i = 0; i < l->notes.len; i++) {
        const CoverInput *input = &l->notes.at[i];
        bool is_stray = input->stray != 0;
        if (is_stray != strays || (is_stray && l->strays.at[input->stray - 1].is_used))
            continue;
        bool ok = load_unit(l, input, u, err);
        *units += ok;
        l->r->has_gcov = true;
        if (!ok && input->asked)
            return false;
        if (!ok)
            cover_leave_out(l, err);
    }
    return true;
}

bool cover_load_units(CoverLoader *l, Error *err)
{
    if (l->notes.len)
        qsort(l->notes.at, l->notes.len, sizeof(l->notes.at[0]), compare_inputs);
    drop_repeated(l);
    find_strays(l);
    UnitReader u = {0};
    size_t units = 0;
    // First those with notes, which use up the counts that are elsewhere.
    bool good = load_pass(l, &u, false, &units, err) && load_pass(l, &u, true, &units, err);
    if (good && l->notes.len && units == 0)
        good =
            error_set(err, ERROR_FORMAT, "none of the %zu .gcno files could be read", l->notes.len);
    gcov_notes_deinit(&u.notes);
    vec_free(&u.notes_file);
    vec_free(&u.counts_file);
    return good;
}
