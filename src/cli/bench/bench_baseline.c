// SPDX-License-Identifier: Apache-2.0
// Comparisons with saved results.

#include "cli/bench/bench_baseline.h"

#include <math.h>
#include <time.h>

#include "analyse/function_summary.h"
#include "cli/runs/run_report.h"
#include "collect/bench/timings.h"
#include "os/file.h"
#include "store/store.h"

const BaselineCommand *bench_find_baseline(const BaselineSession *session, Str name,
                                           size_t commands)
{
    for (size_t i = 0; i < session->commands.len; i++)
        if (str_equal(session->commands.at[i].name, name))
            return &session->commands.at[i];
    return commands == 1 && session->commands.len == 1 ? &session->commands.at[0] : NULL;
}

void bench_add_date(StrBuf *out, int64_t seconds)
{
    time_t at = (time_t)seconds;
    struct tm tm;
    char text[64];
    if (localtime_r(&at, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &tm))
        strbuf_add(out, str_from_c(text));
}

static int gate_of(const Comparison *c, double limit)
{
    return c->ratio.low > 1 + limit ? 3 : c->ratio.high <= 1 + limit ? 0 : 4;
}

static int worse(int a, int b)
{
    return a == 3 || b == 3 ? 3 : MAX(a, b);
}

// Only positive times have a logarithm.
static DoubleVec positive(Arena *arena, const double *x, size_t n)
{
    DoubleVec kept = {0};
    for (size_t i = 0; i < n; i++)
        if (x[i] > 0)
            vec_push(arena, &kept, x[i]);
    return kept;
}

Comparison bench_compare_unpaired(Arena *arena, const double *a, size_t na, const double *b,
                                  size_t nb, const CompareOptions *options)
{
    DoubleVec x = positive(arena, a, na), y = positive(arena, b, nb);
    return stats_compare_unpaired(arena, x.at, x.len, y.at, y.len, options);
}

// Differences between the machines that make the comparison doubtful.
static void add_fingerprint(StrBuf *out, Str clock, const RunMachine *now, const BaselineSession *s)
{
    const struct {
        const char *what;
        Str then, now;
    } facts[] = {
        {"CPU", s->machine.cpu_model, now->cpu_model},
        {"kernel", s->machine.kernel, now->kernel},
        {"frequency governor", s->machine.governor, now->governor},
        {"host", s->machine.hostname, now->hostname},
        {"clock", s->clock, clock},
    };
    for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
        if (str_equal(facts[i].then, facts[i].now))
            continue;
        strbuf_printf(out, "Warning: another %s then: '", facts[i].what);
        strbuf_add_terminal(out, facts[i].then);
        strbuf_add(out, STR("', now '"));
        strbuf_add_terminal(out, facts[i].now);
        strbuf_add(out, STR("'; such times cannot be compared\n"));
    }
}

static void add_saved_heading(StrBuf *out, const Terminal *t, const BaselineSession *session)
{
    style_begin(out, t, STYLE_BOLD);
    strbuf_add(out, STR("Compared with '"));
    strbuf_add_terminal(out, session->name);
    strbuf_add(out, STR("', saved "));
    bench_add_date(out, session->created_s);
    style_end(out, t, STYLE_BOLD);
    strbuf_add(out, STR(" (not interleaved: a drift of the machine shows as a change)\n"));
}

void bench_report_saved(StrBuf *out, const Terminal *t, Str clock, const RunMachine *now,
                        const BaselineSession *session)
{
    add_saved_heading(out, t, session);
    add_fingerprint(out, clock, now, session);
}

int bench_report_baseline(StrBuf *out, const Terminal *t, RunSummaries *s,
                          const BaselineSession *session, double limit)
{
    uint32_t n = s->set.count;
    CompareOptions options = {.level = 1 - (1 - s->set.plan.level) / (double)MAX(n, 1u),
                              .margin = s->set.plan.margin};
    int gate = 0;
    add_saved_heading(out, t, session);
    for (uint32_t i = 0; i < n; i++) {
        Str name = s->commands[i].name;
        const RunGroup *g = &s->set.groups[i];
        const BaselineCommand *old = bench_find_baseline(session, name, n);
        if (!old || old->times.len == 0 || g->runs.len == 0) {
            strbuf_add(out, STR("  '"));
            strbuf_add_terminal(out, name);
            strbuf_add(out, STR("': not in it\n"));
            gate = worse(gate, 4);
            continue;
        }
        Comparison c = bench_compare_unpaired(&s->arena, old->times.at, old->times.len,
                                              runs_times(&s->arena, g), g->runs.len, &options);
        run_add_comparison(out, t, name, &c, options.margin, options.level, g->summary.mean);
        gate = worse(gate, gate_of(&c, limit));
    }
    add_fingerprint(out, s->clock, &s->machine, session);
    strbuf_add(out, STR("  --rerun-baseline runs the saved program again, interleaved\n\n"));
    return gate;
}

// ---- Files -----------------------------------------------------------------

// The times of a recording of runs. Names live in the arena.
static bool load_recorded(Arena *arena, const Profile *p, TimingsVec *ret, Error *err)
{
    RunSummaries s = {0};
    FunctionSummaries f = {0};
    if (run_summaries_apply(p)) {
        if (!run_summaries_init(&s, p, err))
            return false;
        for (uint32_t i = 0; i < s.set.count; i++) {
            Timings t = {.name = arena_str(arena, s.commands[i].name)};
            for (size_t k = 0; k < s.set.groups[i].runs.len; k++)
                vec_push(arena, &t.seconds, s.set.groups[i].runs.at[k].time_s);
            vec_push(arena, ret, t);
        }
    } else if (function_summaries_apply(p)) {
        if (!function_summaries_init(&f, p, err))
            return false;
        for (size_t i = 0; i < f.list.len; i++) {
            const ReplicateVec *runs = &f.list.at[i].runs[0];
            Timings t = {.name = arena_str(arena, f.list.at[i].name)};
            for (size_t k = 0; k < runs->len; k++)
                vec_push(arena, &t.seconds, runs->at[k].median);
            vec_push(arena, ret, t);
        }
    }
    run_summaries_deinit(&s);
    function_summaries_deinit(&f);
    return ret->len || error_set(err, ERROR_NOT_FOUND, "it holds no runs of assay bench");
}

static bool read_recording(Arena *arena, Bytes bytes, TimingsVec *ret, Error *err)
{
    Profile p;
    if (!store_read(bytes, &p, err))
        return false;
    bool ok = load_recorded(arena, &p, ret, err);
    profile_deinit(&p);
    return ok;
}

// The times of a file, and the name of its format.
static bool load_file(Arena *arena, Str path, const char **format, TimingsVec *ret, Error *err)
{
    Bytes bytes;
    TimingsFormat parsed;
    bool ok;
    if (!os_read_file(arena, path, OS_READ_MAX_BYTES, &bytes, err))
        return false;
    if (store_is_recording(bytes)) {
        *format = "recording";
        ok = read_recording(arena, bytes, ret, err);
    } else {
        ok = timings_parse(arena, str_from_bytes(bytes), &parsed, ret, err);
        *format = ok ? timings_format_name(parsed) : "";
    }
    return ok || error_context(err, "cannot read '%" STR_FMT "'", STR_ARG(path));
}

bool bench_compare_files(StrBuf *out, const Terminal *t, const StrVec *paths,
                         const CompareOptions *given, double limit, int *gate, Error *err)
{
    Arena arena = {0};
    TimingsVec base = {0};
    const char *format;
    bool ok = paths->len >= 2 ||
              error_set(err, ERROR_USAGE, "--compare takes two or more files of results");
    ok = ok && load_file(&arena, paths->at[0], &format, &base, err);
    *gate = 0;
    for (size_t f = 1; ok && f < paths->len; f++) {
        TimingsVec other = {0};
        ok = load_file(&arena, paths->at[f], &format, &other, err);
        if (!ok)
            break;
        CompareOptions options = *given;
        options.level = 1 - (1 - given->level) / (double)MAX(other.len, (size_t)1);
        style_begin(out, t, STYLE_BOLD);
        strbuf_add_terminal(out, paths->at[f]);
        strbuf_add(out, STR(" compared with "));
        strbuf_add_terminal(out, paths->at[0]);
        style_end(out, t, STYLE_BOLD);
        strbuf_printf(out, " (%s; not interleaved: a drift of the machine shows as a change)\n",
                      format);
        for (size_t i = 0; i < other.len; i++) {
            const Timings *now = &other.at[i], *then = NULL;
            for (size_t k = 0; k < base.len && !then; k++)
                if (str_equal(base.at[k].name, now->name))
                    then = &base.at[k];
            if (!then && base.len == 1 && other.len == 1)
                then = &base.at[0];
            if (!then || then->seconds.len == 0 || now->seconds.len == 0) {
                strbuf_add(out, STR("  '"));
                strbuf_add_terminal(out, now->name);
                strbuf_printf(out, "': nothing to compare it with\n");
                *gate = worse(*gate, 4);
                continue;
            }
            Comparison c = bench_compare_unpaired(&arena, then->seconds.at, then->seconds.len,
                                                  now->seconds.at, now->seconds.len, &options);
            run_add_comparison(out, t, now->name.len ? now->name : paths->at[f], &c, options.margin,
                               options.level, stats_mean(now->seconds.at, now->seconds.len));
            *gate = worse(*gate, gate_of(&c, limit));
        }
    }
    arena_deinit(&arena);
    return ok;
}
