// SPDX-License-Identifier: Apache-2.0
// Reading what the cover commands are given.

#include "cli/cover_inputs.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/cover_commands.h"
#include "cli/cover_filter.h"
#include "collect/cover/objects.h"
#include "llvmcov/sections.h"
#include "os/file.h"
#include "store/store.h"
#include "symbolise/demangle.h"

// ---- Names ---------------------------------------------------------------------

static void demangle_name(void *ctx, Str linkage_name, StrBuf *out)
{
    (void)ctx;
    size_t before = out->len;
    // Static functions have their file in front: "file.cc:_ZL4helpi".
    size_t colon = str_find_last_char(linkage_name, ':');
    Str symbol =
        colon == SIZE_MAX ? linkage_name : str_slice(linkage_name, colon + 1, linkage_name.len);
    if (!demangle(symbol, out))
        out->len = before;
}

// ---- Files ---------------------------------------------------------------------

typedef struct Input {
    Str path;
    bool asked;      // named by the user, as opposed to found in a folder
    uint64_t weight; // its counts count so many times
    size_t stray;    // of Loader.strays, + 1: notes that are not there, with counts that are
} Input;

typedef struct StrayCounts {
    Str path;
    uint8_t start[12]; // what it is of
    bool is_used;
} StrayCounts;

typedef struct Loader {
    CoverResult *r;
    Vec(Input) profiles;
    Vec(Input) objects;
    Vec(Input) notes; // .gcno, one for each translation unit
    Vec(StrayCounts) strays;
    Vec(Input) tracefiles;
    uint64_t weight;              // of what is being added
    CoverSelectionVec selections; // of folders of results
    size_t passed_over;           // files of folders that are empty or links
    size_t left_out;              // those that could not be read
    Str first_passed_over;
    size_t operands, selected; // inputs, and those with a selection of sources
    Vec(BuildId) builds;       // of the objects that state one
} Loader;

enum { LEFT_OUT_SAID_MAX = 20 };

static void leave_out(Loader *l, const Error *why)
{
    if (l->left_out++ < LEFT_OUT_SAID_MAX)
        cli_say_left_out(why);
}

// How many there are beyond those that were said.
static void say_more_left_out(const Loader *l)
{
    if (l->left_out > LEFT_OUT_SAID_MAX)
        cli_say("and %zu more left out", l->left_out - LEFT_OUT_SAID_MAX);
}

// "x/y.gcda" -> "x/y.gcno" and back.
static Str with_suffix(Arena *arena, Str path, const char *suffix)
{
    size_t dot = str_find_last_char(path, '.');
    return arena_printf(arena, "%" STR_FMT "%s", STR_ARG(str_slice(path, 0, dot)), suffix);
}

// A unit is its notes; which of the two files was named does not matter.
static void add_gcov(Loader *l, Str path, bool asked)
{
    Input input = {
        .path = with_suffix(&l->r->arena, path, ".gcno"), .asked = asked, .weight = l->weight};
    for (size_t i = l->notes.len; i-- > 0 && l->notes.len - i < 3;)
        if (str_equal(l->notes.at[i].path, input.path))
            return;
    vec_push(&l->r->arena, &l->notes, input);
}

// What there is much of, files of gcc and raw profiles: their first bytes are enough.
static bool classify_by_start(Loader *l, Str path, bool asked)
{
    uint8_t start[8];
    Bytes bytes = {start, os_read_start(path, start, sizeof(start))};
    Arena *arena = &l->r->arena;
    if (gcov_is_notes(bytes) || gcov_is_data(bytes))
        add_gcov(l, path, asked);
    else if (profraw_is(bytes))
        vec_push(arena, &l->profiles,
                 ((Input){.path = arena_str(arena, path), .asked = asked, .weight = l->weight}));
    else
        return false;
    return true;
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

static bool classify(Loader *l, Str path, bool asked, Error *err)
{
    MappedFile m = {0};
    if (classify_by_start(l, path, asked))
        return true;
    if (!os_map_file(path, &m, err))
        return false;
    Input input = {.path = arena_str(&l->r->arena, path), .asked = asked, .weight = l->weight};
    bool ok = true;
    if (cov_sections_known(m.bytes) || covmap_is_test_form(m.bytes))
        vec_push(&l->r->arena, &l->objects, input);
    else if (tracefile_kind(m.bytes) != TRACEFILE_NONE || store_is_recording(m.bytes))
        vec_push(&l->r->arena, &l->tracefiles, input);
    else if (cover_counts_accept(m.bytes))
        vec_push(&l->r->arena, &l->profiles, input);
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
static bool add_object_list(Loader *l, Str path, Error *err)
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
            leave_out(l, &why);
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
        vec_push(arena, &l->objects, ((Input){.path = object, .asked = true, .weight = 1}));
    }
    return true;
}

// Which sources 'assay cover run' counts.
static bool add_selection(Loader *l, Str path, Error *err)
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

static bool add_folder(Loader *l, Str path, unsigned depth, Error *err);

static bool add_entry(Loader *l, Str folder, const FolderEntry *e, unsigned depth, Error *err)
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
            leave_out(l, err);
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
        leave_out(l, err);
    return true;
}

static bool add_folder(Loader *l, Str path, unsigned depth, Error *err)
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

static bool add_operand(Loader *l, Str path, Error *err)
{
    struct stat st;
    size_t before = l->selections.len;
    bool is_folder = stat(arena_c_str(&l->r->arena, path), &st) == 0 && S_ISDIR(st.st_mode);
    bool ok = is_folder ? add_folder(l, path, 0, err) : classify(l, path, true, err);
    l->operands++;
    l->selected += l->selections.len > before;
    return ok;
}

// What a run left out stays out, unless there are inputs that leave nothing out.
static void select_sources(const Loader *l, bool all)
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

static bool load_profiles(Loader *l, Error *err)
{
    for (size_t i = 0; i < l->profiles.len; i++) {
        MappedFile m = {0};
        // Folders hold what killed programs left: one bad file there is a warning.
        bool ok = os_map_file(l->profiles.at[i].path, &m, err) &&
                  cover_counts_add(&l->r->counts, l->profiles.at[i].path, m.bytes,
                                   l->profiles.at[i].weight, err);
        os_unmap_file(&m);
        if (!ok && l->profiles.at[i].asked)
            return false;
        if (!ok)
            leave_out(l, err);
    }
    if (l->profiles.len && l->r->counts.profile_count == 0)
        return error_set(err, ERROR_FORMAT, "none of the %zu profiles could be read",
                         l->profiles.len);
    return cover_counts_finish(&l->r->counts, err);
}

static void take_build(Loader *l, Bytes file)
{
    Elf elf;
    if (!elf_parse(&l->r->arena, file, &elf, NULL))
        return;
    BuildId id = elf_build_id(&elf);
    if (id.len)
        vec_push(&l->r->arena, &l->builds, id);
}

static bool load_objects(Loader *l, Error *err)
{
    Arena *arena = &l->r->arena;
    for (size_t i = 0; i < l->objects.len; i++) {
        Str path = l->objects.at[i].path;
        MappedFile m = {0};
        CovMapSections sections;
        CovMap map;
        if (!os_map_file(path, &m, err))
            return false;
        bool ok = cover_object_sections(arena, m.bytes, &sections, err) &&
                  covmap_parse(arena, sections, &map, err);
        if (ok) {
            l->r->built_ns = MAX(l->r->built_ns, m.identity.mtime_ns);
            cover_data_add_object(&l->r->data, &map, path, &l->r->counts);
            take_build(l, m.bytes);
            covmap_deinit(&map);
            l->r->has_regions = true;
        }
        os_unmap_file(&m);
        if (!ok)
            return error_context(err, "'%" STR_FMT "'", STR_ARG(path));
    }
    return true;
}

static int compare_inputs(const void *a, const void *b)
{
    return str_compare(((const Input *)a)->path, ((const Input *)b)->path);
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
static bool read_counts(Loader *l, UnitReader *u, Str path, Error *err)
{
    bool any = os_file_exists(path);
    Bytes notes = bytes_over(u->notes_file.at, u->notes_file.len);
    if (any && !add_counts_file(l->r, u, path, err))
        return false;
    for (size_t i = 0; i < l->strays.len; i++) {
        StrayCounts *stray = &l->strays.at[i];
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

static bool load_unit(Loader *l, const Input *input, UnitReader *u, Error *err)
{
    Str path = input->path;
    CoverResult *r = l->r;
    FileIdentity identity = {0};
    Str counts = with_suffix(&r->arena, path, ".gcda");
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
static void find_strays(Loader *l)
{
    Arena *arena = &l->r->arena;
    for (size_t i = 0; i < l->notes.len; i++) {
        StrayCounts stray = {.path = with_suffix(arena, l->notes.at[i].path, ".gcda")};
        if (os_file_exists(l->notes.at[i].path) ||
            os_read_start(stray.path, stray.start, sizeof(stray.start)) != sizeof(stray.start))
            continue;
        l->notes.at[i].stray = l->strays.len + 1;
        vec_push(arena, &l->strays, stray);
    }
}

static void drop_repeated(Loader *l)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->notes.len; i++)
        if (kept == 0 || !str_equal(l->notes.at[i].path, l->notes.at[kept - 1].path))
            l->notes.at[kept++] = l->notes.at[i];
    l->notes.len = kept;
}

// The units with notes, or the counts that found none.
static bool load_pass(Loader *l, UnitReader *u, bool strays, size_t *units, Error *err)
{
    for (size_t i = 0; i < l->notes.len; i++) {
        const Input *input = &l->notes.at[i];
        bool is_stray = input->stray != 0;
        if (is_stray != strays || (is_stray && l->strays.at[input->stray - 1].is_used))
            continue;
        bool ok = load_unit(l, input, u, err);
        *units += ok;
        l->r->has_gcov = true;
        if (!ok && input->asked)
            return false;
        if (!ok)
            leave_out(l, err);
    }
    return true;
}

static bool load_units(Loader *l, Error *err)
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

// The counts in a recording, as 'cover merge -o x.assay' writes them.
static bool read_recording(CoverSet *set, Bytes file, Error *err)
{
    Profile p;
    if (!store_read(file, &p, err))
        return false;
    bool ok = p.line_counts.line.len != 0;
    if (ok)
        cover_set_take_profile(set, &p);
    profile_deinit(&p);
    return ok || error_set(err, ERROR_NOT_FOUND, "a recording without counts of lines");
}

static bool read_set(CoverSet *set, Bytes file, Error *err)
{
    return store_is_recording(file) ? read_recording(set, file, err)
                                    : tracefile_read(set, file, err);
}

// Adds the counts of one file `weight` times.
static bool add_set(CoverSet *set, Bytes file, uint64_t weight, Error *err)
{
    if (weight == 1)
        return read_set(set, file, err);
    CoverSet one;
    cover_set_init(&one, set->arena); // paths are mapped as they are added
    bool ok = read_set(&one, file, err);
    if (ok) {
        cover_set_scale(&one, weight);
        cover_set_add(set, &one);
    }
    cover_set_deinit(&one);
    return ok;
}

static bool load_tracefiles(Loader *l, Error *err)
{
    CoverSet *set = &l->r->set;
    for (size_t i = 0; i < l->tracefiles.len; i++) {
        Str path = l->tracefiles.at[i].path;
        MappedFile m = {0};
        if (!os_map_file(path, &m, err))
            return false;
        if (!l->tracefiles.at[i].asked && (l->notes.len || l->profiles.len))
            cli_say("'%" STR_FMT "', found beside data of runs, is added to it: if it was made of "
                    "that data, it counts twice",
                    STR_ARG(path));
        size_t notes = set->notes.len;
        bool ok = add_set(set, m.bytes, l->tracefiles.at[i].weight, err);
        os_unmap_file(&m);
        if (!ok)
            return error_context(err, "'%" STR_FMT "'", STR_ARG(path));
        for (; notes < set->notes.len; notes++)
            cli_say("'%" STR_FMT "': %" STR_FMT, STR_ARG(path), STR_ARG(set->notes.at[notes]));
        l->r->has_set = true;
    }
    if (set->clamped)
        cli_say("%llu counts below zero taken as zero", (unsigned long long)set->clamped);
    return true;
}

// ---- What could not be counted ----------------------------------------------------

static void say_issue(const CoverIssue *issue)
{
    char profile_hash[32] = "none";
    if (issue->profile_hash)
        snprintf(profile_hash, sizeof(profile_hash), "0x%llx",
                 (unsigned long long)issue->profile_hash);
    cli_say("function '%" STR_FMT "' of '%" STR_FMT "' (%" STR_FMT
            "): %s; hash 0x%llx in the object, %s in the profile",
            STR_ARG(issue->function), STR_ARG(issue->object), STR_ARG(issue->file),
            cover_issue_text(issue->kind), (unsigned long long)issue->object_hash, profile_hash);
}

static void say_issues(const CoverResult *r, bool explain)
{
    size_t counts[COVER_ISSUE_COUNT] = {0};
    for (size_t i = 0; i < r->data.issues.len; i++) {
        const CoverIssue *issue = &r->data.issues.at[i];
        counts[issue->kind]++;
        if (explain)
            say_issue(issue);
    }
    for (int kind = 0; kind < COVER_ISSUE_COUNT && !explain; kind++)
        if (counts[kind])
            cli_say("%zu function%s: %s (--explain names %s)", counts[kind],
                    counts[kind] == 1 ? "" : "s", cover_issue_text((CoverIssueKind)kind),
                    counts[kind] == 1 ? "it" : "them");
}

// Whether one of the objects has one of the profile's build ids, or nothing is
// known of it.
static bool is_of_objects(const Loader *l, const ProfRaw *p)
{
    Cursor c = cursor_over(p->binary_ids, "binary ids");
    bool any = false;
    c.big_endian = p->big_endian;
    while (cursor_more(&c)) {
        uint64_t len = cursor_u64(&c);
        Bytes id = cursor_padded(&c, len, 8);
        for (size_t i = 0; i < l->builds.len && id.len; i++)
            if (bytes_equal(id, l->builds.at[i].bytes, l->builds.at[i].len))
                return true;
        any |= id.len != 0;
    }
    return !any;
}

static void name_profile(const Loader *l, Str path, const ProfRaw *p)
{
    Arena *arena = &l->r->arena;
    BuildId writer = {0};
    Cursor c = cursor_over(p->binary_ids, "binary ids");
    c.big_endian = p->big_endian;
    uint64_t len = cursor_u64(&c);
    Bytes id = cursor_padded(&c, len, 8);
    writer.len = (uint32_t)MIN(id.len, sizeof(writer.bytes));
    if (writer.len)
        memcpy(writer.bytes, id.ptr, writer.len);
    cli_say("'%" STR_FMT "' was written by build %" STR_FMT ", and the object is of build %" STR_FMT
            "%s",
            STR_ARG(path), STR_ARG(build_id_hex(arena, &writer)),
            STR_ARG(build_id_hex(arena, &l->builds.at[0])),
            l->builds.len > 1 ? " (or that of the other objects)" : "");
}

// Where functions are of another build: which raw profiles those are, by build id.
static void say_stale_profiles(const Loader *l)
{
    enum { SAID_MAX = 3 };
    size_t said = 0;
    for (size_t i = 0; i < l->profiles.len && l->builds.len; i++) {
        MappedFile m = {0};
        ProfRaw p;
        if (!os_map_file(l->profiles.at[i].path, &m, NULL))
            continue;
        if (profraw_is(m.bytes) && profraw_parse(m.bytes, 0, &p, NULL) && !is_of_objects(l, &p) &&
            ++said <= SAID_MAX)
            name_profile(l, l->profiles.at[i].path, &p);
        os_unmap_file(&m);
    }
    if (said > SAID_MAX)
        cli_say("and %zu more profiles of other builds", said - SAID_MAX);
}

void cover_say_notes(const CoverCounts *c)
{
    for (size_t i = 0; i < c->notes.len; i++)
        cli_say("%" STR_FMT, STR_ARG(c->notes.at[i]));
    if (c->mismatched)
        cli_say("%llu records left out: another number of counters under the same name and hash",
                (unsigned long long)c->mismatched);
    if (c->site_mismatched)
        cli_say("%llu value profiles left out: another number of sites under the same name and "
                "hash",
                (unsigned long long)c->site_mismatched);
    if (c->saturated)
        cli_say("%llu sums stopped at 2^64 - 1", (unsigned long long)c->saturated);
}

// Finds what the inputs are.
static bool gather(Loader *l, const CoverInputOptions *options, const StrVec *operands, Error *err)
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

static bool load_gathered(Loader *l, const CoverInputOptions *options, const StrVec *operands,
                          Error *err)
{
    select_sources(l, options->filter.all_sources);
    if (!load_units(l, err) || !load_tracefiles(l, err))
        return false;
    if ((l->r->has_gcov || l->r->has_set) && l->profiles.len == 0)
        return true;
    if (l->profiles.len == 0) {
        if (operands->len == 0 && options->objects.len == 0 && !options->weighted) {
            error_set(err, ERROR_USAGE, "no inputs, and no results of 'assay cover run' here");
            return error_hint(err, "name programs, profiles, tracefiles or folders of them");
        }
        error_set(err, ERROR_USAGE, "no profile among the inputs");
        return error_hint(err, "a program built with coverage writes default.profraw where it "
                               "runs, or what LLVM_PROFILE_FILE names");
    }
    if (l->objects.len == 0) {
        error_set(err, ERROR_USAGE, "no object among the inputs");
        return error_hint(err, "name the program that wrote the profiles: it holds the mapping "
                               "from counters to lines");
    }
    if (!load_profiles(l, err) || !load_objects(l, err))
        return false;
    cover_say_notes(&l->r->counts);
    say_issues(l->r, options->explain);
    for (size_t i = 0; i < l->r->data.issues.len; i++)
        l->r->stale += l->r->data.issues.at[i].kind == COVER_ISSUE_HASH;
    if (l->r->stale)
        say_stale_profiles(l);
    return true;
}

static bool load_all(const CoverInputOptions *options, const StrVec *operands, CoverResult *ret,
                     Error *err)
{
    *ret = (CoverResult){.arena = {.huge_pages = true}};
    ret->counts.arena = &ret->arena;
    cover_data_init(&ret->data, &ret->arena);
    ret->data.llvm_rules = options->llvm_rules;
    profile_init(&ret->profile);
    ret->filter = arena_new(&ret->arena, CoverFilter);
    if (!cover_filter_init(ret->filter, &options->filter, err))
        return false;
    ret->filter->is_changed = options->is_changed;
    ret->filter->is_changed_ctx = options->is_changed_ctx;
    bool marks = !options->filter.no_exclusions && !options->llvm_rules;
    ret->project = (CoverProject){.keep = cover_filter_keep,
                                  .keep_ctx = ret->filter,
                                  .demangle = options->demangle ? demangle_name : NULL,
                                  .map_path = cover_filter_map,
                                  .map_ctx = ret->filter,
                                  .exclusions = marks ? cover_filter_exclusions : NULL,
                                  .exclusions_ctx = ret->filter};
    ret->data.explain = options->explain;
    ret->data.map_path = cover_filter_map;
    ret->data.map_ctx = ret->filter;
    cover_set_init(&ret->set, &ret->arena);
    ret->set.map_path = cover_filter_map;
    ret->set.map_ctx = ret->filter;
    gcov_sum_init(&ret->gcov, &ret->profile, &ret->project);
    if (options->gcov_documents)
        ret->gcov.documents = &ret->documents;

    Loader l = {.r = ret, .weight = 1};
    bool ok = gather(&l, options, operands, err) && load_gathered(&l, options, operands, err);
    say_more_left_out(&l);
    return ok;
}

bool cover_load(const CoverInputOptions *options, const StrVec *operands, CoverResult *ret,
                Error *err)
{
    if (!load_all(options, operands, ret, err))
        return false;
    if (ret->has_regions)
        cover_data_place_functions(&ret->data, &ret->project);
    if (ret->has_set)
        cover_set_place_functions(&ret->set, &ret->project);
    cover_filter_settle(ret->filter);
    return true;
}

static void say_mark_faults(const CoverMarkFaultVec *faults)
{
    enum { SAID_MAX = 20 };
    if (faults->len > SAID_MAX)
        cli_say("%zu marks in the sources say not what ran, the first %d of them:", faults->len,
                SAID_MAX);
    for (size_t i = 0; i < MIN(faults->len, (size_t)SAID_MAX); i++) {
        const CoverMarkFault *f = &faults->at[i];
        if (f->is_reached)
            cli_say("'%" STR_FMT "' line %u is marked as unreachable and ran: it counts",
                    STR_ARG(f->path), f->line);
        else
            cli_say("'%" STR_FMT "' line %u: the mark says that %u of %u branches did not run, and "
                    "%u of %u did not: they count",
                    STR_ARG(f->path), f->line, f->said_missed, f->said_all, f->missed, f->all);
    }
}

bool cover_is_unsound(const CoverResult *r, bool llvm_rules)
{
    bool is_stale = r->stale && !llvm_rules;
    if (is_stale)
        cli_say("the gate fails: counts of another build are among the inputs (%llu); --explain "
                "names them, --llvm-rules drops them",
                (unsigned long long)r->stale);
    if (r->mark_faults.len)
        cli_say("the gate fails: %zu mark%s in the sources %s not what ran", r->mark_faults.len,
                r->mark_faults.len == 1 ? "" : "s", r->mark_faults.len == 1 ? "says" : "say");
    return is_stale || r->mark_faults.len;
}

void cover_settle(CoverResult *r)
{
    if (cover_filter_has_marks(r->filter))
        cover_project(r);
}

void cover_project(CoverResult *r)
{
    if (r->has_regions)
        cover_files_fill(&r->data, &r->project, &r->profile);
    if (r->has_gcov)
        gcov_sum_finish(&r->gcov);
    r->set.map_path = NULL; // what comes from the profile is mapped
    if (r->has_set && (r->has_regions || r->has_gcov))
        cover_set_take_profile(&r->set, &r->profile);
    if (r->has_set)
        cover_set_fill(&r->set, &r->project, &r->profile);
    cover_profile_settle_marks(&r->arena, &r->profile, &r->project, &r->mark_faults);
    say_mark_faults(&r->mark_faults);
    uint64_t excluded = cover_profile_exclude(&r->profile, &r->project);
    if (excluded)
        cli_say("%llu lines left out by marks in the sources (--no-exclusions counts them)",
                (unsigned long long)excluded);
}

void cover_result_deinit(CoverResult *r)
{
    if (r->filter)
        cover_filter_deinit(r->filter);
    gcov_sum_deinit(&r->gcov);
    strbuf_deinit(&r->documents);
    cover_set_deinit(&r->set);
    cover_counts_deinit(&r->counts);
    cover_data_deinit(&r->data);
    profile_deinit(&r->profile);
    arena_deinit(&r->arena);
}

int cover_show_inputs(const CoverInputOptions *inputs, const StrVec *operands,
                      int (*show)(CoverResult *r, const void *values), const void *options)
{
    CoverResult r;
    Error err;
    Str last_run = COVER_RUN_FOLDER;
    const StrVec of_last_run = {.at = &last_run, .len = 1};
    bool is_given = operands->len || inputs->objects.len || inputs->profile.len;
    bool ok = cover_load(inputs, is_given || !os_file_exists(last_run) ? operands : &of_last_run,
                         &r, &err);
    int status = ok ? show(&r, options) : cli_fail(&err);
    size_t left_out = ok ? cover_filter_left_out(r.filter) : 0;
    if (left_out)
        cli_say("%zu source%s left out, as the run was asked to (--all-sources counts %s)",
                left_out, left_out == 1 ? "" : "s", left_out == 1 ? "it" : "them");
    cover_result_deinit(&r);
    return status;
}
