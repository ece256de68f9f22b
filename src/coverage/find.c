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
#include "gcov/gcov.h"
#include "os/file.h"
#include "tracefile/tracefile.h"

// ---- Files ---------------------------------------------------------------------

// A unit is its .gcno file; which of the two files was named does not matter.
static void add_unit(CoverFound *f, CoverInput input)
{
    Arena *arena = f->r->arena;
    f->has_counts |= str_ends_with(input.path, STR(".gcda"));
    input.path = gcov_with_suffix(arena, input.path, ".gcno");
    for (size_t i = f->units.len; i-- > 0 && f->units.len - i < 3;)
        if (str_equal(f->units.at[i].path, input.path))
            return;
    vec_push(arena, &f->units, input);
}

static void add_input(CoverFound *f, const CoverForm *form, CoverInput input)
{
    Arena *arena = f->r->arena;
    CoverFormKind kind = form->kind;
    struct stat st;
    if (kind != COVER_FORM_OBJECT && form->is != gcov_is_notes &&
        stat(arena_c_str(arena, input.path), &st) == 0)
        f->r->counted_ns =
            MAX(f->r->counted_ns, st.st_mtim.tv_sec * (int64_t)1000000000 + st.st_mtim.tv_nsec);
    input.is_result = f->in_results;
    input.is_sum = kind == COVER_FORM_PROFILE && form->written;
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

// Whether the name is that of a source in a language whose compilers count lines.
static bool is_source_name(Str path)
{
    static const char *const suffixes[] = {
        ".c",   ".cc",  ".cpp", ".cxx", ".c++", ".C",   ".h", ".hh",  ".hpp", ".hxx",
        ".h++", ".inl", ".inc", ".ipp", ".tcc", ".tpp", ".m", ".mm",  ".rs",  ".swift",
        ".cu",  ".cuh", ".def", ".y",   ".l",   ".f",   ".d", ".f90", ".go",  ".zig"};
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (str_ends_with(path, str_from_c(suffixes[i])))
            return true;
    return false;
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
        add_input(f, form, input);
        return true;
    }
    if (!os_map_file(input.path, &m, err))
        return false;
    bool ok = true;
    form = cover_form_find(m.bytes, false);
    if (form)
        add_input(f, form, input);
    else if (input.asked && is_source_name(input.path))
        vec_push(f->r->arena, &f->sources, input.path);
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
           str_ends_with(name, STR(".gcda")) || str_ends_with(name, STR(".info")) ||
           str_ends_with(name, STR(".gcov.json.gz"));
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
        vec_push(arena, &f->objects, ((CoverInput){.path = object, .asked = true, .weight = 1}));
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
    if (!classify(f, (CoverInput){.path = child, .weight = weight},
                  err)) // gone since, or not ours to read
        cover_note_left_out(f->r, err);
    return true;
}

// Where 'assay cover run' puts its results by itself, in the folder in which it is called.
// `kept` is ".assay", or "assay" below "target" of a Cargo workspace that takes all else for
// members.
static void look_for_results(CoverFound *f, Str folder, Str kept)
{
    Str results = arena_printf(f->r->arena, "%" STR_FMT "/%" STR_FMT "/cover", STR_ARG(folder),
                               STR_ARG(kept));
    if (os_file_exists(results))
        vec_push(f->r->arena, &f->results, results);
}

static bool add_folder(CoverFound *f, Str path, uint64_t weight, unsigned depth, Error *err)
{
    Arena *arena = f->r->arena;
    DIR *dir = opendir(arena_c_str(arena, path));
    if (!dir)
        return error_os(err, "cannot open folder '%" STR_FMT "'", STR_ARG(path));
    Vec(FolderEntry) entries = {0};
    bool is_finished = true;
    for (struct dirent *e; (e = readdir(dir));) {
        is_finished &= strcmp(e->d_name, COVER_UNFINISHED_FILE) != 0;
        Str name = str_from_c(e->d_name);
        bool is_kept =
            str_equal(name, STR("assay")) && str_equal(str_base_name(path), STR("target"));
        if (is_kept || str_equal(name, STR(".assay")))
            look_for_results(f, path, name);
        else if (e->d_name[0] != '.')
            vec_push(arena, &entries,
                     ((FolderEntry){arena_str(arena, str_from_c(e->d_name)), e->d_type}));
    }
    closedir(dir);
    if (!is_finished)
        return true;
    if (entries.len)
        qsort(entries.at, entries.len, sizeof(entries.at[0]), compare_entries);
    bool in_results = f->in_results, ok = true;
    for (size_t i = 0; i < entries.len; i++)
        f->in_results |= str_equal(entries.at[i].name, COVER_OBJECTS_FILE) ||
                         str_equal(entries.at[i].name, COVER_SOURCES_FILE);
    for (size_t i = 0; i < entries.len && ok; i++)
        ok = add_entry(f, path, &entries.at[i], weight, depth, err);
    f->in_results = in_results;
    return ok;
}

static size_t found_files(const CoverFound *f)
{
    return f->profiles.len + f->objects.len + f->units.len + f->tracefiles.len + f->passed_over;
}

// The results of runs within a folder count if nothing else in it does: the .gcno files of a build
// say only what could have run.
static bool add_results(CoverFound *f, size_t first, uint64_t weight, bool has_data, Error *err)
{
    for (size_t i = first; i < f->results.len; i++) {
        Str path = f->results.at[i];
        profile_note(f->r->profile, NOTE_INFO, STR("results-of-runs"),
                     has_data ? "results of 'assay cover run' in '%" STR_FMT
                                "' are left out beside other counts: name the folder to add them"
                              : "the counts are those of 'assay cover run' in '%" STR_FMT "'",
                     STR_ARG(path));
        if (!has_data && !add_folder(f, path, weight, 1, err))
            return false;
    }
    return true;
}

bool cover_find(CoverFound *f, Str path, uint64_t weight, Error *err)
{
    struct stat st;
    size_t before = f->selections.len, files = found_files(f), sources = f->sources.len;
    size_t results = f->results.len;
    size_t counted = f->profiles.len + f->tracefiles.len;
    bool had_counts = f->has_counts;
    f->has_counts = false;
    bool is_folder = stat(arena_c_str(f->r->arena, path), &st) == 0 && S_ISDIR(st.st_mode);
    bool ok = is_folder
                  ? add_folder(f, path, weight, 0, err)
                  : classify(f, (CoverInput){.path = path, .asked = true, .weight = weight}, err);
    if (ok && is_folder)
        ok = add_results(f, results, weight,
                         f->has_counts || f->profiles.len + f->tracefiles.len > counted, err);
    f->has_counts |= had_counts;
    if (ok && is_folder && files && found_files(f) == files) {
        profile_note(f->r->profile, NOTE_INFO, STR("folder-of-sources"),
                     "'%" STR_FMT "' holds no coverage data: only sources below it count",
                     STR_ARG(path));
        vec_push(f->r->arena, &f->sources, path);
    }
    if (f->sources.len > sources)
        return ok;
    f->operands++;
    f->selected += f->selections.len > before;
    return ok;
}

bool cover_find_file(CoverFound *f, Str path, Error *err)
{
    return classify(f, (CoverInput){.path = path, .asked = true, .weight = 1}, err);
}

// Whether the file is left out beside raw data. One that the user named counts, with a note.
static bool is_left_out(const CoverFound *f, const CoverInput *input)
{
    if (input->asked && !input->is_result)
        profile_note(f->r->profile, NOTE_INFO, STR("sum-beside-runs"),
                     "'%" STR_FMT
                     "' is added to the data of the runs: if it was made of them, they "
                     "count twice",
                     STR_ARG(input->path));
    return !input->asked && !input->is_result;
}

static void spare_sums(const CoverFound *f, CoverInputVec *profiles)
{
    for (size_t i = 0; i < profiles->len; i++)
        profiles->at[i].is_spare = profiles->at[i].is_sum && is_left_out(f, &profiles->at[i]);
}

static Str without_dot(Str path)
{
    return str_starts_with(path, STR("./")) ? str_slice(path, 2, path.len) : path;
}

// Whether the user has named a file that was found in a folder, too.
static bool is_named_too(const CoverInputVec *files, const CoverInput *found)
{
    bool named = false;
    for (size_t i = 0; i < files->len; i++)
        named |= files->at[i].asked &&
                 str_equal(without_dot(files->at[i].path), without_dot(found->path));
    return named;
}

static void drop_tracefiles(const CoverFound *f, CoverInputVec *files)
{
    Vec(Str) spare = {0};
    size_t kept = 0;
    for (size_t i = 0; i < files->len; i++) {
        if (!is_left_out(f, &files->at[i]))
            files->at[kept++] = files->at[i];
        else if (!is_named_too(files, &files->at[i]))
            vec_push(NULL, &spare, files->at[i].path);
    }
    files->len = kept;
    for (size_t i = 0; i < spare.len; i++)
        cover_note_spare(f->r, spare.at[i]);
    vec_free(&spare);
}

void cover_find_settle(CoverFound *f)
{
    bool has_raw = false;
    for (size_t i = 0; i < f->profiles.len; i++)
        has_raw |= !f->profiles.at[i].is_sum && !f->profiles.at[i].asked;
    if (has_raw)
        spare_sums(f, &f->profiles);
    if (f->has_counts || f->profiles.len)
        drop_tracefiles(f, &f->tracefiles);

    if (f->passed_over)
        profile_note(f->r->profile, NOTE_WARNING, STR("files-passed-over"),
                     "%zu file%s in folders passed over, empty or no regular file: '%" STR_FMT
                     "'%s",
                     f->passed_over, f->passed_over == 1 ? "" : "s", STR_ARG(f->first_passed_over),
                     f->passed_over == 1 ? "" : " first");
}
