// SPDX-License-Identifier: Apache-2.0
// Recordings of runs: of commands, of functions and of counted events, each by its own view.

#include "cli/runs/runs_report.h"

#include "analyse/function_families.h"
#include "cli/runs/counts_text.h"
#include "cli/runs/function_report.h"
#include "cli/runs/run_report.h"
#include "export/run_files.h"
#include "export/runs.h"

bool runs_report_applies(const Profile *p)
{
    return run_summaries_apply(p) || function_summaries_apply(p) || counts_apply(p);
}

static bool report_commands(StrBuf *out, const Terminal *t, const Profile *p, RunsForm form,
                            bool details, Error *err)
{
    RunSummaries s;
    const RunStyle style = {.terminal = *t, .details = details};
    const RunFiles files = {.tool_version = STR(ASSAY_VERSION)};
    if (!run_summaries_init(&s, p, err))
        return false;
    if (form == RUNS_JSON)
        run_files_json(out, &s, &files);
    else if (form == RUNS_CSV)
        run_files_csv(out, &(RunFamilies){&s, 1}, &files);
    else
        run_report(out, &style, &s);
    run_summaries_deinit(&s);
    return true;
}

static bool report_functions(StrBuf *out, const Terminal *t, const Profile *p, RunsForm form,
                             bool details, Error *err)
{
    FunctionSummaries f;
    const RunStyle style = {.terminal = *t, .details = details};
    if (!function_summaries_init(&f, p, err))
        return false;
    if (form == RUNS_CSV) {
        const RunFiles files = {.tool_version = STR(ASSAY_VERSION), .functions = true};
        RunFamilies families;
        function_families_init(&families, &f);
        run_files_csv(out, &families, &files);
        function_families_deinit(&families);
    } else if (form == RUNS_JSON)
        function_report_json(out, &f);
    else
        function_report(out, &style, &f, STR("text"));
    function_summaries_deinit(&f);
    return true;
}

static void report_counts(StrBuf *out, const Profile *p, RunsForm form, bool all_notes)
{
    Arena scratch = {0};
    if (form == RUNS_JSON)
        runs_add_json(out, p, STR(ASSAY_VERSION));
    else if (form == RUNS_CSV)
        runs_add_csv(out, p);
    else
        counts_add_report(out, &scratch, p, all_notes);
    arena_deinit(&scratch);
}

bool runs_report(StrBuf *out, const Terminal *t, const Profile *p, RunsForm form, bool all_notes,
                 Error *err)
{
    if (run_summaries_apply(p))
        return report_commands(out, t, p, form, all_notes, err);
    if (function_summaries_apply(p))
        return report_functions(out, t, p, form, all_notes, err);
    report_counts(out, p, form, all_notes);
    return true;
}
