// SPDX-License-Identifier: Apache-2.0
// Opening, reading and closing counters.

#include "collect/counters/counters.h"

#include <errno.h>
#include <math.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void close_event(const Counter *c, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (c->fds[i] >= 0)
            close(c->fds[i]);
}

// Opens one event for all targets. False leaves nothing open and errno set.
static bool open_event(Counters *c, Counter *event, const Counter *leader,
                       const CounterOptions *options)
{
    for (size_t t = 0; t < c->targets.len; t++) {
        struct perf_event_attr attr = {
            .disabled = leader == NULL,
            .inherit = options->inherit,
            .enable_on_exec = options->enable_on_exec && leader == NULL,
            .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        };
        event_spec_apply(&event->spec, &attr);
        attr.sample_period = 0; // counting only
        attr.freq = 0;
        if (event->user_only)
            attr.exclude_kernel = attr.exclude_hv = 1;
        CounterTarget target = c->targets.at[t];
        int group_fd = leader ? leader->fds[t] : -1;
        event->fds[t] = target.is_cgroup
                            ? perf_event_open_cgroup(&attr, target.pid, target.cpu, group_fd)
                            : perf_event_open(&attr, target.pid, target.cpu, group_fd);
        if (event->fds[t] < 0 && errno == ESRCH && options->skips_gone)
            continue;
        if (event->fds[t] < 0) {
            int reason = errno;
            close_event(event, t);
            errno = reason;
            return false;
        }
    }
    return true;
}

// Software events that only the kernel raises: their user part is always 0, which
// would be shown as if it had been counted.
static bool happens_in_kernel(const EventSpec *spec)
{
    return spec->type == PERF_TYPE_SOFTWARE && (spec->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
                                                spec->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
                                                spec->config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

// Sets the filter of a tracepoint on an open event. False closes it.
static bool set_filter(const Counters *c, const Counter *event, Str filter, Error *err)
{
    for (size_t t = 0; t < c->targets.len; t++)
        if (!perf_event_set_filter(event->fds[t], event->name, filter, err)) {
            close_event(event, c->targets.len);
            return false;
        }
    return true;
}

bool counters_open(Arena *arena, const EventSpecVec *events, const CounterTargetVec *targets,
                   const CounterOptions *options, Counters *ret, Error *err)
{
    PerfLimits limits = perf_limits();
    Counters c = {.arena = arena, .targets = *targets};
    bool system_wide = targets->len && targets->at[0].cpu >= 0;
    for (size_t i = 0; i < events->len; i++) {
        const EventSpec *spec = &events->at[i];
        Counter event = {.spec = *spec, .name = spec->name};
        event.fds = arena_array(arena, int, targets->len + 1);
        const Counter *leader = NULL;
        for (size_t k = 0; k < c.events.len && spec->group != EVENT_NO_GROUP && !leader; k++)
            if (c.events.at[k].spec.group == spec->group)
                leader = &c.events.at[k];
        bool opened = open_event(&c, &event, leader, options);
        if (!opened && (errno == EACCES || errno == EPERM) && !spec->exclude_kernel &&
            !happens_in_kernel(spec)) {
            // Above paranoid 1 the kernel's part is refused to users without rights.
            event.user_only = true;
            bool modified = str_find_char(spec->name, ':') != SIZE_MAX;
            event.name =
                arena_printf(arena, "%" STR_FMT "%s", STR_ARG(spec->name), modified ? "u" : ":u");
            opened = open_event(&c, &event, leader, options);
        }
        int reason = errno;
        if (opened && spec->filter.len && !set_filter(&c, &event, spec->filter, err)) {
            counters_close(&c);
            return false;
        }
        if (opened) {
            vec_push(arena, &c.events, event);
            continue;
        }
        CounterMissing missing = {.name = spec->name};
        struct perf_event_attr attr = {0};
        event_spec_apply(spec, &attr);
        perf_explain(reason, &limits, &attr, spec->name, system_wide, &missing.reason);
        if (missing.reason.kind == ERROR_PERMISSION && happens_in_kernel(spec) &&
            !limits.privileged)
            error_hint(&missing.reason, "it occurs only in the kernel, and counting there is "
                                        "refused; run: sudo sysctl kernel.perf_event_paranoid=1");
        if (reason == ESRCH) {
            counters_close(&c);
            return error_set(err, ERROR_NOT_FOUND, "the process to count has ended");
        }
        vec_push(arena, &c.missing, missing);
    }
    if (c.events.len == 0 && !options->may_be_none) {
        if (c.missing.len)
            *err = c.missing.at[0].reason;
        else
            error_set(err, ERROR_USAGE, "no event to count");
        return false;
    }
    *ret = c;
    return true;
}

void counters_close(Counters *c)
{
    for (size_t i = 0; i < c->events.len; i++)
        close_event(&c->events.at[i], c->targets.len);
    c->events.len = 0;
}

static void control(const Counters *c, unsigned long request)
{
    for (size_t i = 0; i < c->events.len; i++)
        for (size_t t = 0; t < c->targets.len; t++)
            ioctl(c->events.at[i].fds[t], request, 0);
}

void counters_enable(const Counters *c)
{
    control(c, PERF_EVENT_IOC_ENABLE);
}

void counters_disable(const Counters *c)
{
    control(c, PERF_EVENT_IOC_DISABLE);
}

CounterValue counters_read(const Counters *c, size_t event, size_t target)
{
    uint64_t words[3];
    if (read(c->events.at[event].fds[target], words, sizeof(words)) != sizeof(words))
        return (CounterValue){0};
    return (CounterValue){words[0], words[1], words[2]};
}

double counter_scaled(CounterValue v)
{
    if (v.running_ns == 0)
        return NAN;
    if (v.running_ns >= v.enabled_ns)
        return (double)v.value;
    return (double)v.value * ((double)v.enabled_ns / (double)v.running_ns);
}
