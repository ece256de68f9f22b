// SPDX-License-Identifier: Apache-2.0
// Why a line is the one to look at first.

#include <math.h>

#include "analyse/fit.h"
#include "cli/survey/survey_screen.h"

static double part_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static void add_share(StrBuf *out, double share)
{
    strbuf_printf(out, share < 0.1 ? "%.1f %%" : "%.0f %%", 100 * share);
}

// "most of it in malloc and free": where the line's CPU time is spent, if not in itself.
static void add_below(StrBuf *out, const LineCost *line)
{
    uint64_t own = line->cpu_below[BELOW_NOTHING];
    if (line->cpu == 0 || own >= line->cpu - own)
        return;
    static const char *const places[BELOW_COUNT] = {"", "in malloc, free and their like",
                                                    "in functions that it calls", "in the kernel"};
    int most = BELOW_ALLOCATOR;
    for (int below = BELOW_ALLOCATOR; below < BELOW_COUNT; below++)
        if (line->cpu_below[below] > line->cpu_below[most])
            most = below;
    strbuf_add(out, STR(", "));
    add_share(out, part_of(line->cpu_below[most], line->cpu));
    strbuf_printf(out, " of that %s", places[most]);
    if (line->callee.len && 2 * line->callee_cpu > line->cpu) {
        strbuf_add(out, STR(", by "));
        name_add_fitting(out, line->callee, 40);
    }
}

static void add_wait(StrBuf *out, const SurveyData *d, const LineCost *line)
{
    add_value(out, line->wait_ns, STR("ns"));
    strbuf_printf(out, " of waiting, %.0f %% of all that threads with work wait: %s",
                  100 * part_of(line->wait_ns, d->costs.wait_ns),
                  wait_class_name(line->wait_state));
    if (line->wait_object.len) {
        strbuf_add(out, STR(", for "));
        (void)text_add_fitting(out, line->wait_object, 40, true);
    }
}

static void add_advice(StrBuf *out, const HeapAdvice *a)
{
    add_rounded_count(out, (double)a->blocks);
    strbuf_add(out, STR(" blocks"));
    switch (a->kind) {
    case ADVICE_TURNS:
        if (a->turns) {
            strbuf_add(out, STR(" in "));
            add_rounded_count(out, (double)a->turns);
            strbuf_add(out, STR(" turns"));
        }
        strbuf_add(out, STR(", freed soon after: keep them and use them again"));
        break;
    case ADVICE_LEAK:
        strbuf_add(out, STR(" are never freed"));
        break;
    case ADVICE_GROWS:
    case ADVICE_GROWS_NEW:
        strbuf_add(out, STR(" grow again and again: reserve the room at once"));
        break;
    case ADVICE_IN_FRAME:
        strbuf_add(out, STR(", freed in the call that allocated them: keep one, or use the stack"));
        break;
    case ADVICE_SHORT:
        strbuf_add(out, STR(", freed soon after: keep them and use them again"));
        break;
    case ADVICE_ONE_SIZE:
        strbuf_add(out, STR(" of one small size lie at the peak: allocate them together"));
        break;
    }
}

static void add_cpu(StrBuf *out, const SurveyData *d)
{
    const FirstLine *first = &d->first;
    add_share(out, part_of(first->line.cpu, d->costs.cpu));
    strbuf_add(out, STR(" of the CPU time"));
    if (d->costs.cpu_samples && isfinite(first->interval.low))
        strbuf_printf(out, " (95 %%: %.0f to %.0f)", 100 * first->interval.low,
                      100 * first->interval.high);
    add_below(out, &first->line);
    if (!first->stands_out) {
        strbuf_add(out, STR("; no line stands out, its function has "));
        add_share(out, first->function_share);
    }
}

static void add_executions(StrBuf *out, const SurveyData *d)
{
    const LineCost *line = &d->first.line;
    if (!line->is_counted || line->executions == 0)
        return;
    strbuf_add(out, STR("; it runs "));
    add_rounded_count(out, (double)line->executions);
    strbuf_add(out, line->executions == 1 ? STR(" time") : STR(" times"));
    // Counts may be of another input than the samples: no more is said of few executions.
    if (d->first.reason == FIRST_CPU && line->executions >= 1000) {
        strbuf_add(out, STR(", about "));
        add_quotient(out, (double)line->cpu / (double)line->executions, STR("ns"));
        strbuf_add(out, STR(" each"));
    }
}

void survey_reason_add(StrBuf *out, const SurveyData *d)
{
    const FirstLine *first = &d->first;
    switch (first->reason) {
    case FIRST_NOTHING:
        return;
    case FIRST_WAIT:
        add_wait(out, d, &first->line);
        break;
    case FIRST_ALLOCATOR:
        add_share(out, part_of(d->costs.cpu_in_allocator, d->costs.cpu));
        strbuf_add(out, STR(" of the CPU time is in malloc, free and their like; here "));
        break;
    case FIRST_CPU:
        add_cpu(out, d);
        break;
    }
    if (first->advice) {
        strbuf_add(out, first->reason == FIRST_ALLOCATOR ? STR("") : STR("; "));
        add_advice(out, first->advice);
    } else if (first->line.blocks && part_of(first->line.blocks, d->costs.blocks) >= 0.01) {
        strbuf_add(out, STR("; it allocates "));
        add_share(out, part_of(first->line.blocks, d->costs.blocks));
        strbuf_add(out, STR(" of all blocks"));
    }
    add_executions(out, d);
}
