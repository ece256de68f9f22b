// SPDX-License-Identifier: Apache-2.0
// Recordings of runs as a part of the page, by what they hold.

#include "cli/runs/runs_page.h"

#include "analyse/function_families.h"
#include "cli/runs/function_report.h"
#include "cli/runs/run_report.h"

static Str title_of(const RunSummaries *s)
{
    return s->command_line.len ? s->command_line : STR("assay bench");
}

static bool add_commands(ViewPage *page, const Profile *p, Error *err)
{
    const RunStyle plain = {.details = true};
    RunSummaries s;
    StrBuf text = {0};
    if (!run_summaries_init(&s, p, err))
        return false;
    run_report(&text, &plain, &s);
    const RunPage runs = {.title = title_of(&s), .families = {&s, 1}, .report = strbuf_str(&text)};
    bool ok = run_page_add(page, &runs, err);
    strbuf_deinit(&text);
    run_summaries_deinit(&s);
    return ok;
}

static bool add_functions(ViewPage *page, const Profile *p, Error *err)
{
    const RunStyle plain = {.details = true};
    FunctionSummaries f;
    StrBuf text = {0};
    if (!function_summaries_init(&f, p, err))
        return false;
    function_report(&text, &plain, &f, STR("text"));
    RunPage runs = {.report = strbuf_str(&text)};
    function_families_init(&runs.families, &f);
    function_growths_init(&runs.growths, &f);
    runs.title = runs.families.len ? title_of(&runs.families.at[0]) : STR("assay bench");
    bool ok = run_page_add(page, &runs, err);
    function_families_deinit(&runs.families);
    function_families_deinit(&runs.growths);
    strbuf_deinit(&text);
    function_summaries_deinit(&f);
    return ok;
}

// Counts of every name, each as a part of its own.
static bool add_counts(ViewPage *page, const Profile *p, Error *err)
{
    Arena scratch = {0};
    const StrIdVec names = counts_names(&scratch, p);
    bool ok = true;
    for (size_t i = 0; ok && i < names.len; i++) {
        Counts c;
        counts_init(&c, &scratch, p, names.at[i]);
        ok = counts_page_add(page, &scratch, &c, true, err);
    }
    arena_deinit(&scratch);
    return ok;
}

bool runs_page_add(ViewPage *page, const Profile *p, Error *err)
{
    if (run_summaries_apply(p))
        return add_commands(page, p, err);
    if (function_summaries_apply(p))
        return add_functions(page, p, err);
    return add_counts(page, p, err);
}
