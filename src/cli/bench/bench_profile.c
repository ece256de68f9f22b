// SPDX-License-Identifier: Apache-2.0
// Records the commands of a bench, and compares them function by function and line by line.

#include "cli/bench/bench_profile.h"

#include <math.h>
#include <stdlib.h>

#include "cli/bench/bench_recorder.h"
#include "cli/runs/run_report.h"
#include "model/facts.h"
#include "model/name.h"
#include "os/file.h"

enum {
    USUAL_HZ = 999,
    SHORT_HZ = 4999,       // for commands of which a run gives few samples
    ENOUGH_SAMPLES = 2000, // of one command
    RECORDINGS_MAX = 40,   // of one command
    ROWS_SHOWN = 8
};
#define RECORD_FOR_NS INT64_C(3000000000) // of one command, after its first recording

// ---- Recording ---------------------------------------------------------------

typedef struct CostsTaker {
    BenchProfile *profile;
    ProfiledCommand *to;
} CostsTaker;

static bool take_costs(void *ctx, Profile *profile, const SamplingResult *result, Error *err)
{
    CostsTaker *x = ctx;
    x->to->wall_ns += result->wall_ns;
    x->to->lost += result->lost;
    x->profile->event = arena_str(&x->profile->arena, profile_fact(profile, STR(FACT_EVENT)));
    // A run that was cut short would count as a whole one.
    return result->interrupted || costs_add(&x->to->costs, profile, err);
}

// One recorded run, added to the command's costs.
static bool record_once(BenchProfile *p, Bench *b, uint32_t command, Str folder, bool *interrupted,
                        Error *err)
{
    const EventSpecVec none = {0};
    CostsTaker taker = {p, &p->commands[command]};
    RunRecorder recorder = {
        .events = &none, .freq_hz = p->freq_hz, .take = take_costs, .ctx = &taker};
    if (folder.len)
        recorder.store =
            arena_printf(&p->arena, "%" STR_FMT "/%u.assay", STR_ARG(folder), command + 1);
    return bench_record_run(b, command, &recorder, interrupted, err);
}

static bool wants_more(const ProfiledCommand *c)
{
    return c->costs.recordings == 0 ||
           (c->costs.samples < ENOUGH_SAMPLES && c->costs.recordings < RECORDINGS_MAX &&
            c->wall_ns < RECORD_FOR_NS);
}

// In turns, as the bench ran them, so that disturbances of the machine hit all commands alike.
static bool record_all(BenchProfile *p, Bench *b, Str folder, Error *err)
{
    bool interrupted = false;
    for (bool more = true; more && !interrupted;) {
        more = false;
        for (uint32_t i = 0; i < p->count && !interrupted; i++) {
            if (!wants_more(&p->commands[i]))
                continue;
            if (!bench_step(b, i, BENCH_PREPARE, err) ||
                !record_once(p, b, i, folder, &interrupted, err) ||
                !bench_step(b, i, BENCH_CONCLUDE, err))
                return false;
            more = true;
        }
    }
    return true;
}

bool bench_profile_run(Bench *b, Str folder, BenchProfile *ret, Error *err)
{
    BenchProfile p = {.count = (uint32_t)b->commands.len, .freq_hz = USUAL_HZ};
    uint32_t ready = 0;
    bool ok = !folder.len || os_make_folders(folder, err);
    p.commands = arena_array(&p.arena, ProfiledCommand, p.count);
    for (uint32_t i = 0; i < p.count; i++) {
        const MeasuredRunVec *runs = &b->set.groups[i].runs;
        for (size_t k = 0; k < runs->len; k++)
            p.commands[i].cpu_s +=
                (double)(runs->at[k].user_ns + runs->at[k].system_ns) * 1e-9 / (double)runs->len;
        if (p.commands[i].cpu_s * USUAL_HZ < ENOUGH_SAMPLES / 10.0)
            p.freq_hz = SHORT_HZ;
    }
    setenv("HYPERFINE_ITERATION", "profile", 1);
    for (; ok && ready < p.count; ready++)
        ok = bench_step(b, ready, BENCH_SETUP, err);
    ok = ok && record_all(&p, b, folder, err);
    Error later;
    for (uint32_t i = 0; i < ready; i++)
        if (!bench_step(b, i, BENCH_CLEANUP, ok ? err : &later))
            ok = false;
    if (!ok) {
        bench_profile_deinit(&p);
        return error_context(err, "cannot profile");
    }
    *ret = p;
    return true;
}

void bench_profile_deinit(BenchProfile *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        costs_deinit(&p->commands[i].costs);
    arena_deinit(&p->arena);
    *p = (BenchProfile){0};
}

// ---- Report --------------------------------------------------------------------

static CostChangeVec changes_of(const RunSummaries *s, BenchProfile *p, uint32_t command, CostBy by)
{
    const ProfiledCommand *x = &p->commands[s->set.plan.reference], *y = &p->commands[command];
    return costs_compare(&p->arena, &x->costs, x->cpu_s, &y->costs, y->cpu_s, by);
}

// Whether the change exceeds half the 95 % interval that the number of samples allows.
static bool beyond_chance(const CostChange *c)
{
    return fabs(c->after_s - c->before_s) > 1.96 * c->error_s;
}

static void add_signed_time(StrBuf *out, double seconds)
{
    strbuf_add(out, seconds < 0 ? STR("-") : STR("+"));
    run_add_time(out, fabs(seconds), RUN_UNIT_AUTO);
}

static void add_column(StrBuf *out, double seconds, bool is_signed)
{
    StrBuf text = {0};
    if (is_signed)
        add_signed_time(&text, seconds);
    else if (seconds == 0)
        strbuf_add_char(&text, '0');
    else
        run_add_time(&text, seconds, RUN_UNIT_AUTO);
    size_t columns = str_columns(strbuf_str(&text));
    strbuf_add_repeated(out, ' ', columns < 11 ? 11 - columns : 0);
    strbuf_add(out, strbuf_str(&text));
    strbuf_deinit(&text);
}

static void add_row(StrBuf *out, const CostChange *c, double total, bool by_line)
{
    const CostRow *row = cost_change_row(c);
    add_column(out, c->before_s, false);
    add_column(out, c->after_s, false);
    add_column(out, c->after_s - c->before_s, true);
    strbuf_printf(out, " %7.1f %%  ", total != 0 ? (c->after_s - c->before_s) / total * 100 : 0);
    StrBuf name = {0};
    name_shorten(row->name, NAME_NO_ARGUMENTS, &name);
    strbuf_add_terminal(out, strbuf_str(&name));
    strbuf_deinit(&name);
    if (row->file.len) {
        strbuf_add(out, STR("  "));
        strbuf_add_terminal(out, str_base_name(row->file));
        strbuf_printf(out, ":%u", row->line);
    }
    if (by_line && row->text.len) {
        strbuf_add(out, STR("  "));
        strbuf_add_terminal(out, str_slice(row->text, 0, MIN(row->text.len, (size_t)48)));
    }
    strbuf_add_char(out, '\n');
}

// Rows that changed by more than chance. A function that holds nearly all of the
// difference, as main does, says nothing as a caller.
static void add_table(StrBuf *out, const RunSummaries *s, BenchProfile *p, uint32_t command,
                      CostBy by, double total)
{
    static const char *const names[] = {"function", "with all it calls", "line"};
    CostChangeVec changes = changes_of(s, p, command, by);
    size_t shown = 0;
    for (size_t i = 0; i < changes.len; i++) {
        const CostChange *c = &changes.at[i];
        double share = total != 0 ? (c->after_s - c->before_s) / total : 0;
        if (!beyond_chance(c) || (by == COST_CALLER && fabs(share) > 0.95))
            continue;
        if (shown == 0)
            strbuf_printf(out, "     before      after     change    share  %s\n", names[by]);
        if (shown++ < ROWS_SHOWN)
            add_row(out, c, total, by == COST_LINE);
    }
    if (shown > ROWS_SHOWN)
        strbuf_printf(out, "  … and %zu more\n", shown - ROWS_SHOWN);
    if (shown == 0 && by == COST_FUNCTION)
        strbuf_add(out, STR("  no function changed by more than chance\n"));
}

static void add_recorded(StrBuf *out, const RunSummaries *s, const BenchProfile *p,
                         uint32_t command)
{
    const ProfiledCommand *c = &p->commands[command];
    strbuf_add_char(out, '\'');
    strbuf_add_terminal(out, s->commands[command].name);
    strbuf_printf(out, "' %llu samples in %u run%s", (unsigned long long)c->costs.samples,
                  c->costs.recordings, c->costs.recordings == 1 ? "" : "s");
    if (c->lost)
        strbuf_printf(out, " (%llu lost)", (unsigned long long)c->lost);
}

void bench_profile_report(StrBuf *out, const Terminal *t, const RunSummaries *s, BenchProfile *p)
{
    uint32_t reference = s->set.plan.reference;
    const ProfiledCommand *x = &p->commands[reference];
    for (uint32_t i = 0; i < p->count; i++) {
        const ProfiledCommand *y = &p->commands[i];
        if (i == reference)
            continue;
        double total = y->cpu_s - x->cpu_s;
        double wall = s->set.groups[i].summary.mean - s->set.groups[reference].summary.mean;
        style_begin(out, t, STYLE_BOLD);
        strbuf_add(out, STR("What makes the difference of '"));
        strbuf_add_terminal(out, s->commands[i].name);
        strbuf_add(out, STR("' to '"));
        strbuf_add_terminal(out, s->commands[reference].name);
        strbuf_add(out, STR("', CPU time of a run: "));
        add_signed_time(out, total);
        style_end(out, t, STYLE_BOLD);
        strbuf_add(out, STR("\n  recorded: "));
        add_recorded(out, s, p, reference);
        strbuf_add(out, STR(", "));
        add_recorded(out, s, p, i);
        strbuf_add(out, STR("; "));
        strbuf_add_terminal(out, p->event);
        strbuf_printf(out, " at %llu Hz\n", (unsigned long long)p->freq_hz);
        // Differences that CPU time cannot explain are not shown here.
        if (fabs(wall) > 2 * fabs(total) && fabs(wall - total) > 0.001) {
            strbuf_add(out, STR("  Of the "));
            add_signed_time(out, wall);
            strbuf_add(out, STR(" between the means most is waiting, for a CPU or other things\n"));
        }
        add_table(out, s, p, i, COST_FUNCTION, total);
        add_table(out, s, p, i, COST_CALLER, total);
        add_table(out, s, p, i, COST_LINE, total);
        strbuf_add_char(out, '\n');
    }
}

static void json_changes(JsonWriter *w, const char *key, const CostChangeVec *changes, double total,
                         bool by_line)
{
    json_begin_array(w, key);
    for (size_t i = 0; i < changes->len; i++) {
        const CostChange *c = &changes->at[i];
        const CostRow *row = cost_change_row(c);
        json_begin_object(w, NULL);
        json_str(w, "function", row->name);
        if (row->file.len) {
            json_str(w, "file", row->file);
            json_u64(w, "line", row->line);
        }
        if (by_line && row->text.len)
            json_str(w, "text", row->text);
        json_double(w, "before_s", c->before_s);
        json_double(w, "after_s", c->after_s);
        json_double(w, "change_s", c->after_s - c->before_s);
        json_double(w, "standard_error_s", c->error_s);
        json_double(w, "share", total != 0 ? (c->after_s - c->before_s) / total : 0);
        json_u64(w, "samples_before", c->before ? c->before->samples : 0);
        json_u64(w, "samples_after", c->after ? c->after->samples : 0);
        json_end(w);
    }
    json_end(w);
}

void bench_profile_json(JsonWriter *w, const RunSummaries *s, BenchProfile *p)
{
    uint32_t reference = s->set.plan.reference;
    json_begin_array(w, "profile");
    for (uint32_t i = 0; i < p->count; i++) {
        if (i == reference)
            continue;
        double total = p->commands[i].cpu_s - p->commands[reference].cpu_s;
        const CostChangeVec functions = changes_of(s, p, i, COST_FUNCTION),
                            callers = changes_of(s, p, i, COST_CALLER),
                            lines = changes_of(s, p, i, COST_LINE);
        json_begin_object(w, NULL);
        json_str(w, "reference", s->commands[reference].name);
        json_str(w, "command", s->commands[i].name);
        json_str(w, "event", p->event);
        json_u64(w, "rate_hz", p->freq_hz);
        json_double(w, "cpu_change_s", total);
        json_changes(w, "functions", &functions, total, false);
        json_changes(w, "functions_with_calls", &callers, total, false);
        json_changes(w, "lines", &lines, total, true);
        json_end(w);
    }
    json_end(w);
}
