// SPDX-License-Identifier: Apache-2.0
// Recorded runs of each command, the slow ones against the others.

#include "cli/bench/bench_explain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/bench/bench_recorder.h"
#include "cli/runs/run_report.h"
#include "os/file.h"

enum {
    HZ = 4999, // a slow run may differ by a few milliseconds
    RUNS_LEAST = SLOW_RUNS_LEAST,
    RUNS_MOST = 40,
    SLOW_WANTED = 3,
    ROWS_SHOWN = 6,
    STACK_COLUMNS = 200
};
#define RECORD_FOR_NS INT64_C(10000000000) // of one command

// ---- Recording ---------------------------------------------------------------

typedef struct Explainer {
    BenchExplain *e;
    ExplainedCommand *to;
    SwitchWatch *watch; // NULL: not allowed
    double frequency_before_hz;
    int64_t recorded_ns; // by this command so far
} Explainer;

// The mean present frequency of the CPUs, NaN where the machine does not tell it.
static double present_frequency_hz(void)
{
    double sum = 0;
    uint32_t n = 0;
    for (uint32_t cpu = 0;; cpu++) {
        char path[96];
        uint64_t khz;
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", cpu);
        if (!os_read_u64(path, &khz))
            break;
        sum += (double)khz * 1e3;
        n++;
    }
    return n ? sum / n : NAN;
}

// Finds how long a thread was off the CPU. The sample is taken just before the switch's record.
static int64_t find_wait(void *ctx, uint32_t tid, int64_t time_ns)
{
    enum { APART_MOST_NS = 200000 };
    const RunSwitches *s = ctx;
    int64_t best = APART_MOST_NS, wait = 0;
    for (size_t i = 0; i < s->gaps.len; i++) {
        const SwitchGap *g = &s->gaps.at[i];
        int64_t apart = g->out_ns > time_ns ? g->out_ns - time_ns : time_ns - g->out_ns;
        if (g->tid == tid && !g->ready && apart < best) {
            best = apart;
            wait = g->in_ns - g->out_ns;
        }
    }
    return wait;
}

static bool take_run(void *ctx, Profile *p, const SamplingResult *result, Error *err)
{
    Explainer *x = ctx;
    Arena scratch = {0};
    RunSwitches switches = {0};
    ExplainedRun run = {.time_s = (double)result->wall_ns * 1e-9};
    (void)err;
    x->recorded_ns += result->wall_ns;
    if (x->watch)
        switch_watch_end(x->watch, &scratch, (uint32_t)result->child_pid, &switches);
    run.frequency_hz = (x->frequency_before_hz + present_frequency_hz()) / 2;
    if (!result->interrupted) {
        if (switches.exec_ns && switches.exit_ns > switches.exec_ns)
            run.time_s = (double)(switches.exit_ns - switches.exec_ns) * 1e-9;
        run.cpu_s = (double)switches.cpu_ns * 1e-9;
        run.ready_s = (double)switches.ready_ns * 1e-9;
        run.blocked_s = (double)switches.blocked_ns * 1e-9;
        run.disk_s = result->disk_wait_ns >= 0 ? (double)result->disk_wait_ns * 1e-9 : NAN;
        run.blocks = (double)(result->blocks_in + result->blocks_out);
        for (size_t i = 0; i < switches.others.len; i++) {
            SwitchOther o = switches.others.at[i];
            o.name = arena_str(&x->e->arena, o.name);
            vec_push(&x->e->arena, &run.others, o);
        }
        x->to->lost += switches.lost;
        stack_costs_add(&x->to->stacks, p, (uint32_t)x->to->runs.len, find_wait, &switches);
        vec_push(&x->e->arena, &x->to->runs, run);
    }
    arena_deinit(&scratch);
    return true;
}

static void split_runs(ExplainedCommand *c)
{
    double *x = heap_alloc((c->runs.len + 1) * sizeof(*x));
    for (size_t i = 0; i < c->runs.len; i++)
        x[i] = c->runs.at[i].time_s;
    c->slow = slow_runs_split(x, c->runs.len);
    heap_free(x);
}

static bool wants_more(const Explainer *x)
{
    size_t n = x->to->runs.len;
    if (n >= RUNS_MOST || (n > 1 && x->recorded_ns >= RECORD_FOR_NS))
        return false;
    return n < RUNS_LEAST || !x->to->slow.stand_out || x->to->slow.count < SLOW_WANTED;
}

static bool explain_once(Explainer *x, Bench *b, uint32_t command, const EventSpecVec *events,
                         bool *interrupted, Error *err)
{
    RunRecorder recorder = {.events = events, .freq_hz = HZ, .take = take_run, .ctx = x};
    char iteration[40];
    snprintf(iteration, sizeof(iteration), "explain-%zu", x->to->runs.len);
    setenv("HYPERFINE_ITERATION", iteration, 1);
    x->frequency_before_hz = present_frequency_hz();
    if (!bench_step(b, command, BENCH_PREPARE, err))
        return false;
    if (x->watch)
        switch_watch_begin(x->watch);
    if (!bench_record_run(b, command, &recorder, interrupted, err))
        return false;
    split_runs(x->to);
    return bench_step(b, command, BENCH_CONCLUDE, err);
}

static bool explain_all(BenchExplain *e, Bench *b, SwitchWatch *watch, Error *err)
{
    EventSources sources = event_sources_default();
    EventSpecVec events = {0};
    Explainer *x = arena_array(&e->arena, Explainer, e->count);
    bool interrupted = false;
    // Switches are asked for only where their times are known too: without rights the kernel gives
    // no sample of them.
    Str names = watch && e->sees_others ? STR("cpu-clock,context-switches") : STR("cpu-clock");
    if (!events_parse(&e->arena, &sources, names, &events, err))
        return false;
    for (size_t i = 1; i < events.len; i++)
        events.at[i].period = 1;
    for (uint32_t i = 0; i < e->count; i++)
        x[i] = (Explainer){.e = e, .to = &e->commands[i], .watch = watch};
    for (bool more = true; more && !interrupted;) {
        more = false;
        for (uint32_t i = 0; i < e->count && !interrupted; i++) {
            if (!wants_more(&x[i]))
                continue;
            if (!explain_once(&x[i], b, i, &events, &interrupted, err))
                return false;
            more = true;
        }
    }
    return true;
}

bool bench_explain_run(Bench *b, BenchExplain *ret, Error *err)
{
    BenchExplain e = {.count = (uint32_t)b->commands.len};
    SwitchWatch *watch = NULL;
    uint32_t ready = 0;
    e.commands = arena_array(&e.arena, ExplainedCommand, e.count);
    e.sees_parts = switch_watch_open(&watch, &e.why_not);
    e.sees_others = e.sees_parts && switch_watch_sees_others(watch);
    bool ok = true;
    for (; ok && ready < e.count; ready++)
        ok = bench_step(b, ready, BENCH_SETUP, err);
    ok = ok && explain_all(&e, b, watch, err);
    Error later;
    for (uint32_t i = 0; i < ready; i++)
        if (!bench_step(b, i, BENCH_CLEANUP, ok ? err : &later))
            ok = false;
    switch_watch_close(watch);
    if (!ok) {
        bench_explain_deinit(&e);
        return error_context(err, "cannot explain");
    }
    *ret = e;
    return true;
}

void bench_explain_deinit(BenchExplain *e)
{
    for (uint32_t i = 0; i < e->count; i++)
        stack_costs_deinit(&e->commands[i].stacks);
    arena_deinit(&e->arena);
    *e = (BenchExplain){0};
}

// ---- Figures -----------------------------------------------------------------

static bool is_slow(const ExplainedCommand *c, size_t run)
{
    return c->runs.at[run].time_s >= c->slow.from_s;
}

typedef struct Means {
    double usual, slow;
} Means;

typedef double (*RunPart)(const ExplainedRun *run);

static double part_time(const ExplainedRun *r)
{
    return r->time_s;
}
static double part_cpu(const ExplainedRun *r)
{
    return r->cpu_s;
}
static double part_ready(const ExplainedRun *r)
{
    return r->ready_s;
}
static double part_blocked(const ExplainedRun *r)
{
    return r->blocked_s;
}
static double part_disk(const ExplainedRun *r)
{
    return r->disk_s;
}
static double part_blocks(const ExplainedRun *r)
{
    return r->blocks;
}
static double part_frequency(const ExplainedRun *r)
{
    return r->frequency_hz;
}

static Means means_of(const ExplainedCommand *c, RunPart part)
{
    Means m = {0};
    for (size_t i = 0; i < c->runs.len; i++)
        *(is_slow(c, i) ? &m.slow : &m.usual) += part(&c->runs.at[i]);
    m.slow /= c->slow.count;
    m.usual /= (double)(c->runs.len - c->slow.count);
    return m;
}

// A row of a table that is ranked by its change.
typedef struct Change {
    Str name;
    const StackCost *stack; // of a stack
    Means s;
} Change;
typedef Vec(Change) ChangeVec;

static int compare_changes(const void *a, const void *b)
{
    const Change *x = a, *y = b;
    double dx = x->s.slow - x->s.usual, dy = y->s.slow - y->s.usual;
    return (dx < dy) - (dx > dy);
}

static void sort_changes(ChangeVec *v)
{
    if (v->len)
        qsort(v->at, v->len, sizeof(*v->at), compare_changes);
}

// The time of other programs, by their names.
static ChangeVec changes_of_others(Arena *arena, const ExplainedCommand *c)
{
    ChangeVec all = {0};
    for (size_t i = 0; i < c->runs.len; i++) {
        const ExplainedRun *run = &c->runs.at[i];
        for (size_t k = 0; k < run->others.len; k++) {
            const SwitchOther *o = &run->others.at[k];
            Str name = o->name.len ? o->name : STR("a program that has ended");
            size_t at = 0;
            while (at < all.len && !str_equal(all.at[at].name, name))
                at++;
            if (at == all.len)
                vec_push(arena, &all, ((Change){.name = name}));
            double share = (double)o->ns * 1e-9;
            if (is_slow(c, i))
                all.at[at].s.slow += share / c->slow.count;
            else
                all.at[at].s.usual += share / (double)(c->runs.len - c->slow.count);
        }
    }
    sort_changes(&all);
    return all;
}

static ChangeVec changes_of_stacks(Arena *arena, const ExplainedCommand *c)
{
    ChangeVec all = {0};
    for (size_t k = 0; k < c->stacks.rows.len; k++) {
        const StackCost *row = &c->stacks.rows.at[k];
        Change change = {.name = row->stack, .stack = row};
        for (size_t i = 0; i < c->runs.len; i++) {
            double seconds = stack_cost_of(row, (uint32_t)i);
            if (is_slow(c, i))
                change.s.slow += seconds / c->slow.count;
            else
                change.s.usual += seconds / (double)(c->runs.len - c->slow.count);
        }
        vec_push(arena, &all, change);
    }
    sort_changes(&all);
    return all;
}

// ---- Report ------------------------------------------------------------------

static void add_right_time(StrBuf *out, double seconds, bool is_signed)
{
    StrBuf text = {0};
    if (is_signed)
        strbuf_add(&text, seconds < 0 ? STR("-") : STR("+"));
    if (seconds == 0)
        strbuf_add_char(&text, '0');
    else
        run_add_time(&text, fabs(seconds), RUN_UNIT_AUTO);
    size_t columns = str_columns(strbuf_str(&text));
    strbuf_add_repeated(out, ' ', columns < 11 ? 11 - columns : 0);
    strbuf_add(out, strbuf_str(&text));
    strbuf_deinit(&text);
}

static void add_means(StrBuf *out, Means m)
{
    add_right_time(out, m.usual, false);
    add_right_time(out, m.slow, false);
    add_right_time(out, m.slow - m.usual, true);
    strbuf_add(out, STR("  "));
}

static void add_part(StrBuf *out, const ExplainedCommand *c, RunPart part, const char *name)
{
    add_means(out, means_of(c, part));
    strbuf_printf(out, "%s\n", name);
}

// Rows whose change is at least a twentieth of the whole: the rest is noise.
static size_t rows_that_matter(const ChangeVec *all, double whole)
{
    size_t n = 0;
    while (n < all->len && n < ROWS_SHOWN && all->at[n].s.slow - all->at[n].s.usual > whole / 20)
        n++;
    return n;
}

static void add_others(StrBuf *out, Arena *arena, const ExplainedCommand *c, double whole)
{
    ChangeVec all = changes_of_others(arena, c);
    size_t n = rows_that_matter(&all, whole);
    if (n)
        strbuf_add(out, STR("  on its CPU meanwhile:\n"));
    for (size_t i = 0; i < n; i++) {
        add_means(out, all.at[i].s);
        strbuf_add_terminal(out, all.at[i].name);
        strbuf_add_char(out, '\n');
    }
}

static void add_stack_text(StrBuf *out, const StackCost *row)
{
    Str what = row->waits ? stack_waits_for(row->stack) : STR("");
    strbuf_add(out, !row->waits ? STR("computes in ") : STR("waits in "));
    strbuf_add_terminal(out, str_slice(row->stack, 0, MIN(row->stack.len, (size_t)STACK_COLUMNS)));
    if (row->leaf.len) {
        strbuf_add(out, STR(" at "));
        strbuf_add_terminal(out, row->leaf);
    }
    if (what.len)
        strbuf_printf(out, " (for %" STR_FMT ")", STR_ARG(what));
}

static void add_stacks(StrBuf *out, Arena *arena, const ExplainedCommand *c, double whole)
{
    ChangeVec all = changes_of_stacks(arena, c);
    size_t n = rows_that_matter(&all, whole);
    strbuf_add(out, n ? STR("  stacks that differ:\n")
                      : STR("  no single stack explains much of the difference\n"));
    for (size_t i = 0; i < n; i++) {
        add_means(out, all.at[i].s);
        add_stack_text(out, all.at[i].stack);
        strbuf_add_char(out, '\n');
    }
}

static void add_limits(StrBuf *out, const BenchExplain *e, const ExplainedCommand *c)
{
    if (!e->sees_parts)
        strbuf_printf(out, "  without the kernel's records of context switches: %s\n",
                      e->why_not.text);
    else if (!e->sees_others)
        strbuf_add(
            out,
            STR("  this user may not see which programs ran on its CPU and where it waited; run: "
                "sysctl kernel.perf_event_paranoid=-1\n"));
    if (c->lost)
        strbuf_printf(out, "  %llu records were lost; the parts are too small\n",
                      (unsigned long long)c->lost);
}

// Bytes that went to and from disks, and the wait for them where the kernel counts it.
static void add_disk(StrBuf *out, const ExplainedCommand *c)
{
    Means blocks = means_of(c, part_blocks), wait = means_of(c, part_disk);
    if (isfinite(wait.usual) && isfinite(wait.slow) && wait.usual + wait.slow > 0)
        add_part(out, c, part_disk, "of that for a disk, main thread");
    if (blocks.usual + blocks.slow < 1)
        return;
    strbuf_printf(out, "  disk: %.0f KiB read and written, in slow runs %.0f KiB\n",
                  blocks.usual / 2, blocks.slow / 2);
    if (!isfinite(wait.usual) || !isfinite(wait.slow))
        strbuf_add(out, STR("  the kernel does not count the wait for disks here; run: sysctl "
                            "kernel.task_delayacct=1\n"));
}

static void add_slow(StrBuf *out, Arena *arena, const BenchExplain *e, const ExplainedCommand *c)
{
    Means time = means_of(c, part_time), hz = means_of(c, part_frequency);
    if (c->slow.stand_out)
        strbuf_printf(out, "  %u of %zu recorded runs were slow\n", c->slow.count, c->runs.len);
    else
        strbuf_printf(out, "  no run stands out; the slowest %u of %zu recorded ones:\n",
                      c->slow.count, c->runs.len);
    strbuf_add(out, STR("      usual       slow     change\n"));
    add_part(out, c, part_time, "from exec to exit");
    if (e->sees_parts) {
        add_part(out, c, part_cpu, "computed, all threads and children");
        add_part(out, c, part_ready, "ready to run, but another program had the CPU");
        add_part(out, c, part_blocked, "waited, and then waited for a CPU");
    }
    add_disk(out, c);
    if (isfinite(hz.usual) && isfinite(hz.slow))
        strbuf_printf(out, "  CPU frequency %.2f GHz, in slow runs %.2f GHz\n", hz.usual * 1e-9,
                      hz.slow * 1e-9);
    add_others(out, arena, c, time.slow - time.usual);
    add_stacks(out, arena, c, time.slow - time.usual);
}

void bench_explain_report(StrBuf *out, const Terminal *t, const RunSummaries *s, BenchExplain *e)
{
    for (uint32_t i = 0; i < e->count; i++) {
        const ExplainedCommand *c = &e->commands[i];
        style_begin(out, t, STYLE_BOLD);
        strbuf_add(out, STR("Why runs of '"));
        strbuf_add_terminal(out, s->commands[i].name);
        strbuf_add(out, STR("' were slow"));
        style_end(out, t, STYLE_BOLD);
        strbuf_add_char(out, '\n');
        if (c->slow.count == 0 || c->slow.count == c->runs.len)
            strbuf_printf(out, "  %zu recorded runs are too few, or all alike\n", c->runs.len);
        else
            add_slow(out, &e->arena, e, c);
        add_limits(out, e, c);
        strbuf_add_char(out, '\n');
    }
}

// ---- JSON --------------------------------------------------------------------

static void json_means(JsonWriter *w, Means m)
{
    json_double(w, "usual_s", m.usual);
    json_double(w, "slow_s", m.slow);
}

static void json_part(JsonWriter *w, const char *key, const ExplainedCommand *c, RunPart part)
{
    json_begin_object(w, key);
    json_means(w, means_of(c, part));
    json_end(w);
}

static void json_slow(JsonWriter *w, Arena *arena, const BenchExplain *e, const ExplainedCommand *c)
{
    ChangeVec others = changes_of_others(arena, c), stacks = changes_of_stacks(arena, c);
    json_double(w, "slow_from_s", c->slow.from_s);
    json_part(w, "time", c, part_time);
    if (e->sees_parts) {
        json_part(w, "computed", c, part_cpu);
        json_part(w, "ready", c, part_ready);
        json_part(w, "waited", c, part_blocked);
    }
    if (isfinite(means_of(c, part_disk).usual) && isfinite(means_of(c, part_disk).slow))
        json_part(w, "disk", c, part_disk);
    json_begin_object(w, "disk_blocks");
    json_double(w, "usual", means_of(c, part_blocks).usual);
    json_double(w, "slow", means_of(c, part_blocks).slow);
    json_end(w);
    json_begin_array(w, "others");
    for (size_t i = 0; i < others.len; i++) {
        json_begin_object(w, NULL);
        json_str(w, "name", others.at[i].name);
        json_means(w, others.at[i].s);
        json_end(w);
    }
    json_end(w);
    json_begin_array(w, "stacks");
    for (size_t i = 0; i < stacks.len; i++) {
        const StackCost *row = stacks.at[i].stack;
        json_begin_object(w, NULL);
        json_str(w, "stack", row->stack);
        json_str(w, "at", row->leaf);
        json_bool(w, "waits", row->waits);
        if (row->waits)
            json_str(w, "waits_for", stack_waits_for(row->stack));
        json_means(w, stacks.at[i].s);
        json_end(w);
    }
    json_end(w);
}

void bench_explain_json(JsonWriter *w, const RunSummaries *s, BenchExplain *e)
{
    json_begin_array(w, "explain");
    for (uint32_t i = 0; i < e->count; i++) {
        const ExplainedCommand *c = &e->commands[i];
        json_begin_object(w, NULL);
        json_str(w, "command", s->commands[i].name);
        json_u64(w, "runs", c->runs.len);
        json_u64(w, "slow_runs", c->slow.count);
        json_bool(w, "stand_out", c->slow.stand_out);
        json_bool(w, "others_seen", e->sees_others);
        if (c->slow.count > 0 && c->slow.count < c->runs.len)
            json_slow(w, &e->arena, e, c);
        json_end(w);
    }
    json_end(w);
}
