// SPDX-License-Identifier: Apache-2.0
// Recordings of two surveys that can be compared.

#include "cli/look/diff_survey.h"

#include "cli/survey/survey_folder.h"

static const struct {
    SurveyStep step;
    const char *title;
} compared[] = {
    {SURVEY_CPU, "CPU time"}, {SURVEY_HEAP, "heap"}, {SURVEY_COUNTS, "executions of lines"}};

// The recordings of a step: those of the surveyed command, not of the one that it was compared
// with.
static void add_files(Arena *arena, Str folder, const SurveyManifest *m, SurveyStep step,
                      StrVec *ret)
{
    const SurveyPart *part = &m->part[SURVEY_NEW][step];
    Str path = survey_part_path(arena, folder, part);
    if (path.len == 0)
        return;
    vec_push(arena, ret, path);
    for (uint32_t i = 2; i <= part->repeats; i++)
        vec_push(arena, ret, survey_repeat_path(arena, path, i));
}

bool diff_survey_parts(Arena *arena, const Str folders[DIFF_SIDES], DiffParts *ret, Error *err)
{
    SurveyManifest m[DIFF_SIDES];
    for (int side = 0; side < DIFF_SIDES; side++) {
        if (!survey_folder_is(folders[side])) {
            Str survey = folders[!side];
            error_set(err, ERROR_USAGE,
                      "'%" STR_FMT "' is a survey and '%" STR_FMT
                      "' is not: they cannot be compared",
                      STR_ARG(survey), STR_ARG(folders[side]));
            return error_hint(err, "name a recording of the survey, such as %" STR_FMT "/cpu.assay",
                              STR_ARG(survey));
        }
        if (!survey_manifest_read(arena, folders[side], &m[side], err))
            return false;
    }
    for (size_t i = 0; i < ARRAY_LEN(compared); i++) {
        DiffPart part = {.title = compared[i].title};
        for (int side = 0; side < DIFF_SIDES; side++)
            add_files(arena, folders[side], &m[side], compared[i].step, &part.files[side]);
        if (part.files[DIFF_OLD].len && part.files[DIFF_NEW].len)
            vec_push(arena, ret, part);
    }
    return ret->len > 0 ||
           error_set(err, ERROR_NOT_FOUND,
                     "no step is in both surveys, '%" STR_FMT "' and '%" STR_FMT "'",
                     STR_ARG(folders[DIFF_OLD]), STR_ARG(folders[DIFF_NEW]));
}
