// SPDX-License-Identifier: Apache-2.0
// Opens the recordings that the user names.

#include "cli/recording.h"

#include <time.h>
#include <unistd.h>

#include "analyse/fit.h"
#include "analyse/wait/lock_names.h"
#include "cli/cli.h"
#include "cli/symbols.h"
#include "model/facts.h"
#include "os/clock.h"
#include "os/file.h"
#include "store/store.h"

// An opened file, and the folders that its reader may search.
typedef struct Input {
    Str name;
    Bytes bytes;
    int64_t recorded_at_ns; // the latest time at which it can have been recorded
    const RecordingFiles *files;
    bool sources;
    const Bytes *streams; // the other files of a folder by perf record --threads
    size_t stream_count;
} Input;

// The folder of perf's build-id cache, found as perf does.
static Str perf_build_id_cache(Arena *arena)
{
    Str named = cli_env("PERF_BUILDID_DIR"), home = cli_env("HOME");
    if (named.len)
        return named;
    return home.len ? arena_printf(arena, "%" STR_FMT "/.debug", STR_ARG(home)) : STR("");
}

// The folders of --debug-dir, then those for debug files below --symfs and --sysroot.
static StrVec debug_dirs(Arena *arena, const RecordingFiles *files)
{
    StrVec dirs = {0};
    for (size_t i = 0; i < files->debug_dirs.len; i++)
        vec_push(arena, &dirs, files->debug_dirs.at[i]);
    const Str roots[] = {files->symfs, files->sysroot};
    for (size_t i = 0; i < ARRAY_LEN(roots); i++)
        if (roots[i].len)
            vec_push(arena, &dirs,
                     arena_printf(arena, "%" STR_FMT "/usr/lib/debug", STR_ARG(roots[i])));
    return dirs;
}

void recording_search(Arena *arena, const RecordingFiles *files, RecordingSearch *ret)
{
    StrVec dirs = debug_dirs(arena, files);
    SymboliseOptions symbols;
    symbols_options(arena, &dirs, &symbols);
    *ret = (RecordingSearch){
        .modules = {.sysroot = files->sysroot,
                    .symfs = files->symfs,
                    .build_id_cache = perf_build_id_cache(arena),
                    .debuginfod_cache = symbols.debuginfod_cache,
                    .debug_dirs = dirs.at,
                    .debug_dir_count = dirs.len},
        .debug = {.dirs = dirs.at,
                  .dir_count = dirs.len,
                  .debuginfod_cache = symbols.debuginfod_cache,
                  .debuginfod_urls = symbols.debuginfod_urls},
    };
}

static bool import_input(const Input *in, Profile *p, const ImportFormat **format, Error *err)
{
    Arena arena = {0};
    StrVec dirs = debug_dirs(&arena, in->files), no_paths = {0};
    RecordingSearch search;
    SymboliseOptions symbols;
    SourceOptions sources;
    recording_search(&arena, in->files, &search);
    symbols_options(&arena, &dirs, &symbols);
    ImportOptions o = {.search = search.modules, .symbols = &symbols};
    o.search.recorded_at_ns = in->recorded_at_ns;
    o.streams = in->streams;
    o.stream_count = in->stream_count;
    o.limited_name = in->name;
    bool ok = true;
    if (in->sources) {
        ok = symbols_source_options(&arena, &no_paths, &sources, err);
        sources.context = 2;
        sources.recorded_at_ns = in->recorded_at_ns;
        o.sources = &sources;
    }
    ok = ok && import_bytes(in->bytes, &o, p, format, err);
    arena_deinit(&arena);
    return ok;
}

static bool is_of_this_machine(const Profile *p)
{
    char name[256] = "";
    return gethostname(name, sizeof(name) - 1) == 0 &&
           str_equal(profile_fact(p, STR(FACT_HOSTNAME)), str_from_c(name));
}

// Whether the recording began after this machine did, so that addresses in the
// kernel still mean the same.
static bool is_of_this_boot(const Profile *p)
{
    uint64_t start = 0;
    struct timespec up;
    return profile_fact_u64(p, STR(FACT_START_REALTIME), &start) &&
           clock_gettime(CLOCK_BOOTTIME, &up) == 0 &&
           (int64_t)start > os_realtime_ns() - (int64_t)up.tv_sec * 1000000000;
}

// A recorder that was killed leaves addresses without names. The files that they lie in
// may still be there: they are checked by build-id.
static bool name_addresses(const Input *in, Profile *p, Error *err)
{
    Arena arena = {0};
    StrVec dirs = debug_dirs(&arena, in->files), no_paths = {0};
    SymboliseOptions symbols;
    SourceOptions sources;
    uint64_t start = 0;
    symbols_options(&arena, &dirs, &symbols);
    symbols.is_live = is_of_this_boot(p);
    bool ok = symbols_source_options(&arena, &no_paths, &sources, err);
    if (ok && symbols_resolve(p, &symbols) &&
        profile_fact_u64(p, STR(FACT_START_REALTIME), &start)) {
        sources.context = 2;
        sources.recorded_at_ns = (int64_t)start;
        symbolise_sources(p, &sources);
    }
    arena_deinit(&arena);
    return ok;
}

static bool read_stored(const Input *in, Profile *p, Error *err)
{
    if (!store_read(in->bytes, p, err))
        return error_context(err, "cannot read recording '%" STR_FMT "'", STR_ARG(in->name));
    bool ok = profile_fact(p, STR(FACT_INCOMPLETE)).len == 0 || !is_of_this_machine(p) ||
              name_addresses(in, p, err);
    if (!ok) {
        profile_deinit(p);
        return false;
    }
    waits_name_python_lock(p);
    waits_name_locks(p);
    return true;
}

static bool read_input(const Input *in, Profile *p, const ImportFormat **format, Error *err)
{
    *format = NULL;
    if (store_is_recording(in->bytes))
        return read_stored(in, p, err);
    if (in->bytes.len == 0)
        return error_set(err, ERROR_FORMAT,
                         "cannot read recording '%" STR_FMT "': the file is empty",
                         STR_ARG(in->name));
    return import_input(in, p, format, err) ||
           error_context(err, "cannot read '%" STR_FMT "'", STR_ARG(in->name));
}

// Whether the beginning is that of a recording. A shorter input is whole, and is judged as a file.
static bool is_worth_reading(Bytes head, bool is_whole, Error *err)
{
    return is_whole || store_is_recording(head) || import_is_known(head) ||
           (import_unknown_format(head, err), error_context(err, "cannot read 'standard input'"));
}

// The format is decided on the beginning: an input that is none, or has no end, is refused at once.
static bool load_stdin(Input *in, Profile *p, const ImportFormat **format, Error *err)
{
    enum { HEAD_BYTES = 64 << 10 };
    Arena arena = {0};
    Str folder = cli_env("TMPDIR");
    MappedFile file = {0};
    size_t got;
    uint8_t *head = arena_alloc(&arena, HEAD_BYTES, 1);
    in->name = STR("standard input");
    in->recorded_at_ns = os_realtime_ns();
    bool ok = os_read_head(STDIN_FILENO, in->name, head, HEAD_BYTES, &got, err) &&
              is_worth_reading(bytes_over(head, got), got < HEAD_BYTES, err);
    in->bytes = bytes_over(head, got);
    if (ok && got == HEAD_BYTES) {
        ok = os_map_input(STDIN_FILENO, in->name, in->bytes, folder.len ? folder : STR("/tmp"),
                          &file, err);
        in->bytes = file.bytes;
    }
    ok = ok && read_input(in, p, format, err);
    os_unmap_file(&file);
    arena_deinit(&arena);
    return ok;
}

// A folder by perf record --threads: the file `data`, and `data.0`, `data.1` … for its threads.
static bool load_folder(Input *in, Profile *p, const ImportFormat **format, Error *err)
{
    Arena arena = {0};
    Vec(MappedFile) files = {0};
    Vec(Bytes) streams = {0};
    MappedFile file;
    bool ok = os_map_file(arena_printf(&arena, "%" STR_FMT "/data", STR_ARG(in->name)), &file, err);
    for (size_t i = 0; ok; i++) {
        Str path = arena_printf(&arena, "%" STR_FMT "/data.%zu", STR_ARG(in->name), i);
        MappedFile more;
        if (!os_file_exists(path))
            break;
        ok = os_map_file(path, &more, err);
        if (ok) {
            vec_push(&arena, &files, more);
            vec_push(&arena, &streams, more.bytes);
        }
    }
    if (ok) {
        in->bytes = file.bytes;
        in->recorded_at_ns = file.identity.mtime_ns;
        in->streams = streams.at;
        in->stream_count = streams.len;
        ok = read_input(in, p, format, err);
        os_unmap_file(&file);
    }
    for (size_t i = 0; i < files.len; i++)
        os_unmap_file(&files.at[i]);
    arena_deinit(&arena);
    return ok;
}

// Whether it is such a folder.
static bool is_folder_of_perf(Str path)
{
    Arena arena = {0};
    bool is = os_file_exists(arena_printf(&arena, "%" STR_FMT "/data", STR_ARG(path)));
    arena_deinit(&arena);
    return is;
}

bool load_recording(Str path, const RecordingFiles *files, bool sources, Profile *p,
                    const ImportFormat **format, Error *err)
{
    const ImportFormat *ignored;
    Input in = {.name = path, .files = files, .sources = sources};
    if (!format)
        format = &ignored;
    if (str_equal(path, STR("-")))
        return load_stdin(&in, p, format, err);
    if (is_folder_of_perf(path))
        return load_folder(&in, p, format, err);
    MappedFile file;
    if (!os_map_file(path, &file, err)) {
        if (str_equal(path, DEFAULT_RECORDING) && !os_file_exists(path))
            error_hint(err, "make one with 'assay record -- PROGRAM', or give its file");
        return false;
    }
    in.bytes = file.bytes;
    in.recorded_at_ns = file.identity.mtime_ns;
    bool ok = read_input(&in, p, format, err);
    os_unmap_file(&file);
    return ok;
}

bool load_profile(Str path, Profile *p, const ImportFormat **format, Error *err)
{
    const RecordingFiles none = {0};
    return load_recording(path, &none, false, p, format, err);
}

bool holds_only_runs(const Profile *p)
{
    return p->runs.name.len && p->samples.stack.len == 0;
}

// The contents of a recording without samples, and the commands that show them.
static bool hint_held(const Profile *p, Error *err)
{
    if (p->line_counts.line.len)
        return error_hint(err, "it holds counts of lines: 'assay cover show'");
    if (!holds_only_runs(p))
        return error_hint(err, "'assay report' says what it holds");
    Str name = text_prefix(profile_text(p, p->runs.name.at[0]), 100);
    size_t runs = p->runs.name.len;
    return error_hint(err,
                      "it holds %zu run%s%s%" STR_FMT "%s and what was counted: 'assay report' "
                      "shows it, 'assay export' writes it with --format csv, json or sqlite",
                      runs, runs == 1 ? "" : "s", name.len ? " of '" : "", STR_ARG(name),
                      name.len ? "'" : "");
}

bool no_samples(const Profile *p, const char *purpose, Error *err)
{
    error_set(err, ERROR_NOT_FOUND, "the recording has no samples to %s", purpose);
    return hint_held(p, err);
}
