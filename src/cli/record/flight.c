// SPDX-License-Identifier: Apache-2.0
// The newest part of a recording, kept in memory. A dump is written by a copy of this process, so
// that the recording goes on meanwhile (docs/decisions/0302).

#include "cli/record/flight.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyse/calls/slow_calls.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/record/recorded_symbols.h"
#include "model/forget.h"
#include "os/clock.h"
#include "os/file.h"
#include "store/store.h"

#define NS_PER_S 1000000000ll

enum {
    WINDOW_S = 10,      // that a condition looks at
    QUIET_S = 60,       // no condition writes a second dump before
    DUMPS_MAX = 100000, // numbers of files
    CALLS_LEAST = 20,   // of a percentile
    WRITER_NICE = 10,
};

bool flight_when_parse(Str text, FlightWhen *ret, Error *err)
{
    FlightWhen w = {.text = text};
    Str left, right, name, rest;
    double number;
    SlowLimit limit;
    StrBuf more = {0};
    bool ok = str_split(text, '>', &left, &right);
    left = str_trim(left);
    right = str_trim(right);
    strbuf_printf(&more, ">%" STR_FMT, STR_ARG(right));
    if (ok && str_equal(left, STR("cpu"))) {
        ok = str_ends_with(right, STR("%")) &&
             str_parse_double(str_slice(right, 0, right.len - 1), &number) && number > 0;
        w.part = ok ? number / 100 : 0;
    } else {
        ok = ok && str_starts_with(left, STR("p")) && str_ends_with(left, STR(")")) &&
             str_split(str_slice(left, 1, left.len - 1), '(', &name, &rest) &&
             str_parse_double(name, &number) && number > 0 && number < 100 && rest.len &&
             slow_limit_parse(strbuf_str(&more), &limit, NULL) && limit.ns;
        w.function = ok ? rest : STR("");
        w.part = ok ? number / 100 : 0;
        w.ns = ok ? limit.ns : 0;
    }
    strbuf_deinit(&more);
    if (ok) {
        *ret = w;
        return true;
    }
    (void)error_set(err, ERROR_USAGE, "--when does not take '%" STR_FMT "'", STR_ARG(text));
    return error_hint(err, "write 'p99(FUNCTION) > 20ms', with --calls FUNCTION, or 'cpu > 90%%'");
}

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

static int write_dump(const Flight *f, Sampling *s, Profile *p, Str why)
{
    SamplingResult result;
    StrBuf path = {0};
    Error err;
    StoreOptions store = {0};
    setpriority(PRIO_PROCESS, 0, WRITER_NICE);
    sampling_snapshot(s, &result);
    profile_note(p, NOTE_INFO, STR("flight"),
                 "the newest part of a recording, written because of %" STR_FMT, STR_ARG(why));
    symbols_resolve_recorded(f->arena, p, s, f->debug_dirs, f->sources, NULL);
    if (!find_name(f, &path))
        return STATUS_FAILED;
    if (!store_write(strbuf_str(&path), &store, p, &err))
        return cli_fail(&err);
    cli_say("%zu samples, %zu calls in %" STR_FMT " (%" STR_FMT ")", p->samples.stack.len,
            p->calls.frame.len, STR_ARG(strbuf_str(&path)), STR_ARG(why));
    return STATUS_OK;
}

static void dump(Flight *f, Sampling *s, Profile *p, Str why)
{
    int64_t from = os_monotonic_ns();
    pid_t pid = fork();
    if (pid == 0)
        _exit(write_dump(f, s, p, why));
    if (pid < 0) {
        cli_say("no dump is written: this process cannot be copied");
        return;
    }
    f->writer = pid;
    f->dumped_ns = os_monotonic_ns();
    log_debug(LOG_RECORD, 1, "a dump held the recorder up for %lld us",
              (long long)(f->dumped_ns - from) / 1000);
}

// ---- Conditions --------------------------------------------------------------------------

static bool fits(const Flight *f, const Profile *p, FrameId frame)
{
    for (size_t i = 0; i < f->calls->functions.len; i++) {
        const CallFunction *c = &f->calls->functions.at[i];
        if (c->svma == p->frames.address.at[frame.v] && str_glob_match(f->when.function, c->name))
            return true;
    }
    return false;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool calls_are_slow(const Flight *f, const Profile *p, int64_t from)
{
    U64Vec times = {0};
    const Calls *c = &p->calls;
    for (size_t i = c->frame.len; i > 0 && c->end_ns.at[i - 1] >= from; i--)
        if (fits(f, p, c->frame.at[i - 1]))
            vec_push(NULL, &times, (uint64_t)(c->end_ns.at[i - 1] - c->begin_ns.at[i - 1]));
    bool slow = false;
    if (times.len >= CALLS_LEAST) {
        qsort(times.at, times.len, sizeof(times.at[0]), by_value);
        slow =
            times.at[MIN((size_t)(f->when.part * (double)times.len), times.len - 1)] > f->when.ns;
    }
    vec_free(&times);
    return slow;
}

static bool is_busy(const Flight *f, const Profile *p, int64_t from, int64_t now)
{
    const Samples *s = &p->samples;
    double sum = 0;
    for (size_t i = s->stack.len; i > 0 && s->time_ns.at[i - 1] >= from; i--)
        sum += s->value_columns ? (double)s->values[0].at[i - 1] : 0;
    return sum > f->when.part * (double)(now - from);
}

static bool holds(const Flight *f, const Profile *p, int64_t now)
{
    int64_t from = now - WINDOW_S * NS_PER_S;
    if (!f->has_when || from < 0 || os_monotonic_ns() - f->dumped_ns < QUIET_S * NS_PER_S)
        return false;
    return f->when.function.len ? calls_are_slow(f, p, from) : is_busy(f, p, from, now);
}

// ---- The watcher -------------------------------------------------------------------------

SamplingWish flight_watch(void *flight, Sampling *s, Profile *p, const SamplingState *state)
{
    Flight *f = flight;
    if (f->writer && waitpid(f->writer, NULL, WNOHANG) != 0)
        f->writer = 0;
    if (state->is_last)
        return SAMPLING_GO_ON;
    if (f->writer == 0 && state->dumps_asked > f->dumps_asked) {
        f->dumps_asked = state->dumps_asked;
        dump(f, s, p, STR("SIGUSR2"));
    }
    if (state->now_ns - f->looked_ns < NS_PER_S)
        return SAMPLING_GO_ON;
    f->looked_ns = state->now_ns;
    profile_keep_newest(p, f->memory_bytes);
    if (f->writer == 0 && holds(f, p, state->now_ns))
        dump(f, s, p, f->when.text);
    return SAMPLING_GO_ON;
}

void flight_end(Flight *f)
{
    if (f->writer)
        (void)waitpid(f->writer, NULL, 0);
    f->writer = 0;
}
