// SPDX-License-Identifier: Apache-2.0
// What the user names: files told apart by content, folders searched.

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/cover/cover_forms.h"
#include "cli/cover/cover_loader.h"
#include "collect/cover/objects.h"
#include "elf/elf.h"
#include "os/file.h"

enum { LEFT_OUT_SAID_MAX = 20 };

void cover_leave_out(CoverLoader *l, const Error *why)
{
    if (l->left_out++ < LEFT_OUT_SAID_MAX)
        cli_say_left_out(why);
}

void cover_say_more_left_out(const CoverLoader *l)
{
    if (l->left_out > LEFT_OUT_SAID_MAX)
        cli_say("and %zu more left out", l->left_out - LEFT_OUT_SAID_MAX);
}

// ---- Files ---------------------------------------------------------------------

Str cover_with_suffix(Arena *arena, Str path, const char *suffix)
{
    size_t dot = str_find_last_char(path, '.');
    return arena_printf(arena, "%" STR_FMT "%s", STR_ARG(str_slice(path, 0, dot)), suffix);
}

// A unit is its notes; which of the two files was named does not matter.
static void add_gcov(CoverLoader *l, Str path, bool asked)
{
    CoverInput input = {.path = cover_with_suffix(&l->r->arena, path, ".gcno"),
                        .asked = asked,
                        .weight = l->weight};
    for (size_t i = l->notes.len; i-- > 0 && l->notes.len - i < 3;)
        if (str_equal(l->notes.at[i].path, input.path))
            return;
    vec_push(&l->r->arena, &l->notes, input);
}

static void add_input(CoverLoader *l, CoverFormKind kind, Str path, bool asked)
{
    Arena *arena = &l->r->arena;
    CoverInput input = {.asked = asked, .weight = l->weight};
    if (kind == COVER_FORM_UNIT) {
        add_gcov(l, path, asked);
        return;
    }
    input.path = arena_str(arena, path);
    if (kind == COVER_FORM_PROFILE)
        vec_push(arena, &l->profiles, input);
    else if (kind == COVER_FORM_OBJECT)
        vec_push(arena, &l->objects, input);
    else
        vec_push(arena, &l->tracefiles, input);
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

static bool classify(CoverLoader *l, Str path, bool asked, Error *err)
{
    // What there is much of, files of gcc and raw profiles, their first bytes tell.
    uint8_t start[8];
    Bytes bytes = {start, os_read_start(path, start, sizeof(start))};
    MappedFile m = {0};
    const CoverForm *form = cover_form_find(bytes, true);
    if (form) {
        add_input(l, form->kind, path, asked);
        return true;
    }
    if (!os_map_file(path, &m, err))
        return false;
    bool ok = true;
    form = cover_form_find(m.bytes, false);
    if (form)
        add_input(l, form->kind, path, asked);
    else if (asked && m.bytes.len == 0)
        ok = error_set(err, ERROR_FORMAT, "'%" STR_FMT "' is empty", STR_ARG(path));
    else if (asked)
        ok = refuse_kind(path, m.bytes, err);
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
static bool add_object_list(CoverLoader *l, Str path, Error *err)
{
    Arena *arena = &l->r->arena;
    Bytes text;
    Str line, object;
    BuildId id;
    if (!os_read_file(arena, path, OS_READ_MAX_BYTES, &text, err))
        return false;
    for (Str rest = str_from_bytes(text); str_next_line(&rest, &line);) {
        MappedFile m = {0};
        Error why;
        if (!cover_objects_line(line, &id, &object))
            return error_set(err, ERROR_FORMAT, "'%" STR_FMT "': not a list of objects",
                             STR_ARG(path));
        if (!os_map_file(object, &m, &why)) {
            cover_leave_out(l, &why);
            continue;
        }
        Elf elf;
        BuildId now = {0};
        if (elf_parse(arena, m.bytes, &elf, NULL))
            now = elf_build_id(&elf);
        if (id.len && !build_id_same(&id, &now))
            cli_say("'%" STR_FMT "' was built again since the run: functions that differ show no "
                    "counts",
                    STR_ARG(object));
        os_unmap_file(&m);
        vec_push(arena, &l->objects, ((CoverInput){.path = object, .asked = true, .weight = 1}));
    }
    return true;
}

// Which sources 'assay cover run' counts.
static bool add_selection(CoverLoader *l, Str path, Error *err)
{
    Arena *arena = &l->r->arena;
    CoverSelection selection = {0};
    Bytes text;
    if (!os_read_file(arena, path, OS_READ_MAX_BYTES, &text, err))
        return false;
    if (!cover_selection_read(arena, str_from_bytes(text), &selection, err))
        return error_context(err, "'%" STR_FMT "'", STR_ARG(path));
    vec_push(arena, &l->selections, selection);
    return true;
}

static bool add_folder(CoverLoader *l, Str path, unsigned depth, Error *err);

static bool add_entry(CoverLoader *l, Str folder, const FolderEntry *e, unsigned depth, Error *err)
{
    Arena *arena = &l->r->arena;
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
        if (depth < 64 && !add_folder(l, child, depth + 1, err))
            cover_leave_out(l, err);
        return true;
    }
    if (!wanted)
        return true;
    if (!S_ISREG(st.st_mode) || (st.st_size == 0 && !is_list)) {
        // gcc's are told where notes are read, and an empty tracefile may be our own output.
        bool is_llvm = str_find(e->name, STR(".prof")) != SIZE_MAX;
        if (is_llvm && l->passed_over++ == 0)
            l->first_passed_over = child;
        return true;
    }
    if (is_selection)
        return add_selection(l, child, err);
    if (is_list)
        return add_object_list(l, child, err);
    if (!classify(l, child, false, err)) // gone since, or not ours to read
        cover_leave_out(l, err);
    return true;
}

static bool add_folder(CoverLoader *l, Str path, unsigned depth, Error *err)
{
    Arena *arena = &l->r->arena;
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
        if (!add_entry(l, path, &entries.at[i], depth, err))
            return false;
    return true;
}

static bool add_operand(CoverLoader *l, Str path, Error *err)
{
    struct stat st;
    size_t before = l->selections.len;
    bool is_folder = stat(arena_c_str(&l->r->arena, path), &st) == 0 && S_ISDIR(st.st_mode);
    bool ok = is_folder ? add_folder(l, path, 0, err) : classify(l, path, true, err);
    l->operands++;
    l->selected += l->selections.len > before;
    return ok;
}

void cover_select_sources(const CoverLoader *l, bool all)
{
    if (all || l->selected == 0)
        return;
    if (l->selected < l->operands) {
        cli_say("sources that the run left out count here, since not all inputs are results of "
                "runs; --include and --exclude choose");
        return;
    }
    for (size_t i = 0; i < l->selections.len; i++)
        cover_filter_select(l->r->filter, &l->selections.at[i]);
}

bool cover_find_inputs(CoverLoader *l, const CoverInputOptions *options, const StrVec *operands,
                       Error *err)
{
    for (size_t i = 0; i < operands->len; i++)
        if (!add_operand(l, operands->at[i], err))
            return false;
    for (size_t i = 0; i < options->objects.len; i++)
        if (!classify(l, options->objects.at[i], true, err))
            return false;
    if (options->profile.len && !classify(l, options->profile, true, err))
        return false;
    for (size_t i = 0; options->weighted && i < options->weighted->len; i++) {
        l->weight = options->weighted->at[i].weight;
        if (!add_operand(l, options->weighted->at[i].path, err))
            return false;
    }
    if (l->passed_over)
        cli_say("%zu file%s in folders passed over, empty or no regular file: '%" STR_FMT "'%s",
                l->passed_over, l->passed_over == 1 ? "" : "s", STR_ARG(l->first_passed_over),
                l->passed_over == 1 ? "" : " first");
    return true;
}
