// SPDX-License-Identifier: Apache-2.0
// Looks up the names of a recording while the objects it was made of are still held open.

#include "cli/record/recorded_symbols.h"

#include "cli/cli.h"
#include "cli/symbols.h"
#include "model/facts.h"
#include "os/map_guard.h"

static bool recorded_module(void *ctx, ModuleId module, Bytes *ret)
{
    const RecordedFiles *f = ctx;
    const Modules *m = &f->profile->modules;
    return f->sampling &&
           sampling_module_bytes(f->sampling, profile_text(f->profile, m->path.at[module.v]),
                                 profile_text(f->profile, m->build_id.at[module.v]), ret);
}

static SourceAccess recorded_source(void *ctx, ModuleId module, Str source, MappedFile *ret)
{
    const RecordedFiles *f = ctx;
    const Modules *m = &f->profile->modules;
    if (!f->sampling)
        return SOURCE_ABSENT;
    return sampling_source(f->sampling, profile_text(f->profile, m->path.at[module.v]),
                           profile_text(f->profile, m->build_id.at[module.v]), source, ret);
}

SymboliseFiles recorded_files(RecordedFiles *files)
{
    return (SymboliseFiles){.ctx = files, .module_bytes = recorded_module};
}

static void note_cut_files(Profile *p)
{
    uint32_t cut = map_guard_cut_count();
    if (cut)
        profile_note(p, NOTE_WARNING, STR("cut-files"),
                     "%u mapped files were cut short in place while they were read: what they "
                     "lost has no names, and stacks through it may be cut",
                     cut);
}

void symbols_resolve_recorded(Arena *arena, Profile *p, Sampling *sampling,
                              const StrVec *debug_dirs, const SourceOptions *sources,
                              const SymboliseHelp *help)
{
    RecordedFiles recorded = {sampling, p};
    SymboliseFiles files = recorded_files(&recorded);
    uint64_t start = 0;
    (void)profile_fact_u64(p, STR(FACT_START_REALTIME), &start);
    SymboliseOptions options;
    symbols_options(arena, debug_dirs, &options);
    options.files = files;
    options.help = help;
    options.is_live = true;
    if (!symbols_resolve(p, &options)) {
        cli_say("note: looking up names was stopped; the recording is written with those it has");
        return;
    }
    SourceOptions with_files = *sources;
    with_files.files = files;
    with_files.in_module_root = recorded_source;
    with_files.context = 2;
    with_files.recorded_at_ns = (int64_t)start;
    symbolise_sources(p, &with_files);
    note_cut_files(p);
}
