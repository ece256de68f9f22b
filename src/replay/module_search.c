// SPDX-License-Identifier: Apache-2.0
// Finds the mapped files of a recording that was made earlier or on another machine.
// Format of perf's folder: linux tools/perf/Documentation/perf-buildid-cache.txt.

#include "replay/module_search.h"

static bool has_build_id(Str hex)
{
    return hex.len > 2;
}

// FOLDER/.build-id/xx/yyyy
static Str by_build_id(Arena *arena, Str folder, Str hex, const char *end)
{
    return arena_printf(arena, "%" STR_FMT "/.build-id/%" STR_FMT "/%" STR_FMT "%s",
                        STR_ARG(folder), STR_ARG(str_slice(hex, 0, 2)),
                        STR_ARG(str_slice(hex, 2, hex.len)), end);
}

static void add(Arena *arena, ModuleCandidateVec *v, Str path, bool certain)
{
    vec_push(arena, v, (ModuleCandidate){path, certain});
}

static void add_by_build_id(Arena *arena, const ModuleSearch *s, Str path, Str hex,
                            ModuleCandidateVec *ret)
{
    if (s->build_id_cache.len) {
        const char *name = str_equal(path, STR("[vdso]")) ? "/vdso" : "/elf";
        add(arena, ret, by_build_id(arena, s->build_id_cache, hex, name), true);
        // Before perf 4.6 the path with the build-id was the file itself.
        add(arena, ret, by_build_id(arena, s->build_id_cache, hex, ""), true);
    }
    for (size_t i = 0; i < s->debug_dir_count; i++)
        add(arena, ret, by_build_id(arena, s->debug_dirs[i], hex, ""), true);
    add(arena, ret, by_build_id(arena, STR("/usr/lib/debug"), hex, ""), true);
    if (s->debuginfod_cache.len)
        add(arena, ret,
            arena_printf(arena, "%" STR_FMT "/%" STR_FMT "/executable",
                         STR_ARG(s->debuginfod_cache), STR_ARG(hex)),
            true);
}

void module_candidates(Arena *arena, const ModuleSearch *s, Str path, Str build_id,
                       ModuleCandidateVec *ret)
{
    const Str roots[] = {s->symfs, s->sysroot};
    if (s->no_files)
        return;
    bool is_path = path.len && path.ptr[0] == '/';
    for (size_t i = 0; is_path && i < ARRAY_LEN(roots); i++)
        if (roots[i].len)
            add(arena, ret,
                arena_printf(arena, "%" STR_FMT "%" STR_FMT, STR_ARG(roots[i]), STR_ARG(path)),
                true);
    // The file is mostly at its path still; folders by build-id are searched when it is not.
    if (is_path)
        add(arena, ret, path, false);
    if (has_build_id(build_id))
        add_by_build_id(arena, s, path, build_id, ret);
}

Str module_kallsyms_path(Arena *arena, const ModuleSearch *s, Str build_id)
{
    if (s->no_files || s->build_id_cache.len == 0 || !has_build_id(build_id))
        return STR("");
    return by_build_id(arena, s->build_id_cache, build_id, "/kallsyms");
}
