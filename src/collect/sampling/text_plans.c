// SPDX-License-Identifier: Apache-2.0
// Where the texts of a probe are, in the form in which they are read.

#include "collect/sampling/text_plans_internal.h"

// The words of struct pt_regs on x86-64 by perf's numbers of registers.
static const uint8_t words[24] = {10, 5, 11, 12, 13, 14, 4, 19, 16, 18, 17, 20,
                                  0,  0, 0,  0,  9,  8,  7, 6,  3,  2,  1,  0};

bool probe_texts_wanted(const EventSpecVec *events)
{
    for (size_t i = 0; i < events->len; i++)
        if (probe_texts_plan(&events->at[i]).count)
            return true;
    return false;
}

TextPlan probe_texts_plan(const EventSpec *spec)
{
    TextPlan plan = {0};
    for (size_t i = 0; i < spec->arg_count && plan.count < PROBE_TEXTS_MAX; i++) {
        const EventArg *a = &spec->args[i];
        if (a->kind == EVENT_ARG_TEXT)
            plan.at[plan.count++] = (TextPlace){.word = words[a->reg % ARRAY_LEN(words)],
                                                .by_pointer = a->by_pointer,
                                                .pointer_offset = a->pointer_offset,
                                                .offset = a->offset};
    }
    return plan;
}
