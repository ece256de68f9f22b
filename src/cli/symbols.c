// SPDX-License-Identifier: Apache-2.0
// The inputs of symbolising that come from the environment and from options.

#include "cli/symbols.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "os/stop.h"

// A folder below a variable's absolute path, or below another in $HOME.
static Str folder_of(Arena *arena, const char *variable, const char *below, const char *in_home)
{
    Str base = cli_env(variable);
    Str home = cli_env("HOME");
    if (str_starts_with(base, STR("/")))
        return arena_printf(arena, "%" STR_FMT "%s", STR_ARG(base), below);
    if (str_starts_with(home, STR("/")))
        return arena_printf(arena, "%" STR_FMT "%s", STR_ARG(home), in_home);
    return STR("");
}

// $XDG_CACHE_HOME/assay, or ~/.cache/assay; "" when neither is known.
static Str cache_folder(Arena *arena)
{
    return folder_of(arena, "XDG_CACHE_HOME", "/assay", "/.cache/assay");
}

static Str debuginfod_folder(Arena *arena)
{
    Str path = cli_env("DEBUGINFOD_CACHE_PATH");
    if (path.len)
        return path;
    return folder_of(arena, "XDG_CACHE_HOME", "/debuginfod_client", "/.cache/debuginfod_client");
}

void symbols_options(Arena *arena, const StrVec *debug_dirs, SymboliseOptions *ret)
{
    *ret = (SymboliseOptions){
        .debug_dirs = debug_dirs->at,
        .debug_dir_count = debug_dirs->len,
        .debuginfod_urls = cli_env("DEBUGINFOD_URLS"),
        .debuginfod_cache = debuginfod_folder(arena),
        .cache_dir = cache_folder(arena),
    };
}

bool symbols_source_options(Arena *arena, const StrVec *source_paths, SourceOptions *ret,
                            Error *err)
{
    struct SourceMap *maps = arena_array(arena, struct SourceMap, source_paths->len + 1);
    for (size_t i = 0; i < source_paths->len; i++)
        if (!str_split(source_paths->at[i], '=', &maps[i].from, &maps[i].to) ||
            maps[i].from.len == 0)
            return error_set(err, ERROR_USAGE, "--source-path takes OLD=NEW, not '%" STR_FMT "'",
                             STR_ARG(source_paths->at[i]));
    SourceRoots *roots = arena_new(arena, SourceRoots);
    StrVec named = {0};
    for (size_t i = 0; i < source_paths->len; i++)
        vec_push(arena, &named, maps[i].to);
    source_roots_init(arena, &named, roots);
    *ret = (SourceOptions){
        .roots = roots,
        .maps = maps,
        .map_count = source_paths->len,
        .rust_src = rust_source_find(arena, folder_of(arena, "RUSTUP_HOME", "", "/.rustup")),
    };
    if (ret->rust_src.len)
        source_roots_add(arena, roots, ret->rust_src);
    return true;
}

// ---- While it takes long ---------------------------------------------------

bool symbols_resolve(Profile *p, const SymboliseOptions *options)
{
    Progress progress = progress_begin("naming addresses", "Ctrl-C: keep what there is");
    SymboliseOptions with_stop = *options;
    SymboliseStats stats = {0};
    StopSignals signals;
    Error err;
    with_stop.stop = stop_flag();
    if (progress.is_terminal) {
        with_stop.progress = progress_show;
        with_stop.progress_ctx = &progress;
    }
    stop_begin(&signals);
    bool finished = symbolise_profile(p, &with_stop, &stats, &err);
    stop_end(&signals);
    progress_clear(&progress);
    if (!finished)
        profile_note(p, NOTE_WARNING, STR("symbols"),
                     "looking up names was stopped by a signal: %zu of %zu addresses have none",
                     stats.frames - stats.resolved, stats.frames);
    return finished;
}
