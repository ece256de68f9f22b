// SPDX-License-Identifier: Apache-2.0
// Programs that CMake builds. Format: cmake-file-api(7), object kind "codemodel" version 2.

#include "build/build_internal.h"

#include <dirent.h>
#include <unistd.h>

#include "build/build_parts_internal.h"
#include "os/file.h"

#define API   "/.cmake/api/v1"
#define QUERY API "/query/client-assay"

enum { JSON_MAX_BYTES = 1 << 28 };

typedef struct CmakeBuild {
    Arena *arena;
    const BuildRequest *request;
    Str folder;
    Str config;   // of a generator for several; "": there is one
    StrVec names; // of executables
} CmakeBuild;

static bool read_json(const CmakeBuild *c, Str path, JsonValue **ret, Error *err)
{
    Bytes text;
    return os_read_file(c->arena, path, JSON_MAX_BYTES, &text, err) &&
           (json_parse(c->arena, str_from_bytes(text), ret, err) ||
            error_context(err, "'%" STR_FMT "'", STR_ARG(path)));
}

static Str reply_path(const CmakeBuild *c, Str name)
{
    return arena_printf(c->arena, "%" STR_FMT API "/reply/%" STR_FMT, STR_ARG(c->folder),
                        STR_ARG(name));
}

// The index with the greatest name is the newest.
static Str newest_index(const CmakeBuild *c)
{
    Str best = {0};
    DIR *dir = opendir(arena_c_str(c->arena, reply_path(c, STR("."))));
    for (struct dirent *e; dir && (e = readdir(dir));) {
        Str name = str_from_c(e->d_name);
        if (str_starts_with(name, STR("index-")) && str_compare(name, best) > 0)
            best = arena_str(c->arena, name);
    }
    if (dir)
        closedir(dir);
    return best;
}

static bool read_codemodel(const CmakeBuild *c, JsonValue **ret, Error *err)
{
    JsonValue *index;
    Str name = newest_index(c);
    if (name.len == 0)
        return error_set(err, ERROR_UNSUPPORTED,
                         "cmake did not describe build folder '%" STR_FMT "': version 3.14 or "
                         "later is needed",
                         STR_ARG(c->folder));
    if (!read_json(c, reply_path(c, name), &index, err))
        return false;
    const JsonValue *objects = json_find(index, "objects");
    for (const JsonValue *o = objects ? objects->child : NULL; o; o = o->next)
        if (str_equal(build_json_text(o, "kind"), STR("codemodel")))
            return read_json(c, reply_path(c, build_json_text(o, "jsonFile")), ret, err);
    return error_set(err, ERROR_FORMAT, "'%" STR_FMT "' has no codemodel", STR_ARG(name));
}

// Of several configurations that with optimised code and line tables.
static const JsonValue *choose_config(CmakeBuild *c, const JsonValue *model)
{
    static const char *const wanted[] = {"RelWithDebInfo", "Release"};
    const JsonValue *all = json_find(model, "configurations");
    const JsonValue *first = all ? all->child : NULL;
    if (!first || !first->next)
        return first;
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        for (const JsonValue *v = first; v; v = v->next)
            if (str_equal(build_json_text(v, "name"), str_from_c(wanted[i]))) {
                c->config = build_json_text(v, "name");
                return v;
            }
    c->config = build_json_text(first, "name");
    return first;
}

// The file that an executable target makes; "" for other targets.
static Str artifact(const CmakeBuild *c, const JsonValue *entry)
{
    JsonValue *target;
    Error ignored;
    if (!read_json(c, reply_path(c, build_json_text(entry, "jsonFile")), &target, &ignored) ||
        !str_equal(build_json_text(target, "type"), STR("EXECUTABLE")))
        return STR("");
    const JsonValue *artifacts = json_find(target, "artifacts");
    Str path = artifacts ? build_json_text(artifacts->child, "path") : STR("");
    if (path.len == 0 || path.ptr[0] == '/')
        return path;
    return arena_printf(c->arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(c->folder), STR_ARG(path));
}

static Str find_target(CmakeBuild *c, const JsonValue *config)
{
    const JsonValue *targets = config ? json_find(config, "targets") : NULL;
    for (const JsonValue *t = targets ? targets->child : NULL; t; t = t->next) {
        Str name = build_json_text(t, "name");
        Str path = artifact(c, t);
        if (path.len == 0)
            continue;
        if (str_equal(name, c->request->cmake))
            return path;
        vec_push(c->arena, &c->names, name);
    }
    return STR("");
}

static bool explain_names(const CmakeBuild *c, Error *err)
{
    StrBuf b = {0};
    for (size_t i = 0; i < c->names.len && b.len < 200; i++)
        strbuf_printf(&b, "%s%" STR_FMT, i ? ", " : "", STR_ARG(c->names.at[i]));
    (void)error_set(err, ERROR_NOT_FOUND, "cmake has no executable '%" STR_FMT "'",
                    STR_ARG(c->request->cmake));
    (void)error_hint(err, "those of build folder '%" STR_FMT "': %" STR_FMT, STR_ARG(c->folder),
                     STR_ARG(strbuf_str(&b)));
    strbuf_deinit(&b);
    return false;
}

// Asks cmake to describe the folder, which it does when it generates. The question is removed
// again.
static bool describe(CmakeBuild *c, int *status, Error *err)
{
    Bytes output;
    Str query = arena_printf(c->arena, "%" STR_FMT QUERY, STR_ARG(c->folder));
    Str file = arena_printf(c->arena, "%" STR_FMT "/codemodel-v2", STR_ARG(query));
    StrVec words = {0};
    vec_push(c->arena, &words, STR("cmake"));
    vec_push(c->arena, &words, c->folder);
    if (!os_make_folders(query, err) || !os_write_file(file, (Bytes){0}, OUTPUT_REPLACE, err))
        return false;
    bool ok = build_run(c->arena, c->request->search_path, &words, &output, status, err);
    (void)!unlink(file.ptr);
    (void)!rmdir(query.ptr);
    return ok;
}

static bool compile(const CmakeBuild *c, BuiltProgram *ret, Error *err)
{
    Bytes output;
    StrVec words = {0};
    const Str fixed[] = {STR("cmake"), STR("--build"), c->folder, STR("--target"),
                         c->request->cmake};
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        vec_push(c->arena, &words, fixed[i]);
    if (c->config.len) {
        vec_push(c->arena, &words, STR("--config"));
        vec_push(c->arena, &words, c->config);
    }
    if (!build_run(c->arena, c->request->search_path, &words, &output, &ret->status, err))
        return false;
    ret->output = str_from_bytes(output);
    return true;
}

// The value of a variable in the cache; "" when it is not there.
static Str cached(const CmakeBuild *c, Str name)
{
    Bytes text;
    Str rest, line, key, value;
    Str path = arena_printf(c->arena, "%" STR_FMT "/CMakeCache.txt", STR_ARG(c->folder));
    if (!os_read_file(c->arena, path, JSON_MAX_BYTES, &text, NULL))
        return STR("");
    rest = str_from_bytes(text);
    while (str_next_line(&rest, &line))
        if (str_starts_with(line, name) && str_split(line, '=', &key, &value) &&
            (key.len == name.len || key.ptr[name.len] == ':'))
            return value;
    return STR("");
}

static void note_lines(const CmakeBuild *c, BuiltProgram *ret)
{
    Str type = c->config.len ? c->config : cached(c, STR("CMAKE_BUILD_TYPE"));
    bool has_lines = str_equal(type, STR("RelWithDebInfo")) || str_equal(type, STR("Debug")) ||
                     str_find(cached(c, STR("CMAKE_CXX_FLAGS")), STR("-g")) != SIZE_MAX ||
                     str_find(cached(c, STR("CMAKE_C_FLAGS")), STR("-g")) != SIZE_MAX;
    if (!has_lines)
        ret->note = arena_printf(c->arena,
                                 "build folder '%" STR_FMT "' has build type '%" STR_FMT
                                 "', without line tables; for source lines: cmake "
                                 "-DCMAKE_BUILD_TYPE=RelWithDebInfo %" STR_FMT,
                                 STR_ARG(c->folder), STR_ARG(type), STR_ARG(c->folder));
}

bool build_cmake(Arena *arena, const BuildRequest *r, BuiltProgram *ret, Error *err)
{
    CmakeBuild c = {.arena = arena, .request = r};
    JsonValue *model;
    if (!build_folder_find(arena, r->folder, "CMakeCache.txt", "--cmake", &c.folder, err) ||
        !describe(&c, &ret->status, err))
        return false;
    if (ret->status != 0)
        return true;
    if (!read_codemodel(&c, &model, err))
        return false;
    ret->path = find_target(&c, choose_config(&c, model));
    if (ret->path.len == 0)
        return explain_names(&c, err);
    note_lines(&c, ret);
    return compile(&c, ret, err);
}
