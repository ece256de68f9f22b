// SPDX-License-Identifier: Apache-2.0
// Times with several modes as text.

#include "cli/runs/run_modes.h"

#include <math.h>

#include "analyse/fit.h"
#include "cli/runs/run_text.h"

enum { NAME_COLUMNS = 40 };

static void add_command(StrBuf *out, Str label, const RunSummary *s, size_t columns)
{
    StrBuf line = {0};
    strbuf_printf(&line, "'%" STR_FMT "' has %u modes: ", STR_ARG(label), s->mode_count);
    for (uint32_t i = 0; i < s->mode_count; i++) {
        strbuf_add(&line, i ? STR(", ") : STR(""));
        run_add_time(&line, s->modes[i].centre, RUN_UNIT_AUTO);
        strbuf_printf(&line, i ? " in %.0f %%" : " in %.0f %% of the runs",
                      100 * s->modes[i].share);
    }
    text_add_wrapped(out, strbuf_str(&line), columns, 2);
    strbuf_deinit(&line);
}

// Whether two commands have modes at the same times, with other shares.
static bool shares_differ(const RunSummary *a, const RunSummary *b)
{
    bool differ = false;
    if (a->mode_count != b->mode_count || a->mode_count < 2)
        return false;
    for (uint32_t i = 0; i < a->mode_count; i++) {
        if (fabs(log(a->modes[i].centre / b->modes[i].centre)) > 0.1)
            return false;
        differ |= fabs(a->modes[i].share - b->modes[i].share) > 0.05;
    }
    return differ;
}

static void add_mean(StrBuf *out, Str label, const RunSummary *reference, const RunGroup *g,
                     size_t columns)
{
    const Comparison *c = &g->comparison;
    StrBuf line = {0};
    strbuf_printf(&line, "Compared are typical runs; by the mean '%" STR_FMT "' takes ",
                  STR_ARG(label));
    run_add_interval(&line, &c->mean_ratio);
    if (c->mean_disagrees)
        strbuf_add(&line, shares_differ(reference, &g->summary)
                              ? STR(", which differs: its modes have other shares")
                              : STR(", which differs: slow runs weigh more in a mean"));
    text_add_wrapped(out, strbuf_str(&line), columns, 2);
    strbuf_deinit(&line);
}

void run_add_modes(StrBuf *out, RunSummaries *s, size_t columns)
{
    const RunSet *set = &s->set;
    const Str *labels = run_labels(s, NAME_COLUMNS);
    const RunSummary *reference = &set->groups[set->plan.reference].summary;
    for (uint32_t i = 0; i < set->count; i++)
        if (set->groups[i].summary.mode_count > 1)
            add_command(out, labels[i], &set->groups[i].summary, columns);
    for (uint32_t i = 0; i < set->count; i++) {
        const RunGroup *g = &set->groups[i];
        bool has_modes = reference->mode_count > 1 || g->summary.mode_count > 1;
        if (i != set->plan.reference && g->comparison.pairs &&
            isfinite(g->comparison.mean_ratio.low) && (has_modes || g->comparison.mean_disagrees))
            add_mean(out, labels[i], reference, g, columns);
    }
}
