// SPDX-License-Identifier: Apache-2.0
// The manifest of a survey.

#include "cli/survey/survey_folder.h"

#include <math.h>

#include "base/json.h"
#include "os/file.h"

#define SCHEMA "assay-survey-folder"
enum { VERSION = 1, REPEATS_MAX = 100, MANIFEST_MAX_BYTES = 1 << 20 };

static const char *const step_names[SURVEY_STEPS] = {"time", "cpu", "waits", "heap", "counts"};
static const char *const side_names[SURVEY_SIDES] = {"new", "old"};

const char *survey_step_name(SurveyStep step)
{
    return step_names[step];
}

bool survey_step_find(Str name, SurveyStep *ret)
{
    for (int i = 0; i < SURVEY_STEPS; i++)
        if (str_equal(name, str_from_c(step_names[i]))) {
            *ret = (SurveyStep)i;
            return true;
        }
    return false;
}

static Str manifest_path(Arena *arena, Str folder)
{
    return arena_printf(arena, "%" STR_FMT "/" SURVEY_MANIFEST, STR_ARG(folder));
}

bool survey_folder_is(Str path)
{
    Arena arena = {0};
    FileIdentity file;
    bool is_one = path.len && os_file_identity(manifest_path(&arena, path), &file, NULL);
    arena_deinit(&arena);
    return is_one;
}

// ---- Writing -----------------------------------------------------------------------------------

static void write_part(JsonWriter *w, int side, int step, const SurveyPart *part)
{
    json_begin_object(w, NULL);
    json_str(w, "step", str_from_c(step_names[step]));
    json_str(w, "side", str_from_c(side_names[side]));
    if (part->file.len)
        json_str(w, "file", part->file);
    if (part->why.len)
        json_str(w, "why", part->why);
    if (part->cure.len)
        json_str(w, "cure", part->cure);
    if (part->skipped)
        json_bool(w, "skipped", true);
    if (part->repeats > 1)
        json_u64(w, "repeats", part->repeats);
    json_end(w);
}

bool survey_manifest_write(Str folder, const SurveyManifest *m, Error *err)
{
    Arena arena = {0};
    StrBuf out = {0};
    JsonWriter w = json_writer(&out, 2);
    json_begin_object(&w, NULL);
    json_str(&w, "schema", STR(SCHEMA));
    json_u64(&w, "version", VERSION);
    json_str(&w, "assay_version", STR(ASSAY_VERSION));
    json_str(&w, "command", m->command[SURVEY_NEW]);
    if (m->command[SURVEY_OLD].len)
        json_str(&w, "against", m->command[SURVEY_OLD]);
    if (m->page.len)
        json_str(&w, "page", m->page);
    json_double(&w, "seconds", m->seconds);
    json_u64(&w, "status", m->status);
    json_bool(&w, "interrupted", m->interrupted);
    json_begin_array(&w, "built_to_count");
    for (int side = 0; side < SURVEY_SIDES; side++)
        if (m->counting[side])
            json_str(&w, NULL, str_from_c(side_names[side]));
    json_end(&w);
    json_begin_array(&w, "steps");
    for (int side = 0; side < SURVEY_SIDES; side++)
        for (int step = 0; step < SURVEY_STEPS; step++)
            if (side == SURVEY_NEW || m->command[SURVEY_OLD].len)
                write_part(&w, side, step, &m->part[side][step]);
    json_end(&w);
    json_end(&w);
    strbuf_add_char(&out, '\n');
    bool ok = os_write_file(manifest_path(&arena, folder), bytes_from_str(strbuf_str(&out)),
                            OUTPUT_REPLACE, err);
    strbuf_deinit(&out);
    arena_deinit(&arena);
    return ok;
}

// ---- Reading -----------------------------------------------------------------------------------

static Str text_of(const JsonValue *object, const char *key)
{
    const JsonValue *v = json_find(object, key);
    return v && v->kind == JSON_STRING ? v->text : STR("");
}

static double number_of(const JsonValue *object, const char *key)
{
    const JsonValue *v = json_find(object, key);
    return v && v->kind == JSON_NUMBER ? v->number : 0;
}

static bool flag_of(const JsonValue *object, const char *key)
{
    const JsonValue *v = json_find(object, key);
    return v && v->kind == JSON_BOOL && v->boolean;
}

static bool find_side(Str name, int *ret)
{
    for (int side = 0; side < SURVEY_SIDES; side++)
        if (str_equal(name, str_from_c(side_names[side]))) {
            *ret = side;
            return true;
        }
    return false;
}

static bool read_part(const JsonValue *value, SurveyManifest *m, Error *err)
{
    SurveyStep step;
    int side;
    // A newer version may have more steps.
    if (!survey_step_find(text_of(value, "step"), &step) ||
        !find_side(text_of(value, "side"), &side))
        return true;
    SurveyPart *part = &m->part[side][step];
    *part = (SurveyPart){.file = text_of(value, "file"),
                         .why = text_of(value, "why"),
                         .cure = text_of(value, "cure"),
                         .skipped = flag_of(value, "skipped")};
    double repeats = number_of(value, "repeats");
    part->repeats = repeats > 0 && repeats <= REPEATS_MAX ? (uint32_t)repeats : 0;
    if (str_find_char(part->file, '/') != SIZE_MAX)
        return error_set(err, ERROR_FORMAT, "the file of step '%s' is outside of the folder",
                         step_names[step]);
    return true;
}

static bool read_manifest(const JsonValue *root, SurveyManifest *m, Error *err)
{
    if (!str_equal(text_of(root, "schema"), STR(SCHEMA)))
        return error_set(err, ERROR_FORMAT, "it is not the manifest of a survey");
    if (number_of(root, "version") != VERSION)
        return error_set(err, ERROR_UNSUPPORTED, "its version is not %d", VERSION);
    double status = number_of(root, "status");
    m->command[SURVEY_NEW] = text_of(root, "command");
    m->command[SURVEY_OLD] = text_of(root, "against");
    m->page = text_of(root, "page");
    m->seconds = number_of(root, "seconds");
    m->status = status >= 0 && status <= 255 ? (uint32_t)status : 0;
    m->interrupted = flag_of(root, "interrupted");
    const JsonValue *counting = json_find(root, "built_to_count");
    for (const JsonValue *v = counting ? counting->child : NULL; v; v = v->next) {
        int side;
        if (find_side(v->text, &side))
            m->counting[side] = true;
    }
    const JsonValue *steps = json_find(root, "steps");
    for (const JsonValue *v = steps ? steps->child : NULL; v; v = v->next)
        if (!read_part(v, m, err))
            return false;
    return true;
}

// A folder from a stranger may hold a FIFO, to which nobody writes, where a recording should be.
static bool check_files(Arena *arena, Str folder, const SurveyManifest *m, Error *err)
{
    FileIdentity file;
    for (int side = 0; side < SURVEY_SIDES; side++)
        for (int step = 0; step < SURVEY_STEPS; step++) {
            Str path = survey_part_path(arena, folder, &m->part[side][step]);
            if (path.len && os_file_exists(path) && !os_file_identity(path, &file, err))
                return false;
        }
    return true;
}

bool survey_manifest_read(Arena *arena, Str folder, SurveyManifest *ret, Error *err)
{
    Str path = manifest_path(arena, folder);
    Bytes text;
    JsonValue *root;
    SurveyManifest m = {0};
    if (!os_read_file(arena, path, MANIFEST_MAX_BYTES, &text, err))
        return false;
    if (!json_parse(arena, str_from_bytes(text), &root, err) || !read_manifest(root, &m, err))
        return error_context(err, "cannot read '%" STR_FMT "'", STR_ARG(path));
    if (!check_files(arena, folder, &m, err))
        return false;
    *ret = m;
    return true;
}

// ---- Files -------------------------------------------------------------------------------------

Str survey_part_path(Arena *arena, Str folder, const SurveyPart *part)
{
    if (part->file.len == 0)
        return STR("");
    return arena_printf(arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(folder), STR_ARG(part->file));
}

Str survey_repeat_path(Arena *arena, Str path, uint32_t number)
{
    Str stem = str_slice(path, 0, path.len - MIN(path.len, strlen(".assay")));
    return arena_printf(arena, "%" STR_FMT ".%u.assay", STR_ARG(stem), number);
}

bool survey_folder_files(Arena *arena, Str folder, StrVec *ret, Error *err)
{
    SurveyManifest m;
    size_t before = ret->len;
    if (!survey_manifest_read(arena, folder, &m, err))
        return false;
    // Waits are in the file of the samples. The page opens with the first.
    static const SurveyStep shown[] = {SURVEY_CPU, SURVEY_HEAP, SURVEY_COUNTS, SURVEY_TIME};
    for (int side = 0; side < SURVEY_SIDES; side++)
        for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
            Str path = survey_part_path(arena, folder, &m.part[side][shown[i]]);
            if (path.len)
                vec_push(arena, ret, path);
        }
    if (ret->len == before)
        return error_set(err, ERROR_NOT_FOUND, "the survey '%" STR_FMT "' has no recording to show",
                         STR_ARG(folder));
    return true;
}
