// SPDX-License-Identifier: Apache-2.0
// Coverage as JSON: our own form (docs/formats/coverage.md) and Codecov's.

#include <stdio.h>

#include "export/cover/formats_internal.h"

static void json_begin(CoverWriter *w)
{
    cover_json_begin(w, "schema", "assay-cover/1", "files", false);
}

static void add_lines(CoverWriter *w, const CoverFileRows *f)
{
    json_begin_array(&w->json, "lines");
    CoverLineWalk walk = cover_line_walk(w, f);
    CoverLine l;
    while (cover_line_next(&walk, &l)) {
        json_begin_array(&w->json, NULL);
        json_u64(&w->json, NULL, l.line);
        json_u64(&w->json, NULL, l.count);
        json_end(&w->json);
    }
    json_end(&w->json);
}

static void add_functions(CoverWriter *w, const CoverFileRows *f)
{
    const Profile *p = w->p;
    json_begin_array(&w->json, "functions");
    for (uint32_t i = f->places.first; i < f->places.end; i++) {
        uint32_t row = w->c->places.at[i];
        FunctionId id = p->function_counts.function.at[row];
        json_begin_array(&w->json, NULL);
        json_u64(&w->json, NULL, p->functions.line.at[id.v]);
        json_u64(&w->json, NULL, w->c->entries.at[i]);
        json_str(&w->json, NULL, profile_text(p, p->functions.linkage_name.at[id.v]));
        json_end(&w->json);
    }
    json_end(&w->json);
}

static void add_branches(CoverWriter *w, const CoverFileRows *f)
{
    json_begin_array(&w->json, "branches");
    for (uint32_t i = f->branches.first; i < f->branches.end; i++) {
        json_begin_array(&w->json, NULL);
        cover_json_branch(w, w->c->branches.at[i]);
        json_end(&w->json);
    }
    json_end(&w->json);
}

static void add_conditions(CoverWriter *w, const CoverFileRows *f)
{
    const ConditionCounts *from = &w->p->condition_counts;
    json_begin_array(&w->json, "conditions");
    for (uint32_t i = f->conditions.first; i < f->conditions.end; i++) {
        uint32_t row = w->c->conditions.at[i];
        json_begin_array(&w->json, NULL);
        json_u64(&w->json, NULL, from->line.at[row]);
        json_u64(&w->json, NULL, from->group.at[row]);
        json_u64(&w->json, NULL, from->index.at[row]);
        json_bool(&w->json, NULL, from->sense.at[row]);
        json_u64(&w->json, NULL, from->count.at[row]);
        json_end(&w->json);
    }
    json_end(&w->json);
}

static void json_file(CoverWriter *w, const CoverFileRows *f)
{
    CoverTotals t = cover_row_totals(w->p, w->c, f);
    json_begin_object(&w->json, NULL);
    json_str(&w->json, "path", profile_text(w->p, f->file));
    json_u64(&w->json, "line_count", t.of[COVER_LINES].count);
    json_u64(&w->json, "lines_covered", t.of[COVER_LINES].covered);
    json_u64(&w->json, "function_count", t.of[COVER_FUNCTIONS].count);
    json_u64(&w->json, "functions_covered", t.of[COVER_FUNCTIONS].covered);
    json_u64(&w->json, "branch_count", t.of[COVER_BRANCHES].count);
    json_u64(&w->json, "branches_covered", t.of[COVER_BRANCHES].covered);
    add_lines(w, f);
    add_functions(w, f);
    add_branches(w, f);
    if (f->conditions.first < f->conditions.end)
        add_conditions(w, f);
    json_end(&w->json);
}

const CoverFormat cover_json_format = {json_begin, json_file, cover_json_end};

// Codecov's own form: {"coverage": {path: {line: count}}}; a line with branches has "hit/all".
static void codecov_begin(CoverWriter *w)
{
    cover_json_begin(w, NULL, NULL, "coverage", true);
}

static void codecov_file(CoverWriter *w, const CoverFileRows *f)
{
    json_key(&w->json, cover_project_path(w, f));
    json_begin_object(&w->json, NULL);
    CoverLineWalk walk = cover_line_walk(w, f);
    CoverLine l;
    while (cover_line_next(&walk, &l)) {
        char key[16], partly[32];
        snprintf(key, sizeof(key), "%u", l.line);
        if (l.branches && l.count && l.branches_hit < l.branches) {
            snprintf(partly, sizeof(partly), "%u/%u", l.branches_hit, l.branches);
            json_str(&w->json, key, str_from_c(partly));
        } else {
            json_u64(&w->json, key, l.count);
        }
    }
    json_end(&w->json);
}

const CoverFormat cover_codecov_format = {codecov_begin, codecov_file, cover_json_end};
