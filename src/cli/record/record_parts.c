// SPDX-License-Identifier: Apache-2.0
// Code shared by all commands that record.

#include "cli/record/record_parts.h"

#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

#include "cli/cli.h"
#include "model/facts.h"

enum { DEFAULT_FREQ_HZ = 999 };

bool record_parse_rate(Str freq, uint64_t period, SamplingOptions *s, Error *err)
{
    if (period == 0)
        return error_set(err, ERROR_USAGE, "-c takes a number of events from 1, not 0");
    s->period = period == RECORD_PERIOD_NONE ? 0 : period;
    s->freq_hz = DEFAULT_FREQ_HZ;
    if (freq.len == 0)
        return true;
    s->freq_given = true;
    if (s->period)
        return error_set(err, ERROR_USAGE, "-F and -c cannot be combined");
    if (str_equal(freq, STR("max"))) {
        s->freq_hz = 0;
        return true;
    }
    if (!str_parse_u64(freq, 10, &s->freq_hz) || s->freq_hz == 0)
        return error_set(err, ERROR_USAGE, "-F takes a number or 'max', not '%" STR_FMT "'",
                         STR_ARG(freq));
    return true;
}

bool record_parse_ids(const StrVec *lists, const char *what, U32Vec *ret, Error *err)
{
    for (size_t i = 0; i < lists->len; i++) {
        Str rest = lists->at[i], part;
        while (str_next_part(&rest, ',', &part)) {
            uint64_t n;
            if (!str_parse_u64(str_trim(part), 10, &n) || n == 0 || n > INT32_MAX) {
                (void)error_set(err, ERROR_USAGE, "'%" STR_FMT "' is not a %s", STR_ARG(part),
                                what);
                return error_hint(err,
                                  "pgrep -d, NAME prints the numbers of the processes with a name");
            }
            vec_push(NULL, ret, (uint32_t)n);
        }
    }
    return true;
}

bool record_check_program(const Program *p, Error *err)
{
    if (p->changes_user) {
        (void)error_set(err, ERROR_PERMISSION,
                        "cannot record '%" STR_FMT "': it is set-uid, set-gid or has file "
                        "capabilities, and the kernel ends profiling when such a program starts",
                        STR_ARG(p->path));
        return error_hint(err, "run: sudo assay record -- %" STR_FMT, STR_ARG(p->path));
    }
    if (p->unreadable) {
        (void)error_set(err, ERROR_PERMISSION,
                        "cannot record '%" STR_FMT "': you may run it but not read it, and the "
                        "kernel ends profiling when such a program starts",
                        STR_ARG(p->path));
        return error_hint(err, "run: sudo assay record -- %" STR_FMT, STR_ARG(p->path));
    }
    return true;
}

// Samples of a group hold values of all its members, so a sample may stand for several events.
static void add_samples(const Profile *p, const SamplingResult *r, StrBuf *out)
{
    strbuf_printf(out, "%" PRIu64 " sample%s of %" STR_FMT, r->samples, plural_s(r->samples),
                  STR_ARG(profile_fact(p, STR(FACT_EVENT))));
    const Samples *s = &p->samples;
    if (r->has_waits) {
        strbuf_printf(out, ", %zu wait%s of different kinds", p->waits.thread.len,
                      plural_s(p->waits.thread.len));
        return;
    }
    if (p->metrics.name.len < 2 || s->value_columns != p->metrics.name.len)
        return;
    out->len = 0;
    for (uint32_t metric = 0; metric < s->value_columns; metric++) {
        MetricId owner;
        if (metric_is_argument(p, (MetricId){metric}, &owner))
            continue;
        uint64_t count = metric < s->dropped.not_zero.len ? s->dropped.not_zero.at[metric] : 0;
        for (size_t i = 0; i < s->values[metric].len; i++)
            count += s->values[metric].at[i] != 0;
        const char *noun = count == 1 ? " sample" : " samples";
        strbuf_printf(out, "%s%" PRIu64 "%s of %" STR_FMT, metric ? ", " : "", count,
                      metric ? "" : noun, STR_ARG(profile_text(p, p->metrics.event.at[metric])));
    }
}

void record_add_counts(const Profile *p, const SamplingResult *r, StrBuf *out)
{
    add_samples(p, r, out);
    if (r->has_calls)
        strbuf_printf(out, ", %" PRIu64 " call%s", r->calls, r->calls == 1 ? "" : "s");
}

void record_say_warnings(const Profile *p, size_t count)
{
    const Notes *n = &p->notes;
    for (size_t i = 0; i < count; i++)
        if (n->level.at[i] == NOTE_WARNING)
            cli_say("note: %" STR_FMT, STR_ARG(profile_text(p, n->text.at[i])));
}

int record_fail_with_part(Str part, const Error *why)
{
    int status = cli_fail(why);
    cli_say("the recording until then is in '%" STR_FMT "'; next: assay report %" STR_FMT,
            STR_ARG(part), STR_ARG(part));
    return status;
}

_Noreturn void record_end_hung(StoreWriter *writer, const Error *why, int number)
{
    if (writer)
        (void)record_fail_with_part(store_writer_part_path(writer), why);
    else
        (void)cli_fail(why);
    signal(number, SIG_DFL);
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &mask, NULL);
    _exit(128 + number);
}

int record_wait_child(Sampling *sampling, SamplingResult *result, Str program)
{
    if (result->child_runs) {
        cli_say("the recording is finished; '%" STR_FMT "' (process %d) still runs: waiting for it",
                STR_ARG(program), (int)result->child_pid);
        sampling_wait(sampling, result);
    }
    if (!result->has_child)
        return STATUS_OK;
    return result->child_runs ? 128 + SIGINT : exit_status_of(result->child_status);
}
