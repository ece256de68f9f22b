// SPDX-License-Identifier: Apache-2.0
// Stores the text of the source lines of a profile.

#include "base/strbuf.h"
#include "symbolise/symbolise.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILE_MAX_BYTES = 16 << 20, // larger files are generated and not read by people
    LINE_MAX_BYTES = 400,
    CHANGED_NAMED_MAX = 5,
};

typedef struct TouchedLine {
    uint32_t file; // StrId
    uint32_t line;
    ModuleId module; // that says so
    bool is_ours;    // it is a program of this user or of root
} TouchedLine;

typedef Vec(TouchedLine) TouchedLineVec;

typedef struct Sources {
    Profile *profile;
    const SourceOptions *options;
    Arena scratch;
    FileSet files;
    uint64_t bytes_left;
    size_t changed, outside;
    StrBuf changed_names, outside_names;
    bool is_full;
} Sources;

static int touched_compare(const void *a, const void *b)
{
    const TouchedLine *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

// [module]: whether the program at its path is this user's or root's.
static bool *owned_modules(Arena *arena, const Profile *p)
{
    size_t count = p->modules.path.len;
    bool *owned = arena_array(arena, bool, count + 1);
    for (size_t i = 0; i < count; i++) {
        struct stat st;
        Str path = profile_text(p, p->modules.path.at[i]);
        owned[i] = str_starts_with(path, STR("/")) && stat(arena_c_str(arena, path), &st) == 0 &&
                   S_ISREG(st.st_mode) && (st.st_uid == geteuid() || st.st_uid == 0);
    }
    return owned;
}

// The lines of one file, or with 0 of all.
static TouchedLineVec touched_collect(Arena *arena, const Profile *p, StrId file)
{
    TouchedLineVec v = {0};
    const bool *owned = owned_modules(arena, p);
    for (uint32_t i = 1; i < profile_frame_count(p); i++)
        if (p->frames.file.at[i].v && p->frames.line.at[i] &&
            (file.v == 0 || p->frames.file.at[i].v == file.v))
            vec_push(NULL, &v,
                     (TouchedLine){p->frames.file.at[i].v, p->frames.line.at[i],
                                   p->frames.module.at[i], owned[p->frames.module.at[i].v]});
    if (v.len)
        qsort(v.at, v.len, sizeof(v.at[0]), touched_compare);
    return v;
}

// The part of a path after "/rustc/<hash>/", if that is "library/…". False for other paths.
static bool rust_library_path(Str path, Str *ret)
{
    Str hash, rest = str_slice(path, sizeof("/rustc/") - 1, path.len);
    if (!str_starts_with(path, STR("/rustc/")) || !str_split(rest, '/', &hash, ret))
        return false;
    return str_starts_with(*ret, STR("library/"));
}

// The path from which a file is read: by the first mapping that matches, else its own.
static Str mapped_path(Arena *arena, const SourceOptions *o, Str path)
{
    for (size_t i = 0; i < o->map_count; i++)
        if (o->maps[i].from.len && str_starts_with(path, o->maps[i].from))
            return arena_printf(arena, "%" STR_FMT "%" STR_FMT, STR_ARG(o->maps[i].to),
                                STR_ARG(str_slice(path, o->maps[i].from.len, path.len)));
    Str library;
    if (o->rust_src.len && rust_library_path(path, &library))
        return arena_printf(arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(o->rust_src),
                            STR_ARG(library));
    return path;
}

static void name_add(size_t *count, StrBuf *names, Str path)
{
    if ((*count)++ < CHANGED_NAMED_MAX)
        strbuf_printf(names, "%s'%" STR_FMT "'", *count > 1 ? ", " : "", STR_ARG(path));
}

typedef enum TextState { TEXT_ABSENT, TEXT_OUTSIDE, TEXT_CHANGED, TEXT_HERE } TextState;

// The file in the root folder of the first module that has one and names it. A file that a mapping
// moves elsewhere is not looked for there.
static SourceAccess map_in_root(const SourceOptions *o, Str path, Str real,
                                const TouchedLine *touched, size_t n, MappedFile *file)
{
    SourceAccess access = SOURCE_ABSENT;
    if (!o->in_module_root || !str_equal(path, real))
        return SOURCE_ABSENT;
    for (size_t i = 0; i < n && access != SOURCE_HERE; i++)
        if (i == 0 || touched[i].module.v != touched[i - 1].module.v)
            access = o->in_module_root(o->files.ctx, touched[i].module, path, file);
    return access;
}

// The text of a file, borrowed from `files`, and whether it has changed since the recording.
// `touched` are its lines.
static TextState text_open(FileSet *files, Arena *arena, const SourceOptions *o, Str path,
                           const TouchedLine *touched, size_t n, Str *ret)
{
    Bytes bytes;
    Str real = mapped_path(arena, o, path);
    MappedFile file;
    bool is_ours = false;
    for (size_t i = 0; i < n && !is_ours; i++)
        is_ours = touched[i].is_ours;
    SourceAccess inside = map_in_root(o, path, real, touched, n, &file), access = inside;
    if (inside != SOURCE_HERE && (!o->roots || o->files.file_bytes))
        access = file_set_open(files, real, &bytes) ? SOURCE_HERE : SOURCE_ABSENT;
    else if (inside == SOURCE_HERE ||
             (access = source_map(o->roots, is_ours, real, &file)) == SOURCE_HERE) {
        file_set_add(files, real, &file);
        bytes = file.bytes;
    }
    if (inside == SOURCE_OUTSIDE && access == SOURCE_ABSENT)
        access = SOURCE_OUTSIDE;
    if (access != SOURCE_HERE)
        return access == SOURCE_OUTSIDE ? TEXT_OUTSIDE : TEXT_ABSENT;
    if (bytes.len > FILE_MAX_BYTES ||
        memchr(bytes.ptr ? bytes.ptr : (const uint8_t *)"", 0, MIN(bytes.len, (size_t)4096)))
        return TEXT_ABSENT;
    *ret = str_from_bytes(bytes);
    int64_t mtime_ns = vec_last(&files->probes).identity.mtime_ns;
    return o->recorded_at_ns && mtime_ns > o->recorded_at_ns ? TEXT_CHANGED : TEXT_HERE;
}

bool source_read(Arena *arena, const SourceOptions *options, const Profile *p, StrId file,
                 Str *text, bool *is_changed)
{
    FileSet files;
    file_set_init(&files, &options->files, arena);
    TouchedLineVec touched = touched_collect(arena, p, file);
    TextState state =
        text_open(&files, arena, options, profile_text(p, file), touched.at, touched.len, text);
    vec_free(&touched);
    bool is_here = state == TEXT_HERE || state == TEXT_CHANGED;
    if (is_here)
        *text = arena_str(arena, *text);
    *is_changed = state == TEXT_CHANGED;
    file_set_deinit(&files);
    return is_here;
}

// Whether a line is within `context` of a touched one. `at` advances along with the lines.
static bool is_wanted(const TouchedLine *touched, size_t n, size_t *at, uint64_t line,
                      uint64_t context)
{
    while (*at < n && touched[*at].line + context < line)
        ++*at;
    return *at < n && line + context >= touched[*at].line;
}

static void file_store(Sources *s, const TouchedLine *touched, size_t n)
{
    StrId file = {touched[0].file};
    Str text, line;
    Str path = profile_text(s->profile, file);
    TextState state = text_open(&s->files, &s->scratch, s->options, path, touched, n, &text);
    if (state == TEXT_CHANGED)
        name_add(&s->changed, &s->changed_names, path);
    if (state == TEXT_OUTSIDE)
        name_add(&s->outside, &s->outside_names, path);
    if (state != TEXT_HERE)
        return;
    uint64_t last = (uint64_t)touched[n - 1].line + s->options->context;
    size_t at = 0;
    for (uint64_t number = 1; number <= last && str_next_line(&text, &line); number++) {
        if (!is_wanted(touched, n, &at, number, s->options->context))
            continue;
        line = str_slice(line, 0, LINE_MAX_BYTES);
        if (line.len > s->bytes_left) {
            s->is_full = true;
            return;
        }
        s->bytes_left -= line.len;
        profile_source_line(s->profile, file, (uint32_t)number, line);
    }
}

void symbolise_sources(Profile *p, const SourceOptions *options)
{
    Sources s = {.profile = p, .options = options};
    s.bytes_left = options->max_bytes ? options->max_bytes : SOURCE_MAX_BYTES;
    TouchedLineVec touched = touched_collect(&s.scratch, p, (StrId){0});
    for (size_t i = 0; i < touched.len && !s.is_full;) {
        size_t end = i + 1;
        while (end < touched.len && touched.at[end].file == touched.at[i].file)
            end++;
        file_set_init(&s.files, &options->files, &s.scratch);
        file_store(&s, touched.at + i, end - i);
        file_set_deinit(&s.files);
        i = end;
    }
    if (s.changed)
        profile_note(
            p, NOTE_WARNING, STR("sources-changed"),
            "%zu source files were changed after the recording and are not shown: %" STR_FMT "%s",
            s.changed, STR_ARG(strbuf_str(&s.changed_names)),
            s.changed > CHANGED_NAMED_MAX ? " …" : "");
    if (s.outside)
        profile_note(p, NOTE_INFO, STR("sources-outside"),
                     "%zu source files lie outside the project and are not read: %" STR_FMT
                     "%s; from a working folder above them they are, or with --source-path",
                     s.outside, STR_ARG(strbuf_str(&s.outside_names)),
                     s.outside > CHANGED_NAMED_MAX ? " …" : "");
    if (s.is_full)
        profile_note(
            p, NOTE_INFO, STR("sources-cut"), "the text of source lines was cut at %llu bytes",
            (unsigned long long)(options->max_bytes ? options->max_bytes : SOURCE_MAX_BYTES));
    vec_free(&touched);
    strbuf_deinit(&s.changed_names);
    strbuf_deinit(&s.outside_names);
    arena_deinit(&s.scratch);
}

#define RUST_SOURCE "/lib/rustlib/src/rust"

static bool has_rust_library(Arena *arena, Str root)
{
    char *core = arena_c_str(
        arena, arena_printf(arena, "%" STR_FMT "/library/core/src/lib.rs", STR_ARG(root)));
    return access(core, R_OK) == 0;
}

Str rust_source_find(Arena *arena, Str rustup_home)
{
    char *folder =
        arena_c_str(arena, arena_printf(arena, "%" STR_FMT "/toolchains", STR_ARG(rustup_home)));
    struct dirent **names = NULL;
    int n = rustup_home.len ? scandir(folder, &names, NULL, alphasort) : 0;
    Str found = {0};
    for (int i = 0; i < n; i++) {
        Str root = arena_printf(arena, "%s/%s" RUST_SOURCE, folder, names[i]->d_name);
        if (!found.len && names[i]->d_name[0] != '.' && has_rust_library(arena, root))
            found = root;
        heap_free(names[i]); // scandir allocated it by malloc, as heap_alloc does
    }
    heap_free(names);
    Str system = STR("/usr" RUST_SOURCE);
    if (!found.len && has_rust_library(arena, system))
        found = system;
    return found;
}
