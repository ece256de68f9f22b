// SPDX-License-Identifier: Apache-2.0
// The option --filter.

#include "cli/event_filters.h"

void event_filters_note(Arena *arena, int argc, char **argv, EventFilters *ret)
{
    uint32_t events = 0;
    for (int i = 1; i < argc && !str_equal(str_from_c(argv[i]), STR("--")); i++) {
        Str word = str_from_c(argv[i]);
        bool is_event = str_equal(word, STR("-e")) || str_equal(word, STR("--event"));
        bool is_filter = str_equal(word, STR("--filter"));
        if (is_event || str_starts_with(word, STR("--event=")) ||
            (str_starts_with(word, STR("-e")) && word.len > 2))
            events++;
        if (is_filter || str_starts_with(word, STR("--filter=")))
            vec_push(arena, &ret->events_before, events);
        i += is_event || is_filter;
    }
}

// Gives each event of -e number `event`, from 1, the filter.
static bool apply_filter(const EventFilters *f, size_t filter, const U32Vec *ends,
                         EventSpecVec *events, Error *err)
{
    uint32_t event = filter < f->events_before.len ? f->events_before.at[filter] : 0;
    if (event == 0 || event > ends->len)
        return error_set(err, ERROR_USAGE, "--filter stands behind the -e that it is for");
    bool any = false;
    for (uint32_t i = event > 1 ? ends->at[event - 2] : 0; i < ends->at[event - 1]; i++)
        if (events->at[i].type == PERF_TYPE_TRACEPOINT) {
            events->at[i].filter = f->texts.at[filter];
            any = true;
        }
    return any || error_set(err, ERROR_USAGE, "--filter '%" STR_FMT "' has no tracepoint before it",
                            STR_ARG(f->texts.at[filter]));
}

bool event_filters_apply(const EventFilters *filters, const U32Vec *ends, EventSpecVec *events,
                         Error *err)
{
    for (size_t i = 0; i < filters->texts.len; i++)
        if (!apply_filter(filters, i, ends, events, err))
            return false;
    return true;
}
