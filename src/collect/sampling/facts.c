// SPDX-License-Identifier: Apache-2.0
// Writes the facts and notes of a recording.

#include "collect/sampling/facts_internal.h"

#include "base/strbuf.h"
#include "collect/sampling/hit_copies_internal.h"
#include "model/facts.h"
#include "os/clock.h"

#include <inttypes.h>
#include <sys/wait.h>

static void set_number(Profile *p, const char *key, uint64_t value)
{
    StrBuf b = {0};
    strbuf_add_u64(&b, value);
    profile_set_fact(p, str_from_c(key), strbuf_str(&b));
    strbuf_deinit(&b);
}

static void set_command(Profile *p, char *const *argv, bool no_args)
{
    StrBuf b = {0};
    for (size_t i = 0; argv[i] && !(no_args && i > 0); i++) {
        if (i)
            strbuf_add_char(&b, ' ');
        strbuf_add_shell_word(&b, str_from_c(argv[i]));
    }
    profile_set_fact(p, STR(FACT_COMMAND), strbuf_str(&b));
    strbuf_deinit(&b);
}

static Str stack_mode_name(StackMode mode)
{
    switch (mode) {
    case STACKS_AUTO:
    case STACKS_TABLES:
    case STACKS_WALKED:
        return STR("tables");
    case STACKS_FP:
        return STR("frame pointers");
    case STACKS_LBR:
        return STR("lbr");
    case STACKS_NONE:
        return STR("none");
    }
    return STR("none");
}

void facts_at_start(Profile *p, const SamplingOptions *o, const EventSet *events, int64_t start_ns)
{
    Arena scratch = {0};
    Machine m = os_machine(&scratch);
    profile_set_fact(p, STR(FACT_COLLECTOR), STR("sampling"));
    profile_set_fact(p, STR(FACT_TOOL_VERSION), o->tool_version);
    set_number(p, FACT_START_MONOTONIC, (uint64_t)start_ns);
    set_number(p, FACT_START_REALTIME,
               (uint64_t)(os_realtime_ns() - (os_monotonic_ns() - start_ns)));
    profile_set_fact(p, STR(FACT_HOSTNAME), m.host_name);
    profile_set_fact(p, STR(FACT_KERNEL), m.kernel);
    profile_set_fact(p, STR(FACT_ARCH), m.arch);
    profile_set_fact(p, STR(FACT_CPU_MODEL), m.cpu_model);
    set_number(p, FACT_CPU_COUNT, m.cpu_count);
    if (o->argv)
        set_command(p, o->argv, o->no_args);
    profile_set_fact(p, STR(FACT_EVENT), events->event_name);
    if (events->by_breakpoints && events->fallback.len)
        profile_set_fact(p, STR(FACT_EVENT_FALLBACK), STR("the kernel's probes: refused"));
    else if (events->traced && events->fallback.len)
        profile_set_fact(p, STR(FACT_EVENT_FALLBACK), STR("perf events: refused"));
    else if (events->timed && events->fallback.len)
        profile_set_fact(p, STR(FACT_EVENT_FALLBACK), STR("perf events and ptrace: refused"));
    else if (events->fallback.len)
        profile_set_fact(p, STR(FACT_EVENT_FALLBACK), events->fallback);
    if (events->freq_hz && events_fixed_period(events, &events->events.at[0]) == 0)
        set_number(p, FACT_RATE_ASKED, o->freq_hz ? o->freq_hz : events->freq_hz);
    profile_set_fact(p, STR(FACT_STACK_MODE), stack_mode_name(events->stacks));
    arena_deinit(&scratch);

    if (events->kernel_refused)
        profile_note(p, NOTE_INFO, STR("user-only"),
                     "user part only: kernel.perf_event_paranoid is %" PRId64
                     "; for the kernel part too: sudo sysctl kernel.perf_event_paranoid=1",
                     events->limits.paranoid);
    if (events->freq_clamped && events->traced)
        profile_note(p, NOTE_WARNING, STR("rate-clamped"),
                     "%" PRIu64 " Hz asked, %" PRIu64 " Hz taken: each sample stops a thread",
                     o->freq_hz, events->freq_hz);
    else if (events->freq_clamped && events->timed)
        profile_note(p, NOTE_INFO, STR("rate-clamped"),
                     "%" PRIu64 " Hz asked, %" PRIu64 " Hz taken: the kernel's tick gives fewer",
                     o->freq_hz, events->freq_hz);
    else if (events->freq_clamped)
        profile_note(p, NOTE_WARNING, STR("rate-clamped"),
                     "%" PRIu64 " Hz asked, %" PRIu64
                     " Hz taken: kernel.perf_event_max_sample_rate allows no more",
                     o->freq_hz, events->freq_hz);
    if (events->stacks == STACKS_FP && o->stacks == STACKS_AUTO)
        profile_note(p, NOTE_WARNING, STR("frame-pointers"),
                     "this machine dumps no registers: stacks follow frame pointers");
    if (events->per_thread)
        profile_note(p, NOTE_WARNING, STR("no-inherit"),
                     "too many threads for the descriptor limit: those started later are not "
                     "recorded; to lift it: ulimit -n unlimited");
    if (events->fields_refused)
        profile_note(p, NOTE_INFO, STR("fields"),
                     "the fields of tracepoints are not recorded: they need root, CAP_PERFMON or "
                     "kernel.perf_event_paranoid -1");
    for (size_t i = 0; i < events->events.len; i++) {
        const EventSpec *e = &events->events.at[i];
        bool kernel_side =
            e->type == PERF_TYPE_SOFTWARE && (e->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
                                              e->config == PERF_COUNT_SW_CPU_MIGRATIONS);
        if (kernel_side && events->user_only)
            profile_note(p, NOTE_WARNING, STR("kernel-event"),
                         "'%" STR_FMT "' happens in the kernel, which is not observed: it cannot "
                         "count here; to lift it: sudo sysctl kernel.perf_event_paranoid=1",
                         STR_ARG(e->name));
    }
    if (o->program && o->program->is_script)
        profile_note(p, NOTE_INFO, STR("script"),
                     "'%" STR_FMT "' is a script: this is the profile of '%" STR_FMT
                     "' and of what it starts",
                     STR_ARG(o->program->path), STR_ARG(o->program->interpreter));
}

static uint64_t timeval_ns(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

// Processes that started and ended within a few periods of the rate.
static size_t short_processes(const Profile *p, uint64_t freq_hz)
{
    enum { PERIODS = 10 };
    int64_t limit = (int64_t)(PERIODS * 1000000000ull / freq_hz);
    size_t n = 0;
    for (size_t i = 1; i < p->processes.pid.len; i++) {
        int64_t start = p->processes.start_ns.at[i], end = p->processes.end_ns.at[i];
        n += start != TIME_NONE && end != TIME_NONE && end - start < limit;
    }
    return n;
}

// Each process has a period of its own, which begins anew with it: one that ends before its
// first period does takes none, and may take that of the process that started it along.
static void note_short_processes(Profile *p, const EventSet *events, uint64_t rate_hz)
{
    enum { FEW = 20, FINE_HZ = 10000 };
    size_t count =
        events->freq_hz && events->freq_hz < FINE_HZ ? short_processes(p, events->freq_hz) : 0;
    if (count < FEW || rate_hz * 100 >= events->freq_hz * 90)
        return;
    profile_note(p, NOTE_WARNING, STR("short-processes"),
                 "%" PRIu64 "%% of the processor time has no samples: %zu processes lived for a "
                 "few periods of %" PRIu64 " us or less, so the shares of processes and of what "
                 "starts them are not right; -F %d or -a gives them",
                 100 - rate_hz * 100 / events->freq_hz, count, 1000000 / events->freq_hz, FINE_HZ);
}

// Stacks are called complete that lead through code without unwind rules.
static void note_searched(Profile *p, const ConsumerCounts *c)
{
    if (c->searched == 0)
        return;
    profile_note(p, NOTE_WARNING, STR("searched-callers"),
                 "%.3g %% of stacks lead through code without unwind rules, generated by a runtime "
                 "or of a C library such as musl: its callers were found by a search of the stack, "
                 "and some may be of earlier calls",
                 100.0 * (double)c->searched / (double)MAX(c->with_stack, c->searched));
}

// Where the thread has returned meanwhile and called the same functions once more, at the same
// places of its stack, nothing tells the two apart.
static void note_read_later(Profile *p, const ConsumerCounts *c)
{
    enum { MATERIAL_PERCENT = 2 };
    if (c->read_later * 100 <= c->with_stack * MATERIAL_PERCENT)
        return;
    profile_note(
        p, NOTE_INFO, STR("stacks-read-later"),
        "%.3g %% of stacks were larger than their copies: their outer calls were read from "
        "the process soon after the sample; in a recursion they may be those of a later "
        "call",
        100.0 * (double)c->read_later / (double)MAX(c->with_stack, c->read_later));
}

// What leaves fewer stacks that are larger than their copies, behind "; ". "" when nothing does.
static const char *larger_copies(const EventSet *events, const FactsOfEngine *engine)
{
    bool has_rate = events_fixed_period(events, &events->events.at[0]) == 0;
    if (events->options->copy_stacks && events->limits.privileged)
        return "; without --copy-stacks up to 512 KB are copied";
    if (engine->has_programs || events->limits.privileged)
        return has_rate ? "; a lower -F leaves more time to read such stacks" : "";
    if (events_rings_are_limited(events))
        return "; sudo sysctl kernel.perf_event_mlock_kb=8192 allows this user larger copies; "
               "those "
               "of root have up to 512 KB (sudo assay record)";
    return has_rate ? "; copies as root have up to 512 KB (sudo assay record), and a lower -F "
                      "leaves more time to read such stacks"
                    : "; copies as root have up to 512 KB (sudo assay record)";
}

// The share of the program's outer functions is right in such stacks, the number of levels is not.
static void note_gaps(Profile *p, const EventSet *events, const FactsOfEngine *engine,
                      const ConsumerCounts *c)
{
    enum { MATERIAL_PERCENT = 1 };
    if (c->with_gap == 0)
        return;
    bool is_material = c->with_gap * 100 > c->with_stack * MATERIAL_PERCENT;
    profile_note(p, is_material ? NOTE_WARNING : NOTE_INFO, STR("stacks-with-gap"),
                 "%.3g %% of stacks were larger than their copies and lack calls in the middle, at "
                 "\"[stack cut: middle not copied]\": the calls outside of it are those of an "
                 "earlier sample of the thread that had not returned%s",
                 100.0 * (double)c->with_gap / (double)MAX(c->with_stack, c->with_gap),
                 larger_copies(events, engine));
}

static void note_cut_short(Profile *p, const EventSet *events, const FactsOfEngine *engine,
                           const ConsumerCounts *c)
{
    enum { MATERIAL_PERCENT = 1 };
    if (events->stacks != STACKS_TABLES || events->traced ||
        c->cut[STACK_CUT_DUMP_SHORT] * 100 <= c->with_stack * MATERIAL_PERCENT)
        return;
    profile_note(p, NOTE_WARNING, STR("stacks-cut-short"),
                 "%.3g %% of stacks are cut: they were larger than their copies, and had changed "
                 "before the rest was read%s",
                 100.0 * (double)c->cut[STACK_CUT_DUMP_SHORT] / (double)c->with_stack,
                 larger_copies(events, engine));
}

// Programs whose compiler or runtime says nothing of callers, and what makes it do so.
static void note_without_rules(Profile *p, const ConsumerCounts *c)
{
    enum { MATERIAL_PERCENT = 10 };
    uint64_t least = c->with_stack * MATERIAL_PERCENT / 100;
    double all = (double)MAX(c->with_stack, (uint64_t)1);
    if (c->cut[STACK_CUT_NO_TABLE] > least)
        profile_note(p, NOTE_WARNING, STR("stacks-without-tables"),
                     "%.3g %% of stacks are cut in code without unwind tables and frame pointers: "
                     "compile it with -fasynchronous-unwind-tables, Free Pascal with "
                     "-OoNOSTACKFRAME",
                     100.0 * (double)c->cut[STACK_CUT_NO_TABLE] / all);
    if (c->cut[STACK_CUT_JIT] > least)
        profile_note(p, NOTE_WARNING, STR("stacks-in-generated-code"),
                     "%.3g %% of stacks are cut in generated code without unwind rules: -g fp "
                     "follows frame pointers, which Erlang's BEAM has with +JPperf true",
                     100.0 * (double)c->cut[STACK_CUT_JIT] / all);
}

// Samples that stand for the processor time since the one before give right shares, also of
// threads that end before their first sample; but for those of which no group has one.
static void note_weights(Profile *p, const ConsumerCounts *c)
{
    enum { MATERIAL_PERCENT = 2 };
    uint64_t all = c->weighed_ns + c->unsampled_ns;
    if (all == 0)
        return;
    profile_note(p, NOTE_INFO, STR("weighed"),
                 "many threads ended within a few periods: %.1f s of processor time are weighed by "
                 "the kernel's context switches, and a sample stands for what its thread, and "
                 "threads that came about in the same way and ended, used since the one before",
                 (double)c->weighed_ns / 1e9);
    if (c->unsampled_ns * 100 > all * MATERIAL_PERCENT)
        profile_note(p, NOTE_WARNING, STR("short-processes"),
                     "%" PRIu64 "%% of the processor time has no samples: it was used by kinds of "
                     "processes that ended before their first one; -F 10000 or -a gives them",
                     c->unsampled_ns * 100 / all);
}

// Processor time is what a recording of clock samples shows. Of a program that sleeps nearly
// always it says next to nothing about where the time went. On a busy machine a program that
// computes gets little of it, too, without waiting for anything.
static void note_waiting(Profile *p, const EventSet *events, const ChildEnd *child,
                         uint64_t used_ns, uint64_t wall_ns)
{
    enum { SHARE = 10 };
    const uint64_t least_ns = 300000000;
    if (wall_ns < least_ns || used_ns > wall_ns / SHARE || events->options->waits)
        return;
    // The kernel took the processor from it more often than it gave it up.
    if (child->usage.ru_nivcsw > child->usage.ru_nvcsw) {
        profile_note(p, NOTE_INFO, STR("waiting"),
                     "the program used %.1f ms of processor time in %.2f s: other programs had the "
                     "processors for most of the rest",
                     (double)used_ns / 1e6, (double)wall_ns / 1e9);
        return;
    }
    const char *way =
        "assay record --wait -- CMD (root), or -e context-switches -c 1, shows what for";
    profile_note(p, NOTE_WARNING, STR("waiting"),
                 "the program used %.1f ms of processor time in %.2f s: it waited for the rest, "
                 "which these samples do not show; %s",
                 (double)used_ns / 1e6, (double)wall_ns / 1e9, way);
}

static void child_facts(Profile *p, const EventSet *events, const ChildEnd *child,
                        const ConsumerCounts *c, const SamplingResult *r)
{
    StrBuf b = {0};
    if (WIFSIGNALED(child->status))
        strbuf_printf(&b, "signal %d", WTERMSIG(child->status));
    else
        strbuf_printf(&b, "%d", exit_status_of(child->status));
    profile_set_fact(p, STR(FACT_EXIT_STATUS), strbuf_str(&b));
    strbuf_deinit(&b);
    uint64_t user = timeval_ns(child->usage.ru_utime), sys = timeval_ns(child->usage.ru_stime);
    set_number(p, FACT_USER_NS, user);
    set_number(p, FACT_SYSTEM_NS, sys);
    set_number(p, FACT_MAX_RSS_BYTES, (uint64_t)child->usage.ru_maxrss * 1024);
    if (event_is_clock(&events->events.at[0]) && !events->options->system_wide)
        note_waiting(p, events, child, user + sys, (uint64_t)r->wall_ns);
    uint64_t observed = user + (events->user_only && !events->traced && !events->timed ? 0 : sys);
    // A rate over less than a tenth of a second would be noise.
    if (events_fixed_period(events, &events->events.at[0]) == 0 && !events->options->system_wide &&
        observed > 100000000u && r->samples > 0) {
        uint64_t rate_hz =
            (uint64_t)((double)(r->samples + r->lost) / (double)MAX(events->events.len, (size_t)1) *
                       1e9 / (double)observed);
        set_number(p, FACT_RATE_OBTAINED, rate_hz);
        if (event_is_clock(&events->events.at[0]) && !events->traced && !events->timed &&
            c->weighed_ns == 0)
            note_short_processes(p, events, rate_hz);
    }
}

// The processor time of the child, for the notes on samples by ptrace.
static uint64_t used_ns(const ChildEnd *child)
{
    return timeval_ns(child->usage.ru_utime) + timeval_ns(child->usage.ru_stime);
}

// Why there are no perf events, unless the user wanted none.
static void note_refusal(Profile *p, const EventSet *events)
{
    if (events->fallback.len)
        profile_note(p, NOTE_WARNING, STR("perf-refused"), "no perf events: %" STR_FMT,
                     STR_ARG(events->fallback));
}

// Programs that load no library, or run as another user, have no agent: their time is missing.
static void note_timers(Profile *p, const EventSet *events, const Timers *t, const ChildEnd *child)
{
    enum { LEAST_SHARE = 90 };
    AgentCounts n = agent_rings_counts(&t->rings);
    StrBuf b = {0};
    strbuf_printf(&b, "sampled by timers in the processes: a sample weighs the processor time of "
                      "its thread since the one before");
    uint64_t used = child ? used_ns(child) : 0;
    double share = used ? 100.0 * (double)n.counted_ns / (double)used : 0;
    if (used)
        strbuf_printf(&b, ", %.1f%% of what the program used in all", MIN(share, 100.0));
    strbuf_printf(&b, "; time in the kernel counts where it was called from; the kernel's tick "
                      "gives at most 100 to 1000 samples per second of processor time");
    profile_note(p, NOTE_WARNING, STR("timers"), "%" STR_FMT, STR_ARG(strbuf_str(&b)));
    strbuf_deinit(&b);
    note_refusal(p, events);
    if (n.processes == 0)
        profile_note(p, NOTE_WARNING, STR("no-agent"),
                     "no process loaded the library of the timers: statically linked, 32-bit and "
                     "set-uid programs, and those of another user, do not");
    else if (used && share < LEAST_SHARE)
        profile_note(p, NOTE_WARNING, STR("no-agent"),
                     "%.0f%% of the processor time has no samples: statically linked, 32-bit and "
                     "set-uid programs, and those of another user, do not load the library of the "
                     "timers",
                     100 - share);
    if (n.untimed_threads)
        profile_note(p, NOTE_WARNING, STR("untimed-threads"),
                     "threads without a timer, because the limit of pending signals was reached: "
                     "%" PRIu64 "; to lift it: ulimit -i unlimited",
                     n.untimed_threads);
    if (n.broken)
        profile_note(p, NOTE_WARNING, STR("broken-rings"),
                     "%" PRIu64 " times the records of a process were damaged and left out",
                     n.broken);
}

static void note_left_out(Profile *p, const Timers *t)
{
    uint64_t n = agent_rings_counts(&t->rings).left_out;
    if (n)
        profile_note(p, NOTE_WARNING, STR("processes-left-out"),
                     "%" PRIu64 " process%s left out: too many ran at once", n,
                     n == 1 ? " was" : "es were");
}

static void note_tracing(Profile *p, const EventSet *events, const Tracer *t, const ChildEnd *child)
{
    StrBuf b = {0};
    strbuf_printf(&b, "sampled by stopping threads with ptrace");
    if (t->samples)
        strbuf_printf(&b, ", about %.0f us for each of %" PRIu64 " samples",
                      (double)t->stopped_ns / 1e3 / (double)t->samples, t->samples);
    if (t->counted_ns)
        strbuf_printf(&b, " (%.1f%% of the processor time they stand for)",
                      100.0 * (double)t->stopped_ns / (double)t->counted_ns);
    strbuf_printf(&b, ": a sample weighs the processor time of its thread since the one before");
    if (child) {
        uint64_t used = used_ns(child);
        if (used && t->samples)
            strbuf_printf(&b, ", %.1f%% of what the program used in all",
                          MIN(100.0 * (double)t->counted_ns / (double)used, 100.0));
    }
    strbuf_printf(&b, "; time in the kernel counts where it was called from; what runs shorter "
                      "than a tick may be missed; set-uid programs run without their rights");
    profile_note(p, NOTE_WARNING, STR("ptrace"), "%" STR_FMT, STR_ARG(strbuf_str(&b)));
    strbuf_deinit(&b);
    note_refusal(p, events);
    if (t->unwatched)
        profile_note(p, NOTE_WARNING, STR("unwatched-threads"),
                     "threads that could not be watched, because there were no more file "
                     "descriptors: %" PRIu64 "; to lift the limit: ulimit -n unlimited",
                     t->unwatched);
}

static void note_breakpoints(Profile *p, const EventSet *events, const BreakCounts *n,
                             const SamplingResult *r)
{
    double seconds = (double)MAX(r->wall_ns, (int64_t)1) / 1e9, hz = (double)n->hits / seconds;
    if (n->was_killed)
        profile_note(
            p, NOTE_WARNING, STR("tracer-killed"),
            "the process that set the breakpoints was killed: hits after that are missing");
    else
        profile_note(
            p, NOTE_WARNING, STR("breakpoints"),
            "probed by breakpoints: each of %" PRIu64
            " hits stopped its thread for %.0f us or more; set-uid programs run without their "
            "rights; a debugger cannot be used at the same time",
            n->hits, n->hits ? (double)n->stopped_ns / 1e3 / (double)n->hits : 0.0);
    if (events->fallback.len)
        profile_note(p, NOTE_WARNING, STR("perf-refused"), "no probes of the kernel: %" STR_FMT,
                     STR_ARG(events->fallback));
    if (hz > BREAKS_HZ_MAX && n->hits > BREAKS_HZ_MAX)
        profile_note(p, NOTE_WARNING, STR("breakpoint-cost"),
                     "%.0f hits a second, more than the %d for which breakpoints are meant: every "
                     "hit is counted, but the program ran much slower than it does otherwise; the "
                     "kernel's probes cost a twentieth",
                     hz, BREAKS_HZ_MAX);
    if (n->refused)
        profile_note(p, NOTE_WARNING, STR("breakpoints-refused"),
                     "%" PRIu64 " places have no breakpoint: the instruction there is a breakpoint "
                     "already, enters the kernel or jumps in an unusual way",
                     n->refused);
    if (n->no_loader)
        profile_note(p, NOTE_WARNING, STR("no-loader"),
                     "in %" PRIu64 " programs libraries have no breakpoints: their dynamic linker "
                     "does not say when it has mapped them",
                     n->no_loader);
}

// The name of a command may lead to another file than the one that is probed.
static void note_no_hits(Profile *p, const EventSet *events, const ModuleSet *modules)
{
    Str path = str_from_c((const char *)(uintptr_t)events->events.at[0].config1);
    bool is_used = false;
    for (size_t i = 0; i < modules->files.len && !is_used; i++)
        is_used = str_equal(modules->files.at[i]->path, path);
    if (is_used)
        profile_note(p, NOTE_WARNING, STR("no-samples"),
                     "no samples: no recorded process reached the probe");
    else
        profile_note(p, NOTE_WARNING, STR("no-samples"),
                     "no samples: no program of the recording used '%" STR_FMT
                     "', the file that was probed; a command's name may lead to another file",
                     STR_ARG(path));
}

static void note_no_samples(Profile *p, const EventSet *events, const ChildEnd *child,
                            const ModuleSet *modules)
{
    // These have no higher rate, so that the note advises to run the program many times.
    if (events->timed && child)
        profile_note(p, NOTE_WARNING, STR("no-samples"),
                     "no samples: the program used %.1f ms of processor time, its start included, "
                     "and timers sample at the kernel's tick, every 1 to 10 ms; run it many times "
                     "in one recording, as in assay record -- sh -c 'for i in $(seq 100); do "
                     "PROGRAM; done'",
                     (double)used_ns(child) / 1e6);
    else if (events->traced && !events->by_breakpoints && child)
        profile_note(p, NOTE_WARNING, STR("no-samples"),
                     "no samples: the program used %.1f ms of processor time, its start included, "
                     "and ptrace samples once in %.1f ms; run it many times in one recording, as "
                     "in assay record -- sh -c 'for i in $(seq 100); do PROGRAM; done'",
                     (double)used_ns(child) / 1e6, 1e3 / (double)events->freq_hz);
    else if (events->events.at[0].is_probe && !events->by_breakpoints)
        note_no_hits(p, events, modules);
    else
        profile_note(p, NOTE_WARNING, STR("no-samples"),
                     "no samples: the program used too little time for the rate, or its event did "
                     "not happen");
}

// What loses fewer samples. A rate cannot be lowered where each so many occurrences
// take one: then records must be smaller, or the ring larger.
static const char *less_loss(const EventSet *events)
{
    bool counts = false, copies = events->stacks == STACKS_TABLES;
    for (size_t i = 0; i < events->events.len; i++)
        counts |= events_fixed_period(events, &events->events.at[i]) != 0;
    if (!counts)
        return "a lower -F or a larger -m helps";
    if (events_rings_are_limited(events))
        return copies ? "-g fp copies no stacks; a larger -c takes fewer samples; sudo sysctl "
                        "kernel.perf_event_mlock_kb=65536 allows this user larger rings"
                      : "a larger -c takes fewer samples; sudo sysctl "
                        "kernel.perf_event_mlock_kb=65536 allows this user larger rings";
    return copies ? "-m 64M holds more of a burst; -g fp copies no stacks; a larger -c takes fewer "
                    "samples"
                  : "-m 64M holds more of a burst; a larger -c takes fewer samples";
}

// How often the first event happened: samples count for their period.
static uint64_t occurrences(const Profile *p)
{
    uint64_t sum = p->samples.dropped.sum.len ? p->samples.dropped.sum.at[0] : 0;
    for (size_t i = 0; p->samples.value_columns && i < p->samples.values[0].len; i++)
        sum += (uint64_t)p->samples.values[0].at[i];
    return sum;
}

static size_t threads_without_samples(const Profile *p)
{
    size_t all = p->threads.tid.len, n = 0;
    uint8_t *has = heap_alloc(all + 1);
    for (size_t i = 0; i < p->samples.thread.len; i++)
        has[p->samples.thread.at[i].v] = p->samples.values[0].at[i] > 0;
    for (size_t i = 1; i < all; i++)
        n += !has[i];
    heap_free(has);
    return n;
}

// Each thread counts to N anew, so that threads with fewer occurrences have no sample, and nothing
// names them.
static void note_few_in_threads(Profile *p, const EventSet *events, const ConsumerCounts *c,
                                const SamplingResult *r)
{
    enum { MATERIAL_PERCENT = 10 };
    uint64_t period = events->events.len ? events_fixed_period(events, &events->events.at[0]) : 0;
    if (period <= 1 || c->throttled || p->samples.dropped.sum.len || !p->samples.value_columns)
        return;
    uint64_t counted = events_counted(events), sampled = occurrences(p) + r->lost * period;
    size_t threads = threads_without_samples(p);
    if (counted <= sampled || (counted - sampled) * 100 < counted * MATERIAL_PERCENT || !threads)
        return;
    profile_note(p, NOTE_WARNING, STR("few-in-threads"),
                 "%.0f %% of %" STR_FMT " are in no sample: a thread has one sample for each "
                 "%" PRIu64
                 " of its own, and %zu of %zu threads had fewer; a smaller -c shows them",
                 100.0 * (double)(counted - sampled) / (double)counted, STR_ARG(events->event_name),
                 period, threads, p->threads.tid.len - 1);
}

static void note_probes(Profile *p, const EventSet *events, const ConsumerCounts *c,
                        const SamplingResult *r)
{
    const uint64_t busy_hz = 20000;
    if (!events->events.at[0].is_probe || events->by_breakpoints)
        return;
    double seconds = (double)MAX(r->wall_ns, (int64_t)1) / 1e9;
    double warm = (double)events->hit_cost.warm_ns, cold = (double)events->hit_cost.cold_ns;
    double hz = (double)(occurrences(p) + r->lost) / seconds;
    if (events->hit_cost.warm_ns) {
        set_number(p, FACT_PROBE_HIT_NS, events->hit_cost.warm_ns);
        set_number(p, FACT_PROBE_COLD_NS, events->hit_cost.cold_ns);
    }
    if (hz >= (double)busy_hz && occurrences(p) >= busy_hz / 2)
        profile_note(
            p, NOTE_WARNING, STR("probe-cost"),
            "the probe was hit %.0f times a second. A hit costs %.1f us in a loop, %.1f us or more "
            "with cold caches: at least %.0f to %.0f %% of a processor. A larger -c makes a hit "
            "cheaper, not rarer",
            hz, warm / 1e3, cold / 1e3, hz * warm / 1e7, hz * cold / 1e7);
    if (p->threads.tid.len > 1 && !events->options->system_wide && !events->probes_are_wide)
        profile_note(p, NOTE_WARNING, STR("probe-threads"),
                     "only threads that ran when the recording began are probed: other processes "
                     "use the file, too, and the kernel hands no probe on to new threads and "
                     "processes; -a probes all of them");
    uint64_t left_out = events->hits ? hit_copies_left_out(events->hits) : 0;
    if (left_out)
        profile_note(p, NOTE_WARNING, STR("probe-processes"),
                     "%" PRIu64 " processes had no room in the table of the recording: their hits "
                     "are missing; -a records all processes",
                     left_out);
    if (c->args_missing)
        profile_note(p, NOTE_WARNING, STR("arguments-missing"),
                     "%" PRIu64 " values of arguments lay outside of the copied part of the stack "
                     "and count as 0; -g dwarf,32768 copies more",
                     c->args_missing);
}

void facts_at_end(Profile *p, const EventSet *events, const Consumer *consumer, uint64_t malformed,
                  const Drain *drain, const FactsOfEngine *engine, const ChildEnd *child,
                  const SamplingResult *r)
{
    const ConsumerCounts *c = consumer_counts(consumer);
    const ModuleSet *modules = consumer_modules(consumer);
    set_number(p, FACT_WALL_NS, (uint64_t)r->wall_ns);
    set_number(p, FACT_SAMPLES_LOST, r->lost);
    set_number(p, FACT_THROTTLED, c->throttled);
    if (child)
        child_facts(p, events, child, c, r);
    note_weights(p, c);
    note_few_in_threads(p, events, c, r);
    if (engine->tracer)
        note_tracing(p, events, engine->tracer, child);
    if (engine->breaks)
        note_breakpoints(p, events, engine->breaks, r);
    if (engine->timers && !events->heap)
        note_timers(p, events, engine->timers, child);
    if (engine->timers)
        note_left_out(p, engine->timers);
    if (r->lost)
        profile_note(p, NOTE_WARNING, STR("lost-samples"),
                     "%" PRIu64 " sample%s lost: %" PRIu64 " because the ring was full, %" PRIu64
                     " because unwinding fell behind; %s",
                     r->lost, plural_s(r->lost), r->lost - drain->dropped, drain->dropped,
                     less_loss(events));
    if (c->throttled)
        profile_note(p, NOTE_WARNING, STR("throttled"),
                     "the kernel throttled sampling %" PRIu64
                     " times: the rate is higher than it allows",
                     c->throttled);
    if (modules->replaced)
        profile_note(p, NOTE_WARNING, STR("replaced-files"),
                     "%u mapped files were replaced on disk while they ran: no symbols for them",
                     modules->replaced);
    if (modules->narrow)
        profile_note(p, NOTE_WARNING, STR("32-bit"),
                     "%u mapped files are 32-bit programs or libraries: assay has no names and no "
                     "stacks for their code",
                     modules->narrow);
    if (modules->missing)
        profile_note(p, NOTE_INFO, STR("missing-files"), "%u mapped files could not be opened",
                     modules->missing);
    modules_note_refused(modules, p);
    modules_note_unnamed(modules, p);
    note_searched(p, c);
    note_read_later(p, c);
    note_gaps(p, events, engine, c);
    note_cut_short(p, events, engine, c);
    note_without_rules(p, c);
    if (consumer_has_scripts(consumer))
        profile_note(p, NOTE_WARNING, STR("v8-inlines"),
                     "JavaScript functions that V8 has inlined count for their callers; "
                     "node --no-turbo-inlining tells them apart, in a slower program");
    if (consumer_read_late(consumer))
        profile_note(p, NOTE_WARNING, STR("python-late"),
                     "Python's functions were read some milliseconds after each sample, and not "
                     "where they had changed: shares of short calls are inexact; as root they are "
                     "read at the sample (sudo assay record)");
    note_probes(p, events, c, r);
    if (malformed || drain->broken)
        profile_note(p, NOTE_WARNING, STR("malformed-records"),
                     "%" PRIu64 " records of the kernel could not be understood", malformed);
    if (r->still_running)
        profile_note(
            p, NOTE_WARNING, STR("still-running"),
            "%u process%s of the command still ran when the command and its recording ended",
            r->still_running, r->still_running == 1 ? "" : "es");
    if (r->samples == 0 && !events->heap)
        note_no_samples(p, events, child, consumer_modules(consumer));
}
