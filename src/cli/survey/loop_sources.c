// SPDX-License-Identifier: Apache-2.0
// Keeps the source files of the last program of assay loop.

#include "cli/survey/loop_sources.h"

#include <fcntl.h>

#include "cli/recording.h"
#include "cli/symbols.h"
#include "os/file.h"
#include "os/folder_tree.h"

enum {
    ALL_MAX_BYTES = 64 << 20, // of the copies
    RELATIVE_MAX = 1000,      // files that need a mapping each
};

typedef struct Keeper {
    Arena *arena;
    SourceOptions sources;
    Str folder;
    uint64_t bytes_left;
    StrVec maps;
    StrVec *newer;
} Keeper;

// Whether a path stays inside the folder that it is appended to.
static bool stays_inside(Str path)
{
    Str part;
    long depth = 0;
    while (str_next_part(&path, '/', &part)) {
        if (str_equal(part, STR("..")))
            depth--;
        else if (part.len && !str_equal(part, STR(".")))
            depth++;
        if (depth < 0)
            return false;
    }
    return true;
}

static void add_once(Arena *arena, StrVec *names, Str name)
{
    for (size_t i = 0; i < names->len; i++)
        if (str_equal(names->at[i], name))
            return;
    vec_push(arena, names, arena_str(arena, name));
}

static void keep_file(Keeper *k, const Profile *p, StrId file)
{
    Str path = profile_text(p, file), text = STR("");
    bool is_absolute = str_starts_with(path, STR("/")), is_newer = false;
    Str copy = arena_printf(k->arena, "%" STR_FMT "%s%" STR_FMT, STR_ARG(k->folder),
                            is_absolute ? "" : "/relative/", STR_ARG(path));
    if (!stays_inside(path) || os_file_exists(copy) ||
        !source_read(k->arena, &k->sources, p, file, &text, &is_newer))
        return;
    // The first mapping is that of all absolute paths.
    if (!is_absolute && k->maps.len <= RELATIVE_MAX)
        vec_push(k->arena, &k->maps,
                 arena_printf(k->arena, "%" STR_FMT "=%" STR_FMT, STR_ARG(path), STR_ARG(copy)));
    if (is_newer) {
        add_once(k->arena, k->newer, path);
        return;
    }
    if (text.len > k->bytes_left || !os_make_folders(str_dir_name(copy), NULL) ||
        !os_write_file(copy, bytes_from_str(text), OUTPUT_REPLACE, NULL))
        return;
    k->bytes_left -= text.len;
}

// Each file that a recording has lines of.
static void keep_files(Keeper *k, const Profile *p)
{
    bool *seen = heap_alloc(p->strings.texts.len + 1);
    const struct {
        const U32Vec *line;
        const StrIdVec *file;
    } columns[] = {{&p->frames.line, &p->frames.file},
                   {&p->line_counts.line, &p->line_counts.file}};
    for (size_t c = 0; c < ARRAY_LEN(columns); c++)
        for (size_t i = 0; i < columns[c].line->len; i++) {
            StrId file = columns[c].file->at[i];
            if (file.v == 0 || columns[c].line->at[i] == 0 || seen[file.v])
                continue;
            seen[file.v] = true;
            keep_file(k, p, file);
        }
    heap_free(seen);
}

StrVec loop_sources_keep(Arena *arena, Str survey, const SurveyManifest *manifest, Str program,
                         Str folder, StrVec *newer)
{
    static const SurveyStep steps[] = {SURVEY_CPU, SURVEY_HEAP, SURVEY_COUNTS};
    const StrVec none = {0};
    Arena scratch = {0};
    Keeper k = {.arena = &scratch, .folder = folder, .bytes_left = ALL_MAX_BYTES};
    StrVec ret = {0}, names = {0};
    FileIdentity built;
    k.newer = &names;
    (void)os_tree_remove(AT_FDCWD, arena_c_str(arena, folder));
    if (!os_file_identity(program, &built, NULL) ||
        !symbols_source_options(&scratch, &none, &k.sources, NULL)) {
        arena_deinit(&scratch);
        return ret;
    }
    k.sources.recorded_at_ns = built.mtime_ns;
    vec_push(&scratch, &k.maps, arena_printf(&scratch, "/=%" STR_FMT "/", STR_ARG(folder)));
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        Profile p;
        Str path = survey_part_path(&scratch, survey, &manifest->part[SURVEY_NEW][steps[i]]);
        if (path.len == 0 || !load_profile(path, &p, NULL, NULL))
            continue;
        keep_files(&k, &p);
        profile_deinit(&p);
    }
    for (size_t i = 0; i < k.maps.len; i++)
        vec_push(arena, &ret, arena_str(arena, k.maps.at[i]));
    for (size_t i = 0; i < names.len; i++)
        vec_push(arena, newer, arena_str(arena, names.at[i]));
    arena_deinit(&scratch);
    return ret;
}
