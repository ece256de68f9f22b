// SPDX-License-Identifier: Apache-2.0
// Counts calls by probes at the first instruction of functions.

#include "cli/heap/call_counts.h"

#include "cli/record/record_events.h"

static bool find_function(CallCounts *c, Str function, Str program, const StrVec *debug_dirs,
                          EventSpecVec *events, Error *err)
{
    EventFilters filters = {0};
    StrVec words = {0};
    EventSpecVec found = {0};
    vec_push(c->arena, &words,
             arena_printf(c->arena, "%" STR_FMT ":%" STR_FMT, STR_ARG(program), STR_ARG(function)));
    if (!record_events_parse(c->arena, &words, &filters, program, NULL, debug_dirs, &found, err))
        return error_context(err, "cannot count the calls of '%" STR_FMT "'", STR_ARG(function));
    for (size_t i = 0; i < found.len; i++)
        vec_push(c->arena, events, found.at[i]);
    return true;
}

// Appends the events of a function, which may be those of an earlier limit.
static bool add_function(CallCounts *c, Str function, Str program, const StrVec *debug_dirs,
                         EventSpecVec *events, Error *err)
{
    uint32_t first = (uint32_t)events->len, end = 0;
    for (size_t i = 0; i < c->functions.len && !end; i++)
        if (str_equal(c->functions.at[i], function)) {
            first = c->first.at[i];
            end = c->end.at[i];
        }
    if (!end && !find_function(c, function, program, debug_dirs, events, err))
        return false;
    vec_push(c->arena, &c->functions, function);
    vec_push(c->arena, &c->first, first);
    vec_push(c->arena, &c->end, end ? end : (uint32_t)events->len);
    return true;
}

bool call_counts_start(Arena *arena, const HeapGates *gates, Str program, const StrVec *debug_dirs,
                       CallCounts *ret, Error *err)
{
    CallCounts c = {.arena = arena};
    EventSpecVec events = {0};
    for (size_t i = 0; i < gates->max_allocs.len; i++) {
        HeapLimit limit;
        if (heap_limit_parse(gates->max_allocs.at[i], &limit) && limit.per_call &&
            !add_function(&c, limit.function, program, debug_dirs, &events, err))
            return false;
    }
    if (events.len && !process_hits_start(&events, &c.hits, err))
        return error_context(err, "cannot count calls");
    *ret = c;
    return true;
}

bool call_counts_stop(CallCounts *c, U64Vec *ret, Error *err)
{
    U64Vec hits = {0};
    if (!c->hits)
        return true;
    bool ok = process_hits_stop(c->hits, &hits, err);
    c->hits = NULL;
    for (size_t i = 0; i < c->functions.len; i++) {
        uint64_t calls = 0;
        for (uint32_t e = c->first.at[i]; e < c->end.at[i]; e++)
            calls += hits.at[e];
        vec_push(c->arena, ret, calls);
    }
    vec_free(&hits);
    return ok || error_context(err, "cannot count calls");
}
