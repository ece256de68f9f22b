// SPDX-License-Identifier: Apache-2.0
// Loads the recordings of a survey.

#include "cli/survey/survey_data.h"

#include "cli/recording.h"

static bool load_parts(SurveyData *d, Error *err)
{
    static const SurveyStep files[] = {SURVEY_TIME, SURVEY_CPU, SURVEY_HEAP, SURVEY_COUNTS};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        SurveyStep step = files[i];
        Str path = survey_part_path(&d->arena, d->folder, &d->manifest.part[SURVEY_NEW][step]);
        if (path.len == 0)
            continue;
        if (!load_profile(path, &d->profile[step], NULL, err))
            return false;
        d->has[step] = true;
    }
    d->has[SURVEY_WAITS] = d->has[SURVEY_CPU] && d->profile[SURVEY_CPU].waits.thread.len > 0;
    return true;
}

// With another command, that one is the first group and the reference.
static bool load_runs(SurveyData *d, Error *err)
{
    const Profile *p = &d->profile[SURVEY_TIME];
    if (!d->has[SURVEY_TIME])
        return true;
    if (!run_summaries_apply(p)) {
        d->has[SURVEY_TIME] = false;
        return true;
    }
    if (!run_summaries_init(&d->runs, p, err))
        return false;
    d->run_group = d->runs.set.count ? d->runs.set.count - 1 : 0;
    if (d->runs.set.count == 0)
        d->has[SURVEY_TIME] = false;
    return true;
}

static bool load_cpu(SurveyData *d, Error *err)
{
    const Profile *p = &d->profile[SURVEY_CPU];
    Selection all;
    Weights w;
    if (!d->has[SURVEY_CPU])
        return true;
    selection_init(&all);
    if (!line_costs_add_cpu(&d->costs, p, err) || !weights_init(&w, p, &all, GROUP_NONE, err))
        return false;
    truth_init(&d->truth, &w);
    weights_deinit(&w);
    if (d->has[SURVEY_WAITS])
        line_costs_add_waits(&d->costs, p);
    return true;
}

static bool load_heap(SurveyData *d, Error *err)
{
    const Profile *p = &d->profile[SURVEY_HEAP];
    Selection all;
    if (!d->has[SURVEY_HEAP])
        return true;
    selection_init(&all);
    if (!heap_view_applies(p)) {
        d->has[SURVEY_HEAP] = false;
        return true;
    }
    if (!heap_view_init(&d->heap, p, &all, err))
        return false;
    heap_places_sort(&d->heap, HEAP_BLOCKS);
    d->advice = heap_advice_find(&d->heap);
    line_costs_add_heap(&d->costs, &d->heap);
    return true;
}

static void load_counts(SurveyData *d)
{
    const Profile *p = &d->profile[SURVEY_COUNTS];
    const LineCounts *lines = &p->line_counts;
    if (!d->has[SURVEY_COUNTS])
        return;
    line_costs_add_counts(&d->costs, p);
    d->lines_counted = lines->line.len;
    for (size_t i = 0; i < lines->line.len; i++) {
        d->lines_ran += lines->count.at[i] > 0;
        if (lines->count.at[i] <= d->most_run_count)
            continue;
        d->most_run_count = lines->count.at[i];
        d->most_run_file = profile_text(p, lines->file.at[i]);
        d->most_run_line = lines->line.at[i];
    }
}

bool survey_data_load(SurveyData *d, Str folder, Error *err)
{
    *d = (SurveyData){.folder = folder};
    line_costs_init(&d->costs);
    if (!survey_manifest_read(&d->arena, folder, &d->manifest, err) || !load_parts(d, err) ||
        !load_runs(d, err) || !load_cpu(d, err) || !load_heap(d, err))
        return false;
    load_counts(d);
    line_costs_finish(&d->costs);
    d->first = first_line_choose(&d->costs, d->has[SURVEY_HEAP] ? &d->heap : NULL, &d->advice);
    return true;
}

void survey_data_deinit(SurveyData *d)
{
    run_summaries_deinit(&d->runs);
    vec_free(&d->advice);
    if (d->heap.p)
        heap_view_deinit(&d->heap);
    line_costs_deinit(&d->costs);
    for (int step = 0; step < SURVEY_STEPS; step++)
        if (d->profile[step].arena.used_bytes)
            profile_deinit(&d->profile[step]);
    arena_deinit(&d->arena);
}
