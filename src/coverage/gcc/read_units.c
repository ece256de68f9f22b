// SPDX-License-Identifier: Apache-2.0
// Pairs the notes and the counts of units, and reads them one after the other.

#include "coverage/gcc/read_units.h"

#include <stdlib.h>

#include "os/file.h"

Str gcov_with_suffix(Arena *arena, Str path, const char *suffix)
{
    size_t dot = str_find_last_char(path, '.');
    return arena_printf(arena, "%" STR_FMT "%s", STR_ARG(str_slice(path, 0, dot)), suffix);
}

// A .gcda file whose .gcno is not beside it.
typedef struct StrayCounts {
    Str path;
    uint8_t start[12]; // its first bytes, which name the compilation
    bool is_used;
} StrayCounts;

typedef struct Units {
    CoverReading *r;
    const CoverInputVec *files;
    GcovSum *sum;
    Vec(StrayCounts) strays;
    U32Vec stray_of; // by file: its row of `strays`, + 1; 0: the .gcno is there
    size_t read;     // how many units
    // Of the unit that is read, kept to be used again.
    U8Vec notes_file, counts_file;
    GcovNotes notes;
} Units;

static int compare_inputs(const void *a, const void *b)
{
    return str_compare(((const CoverInput *)a)->path, ((const CoverInput *)b)->path);
}

// A .gcda file: its unit stays, so that it does not count among the files left out.
static void note_left_out(CoverReading *r, Str path, Error *why)
{
    (void)error_context(why, "'%" STR_FMT "'", STR_ARG(path));
    profile_note(r->profile, NOTE_WARNING, STR("counts-left-out"), "left out: %s", why->text);
    if (why->hint[0])
        profile_note(r->profile, NOTE_INFO, COVER_NOTE_HINT, "%s", why->hint);
}

// Counts that cannot be used are noted and count as zero.
static void add_unit_counts(CoverReading *r, GcovNotes *notes, Str path, Bytes file)
{
    Error why = {0};
    if (file.len && gcov_data_add(notes, file, &why))
        return;
    if (file.len == 0)
        profile_note(r->profile, NOTE_WARNING, STR("counts-empty"),
                     "'%" STR_FMT "' is empty: its functions count as never run", STR_ARG(path));
    else if (why.kind == ERROR_FORMAT)
        profile_note(
            r->profile, NOTE_WARNING, STR("counts-damaged"),
            "'%" STR_FMT
            "': %s: the functions before it have their counts; the others count as never run",
            STR_ARG(path), why.text);
    else
        note_left_out(r, path, &why);
    r->stale += why.kind == ERROR_NOT_FOUND; // of an older build
    gcov_data_none(notes);
}

static bool add_counts_file(Units *u, Str path, Error *err)
{
    CoverReading *r = u->r;
    uint32_t mismatched = u->notes.mismatched;
    if (!os_load_file(path, &u->counts_file, NULL, err))
        return false;
    add_unit_counts(r, &u->notes, path, bytes_over(u->counts_file.at, u->counts_file.len));
    mismatched = u->notes.mismatched - mismatched;
    r->stale += mismatched;
    if (mismatched)
        profile_note(r->profile, NOTE_WARNING, STR("counts-of-another-build"),
                     "'%" STR_FMT "': the counts of %u function%s belong to another build",
                     STR_ARG(path), mismatched, plural_s(mismatched));
    return true;
}

// The counts beside the notes, and those of the same compilation that are elsewhere.
static bool read_counts(Units *u, Str path, Error *err)
{
    bool any = os_file_exists(path);
    Bytes notes = bytes_over(u->notes_file.at, u->notes_file.len);
    if (any && !add_counts_file(u, path, err))
        return false;
    for (size_t i = 0; i < u->strays.len; i++) {
        StrayCounts *stray = &u->strays.at[i];
        if (!gcov_same_build(notes, bytes_over(stray->start, sizeof(stray->start))))
            continue;
        if (!add_counts_file(u, stray->path, err))
            return false;
        any = stray->is_used = true;
    }
    if (!any)
        gcov_data_none(&u->notes);
    return true;
}

static bool read_unit(Units *u, const CoverInput *input, Error *err)
{
    Str path = input->path;
    FileIdentity identity = {0};
    Str counts = gcov_with_suffix(u->r->arena, path, ".gcda");
    bool ok = os_load_file(path, &u->notes_file, &identity, err);
    if (!ok && err->kind == ERROR_NOT_FOUND)
        error_hint(err, "counts of gcc need the .gcno that the compiler wrote beside the object; "
                        "name it, or its folder, too");
    ok = ok && gcov_notes_parse(&u->notes, bytes_over(u->notes_file.at, u->notes_file.len), err) &&
         read_counts(u, counts, err);
    if (ok) {
        gcov_data_scale(&u->notes, input->weight);
        ok = gcov_sum_add(u->sum, &u->notes, counts, err);
    }
    u->r->built_ns = MAX(u->r->built_ns, identity.mtime_ns);
    return ok || error_context(err, "'%" STR_FMT "'", STR_ARG(path));
}

// -fprofile-dir, -fprofile-note and GCOV_PREFIX put counts and notes apart.
static void find_strays(Units *u)
{
    Arena *arena = u->r->arena;
    vec_extend(arena, &u->stray_of, u->files->len);
    for (size_t i = 0; i < u->files->len; i++) {
        Str notes = u->files->at[i].path;
        StrayCounts stray = {.path = gcov_with_suffix(arena, notes, ".gcda")};
        if (os_file_exists(notes) ||
            os_read_start(stray.path, stray.start, sizeof(stray.start)) != sizeof(stray.start))
            continue;
        vec_push(arena, &u->strays, stray);
        u->stray_of.at[i] = (uint32_t)u->strays.len;
    }
}

static void drop_repeated(CoverInputVec *files)
{
    size_t kept = 0;
    for (size_t i = 0; i < files->len; i++)
        if (kept == 0 || !str_equal(files->at[i].path, files->at[kept - 1].path))
            files->at[kept++] = files->at[i];
    files->len = kept;
}

// Reads the units with notes or, with `strays`, those of counts that found no notes.
static bool read_pass(Units *u, bool strays, Error *err)
{
    for (size_t i = 0; i < u->files->len; i++) {
        const CoverInput *input = &u->files->at[i];
        uint32_t stray = u->stray_of.at[i];
        if ((stray != 0) != strays || (stray && u->strays.at[stray - 1].is_used))
            continue;
        bool ok = read_unit(u, input, err);
        u->read += ok;
        if (!ok && input->asked)
            return false;
        if (!ok)
            cover_note_left_out(u->r, err);
    }
    return true;
}

bool gcov_units_read(CoverReading *r, CoverInputVec *files, GcovSum *sum, Error *err)
{
    Units u = {.r = r, .files = files, .sum = sum};
    if (files->len == 0)
        return true;
    qsort(files->at, files->len, sizeof(files->at[0]), compare_inputs);
    drop_repeated(files);
    find_strays(&u);
    // First those with notes, which use up the counts that are elsewhere.
    bool good = read_pass(&u, false, err) && read_pass(&u, true, err);
    if (good && u.read == 0)
        good =
            error_set(err, ERROR_FORMAT, "none of the %zu .gcno files could be read", files->len);
    gcov_notes_deinit(&u.notes);
    vec_free(&u.notes_file);
    vec_free(&u.counts_file);
    return good;
}
