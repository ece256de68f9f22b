// SPDX-License-Identifier: Apache-2.0
// The newest part of a recording, kept in memory. What is over is kept as compressed blocks, each a
// recording of its own. When the tables of names, stacks, threads and mappings have grown, the
// recorder begins anew with empty ones (docs/decisions/0318). A dump is written by a copy of this
// process, so that the recording goes on meanwhile (docs/decisions/0302).

#include "cli/record/flight.h"

#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/cli.h"
#include "cli/record/confinement.h"
#include "cli/record/recorded_symbols.h"
#include "model/facts.h"
#include "model/forget.h"
#include "model/state_sums.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/memory_limit.h"
#include "os/proc.h"
#include "store/store.h"

#define NS_PER_S 1000000000ll

enum {
    QUIET_S = 60,       // no condition writes a second dump before
    DUMPS_MAX = 100000, // numbers of files
    WRITER_NICE = 10,
    // Parts of the memory that the user gives: rows before they become a block (tables grow to
    // twice their rows), all blocks, and names and tables before the recorder begins anew.
    ROWS_PART = 8,
    BLOCKS_PART = 4,
    NAMES_PART = 2,
    ROUND_PER_GAP = 20, // a round lasts at least this many times the gap at its begin
    SHORT_ROUND_S = 60, // what programs need in less than this is allowed from then on
    CHILD_POLL_MS = 100,
    MALLOC_MAPS_FROM = 128 << 10, // larger blocks are mappings of their own
    MALLOC_ARENAS = 2,
};

// ---- Writing -----------------------------------------------------------------------------

// OUTPUT without its ending, a number, and the ending. A name that another user gave to a link in a
// folder like /tmp is passed over like that of a file.
static bool find_name(const Flight *f, StrBuf *ret)
{
    Str base = f->output;
    if (str_ends_with(base, STR(".assay")))
        base = str_slice(base, 0, base.len - strlen(".assay"));
    for (int i = 1; i < DUMPS_MAX; i++) {
        strbuf_clear(ret);
        strbuf_printf(ret, "%" STR_FMT "-%d.assay", STR_ARG(base), i);
        if (!os_name_is_taken(strbuf_str(ret)))
            return true;
    }
    cli_say("no dump is written: all names up to '%" STR_FMT "' are taken",
            STR_ARG(strbuf_str(ret)));
    return false;
}

// Joins the blocks, and makes the sums that a recording has.
static bool complete(const Flight *f, Profile *p, Error *err)
{
    const FlightRounds *r = &f->rounds;
    if (!store_blocks_join(&f->blocks, p, err))
        return false;
    profile_sum_states(p);
    if (r->count)
        profile_note(p, NOTE_INFO, STR("flight-rounds"),
                     "the recorder emptied its tables %" PRIu64 " time%s, to stay within --memory; "
                     "it recorded nothing for %.2f s in all, for %.2f s at most at one time",
                     r->count, plural_s(r->count), (double)r->gaps_ns / NS_PER_S,
                     (double)r->gap_ns / NS_PER_S);
    return true;
}

// Looks up the names without the rights that it does not need, since it reads programs that
// strangers made, and writes the file, which was opened before.
static bool write_named(const Flight *f, Sampling *s, Profile *p, StoreWriter *writer, Error *err)
{
    Confinement c;
    bool is_confined = confinement_start(f->arena, writer, &c);
    if (is_confined)
        confinement_enter(false);
    symbols_resolve_recorded(f->arena, p, s, f->debug_dirs, f->sources,
                             is_confined ? &c.help : NULL);
    bool ok = store_writer_finish_or_remove(writer, p, err);
    confinement_end(&c);
    return ok;
}

// Sums of waits are rows of samples without a time.
static size_t count_samples(const Profile *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->samples.time_ns.len; i++)
        count += p->samples.time_ns.at[i] != TIME_NONE;
    return count;
}

static int write_dump(const Flight *f, Sampling *s, Profile *p, Str why)
{
    SamplingResult result;
    StrBuf path = {0};
    Error err;
    StoreOptions store = {0};
    StoreWriter *writer;
    setpriority(PRIO_PROCESS, 0, WRITER_NICE);
    sampling_snapshot(s, &result);
    if (!complete(f, p, &err))
        return cli_fail(&err);
    profile_note(p, NOTE_INFO, STR("flight"),
                 "the newest part of a recording, written because of %" STR_FMT, STR_ARG(why));
    if (!find_name(f, &path))
        return STATUS_FAILED;
    if (!store_writer_open(strbuf_str(&path), &store, &writer, &err) ||
        !write_named(f, s, p, writer, &err))
        return cli_fail(&err);
    size_t samples = count_samples(p);
    cli_say("%zu sample%s, %zu call%s in %" STR_FMT " (%" STR_FMT ")", samples, plural_s(samples),
            p->calls.frame.len, plural_s(p->calls.frame.len), STR_ARG(strbuf_str(&path)),
            STR_ARG(why));
    return STATUS_OK;
}

typedef struct DumpTask {
    Flight *flight;
    Sampling *sampling;
    Profile *profile;
    Str why;
} DumpTask;

static void start_dump(void *ctx)
{
    const DumpTask *t = ctx;
    Flight *f = t->flight;
    int64_t from = os_monotonic_ns();
    pid_t pid = fork();
    if (pid == 0)
        _exit(write_dump(f, t->sampling, t->profile, t->why));
    if (pid < 0) {
        cli_say("no dump is written: this process cannot be copied");
        return;
    }
    f->writer = pid;
    f->dumped_ns = os_monotonic_ns();
    log_debug(LOG_RECORD, 1, "a dump held the recorder up for %lld us",
              (long long)(f->dumped_ns - from) / 1000);
}

// This thread may have given up the rights to make a process.
static void dump(Flight *f, Sampling *s, Profile *p, Str why)
{
    DumpTask task = {f, s, p, why};
    sampling_run_with_rights(s, start_dump, &task);
}

// ---- The watcher -------------------------------------------------------------------------

static void keep_block(Flight *f, Profile *p)
{
    Error err;
    if (!store_blocks_add(&f->blocks, p, f->memory_bytes / BLOCKS_PART, &err) && !f->failed) {
        f->failed = true;
        cli_say("a part of the recording is not kept: %s", err.text);
    }
}

// Engines that start the command, or stop its threads, cannot begin anew with one that runs.
static bool can_begin_anew(const Flight *f, const Profile *p)
{
    SamplingEngine engine = f->options->engine;
    Str event = p->metrics.event.len ? profile_text(p, p->metrics.event.at[0]) : STR("");
    return (engine == ENGINE_AUTO || engine == ENGINE_PERF) &&
           !str_equal(event, STR(EVENT_PTRACE)) && !str_equal(event, STR(EVENT_TIMERS)) &&
           (f->options->events->len == 0 || geteuid() == 0);
}

// Whether the tables have grown so much that the recorder should begin anew.
static bool has_grown(Flight *f)
{
    FlightRounds *r = &f->rounds;
    uint64_t has = memory_private_bytes();
    int64_t now = os_monotonic_ns(), lasted = now - r->begun_ns;
    if (r->base_bytes == 0)
        r->base_bytes = has;
    if (!has || has < r->base_bytes + r->allowed_bytes ||
        lasted < ROUND_PER_GAP * MAX(r->gap_ns, NS_PER_S / 10))
        return false;
    if (lasted < SHORT_ROUND_S * NS_PER_S)
        r->allowed_bytes *= 2;
    log_debug(LOG_RECORD, 1,
              "the recorder begins anew after %.1f s with %" PRIu64 " KiB, from %" PRIu64 " KiB",
              (double)lasted / NS_PER_S, has / 1024, r->base_bytes / 1024);
    return true;
}

static void begin_round(Flight *f)
{
    FlightRounds *r = &f->rounds;
    if (r->begun_ns)
        return;
    r->begun_ns = os_monotonic_ns();
    if (!r->ended_ns)
        return;
    int64_t gap = r->begun_ns - r->ended_ns;
    r->gap_ns = MAX(r->gap_ns, gap);
    r->gaps_ns += gap;
}

static bool command_has_ended(const Flight *f)
{
    siginfo_t info = {0};
    return f->child > 0 && waitid(P_PID, (id_t)f->child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == f->child;
}

// What is done once a second.
static void look(Flight *f, Sampling *s, Profile *p)
{
    const SamplingOptions *o = f->options;
    bool is_time =
        p->metrics.unit.len && str_equal(profile_text(p, p->metrics.unit.at[0]), STR("ns"));
    if (f->has_when)
        when_window_look(&f->window, &f->when, p, f->calls,
                         is_time || !o->freq_hz ? 0 : (uint64_t)NS_PER_S / o->freq_hz,
                         os_monotonic_ns());
    if (f->has_when && f->writer == 0 &&
        (!f->dumped_ns || os_monotonic_ns() - f->dumped_ns >= QUIET_S * NS_PER_S) &&
        when_holds(&f->when, &f->window))
        dump(f, s, p, f->when.text);
    if (profile_timed_bytes(p) > f->memory_bytes / ROWS_PART) {
        keep_block(f, p);
        profile_forget(p, INT64_MAX);
        when_window_forget(&f->window);
    }
}

SamplingWish flight_watch(void *flight, Sampling *s, Profile *p, const SamplingState *state)
{
    Flight *f = flight;
    if (f->writer && waitpid(f->writer, NULL, WNOHANG) != 0)
        f->writer = 0;
    if (state->is_last)
        return SAMPLING_GO_ON;
    begin_round(f);
    if (f->writer == 0 && (int64_t)(state->dumps_asked - f->dumps_asked) > 0) {
        f->dumps_asked = state->dumps_asked;
        dump(f, s, p, STR("SIGUSR2"));
    }
    f->child_ended = command_has_ended(f);
    if (f->child_ended)
        return SAMPLING_END;
    if (os_monotonic_ns() - f->looked_ns < NS_PER_S)
        return SAMPLING_GO_ON;
    f->looked_ns = os_monotonic_ns();
    look(f, s, p);
    if (!has_grown(f) || !can_begin_anew(f, p))
        return SAMPLING_GO_ON;
    f->rounds.is_over = true;
    f->rounds.ended_ns = os_monotonic_ns();
    f->dumps_asked -= state->dumps_asked; // those that are still owed
    return SAMPLING_END;
}

// ---- Rounds ------------------------------------------------------------------------------

// What the next round records: the processes of this one that still run.
static void find_processes(Flight *f, const Profile *p)
{
    const Processes *all = &p->processes;
    f->pids.len = 0;
    for (size_t i = 0; i < all->pid.len; i++)
        if (all->pid.at[i] > 0 && all->pid.at[i] < INT32_MAX && all->end_ns.at[i] == TIME_NONE &&
            all->pid.at[i] != (uint32_t)getpid() && proc_exists(all->pid.at[i]))
            vec_push(NULL, &f->pids, all->pid.at[i]);
}

// The options of the next round; false when nothing is left to record.
static bool follow(Flight *f, const SamplingOptions *first, int64_t from_ns, SamplingOptions *o)
{
    o->argv = NULL;
    o->program = NULL;
    o->delay_ns = 0;
    if (!o->system_wide && first->tid_count == 0) {
        o->pids = f->pids.at;
        o->pid_count = f->pids.len;
        if (f->pids.len == 0)
            return false;
    }
    if (first->duration_ns) {
        o->duration_ns = first->delay_ns + first->duration_ns - (os_monotonic_ns() - from_ns);
        return o->duration_ns > 0;
    }
    return true;
}

static void end_round(Flight *f, Profile *p, Sampling **s, const SamplingOptions *o,
                      const SamplingResult *r)
{
    find_processes(f, p);
    if (o->argv && r->has_child)
        f->child = r->child_pid;
    sampling_close(*s);
    *s = NULL;
    keep_block(f, p);
    profile_deinit(p);
    profile_init(p);
    malloc_trim(0);
    when_window_forget(&f->window);
    f->rounds.count++;
    f->rounds.is_over = false;
    f->rounds.base_bytes = 0;
    f->rounds.begun_ns = 0;
}

static void add_result(SamplingResult *all, const SamplingResult *r)
{
    uint64_t samples = all->samples + r->samples, lost = all->lost + r->lost;
    uint64_t with_gap = all->with_gap + r->with_gap;
    uint64_t complete = all->complete + r->complete, with_stack = all->with_stack + r->with_stack;
    int64_t wall = all->wall_ns + r->wall_ns, cpu = all->recorder_cpu_ns + r->recorder_cpu_ns;
    *all = *r;
    all->samples = samples;
    all->lost = lost;
    all->complete = complete;
    all->with_gap = with_gap;
    all->with_stack = with_stack;
    all->wall_ns = wall;
    all->recorder_cpu_ns = cpu;
}

// The end of a command that an earlier round started. A signal to this process that the command has
// not got is passed on; a further one ends the wait.
static void wait_for_command(Flight *f, SamplingResult *r)
{
    sigset_t asked;
    int status = 0;
    sigemptyset(&asked);
    sigaddset(&asked, SIGINT);
    sigaddset(&asked, SIGTERM);
    sigaddset(&asked, SIGHUP);
    r->has_child = true;
    r->child_pid = f->child;
    r->child_runs = false;
    if (r->interrupted_by == SIGTERM || r->interrupted_by == SIGHUP)
        kill(f->child, r->interrupted_by);
    const struct timespec pause = {.tv_nsec = CHILD_POLL_MS * 1000000l};
    pid_t ended;
    while ((ended = waitpid(f->child, &status, WNOHANG)) == 0)
        if (sigtimedwait(&asked, NULL, &pause) > 0)
            return;
    if (ended == f->child)
        r->child_status = status;
}

bool flight_run(Flight *f, const SamplingOptions *options, Profile *profile, Sampling **ret,
                SamplingResult *result, Error *err)
{
    SamplingOptions *o = arena_new(f->arena, SamplingOptions);
    SamplingResult round;
    int64_t from_ns = os_monotonic_ns();
    // Else the allocator learns to keep the large blocks that a round frees.
    mallopt(M_MMAP_THRESHOLD, MALLOC_MAPS_FROM);
    mallopt(M_ARENA_MAX, MALLOC_ARENAS);
    *o = *options;
    o->is_followed = true;
    f->options = o;
    f->rounds.allowed_bytes = f->memory_bytes / NAMES_PART;
    *result = (SamplingResult){0};
    for (bool goes_on = true; goes_on;) {
        if (sampling_run(o, profile, NULL, ret, &round, err)) {
            add_result(result, &round);
        } else if (f->rounds.count == 0 || round.killed_by) {
            *result = round;
            return false;
        } else {
            cli_say("the recording cannot go on: %s", err->text);
            *ret = NULL;
            break;
        }
        goes_on = f->rounds.is_over;
        if (!goes_on)
            break;
        end_round(f, profile, ret, o, &round);
        goes_on = follow(f, options, from_ns, o);
    }
    o->is_followed = false;
    if (f->child > 0)
        wait_for_command(f, result);
    return complete(f, profile, err);
}

void flight_end(Flight *f)
{
    if (f->writer)
        (void)waitpid(f->writer, NULL, 0);
    f->writer = 0;
    store_blocks_deinit(&f->blocks);
    when_window_deinit(&f->window);
    vec_free(&f->pids);
}
