// SPDX-License-Identifier: Apache-2.0
// The events of a recording, among them places in programs.

#include "cli/record/record_events.h"

#include "cli/cli.h"
#include "cli/symbols.h"
#include "probes/probe_calls.h"
#include "probes/probes.h"

void record_sources_init(Arena *arena, Str program, const U32Vec *pids, const StrVec *debug_dirs,
                         RecordSources *ret)
{
    SymboliseOptions symbols;
    symbols_options(arena, debug_dirs, &symbols);
    *ret = (RecordSources){.debug = {.dirs = symbols.debug_dirs,
                                     .dir_count = symbols.debug_dir_count,
                                     .debuginfod_cache = symbols.debuginfod_cache,
                                     .debuginfod_urls = symbols.debuginfod_urls}};
    ret->events = event_sources_default();
    ret->context = (ProbeContext){.program = program,
                                  .pids = pids,
                                  .library_path = cli_env("LD_LIBRARY_PATH"),
                                  .tracefs = ret->events.tracefs,
                                  .debug = &ret->debug,
                                  .notes = &ret->notes};
    ret->events.find_probe = probes_find;
    ret->events.probe_ctx = &ret->context;
}

void record_sources_say(const RecordSources *s)
{
    for (size_t i = 0; i < s->notes.len; i++)
        cli_say("note: %" STR_FMT, STR_ARG(s->notes.at[i]));
}

bool record_events_parse(Arena *arena, const StrVec *words, const EventFilters *filters,
                         Str program, const U32Vec *pids, const StrVec *debug_dirs,
                         EventSpecVec *ret, Error *err)
{
    RecordSources sources;
    record_sources_init(arena, program, pids, debug_dirs, &sources);
    bool ok = true;
    U32Vec ends = {0};
    for (size_t i = 0; ok && i < words->len; i++) {
        ok = events_parse(arena, &sources.events, words->at[i], ret, err);
        vec_push(arena, &ends, (uint32_t)ret->len);
    }
    ok = ok && event_filters_apply(filters, &ends, ret, err);
    if (ok)
        record_sources_say(&sources);
    return ok;
}

bool record_calls_parse(Arena *arena, const StrVec *words, Str key, Str program, const U32Vec *pids,
                        const StrVec *debug_dirs, CallPlan *ret, Error *err)
{
    RecordSources sources;
    record_sources_init(arena, program, pids, debug_dirs, &sources);
    bool ok = true;
    for (size_t i = 0; ok && i < words->len; i++)
        ok = probe_calls_find(arena, &sources.context, words->at[i], key, ret, err);
    if (ok)
        record_sources_say(&sources);
    return ok;
}
