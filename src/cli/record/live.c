// SPDX-License-Identifier: Apache-2.0
// Records a command for a view.

#include "cli/record/live.h"

#include <unistd.h>

#include "cli/cli.h"
#include "cli/record/record_events.h"
#include "cli/record/recorded_symbols.h"
#include "cli/symbols.h"
#include "os/file.h"

typedef struct Live {
    Arena arena;
    const LiveOptions *options;
    SamplingOptions sampling;
    EventSpecVec events;
    Program program;
    SourceOptions sources;
    StoreWriter *writer; // NULL without --recording
} Live;

bool live_is_asked(const CommandLine *line, const LiveOptions *options)
{
    return (line->dashes != SIZE_MAX && line->dashes < line->operands.len) ||
           build_options_given(&options->build);
}

// The words behind "--", with what is built in front of them.
static bool find_program(Live *l, const CommandLine *line, int *status, Error *err)
{
    size_t given = line->dashes == SIZE_MAX ? line->operands.len : line->dashes;
    char **words = line->words + given;
    l->sampling.argv = words;
    if (!build_options_given(&l->options->build))
        return program_find(&l->arena, str_from_c(words[0]), cli_env("PATH"), &l->program, err);
    BuiltCommand built;
    if (!build_command(&l->arena, &l->options->build, words, &built, status, err))
        return false;
    l->program = built.program;
    l->sampling.argv = built.argv;
    return true;
}

static bool prepare(Live *l, Error *err)
{
    const LiveOptions *o = l->options;
    const StrVec none = {0};
    const EventFilters no_filters = {0};
    if (!record_events_parse(&l->arena, &o->events, &no_filters, l->program.path, NULL, &none,
                             &l->events, err))
        return false;
    l->sampling = (SamplingOptions){.argv = l->sampling.argv,
                                    .program = &l->program,
                                    .events = &l->events,
                                    .duration_ns = o->duration_ns,
                                    .environment = environ,
                                    .temp_folder = cli_env("TMPDIR"),
                                    .tool_version = STR(ASSAY_VERSION)};
    return record_parse_rate(o->freq, o->period, &l->sampling, err) &&
           record_check_program(&l->program, err) &&
           symbols_source_options(&l->arena, &none, &l->sources, err);
}

static bool open_file(Live *l, Error *err)
{
    StoreOptions store = {.force = l->options->force};
    return l->options->recording.len == 0 ||
           store_writer_open(l->options->recording, &store, &l->writer, err);
}

static bool close_file(Live *l, const Profile *p, const SamplingResult *result, Error *err)
{
    StoreWriter *writer = l->writer;
    if (!writer)
        return true;
    l->writer = NULL;
    if (result->write_failed) {
        *err = result->write_error;
        (void)error_hint(err, "the recording until then is in '%" STR_FMT "'",
                         STR_ARG(store_writer_part_path(writer)));
        store_writer_leave(writer);
        return false;
    }
    return store_writer_finish(writer, p, err);
}

static void say_result(const Profile *p, const SamplingResult *r)
{
    StrBuf b = {0};
    record_add_counts(p, r, &b);
    cli_say("%" STR_FMT ", %llu lost", STR_ARG(strbuf_str(&b)), (unsigned long long)r->lost);
    strbuf_deinit(&b);
}

static bool run(Live *l, Profile *p, int *child_status, Error *err)
{
    const StrVec none = {0};
    Sampling *sampling = NULL;
    SamplingResult result;
    if (!sampling_run(&l->sampling, p, l->writer, &sampling, &result, err)) {
        if (result.killed_by)
            record_end_hung(l->writer, err, result.killed_by);
        return false;
    }
    size_t own_notes = p->notes.key.len;
    symbols_resolve_recorded(&l->arena, p, sampling, &none, &l->sources, NULL);
    record_say_warnings(p, own_notes);
    say_result(p, &result);
    bool ok = close_file(l, p, &result, err);
    *child_status = record_wait_child(sampling, &result, l->program.path);
    sampling_close(sampling);
    return ok;
}

bool live_record(const CommandLine *line, const LiveOptions *options, Profile *ret,
                 int *child_status, Error *err)
{
    Live l = {.options = options};
    profile_init(ret);
    bool ok = open_file(&l, err) && find_program(&l, line, child_status, err) && prepare(&l, err) &&
              run(&l, ret, child_status, err);
    store_writer_abandon(l.writer);
    if (!ok)
        profile_deinit(ret);
    arena_deinit(&l.arena);
    return ok;
}
