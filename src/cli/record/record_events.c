// SPDX-License-Identifier: Apache-2.0
// The events of a recording, among them places in programs.

#include "cli/record/record_events.h"

#include "cli/cli.h"
#include "cli/symbols.h"
#include "probes/probe_calls.h"
#include "probes/probes.h"

// What probes are searched in. `debug` and `notes` are the caller's.
static ProbeContext context_of(Arena *arena, Str program, const U32Vec *pids,
                               const StrVec *debug_dirs, DebugSearch *debug, StrVec *notes)
{
    SymboliseOptions symbols;
    symbols_options(arena, debug_dirs, &symbols);
    *debug = (DebugSearch){.dirs = symbols.debug_dirs,
                           .dir_count = symbols.debug_dir_count,
                           .debuginfod_cache = symbols.debuginfod_cache,
                           .debuginfod_urls = symbols.debuginfod_urls};
    return (ProbeContext){.program = program,
                          .pids = pids,
                          .library_path = cli_env("LD_LIBRARY_PATH"),
                          .debug = debug,
                          .notes = notes};
}

static void say_notes(const StrVec *notes)
{
    for (size_t i = 0; i < notes->len; i++)
        cli_say("note: %" STR_FMT, STR_ARG(notes->at[i]));
}

bool record_events_parse(Arena *arena, const StrVec *words, const EventFilters *filters,
                         Str program, const U32Vec *pids, const StrVec *debug_dirs,
                         EventSpecVec *ret, Error *err)
{
    DebugSearch debug;
    StrVec notes = {0};
    ProbeContext context = context_of(arena, program, pids, debug_dirs, &debug, &notes);
    EventSources sources = event_sources_default();
    context.tracefs = sources.tracefs;
    sources.find_probe = probes_find;
    sources.probe_ctx = &context;
    bool ok = true;
    U32Vec ends = {0};
    for (size_t i = 0; ok && i < words->len; i++) {
        ok = events_parse(arena, &sources, words->at[i], ret, err);
        vec_push(arena, &ends, (uint32_t)ret->len);
    }
    ok = ok && event_filters_apply(filters, &ends, ret, err);
    if (ok)
        say_notes(&notes);
    return ok;
}

bool record_calls_parse(Arena *arena, const StrVec *words, Str key, Str program, const U32Vec *pids,
                        const StrVec *debug_dirs, CallPlan *ret, Error *err)
{
    DebugSearch debug;
    StrVec notes = {0};
    ProbeContext context = context_of(arena, program, pids, debug_dirs, &debug, &notes);
    bool ok = true;
    for (size_t i = 0; ok && i < words->len; i++)
        ok = probe_calls_find(arena, &context, words->at[i], key, ret, err);
    if (ok)
        say_notes(&notes);
    return ok;
}
