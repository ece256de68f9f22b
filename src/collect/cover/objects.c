// SPDX-License-Identifier: Apache-2.0
// Finds the objects that wrote the profiles of a run.

#include "collect/cover/objects.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coverage/llvm/functions.h"
#include "coverage/object_list.h"
#include "os/file.h"

// Limits of a search: a build folder has fewer files, a home folder may have more.
enum { SEARCH_FILES_MAX = 200000, SEARCH_DEPTH_MAX = 32 };

static bool is_found(const CoverObjects *o, const BuildId *id, Str path)
{
    for (size_t i = 0; i < o->found.len; i++)
        if (str_equal(o->found.at[i].path, path) || build_id_same(&o->found.at[i].id, id))
            return true;
    return false;
}

static bool is_wanted(const CoverObjects *o, const BuildId *id)
{
    for (size_t i = 0; i < o->pool->binary_ids.len; i++)
        if (build_id_same(&o->pool->binary_ids.at[i], id))
            return true;
    return false;
}

size_t cover_objects_matched(const CoverObjects *o)
{
    size_t matched = 0;
    for (size_t i = 0; i < o->found.len; i++)
        matched += o->found.at[i].matched;
    return matched;
}

bool cover_objects_complete(const CoverObjects *o)
{
    return cover_objects_matched(o) == o->pool->binary_ids.len &&
           !(o->pool->has_unnamed && o->found.len == 0);
}

// Whether the profiles have counts of at least one function of the object.
static bool shares_function(const CoverObjects *o, Arena *arena, CovMapSections sections)
{
    CovMap map;
    if (!covmap_parse(arena, sections, &map, NULL))
        return false;
    bool shares = false;
    for (size_t i = 0; i < map.functions.len && !shares; i++)
        shares = cover_counts_find(&o->pool->counts, map.functions.at[i].name_ref,
                                   map.functions.at[i].hash) != NULL;
    covmap_deinit(&map);
    return shares;
}

static void offer_bytes(CoverObjects *o, Str path, Bytes file, bool any)
{
    Arena arena = {0};
    Elf elf;
    CovMapSections sections;
    if (!elf_parse(&arena, file, &elf, NULL) || elf.type == ET_REL)
        goto out;
    BuildId id = elf_build_id(&elf);
    bool wanted = is_wanted(o, &id);
    if (is_found(o, &id, path) || (!wanted && !any && (id.len && !o->pool->has_unnamed)))
        goto out;
    if (!cover_object_sections(&arena, file, &sections, NULL)) {
        o->without_mapping++;
        goto out;
    }
    if (!wanted && !any && !shares_function(o, &arena, sections))
        goto out;
    CoverObject object = {arena_str(o->arena, path), id, wanted, false};
    vec_push(o->arena, &o->found, object);
out:
    arena_deinit(&arena);
}

void cover_objects_offer(CoverObjects *o, Str path, bool any)
{
    MappedFile m = {0};
    char real[PATH_MAX];
    if (!realpath(arena_c_str(o->arena, path), real))
        return;
    if (os_map_file(str_from_c(real), &m, NULL) && m.bytes.len > 4 &&
        memcmp(m.bytes.ptr, "\177ELF", 4) == 0)
        offer_bytes(o, str_from_c(real), m.bytes, any);
    os_unmap_file(&m);
}

static int compare_kept(const void *a, const void *b)
{
    const BuildId *x = &((const CoverKept *)a)->id, *y = &((const CoverKept *)b)->id;
    return memcmp(x->bytes, y->bytes, sizeof(x->bytes));
}

void cover_objects_add_kept(CoverObjects *o)
{
    size_t count = o->pool->kept.len;
    CoverKept *list = arena_array(o->arena, CoverKept, count + 1);
    for (size_t i = 0; i < count; i++)
        list[i] = o->pool->kept.at[i];
    // They were added in the order in which they ended, which differs from run to run.
    qsort(list, count, sizeof(list[0]), compare_kept);
    for (size_t i = 0; i < count; i++) {
        const CoverKept *kept = &list[i];
        CoverObject object = {kept->path, kept->id, true, true};
        if (is_wanted(o, &kept->id) && !is_found(o, &kept->id, kept->path))
            vec_push(o->arena, &o->found, object);
        else
            unlink(kept->path.ptr);
    }
}

// Copies a deleted program from its open descriptor.
static bool rescue(CoverObjects *o, int fd, Str *path)
{
    MappedFile m = {0};
    Str to = cover_pool_object_path(o->pool, "");
    bool ok = os_map_fd(fd, to, &m, NULL) && os_write_file(to, m.bytes, OUTPUT_REPLACE, NULL);
    os_unmap_file(&m);
    *path = to;
    return ok;
}

void cover_objects_offer_writers(CoverObjects *o)
{
    for (size_t i = 0; i < o->pool->writers.len; i++) {
        const CoverWriter *w = &o->pool->writers.at[i];
        struct stat st;
        Str path = w->path;
        // Which doctests were seen before they were deleted is chance, so that all are left out
        // here.
        if (str_find(path, STR("/rustdoctest")) != SIZE_MAX)
            continue;
        if (stat(arena_c_str(o->arena, path), &st) == 0 && st.st_dev == w->device &&
            st.st_ino == w->inode)
            cover_objects_offer(o, path, false);
        else if (rescue(o, w->fd, &path)) {
            size_t before = o->found.len;
            cover_objects_offer(o, path, false);
            if (o->found.len == before)
                unlink(path.ptr);
        }
    }
}

static bool may_be_object(const struct stat *st, Str name)
{
    return S_ISREG(st->st_mode) && st->st_size > 64 &&
           (st->st_mode & 0111 || str_find(name, STR(".so")) != SIZE_MAX);
}

typedef void Offer(CoverObjects *o, Str path);

static void search(CoverObjects *o, Str folder, unsigned depth, uint64_t *files, Offer *offer)
{
    Arena arena = {0};
    StrVec folders = {0};
    DIR *dir = opendir(arena_c_str(&arena, folder));
    for (struct dirent *e; dir && (e = readdir(dir)) && !cover_objects_complete(o);) {
        Str name = str_from_c(e->d_name);
        if (name.ptr[0] == '.' || ++*files > SEARCH_FILES_MAX)
            continue;
        Str path = arena_printf(&arena, "%" STR_FMT "/%s", STR_ARG(folder), e->d_name);
        struct stat st;
        if (lstat(path.ptr, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode))
            vec_push(&arena, &folders, path);
        else if (may_be_object(&st, name))
            offer(o, path);
    }
    if (dir)
        closedir(dir);
    // Files before folders: the programs that ran are more often near the top than far down.
    for (size_t i = 0; i < folders.len && depth < SEARCH_DEPTH_MAX; i++)
        search(o, folders.at[i], depth + 1, files, offer);
    arena_deinit(&arena);
}

static void offer_found(CoverObjects *o, Str path)
{
    cover_objects_offer(o, path, false);
}

void cover_objects_search(CoverObjects *o, Str folder)
{
    uint64_t files = 0;
    if (!cover_objects_complete(o))
        search(o, folder, 0, &files, offer_found);
}

// Offers a program, or its debug file, whose binary id some profile has.
static void offer_program(CoverObjects *o, Str path)
{
    Arena arena = {0};
    MappedFile m = {0};
    Elf elf;
    if (os_map_file(path, &m, NULL) && elf_parse(&arena, m.bytes, &elf, NULL)) {
        BuildId id = elf_build_id(&elf);
        if (is_wanted(o, &id))
            cover_correlations_offer(o->pool->correlations, path);
    }
    os_unmap_file(&m);
    arena_deinit(&arena);
}

void cover_objects_search_programs(CoverObjects *o, Str folder)
{
    uint64_t files = 0;
    search(o, folder, 0, &files, offer_program);
}

// ---- The list --------------------------------------------------------------------

bool cover_objects_write(const CoverObjects *o, Str folder, Error *err)
{
    StrBuf out = {0};
    for (size_t i = 0; i < o->found.len; i++) {
        const CoverObject *object = &o->found.at[i];
        cover_object_list_add(&out, object->is_mapping ? NULL : &object->id, object->path);
    }
    Str path = arena_printf(o->arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(folder),
                            STR_ARG(COVER_OBJECTS_FILE));
    bool ok = os_write_file(path, bytes_from_str(strbuf_str(&out)), OUTPUT_REPLACE, err);
    strbuf_deinit(&out);
    return ok;
}

// ---- Contents of a file -----------------------------------------------------------

static bool has_symbol(Arena *arena, const Elf *elf, uint32_t type, Str prefix)
{
    ElfSymbols symbols;
    if (!elf_symbols_load(arena, elf, type, &symbols, NULL))
        return false;
    for (size_t i = 0; i < symbols.count; i++)
        if (str_starts_with(elf_symbol_get(&symbols, i).name, prefix))
            return true;
    return false;
}

CoverKind cover_kind_of(Bytes file)
{
    Arena arena = {0};
    Elf elf;
    CoverKind kind = COVER_KIND_UNKNOWN;
    if (elf_parse(&arena, file, &elf, NULL)) {
        if (elf_section_find(&elf, STR("__llvm_prf_cnts")))
            kind = COVER_KIND_LLVM;
        else if (has_symbol(&arena, &elf, SHT_SYMTAB, STR("__gcov_")))
            kind = COVER_KIND_GCOV;
        else if (elf_section_find(&elf, STR(".symtab")))
            kind = COVER_KIND_NONE;
    }
    arena_deinit(&arena);
    return kind;
}

// ---- gcc's notes -----------------------------------------------------------------

typedef struct NoteLinks {
    uint64_t data, without_notes;
    size_t root_len; // length of the folder's path, after which gcc's absolute paths begin
} NoteLinks;

static void link_notes(void *ctx, Str data)
{
    NoteLinks *links = ctx;
    Arena arena = {0};
    Str stem = str_slice(data, 0, data.len - STR(".gcda").len);
    Str beside = arena_printf(&arena, "%" STR_FMT ".gcno", STR_ARG(stem));
    Str notes = str_slice(beside, links->root_len, beside.len);
    links->data++;
    unlink(beside.ptr);
    if (!os_file_exists(notes) || symlink(notes.ptr, beside.ptr) != 0)
        links->without_notes++;
    arena_deinit(&arena);
}

static void each_data_file(Str folder, unsigned depth, CoverDataFile *each, void *ctx)
{
    Arena arena = {0};
    DIR *dir = opendir(arena_c_str(&arena, folder));
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (str_equal(str_from_c(e->d_name), STR(".")) ||
            str_equal(str_from_c(e->d_name), STR("..")))
            continue;
        Str path = arena_printf(&arena, "%" STR_FMT "/%s", STR_ARG(folder), e->d_name);
        struct stat st;
        if (lstat(path.ptr, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode) && depth < 2 * SEARCH_DEPTH_MAX)
            each_data_file(path, depth + 1, each, ctx);
        else if (S_ISREG(st.st_mode) && str_ends_with(path, STR(".gcda")))
            each(ctx, path);
    }
    if (dir)
        closedir(dir);
    arena_deinit(&arena);
}

void cover_each_data_file(Str folder, CoverDataFile *each, void *ctx)
{
    each_data_file(folder, 0, each, ctx);
}

void cover_link_notes(Str root, uint64_t *data, uint64_t *without_notes)
{
    NoteLinks links = {.root_len = root.len};
    cover_each_data_file(root, link_notes, &links);
    *data = links.data;
    *without_notes = links.without_notes;
}
