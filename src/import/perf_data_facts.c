// SPDX-License-Identifier: Apache-2.0
// The description in a perf.data file, as facts and notes of a profile.

#include "import/perf_data_internal.h"

#include "base/strbuf.h"
#include "model/facts.h"
#include "os/event.h"

#include <inttypes.h>

Str perf_data_event_name(Arena *arena, const PerfDataEvent *event)
{
    const struct perf_event_attr *a = &event->attr;
    if (event->name.len)
        return event->name;
    size_t count;
    const EventName *names = event_names(&count);
    for (size_t i = 0; i < count; i++)
        if (names[i].type == a->type && names[i].config == a->config)
            return str_from_c(names[i].name);
    if (a->type == PERF_TYPE_TRACEPOINT)
        return arena_printf(arena, "tracepoint:%llu", (unsigned long long)a->config);
    if (a->type == PERF_TYPE_RAW)
        return arena_printf(arena, "r%llx", (unsigned long long)a->config);
    return arena_printf(arena, "event-%u/%llx", a->type, (unsigned long long)a->config);
}

static void set_number(Profile *p, const char *key, uint64_t value)
{
    StrBuf b = {0};
    strbuf_add_u64(&b, value);
    profile_set_fact(p, str_from_c(key), strbuf_str(&b));
    strbuf_deinit(&b);
}

static void set_text(Profile *p, const char *key, Str value)
{
    if (value.len)
        profile_set_fact(p, str_from_c(key), value);
}

// "perf record -g -- ls -l": behind "--" stands what was recorded. Without it the
// end of perf's own options cannot be told, and all is given.
static void set_command(Profile *p, const PerfData *info)
{
    StrBuf b = {0};
    size_t first = 0;
    for (size_t i = 0; i + 1 < info->command.len && first == 0; i++)
        if (str_equal(info->command.at[i], STR("--")))
            first = i + 1;
    for (size_t i = first; i < info->command.len; i++) {
        if (b.len)
            strbuf_add_char(&b, ' ');
        strbuf_add_shell_word(&b, info->command.at[i]);
    }
    set_text(p, FACT_COMMAND, strbuf_str(&b));
    strbuf_deinit(&b);
}

static Str stack_mode_name(SampleStacks stacks)
{
    switch (stacks) {
    case SAMPLE_STACKS_TABLES:
    case SAMPLE_STACKS_WALKED:
        return STR("tables");
    case SAMPLE_STACKS_CHAIN:
        return STR("frame pointers");
    case SAMPLE_STACKS_LBR:
        return STR("lbr");
    case SAMPLE_STACKS_NONE:
        break;
    }
    return STR("none");
}

static bool has_samples(const Profile *p, MetricId metric)
{
    const I64Vec *values = &p->samples.values[metric.v];
    for (size_t i = 0; i < values->len; i++)
        if (values->at[i])
            return true;
    return false;
}

// Names the first event that has samples, which is the one that views show.
static void set_event(PerfDataImport *in)
{
    const Profile *p = in->profile;
    for (size_t i = 0; i < in->sources.len; i++) {
        const PerfDataEvent *event = &in->info->events.at[i];
        if (in->sources.at[i].is_dummy)
            continue;
        if (p->samples.stack.len && !has_samples(p, in->sources.at[i].sample.metric))
            continue;
        bool walked = in->sources.at[i].sample.stacks == SAMPLE_STACKS_WALKED;
        set_text(in->profile, FACT_EVENT,
                 walked ? STR(EVENT_TIMERS) : perf_data_event_name(&in->arena, event));
        set_text(in->profile, FACT_STACK_MODE, stack_mode_name(in->sources.at[i].sample.stacks));
        if (event->attr.freq)
            set_number(in->profile, FACT_RATE_ASKED, event->attr.sample_freq);
        return;
    }
}

static void set_times(PerfDataImport *in)
{
    const PerfData *info = in->info;
    set_number(in->profile, FACT_START_MONOTONIC, in->start);
    if (in->last > in->start)
        set_number(in->profile, FACT_WALL_NS, in->last - in->start);
    if (info->has_clock_data)
        set_number(in->profile, FACT_START_REALTIME,
                   info->clock_realtime_ns + (in->start - info->clock_reference_ns));
}

static void set_facts(PerfDataImport *in)
{
    Profile *p = in->profile;
    const PerfData *info = in->info;
    const ConsumerCounts *c = consumer_counts(in->consumer);
    profile_set_fact(p, STR(FACT_COLLECTOR), STR("import perf.data"));
    set_text(p, FACT_HOSTNAME, info->hostname);
    if (info->os_release.len)
        profile_set_fact(p, STR(FACT_KERNEL),
                         arena_printf(&in->arena, "Linux %" STR_FMT, STR_ARG(info->os_release)));
    set_text(p, FACT_ARCH, info->arch);
    set_text(p, FACT_CPU_MODEL, info->cpu_description);
    if (info->cpus_online)
        set_number(p, FACT_CPU_COUNT, info->cpus_online);
    set_command(p, info);
    set_event(in);
    set_times(in);
    // Newer kernels count the same losses twice: as records and as samples.
    set_number(p, FACT_SAMPLES_LOST, MAX(c->lost, c->lost_samples));
    set_number(p, FACT_THROTTLED, c->throttled);
}

// ---- Notes -------------------------------------------------------------------

static void note_count(Profile *p, const char *key, uint64_t count, const char *text)
{
    if (count)
        profile_note(p, NOTE_WARNING, str_from_c(key), "%" PRIu64 " %s", count, text);
}

// Files of one fate: how many, and the first few by name.
typedef struct FileNames {
    uint32_t count;
    StrBuf text;
} FileNames;

static void add_file(FileNames *f, Str path)
{
    enum { NAMES_MAX = 3 };
    if (f->count < NAMES_MAX)
        strbuf_printf(&f->text, "%s'%" STR_FMT "'", f->count ? ", " : "", STR_ARG(path));
    else if (f->count == NAMES_MAX)
        strbuf_add(&f->text, STR(" …"));
    f->count++;
}

// Files that stacks led into, but that are not there any more as they were.
static void note_files(PerfDataImport *in)
{
    const ModuleSet *set = consumer_modules(in->consumer);
    FileNames replaced = {0}, missing = {0};
    for (size_t i = 0; i < set->files.len; i++) {
        const ModuleFile *m = set->files.at[i];
        if (m->id.v == 0 || m->opened || m->kind != MODULE_FILE)
            continue;
        add_file(m->is_replaced ? &replaced : &missing, m->path);
    }
    if (replaced.count)
        profile_note(in->profile, NOTE_WARNING, STR("replaced-files"),
                     "%u %s of another build than the recorded one, so not used: %" STR_FMT
                     "; --sysroot and --debug-dir name folders with the right ones",
                     replaced.count, replaced.count == 1 ? "file is" : "files are",
                     STR_ARG(strbuf_str(&replaced.text)));
    if (missing.count)
        profile_note(in->profile, NOTE_WARNING, STR("missing-files"),
                     "%u recorded %s not on this machine: %" STR_FMT
                     "; stacks there may be cut and have no names; --sysroot names a folder that "
                     "has them",
                     missing.count, missing.count == 1 ? "file is" : "files are",
                     STR_ARG(strbuf_str(&missing.text)));
    strbuf_deinit(&replaced.text);
    strbuf_deinit(&missing.text);
}

// perf copies 8 KB of each stack unless it is told to copy more, and nothing can be read later.
static void note_short_copies(PerfDataImport *in, const ConsumerCounts *c)
{
    enum { MATERIAL_PERCENT = 1, COPY_MAX = 65528 }; // perf_event_open(2)
    uint64_t short_ones = c->cut[STACK_CUT_DUMP_SHORT] + c->with_gap;
    uint32_t copied = 0;
    for (size_t i = 0; i < in->sources.len; i++)
        if (in->sources.at[i].sample.stacks == SAMPLE_STACKS_TABLES)
            copied = MAX(copied, in->info->events.at[i].attr.sample_stack_user);
    if (short_ones * 100 <= c->with_stack * MATERIAL_PERCENT || copied == 0)
        return;
    const char *more =
        copied < COPY_MAX ? "perf record --call-graph dwarf,65528 copies more, " : "";
    profile_note(
        in->profile, NOTE_WARNING, STR("stacks-cut-short"),
        "%.3g %% of stacks were larger than the %u bytes that perf copied of each; %sassay "
        "record reads the rest from the running program",
        100.0 * (double)short_ones / (double)c->with_stack, copied, more);
    if (c->with_gap)
        profile_note(in->profile, NOTE_WARNING, STR("stacks-with-gap"),
                     "%.3g %% of stacks lack calls in the middle, at \"[stack cut: middle not "
                     "copied]\": the calls outside of it are those that the last complete stacks "
                     "of the thread all had",
                     100.0 * (double)c->with_gap / (double)c->with_stack);
}

void perf_data_facts(PerfDataImport *in)
{
    Profile *p = in->profile;
    const PerfDataCounts *n = &in->counts;
    const ConsumerCounts *c = consumer_counts(in->consumer);
    uint64_t lost = MAX(c->lost, c->lost_samples);
    set_facts(in);
    note_count(p, "lost-samples", lost, "samples were lost: perf did not keep up");
    note_count(p, "throttled", c->throttled,
               "times the kernel throttled sampling: the rate was higher than it allows");
    note_files(in);
    note_short_copies(in, c);
    modules_note_refused(consumer_modules(in->consumer), p);
    if (in->other_arch && in->needs_unwinding)
        profile_note(p, NOTE_WARNING, STR("other-architecture"),
                     "stacks of '%" STR_FMT "' cannot be unwound here: only x86_64 and aarch64",
                     STR_ARG(in->info->arch));
    note_count(p, "skipped-guest", n->guest, "samples of virtual machines were left out");
    note_count(p, "skipped-hypervisor", n->hypervisor, "samples of the hypervisor were left out");
    note_count(p, "skipped-trace", n->trace, "records of hardware traces were left out");
    note_count(p, "skipped-switches", n->switches,
               "records of context switches were left out: time off the CPU is not shown");
    note_count(p, "skipped-text-pokes", n->text_pokes,
               "records of rewritten kernel code were left out: it has the names of before");
    if (n->unknown)
        profile_note(p, NOTE_WARNING, STR("skipped-unknown"),
                     "%" PRIu64 " records of unknown kinds were left out, the first of type %u",
                     n->unknown, n->first_unknown);
    note_count(p, "malformed-records", n->malformed, "records could not be understood");
    note_count(p, "deferred-chains", n->no_chain, "samples never got the user part of their stack");
    note_count(p, "late-records", in->order.late,
               "records came later than the file promises: mappings may be off");
    if (in->info->is_open_ended)
        profile_note(
            p, NOTE_WARNING, STR("not-closed"),
            "perf did not close the file: it lacks its header sections, and perhaps its end");
    if (p->samples.stack.len == 0)
        profile_note(p, NOTE_WARNING, STR("no-samples"), "no samples");
}
