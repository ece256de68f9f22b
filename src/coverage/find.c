// SPDX-License-Identifier: Apache-2.0
// Classifies files by content and searches folders.

#include "coverage/find.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "coverage/gcc/read_units.h"
#include "coverage/input_forms.h"
#include "coverage/object_list.h"
#include "elf/elf.h"
#include "os/file.h"
#include "tracefile/tracefile.h"

// ---- Files ---------------------------------------------------------------------

// A unit is its .gcno file; which of the two files was named does not matter.
static void add_unit(CoverFound *f, CoverInput input)
{
    Arena *arena = f->r->arena;
    input.path = gcov_with_suffix(arena, input.path, ".gcno");
    for (size_t i = f->units.len; i-- > 0 && f->units.len - i < 3;)
        if (str_equal(f->units.at[i].path, input.path))
            return;
    vec_push(arena, &f->units, input);
}

static void add_input(CoverFound *f, CoverFormKind kind, CoverInput input)
{
    Arena *arena = f->r->arena;
    if (kind == COVER_FORM_UNIT) {
        add_unit(f, input);
        return;
    }
    input.path = arena_str(arena, input.path);
    if (kind == COVER_FORM_PROFILE)
        vec_push(arena, &f->profiles, input);
    else if (kind == COVER_FORM_OBJECT)
        vec_push(arena, &f->objects, input);
    else
        vec_push(arena, &f->tracefiles, input);
}

static bool refuse_kind(Str path, Bytes file, Error *err)
{
    const char *hint = NULL, *name = tracefile_foreign_name(file, &hint);
    if (!name)
        return error_set(err, ERROR_FORMAT,
                         "'%" STR_FMT
                         "' is neither an object nor a profile of a kind that is known",
                         STR_ARG(path));
    error_set(err, ERROR_UNSUPPORTED, "'%" STR_FMT "' is %s, which is not read", STR_ARG(path),
              name);
    return error_hint(err, "%s", hint);
}

static bool classify(CoverFound *f, CoverInput input, Error *err)
{
    // Files of gcc and raw profiles, of which there are many, are known by their first bytes.
    uint8_t start[8];
    Bytes bytes = {start, os_read_start(input.path, start, sizeof(start))};
    MappedFile m = {0};
    const CoverForm *form = cover_form_find(bytes, true);
    if (form) {
        add_input(f, form->kind, input);
        return true;
    }
    if (!os_map_file(input.path, &m, err))
        return false;
    bool ok = true;
    form = cover_form_find(m.bytes, false);
    if (form)
        add_input(f, form->kind, input);
    else if (input.asked && m.bytes.len == 0)
        ok = error_set(err, ERROR_FORMAT, "'%" STR_FMT "' is empty", STR_ARG(input.path));
    else if (input.asked)
        ok = refuse_kind(input.path, m.bytes, err);
    os_unmap_file(&m);
    return ok;
}

typedef struct FolderEntry {
    Str name;
    unsigned char type; // DT_…; DT_UNKNOWN on some file systems
} FolderEntry;

static int compare_entries(const void *a, const void *b)
{
    return str_compare(((const FolderEntry *)a)->name, ((const FolderEntry *)b)->name);
}

// Profiles only: a folder's objects are too many to guess among.
static bool is_profile_name(Str name)
{
    return str_ends_with(name, STR(".profraw")) || str_ends_with(name, STR(".profdata")) ||
           str_ends_with(name, STR(".proftext")) || str_ends_with(name, STR(".gcno")) ||
           str_ends_with(name, STR(".gcda")) || str_ends_with(name, STR(".info"));
}

// The objects that 'assay cover run' found, unless they were linked again since.
static bool add_object_list(CoverFound *f, Str path, Error *err)
{
    Arena *arena = f->r->arena;
    Bytes text;
    Str line, object;
    BuildId id;
    if (!os_read_file(arena, path, OS_READ_MAX_BYTES, &text, err))
        return false;
    for (Str rest = str_from_bytes(text); str_next_line(&rest, &line);) {
        MappedFile m = {0};
        Error why;
        if (!cover_object_list_split(line, &id, &object))
            return error_set(err, ERROR_FORMAT, "'%" STR_FMT "': not a list of objects",
                             STR_ARG(path));
        if (!os_map_file(object, &m, &why)) {
            cover_note_left_out(f->r, &why);
            continue;
        }
        Elf elf;
        BuildId now = {0};
        if (elf_parse(arena, m.bytes, &elf, NULL))
            now = elf_build_id(&elf);
        if (id.len && !build_id_same(&id, &now))
            profile_note(f->r->profile, NOTE_WARNING, STR("object-built-again"),
                         "'%" STR_FMT
                         "' was built again since the run: functions that differ show no "
                         "counts",
                         STR_ARG(object));
        os_unmap_file(&m);
        vec_push(arena, &f->objects, ((CoverInput){object, true, 1}));
    }
    return true;
}

// Which sources 'assay cover run' counts.
static bool add_selection(CoverFound *f, Str path, Error *err)
{
    Arena *arena = f->r->arena;
    CoverSelection selection = {0};
    Bytes text;
    if (!os_read_file(arena, path, OS_READ_MAX_BYTES, &text, err))
        return false;
    if (!cover_selection_read(arena, str_from_bytes(text), &selection, err))
        return error_context(err, "'%" STR_FMT "'", STR_ARG(path));
    vec_push(arena, &f->selections, selection);
    return true;
}

static bool add_folder(CoverFound *f, Str path, uint64_t weight, unsigned depth, Error *err);

static bool add_entry(CoverFound *f, Str folder, const FolderEntry *e, uint64_t weight,
                      unsigned depth, Error *err)
{
    Arena *arena = f->r->arena;
    bool is_list = str_equal(e->name, COVER_OBJECTS_FILE);
    bool is_selection = str_equal(e->name, COVER_SOURCES_FILE);
    bool wanted = is_list || is_selection || is_profile_name(e->name);
    if (!wanted && e->type != DT_DIR && e->type != DT_UNKNOWN)
        return true;
    struct stat st;
    Str child = arena_printf(arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(folder), STR_ARG(e->name));
    if (lstat(arena_c_str(arena, child), &st) != 0)
        return true;
    if (S_ISDIR(st.st_mode)) {
        if (depth < 64 && !add_folder(f, child, weight, depth + 1, err))
            cover_note_left_out(f->r, err);
        return true;
    }
    if (!wanted)
        return true;
    if (!S_ISREG(st.st_mode) || (st.st_size == 0 && !is_list)) {
        // Reading a unit notes empty .gcda files, and an empty tracefile may be our own output.
        bool is_llvm = str_find(e->name, STR(".prof")) != SIZE_MAX;
        if (is_llvm && f->passed_over++ == 0)
            f->first_passed_over = child;
        return true;
    }
    if (is_selection)
        return add_selection(f, child, err);
    if (is_list)
        return add_object_list(f, child, err);
    if (!classify(f, (CoverInput){child, false, weight}, err)) // gone since, or not ours to read
        cover_note_left_out(f->r, err);
    return true;
}

static bool add_folder(CoverFound *f, Str path, uint64_t weight, unsigned depth, Error *err)
{
    Arena *arena = f->r->arena;
    DIR *dir = opendir(arena_c_str(arena, path));
    if (!dir)
        return error_os(err, "cannot open folder '%" STR_FMT "'", STR_ARG(path));
    Vec(FolderEntry) entries = {0};
    for (struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] != '.')
            vec_push(arena, &entries,
                     ((FolderEntry){arena_str(arena, str_from_c(e->d_name)), e->d_type}));
    closedir(dir);
    if (entries.len)
        qsort(entries.at, entries.len, sizeof(entries.at[0]), compare_entries);
    for (size_t i = 0; i < entries.len; i++)
        if (!add_entry(f, path, &entries.at[i], weight, depth, err))
            return false;
    return true;
}

bool cover_find(CoverFound *f, Str path, uint64_t weight, Error *err)
{
    struct stat st;
    size_t before = f->selections.len;
    bool is_folder = stat(arena_c_str(f->r->arena, path), &st) == 0 && S_ISDIR(st.st_mode);
    bool ok = is_folder ? add_folder(f, path, weight, 0, err)
                        : classify(f, (CoverInput){path, true, weight}, err);
    f->operands++;
    f->selected += f->selections.len > before;
    return ok;
}

bool cover_find_file(CoverFound *f, Str path, Error *err)
{
    return classify(f, (CoverInput){path, true, 1}, err);
}

void cover_find_note(const CoverFound *f)
{
    if (f->passed_over)
        profile_note(f->r->profile, NOTE_WARNING, STR("files-passed-over"),
                     "%zu file%s in folders passed over, empty or no regular file: '%" STR_FMT
                     "'%s",
                     f->passed_over, f->passed_over == 1 ? "" : "s", STR_ARG(f->first_passed_over),
                     f->passed_over == 1 ? "" : " first");
}
