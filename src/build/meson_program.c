// SPDX-License-Identifier: Apache-2.0
// Programs that Meson builds. Format: Meson's reference, "IDE integration".

#include "build/build_internal.h"

#include "build/build_parts_internal.h"

static bool run_meson(Arena *arena, const BuildRequest *r, const char *what, const char *option,
                      Str folder, Str more, Bytes *output, int *status, Error *err)
{
    StrVec words = {0};
    vec_push(arena, &words, STR("meson"));
    vec_push(arena, &words, str_from_c(what));
    vec_push(arena, &words, str_from_c(option));
    vec_push(arena, &words, folder);
    if (more.len)
        vec_push(arena, &words, more);
    return build_run(arena, r->search_path, &words, output, status, err);
}

// The file of an executable target; "" when there is none of that name.
static Str find_target(const JsonValue *targets, Str name)
{
    for (const JsonValue *t = targets->child; t; t = t->next) {
        const JsonValue *files = json_find(t, "filename");
        if (str_equal(build_json_text(t, "name"), name) &&
            str_equal(build_json_text(t, "type"), STR("executable")) && files && files->child)
            return files->child->text;
    }
    return STR("");
}

static bool explain_names(const JsonValue *targets, Str name, Error *err)
{
    StrBuf b = {0};
    for (const JsonValue *t = targets->child; t && b.len < 200; t = t->next)
        if (str_equal(build_json_text(t, "type"), STR("executable")))
            strbuf_printf(&b, "%s%" STR_FMT, b.len ? ", " : "",
                          STR_ARG(build_json_text(t, "name")));
    (void)error_set(err, ERROR_NOT_FOUND, "meson has no executable '%" STR_FMT "'", STR_ARG(name));
    (void)error_hint(err, "those of the build folder: %" STR_FMT, STR_ARG(strbuf_str(&b)));
    strbuf_deinit(&b);
    return false;
}

static bool has_debug(Arena *arena, Bytes text)
{
    JsonValue *options;
    if (!json_parse(arena, str_from_bytes(text), &options, NULL))
        return true;
    for (const JsonValue *o = options->child; o; o = o->next) {
        const JsonValue *value = json_find(o, "value");
        if (str_equal(build_json_text(o, "name"), STR("debug")) && value)
            return value->kind != JSON_BOOL || value->boolean;
    }
    return true;
}

bool build_meson(Arena *arena, const BuildRequest *r, BuiltProgram *ret, Error *err)
{
    Bytes text;
    Str folder;
    JsonValue *targets;
    int status;
    if (!build_folder_find(arena, r->folder, "meson-info/meson-info.json", "--meson", &folder,
                           err) ||
        !run_meson(arena, r, "introspect", "--targets", folder, STR(""), &text, &status, err))
        return false;
    if (status != 0 || !json_parse(arena, str_from_bytes(text), &targets, err))
        return error_set(err, ERROR_FORMAT, "meson introspect --targets failed in '%" STR_FMT "'",
                         STR_ARG(folder));
    ret->path = find_target(targets, r->meson);
    if (ret->path.len == 0)
        return explain_names(targets, r->meson, err);
    // A library may have the same name as the program: lz4 has.
    Str target = arena_printf(arena, "%" STR_FMT ":executable", STR_ARG(r->meson));
    if (!run_meson(arena, r, "compile", "-C", folder, target, &text, &ret->status, err))
        return false;
    ret->output = str_from_bytes(text);
    if (ret->status != 0 ||
        !run_meson(arena, r, "introspect", "--buildoptions", folder, STR(""), &text, &status, err))
        return ret->status != 0;
    if (status == 0 && !has_debug(arena, text))
        ret->note = arena_printf(arena,
                                 "build folder '%" STR_FMT "' makes no line tables; for source "
                                 "lines: meson configure -Ddebug=true %" STR_FMT,
                                 STR_ARG(folder), STR_ARG(folder));
    return true;
}
