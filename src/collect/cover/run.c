// SPDX-License-Identifier: Apache-2.0
// The folder of results: prepares, fills and writes it.

#include "collect/cover/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coverage/object_list.h"
#include "os/file.h"

static Str in_folder(CoverRun *r, Str name)
{
    return arena_printf(&r->arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(r->folder), STR_ARG(name));
}

static Str profile_path(CoverRun *r)
{
    return in_folder(r, STR("profile.profdata"));
}

// ---- Earlier results ---------------------------------------------------------

// Reads the list of objects. An object that was linked again since is used all the same: the counts
// of its unchanged functions still apply.
static bool load_list(CoverRun *r, StrVec *paths, Error *err)
{
    Str path = in_folder(r, COVER_OBJECTS_FILE), line;
    Bytes text;
    if (!os_file_exists(path))
        return true;
    if (!os_read_file(&r->arena, path, OS_READ_MAX_BYTES, &text, err))
        return false;
    for (Str rest = str_from_bytes(text); str_next_line(&rest, &line);) {
        BuildId id;
        Str object;
        if (cover_object_list_split(line, &id, &object))
            vec_push(&r->arena, paths, object);
    }
    return true;
}

// Results without a selection count all sources, and so do runs that are added to them.
static bool load_selection(CoverRun *r, Error *err)
{
    Str path = in_folder(r, COVER_SOURCES_FILE);
    Bytes text;
    r->counts_all = !os_file_exists(path) && os_file_exists(in_folder(r, COVER_OBJECTS_FILE));
    if (!os_file_exists(path))
        return true;
    return os_read_file(&r->arena, path, OS_READ_MAX_BYTES, &text, err) &&
           (cover_selection_read(&r->arena, str_from_bytes(text), &r->selection, err) ||
            error_context(err, "'%" STR_FMT "'", STR_ARG(path)));
}

static bool add_earlier(CoverRun *r, Error *err)
{
    MappedFile m = {0};
    Str path = profile_path(r);
    if (!os_file_exists(path))
        return true;
    bool ok =
        os_map_file(path, &m, err) && cover_counts_add(&r->pool.counts, path, m.bytes, 1, err);
    os_unmap_file(&m);
    return ok;
}

// Adds the hint to use another folder to an error that says that this user may not write.
static bool cannot_write(Error *err)
{
    return err && (err->kind == ERROR_PERMISSION || err->os_errno == EROFS)
               ? error_hint(err, "-o DIR puts the results in a folder that you may write")
               : false;
}

// Counts that are added to come from the old results; the old data files of gcc are copied,
// because programs add to them in place.
static bool take_old(CoverRun *r, CoverRunMode mode, Error *err)
{
    if (mode == COVER_RUN_REPLACE)
        cover_results_list(&r->arena, r->folder, &r->old);
    return mode != COVER_RUN_ADD ||
           (load_selection(r, err) && load_list(r, &r->earlier, err) && add_earlier(r, err) &&
            cover_results_copy_data(in_folder(r, STR("gcov")), r->gcov_root, err));
}

bool cover_run_open(CoverRun *r, const CoverRunPlace *place, CoverRunMode mode, bool keep_raw,
                    Error *err)
{
    char real[4096];
    Str folder = place->folder;
    *r = (CoverRun){.pool.notify_fd = -1, .drop.mount_fd = -1};
    cover_correlations_init(&r->correlations);
    r->folder = folder;
    if (!os_make_folders(folder, err))
        return cannot_write(err);
    if (!realpath(arena_c_str(&r->arena, folder), real))
        return error_os(err, "cannot use folder '%" STR_FMT "'", STR_ARG(folder));
    r->folder = arena_str(&r->arena, str_from_c(real));
    if (mode == COVER_RUN_NEW && os_file_exists(in_folder(r, COVER_OBJECTS_FILE))) {
        (void)error_set(err, ERROR_LIMIT, "folder '%" STR_FMT "' holds the results of another run",
                        STR_ARG(folder));
        return error_hint(err, "--force replaces them, --merge adds to them");
    }
    if (!cover_drop_open(&r->arena, r->folder, place->temp, &r->drop, err) ||
        !cover_pool_open(&r->pool, &r->arena, r->drop.folder, err))
        return cannot_write(err);
    // Files that a killed run has left must not mix with this run's.
    r->gcov_root = arena_printf(&r->arena, "%" STR_FMT "/.gcov-%" STR_FMT, STR_ARG(r->drop.base),
                                STR_ARG(str_base_name(r->drop.folder)));
    r->pool.reach = r->drop.reach;
    r->pool.keep_to = r->drop.base;
    r->pool.keep_folder = true; // cover_drop_close removes it
    r->pool.keep_raw = keep_raw;
    r->pool.correlations = &r->correlations;
    r->pool.may_wait = true;
    r->pool.kept_folder = r->folder;
    r->objects = (CoverObjects){.arena = &r->arena, .pool = &r->pool};
    return take_old(r, mode, err);
}

void cover_run_deinit(CoverRun *r)
{
    cover_pool_deinit(&r->pool);
    if (r->survivors == 0 && r->gcov_root.len)
        unlink(r->gcov_root.ptr); // the link of cover_results_move_data
    cover_drop_close(&r->arena, &r->drop, r->survivors != 0);
    cover_correlations_deinit(&r->correlations);
    arena_deinit(&r->arena);
}

// ---- Processes that still run -------------------------------------------------------------------

static bool has_run_folder(const CoverRun *r, Str number, U8Vec *buf)
{
    enum { PIECE = 65536 };
    Arena scratch = {0};
    Str path = arena_printf(&scratch, "/proc/%" STR_FMT "/environ", STR_ARG(number));
    int fd = open(path.ptr, O_RDONLY | O_CLOEXEC);
    ssize_t n = 0;
    buf->len = 0;
    do {
        vec_reserve(NULL, buf, PIECE);
        n = fd < 0 ? 0 : read(fd, buf->at + buf->len, PIECE);
        buf->len += n > 0 ? (size_t)n : 0;
    } while (n > 0);
    if (fd >= 0)
        close(fd);
    arena_deinit(&scratch);
    return buf->len && memmem(buf->at, buf->len, r->drop.base.ptr, r->drop.base.len);
}

size_t cover_run_survivors(const CoverRun *r)
{
    size_t count = 0;
    U8Vec buf = {0};
    uint64_t pid;
    DIR *dir = opendir("/proc");
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (str_parse_u64(str_from_c(e->d_name), 10, &pid) && (pid_t)pid != getpid())
            count += has_run_folder(r, str_from_c(e->d_name), &buf);
    if (dir)
        closedir(dir);
    vec_free(&buf);
    return count;
}

void cover_run_variables(CoverRun *r, CoverVariables *ret)
{
    const CoverVariable variables[] = {
        {"LLVM_PROFILE_FILE", cover_pool_pattern(&r->pool).ptr},
        {"GCOV_PREFIX", r->gcov_root.ptr},
        {"GCOV_PREFIX_STRIP", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(variables); i++)
        vec_push(&r->arena, ret, variables[i]);
}

// ---- The results ---------------------------------------------------------------------

static void find_objects(CoverRun *r, const CoverObjectSources *sources)
{
    CoverObjects *o = &r->objects;
    for (size_t i = 0; i < sources->always.len; i++)
        cover_objects_offer(o, sources->always.at[i], true);
    for (size_t i = 0; i < sources->commands.len; i++)
        cover_objects_offer(o, sources->commands.at[i], false);
    cover_objects_add_kept(o);
    cover_objects_offer_writers(o);
    for (size_t i = 0; i < sources->folders.len; i++)
        cover_objects_search(o, sources->folders.at[i]);
}

// Finds the programs of profiles with counters only that were not seen while they ran.
static void join_waiting(CoverRun *r, const CoverObjectSources *sources, const StrVec *earlier)
{
    const StrVec *lists[] = {&sources->always, &sources->commands, earlier};
    if (r->pool.waiting.len == 0)
        return;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (size_t k = 0; k < lists[i]->len; k++)
            if (os_file_exists(lists[i]->at[k]))
                cover_correlations_offer(&r->correlations, lists[i]->at[k]);
    bool waits = cover_pool_retry(&r->pool, false);
    for (size_t i = 0; i < sources->folders.len && waits; i++) {
        cover_objects_search_programs(&r->objects, sources->folders.at[i]);
        waits = cover_pool_retry(&r->pool, false);
    }
    (void)cover_pool_retry(&r->pool, true);
}

static bool write_profile(CoverRun *r, Error *err)
{
    StrBuf out = {0};
    CoverCounts *c = &r->pool.counts;
    // The oldest version of the format that can hold the counts.
    uint32_t version = c->bitmaps.len ? 12 : 9;
    bool ok = cover_counts_write(c, version, false, &out, err) &&
              os_write_file_synced(profile_path(r), bytes_from_str(strbuf_str(&out)),
                                   OUTPUT_REPLACE, err);
    strbuf_deinit(&out);
    return ok;
}

static bool write_selection(CoverRun *r, Error *err)
{
    const CoverSelection *s = &r->selection;
    if (r->counts_all || (s->include.len == 0 && s->exclude.len == 0))
        return true;
    StrBuf out = {0};
    cover_selection_write(s, &out);
    bool ok = os_write_file(in_folder(r, COVER_SOURCES_FILE), bytes_from_str(strbuf_str(&out)),
                            OUTPUT_REPLACE, err);
    strbuf_deinit(&out);
    return ok;
}

bool cover_run_wrote(const CoverRun *r)
{
    return r->pool.counts.profile_count || r->gcov_data;
}

bool cover_run_finish(CoverRun *r, const CoverObjectSources *sources, Error *err)
{
    join_waiting(r, sources, &r->earlier);
    if (!cover_counts_finish(&r->pool.counts, err))
        return false;
    for (size_t i = 0; i < r->earlier.len; i++)
        cover_objects_offer(&r->objects, r->earlier.at[i], true);
    cover_link_notes(r->gcov_root, &r->gcov_data, &r->gcov_without_notes);
    // A process that still writes was most likely started by one of the commands.
    for (size_t i = 0; i < sources->commands.len && r->survivors; i++)
        cover_objects_offer(&r->objects, sources->commands.at[i], true);
    if (r->pool.counts.profile_count)
        find_objects(r, sources);
    // The counts come last: whoever opens the folder before sees the old ones.
    bool ok = cover_objects_write(&r->objects, r->folder, err) && write_selection(r, err) &&
              cover_results_move_data(r->gcov_root, in_folder(r, STR("gcov")), err) &&
              (r->pool.counts.profile_count == 0 || write_profile(r, err));
    if (ok)
        cover_drop_finished(&r->drop);
    cover_pool_close(&r->pool);
    return ok;
}

void cover_run_drop_old(CoverRun *r)
{
    cover_results_remove(&r->arena, r->folder, &r->old);
}
