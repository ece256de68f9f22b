// SPDX-License-Identifier: Apache-2.0
// Opening, reading and closing counters.

#include "collect/counters/counters.h"

#include <errno.h>
#include <math.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"

static void close_fds(const Counter *c, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (c->fds[i] >= 0)
            close(c->fds[i]);
}

static void close_event(const Counters *c, const Counter *event)
{
    close_fds(event, c->targets.len * event->places);
}

size_t counter_places(const EventSpecVec *events, size_t first)
{
    const EventSpec *a = &events->at[first];
    size_t n = 1;
    while (a->is_probe && first + n < events->len && events->at[first + n].is_probe &&
           str_equal(events->at[first + n].name, a->name))
        n++;
    return n;
}

// The attributes of the event of a place. The name of a probe's file lies in our memory, where the
// kernel cannot read it for a thread that the observed program starts: the program's clone would
// fail, so that such events are never inherited.
static struct perf_event_attr attributes(const Counters *c, const Counter *event,
                                         const EventSpec *place, bool leads,
                                         const CounterOptions *options)
{
    bool by_family = c->family && event_is_place(place);
    struct perf_event_attr attr = {
        .disabled = leads,
        .inherit = options->inherit && (by_family || !event_is_place(place)),
        .enable_on_exec = options->enable_on_exec && leads,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    };
    event_spec_apply(place, &attr);
    if (by_family) {
        attr.type = PERF_TYPE_SOFTWARE;
        attr.config = PERF_COUNT_SW_DUMMY;
        attr.config1 = attr.config2 = 0;
    }
    attr.sample_period = 0; // counting only
    attr.freq = 0;
    if (event->user_only)
        attr.exclude_kernel = attr.exclude_hv = 1;
    return attr;
}

// Opens one event for all targets; `specs` are its places. False leaves nothing open and errno set.
static bool open_event(Counters *c, Counter *event, const EventSpec *specs, const Counter *leader,
                       const CounterOptions *options)
{
    for (size_t i = 0; i < c->targets.len * event->places; i++) {
        size_t t = i % c->targets.len;
        struct perf_event_attr attr =
            attributes(c, event, &specs[i / c->targets.len], leader == NULL, options);
        CounterTarget target = c->targets.at[t];
        int group_fd = leader ? leader->fds[t] : -1;
        event->fds[i] = target.is_cgroup
                            ? perf_event_open_cgroup(&attr, target.pid, target.cpu, group_fd)
                            : perf_event_open(&attr, target.pid, target.cpu, group_fd);
        if (event->fds[i] < 0 && errno == ESRCH && options->skips_gone)
            continue;
        if (event->fds[i] < 0) {
            int reason = errno;
            close_fds(event, i);
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
            close_event(c, event);
            return false;
        }
    return true;
}

// ---- Probes ------------------------------------------------------------------

// Lets a BPF program count the probes in the targets and in their new threads and children. Without
// BPF, the events of the targets count.
static void open_family(Counters *c, const EventSpecVec *events, const CounterOptions *options)
{
    FamilyPlaceVec places = {0};
    U32Vec pids = {0};
    Error why;
    uint32_t row = 0;
    for (size_t i = 0, n; i < events->len; i += n, row++) {
        n = counter_places(events, i);
        for (size_t k = 0; k < n && event_is_place(&events->at[i]); k++)
            vec_push(c->arena, &places, ((FamilyPlace){&events->at[i + k], row}));
    }
    for (size_t t = 0; t < c->targets.len; t++)
        vec_push(c->arena, &pids, (uint32_t)c->targets.at[t].pid);
    bool fits = places.len && row <= FAMILY_ROWS_MAX && c->targets.len && options->inherit &&
                !options->by_threads && c->targets.at[0].cpu < 0 && c->targets.at[0].pid > 0;
    if (fits && !family_hits_open(&places, pids.at, pids.len, &c->family, &why)) {
        log_write(LOG_RECORD, "probes are counted by thread: %s", why.text);
        c->family = NULL;
    }
    if (c->family && options->enable_on_exec)
        family_hits_enable_at_exec(c->family, pids.at[0]);
    c->is_cut = places.len && !c->family && options->inherit;
}

// Adds to the reason why a probe was refused what works without the right. Always false.
static bool refuse_probe(Str name, Error *err)
{
    bool by_filter = perf_limits().seccomp && perf_event_probe() != 0;
    if (err->kind != ERROR_PERMISSION)
        return false;
    if (!by_filter)
        (void)error_set(err, ERROR_PERMISSION,
                        "not allowed to count '%" STR_FMT "': probes need root (CAP_SYS_ADMIN)",
                        STR_ARG(name));
    return error_hint(err,
                      "%scount by breakpoints, which needs no rights: assay record -e '%" STR_FMT
                      "' -- CMD; assay report",
                      by_filter ? "" : "run it by sudo, or ", STR_ARG(name));
}

bool counters_check_probes(const EventSpecVec *events, Error *err)
{
    for (size_t i = 0; i < events->len; i++) {
        const EventSpec *spec = &events->at[i];
        struct perf_event_attr attr = {.disabled = 1};
        if (!event_is_place(spec))
            continue;
        event_spec_apply(spec, &attr);
        int fd = perf_event_open(&attr, 0, -1, -1);
        int reason = errno;
        if (fd < 0) {
            PerfLimits limits = perf_limits();
            perf_explain(reason, &limits, &attr, spec->name, false, err);
            return refuse_probe(spec->name, err);
        }
        close(fd);
        return true; // what is true of one is true of all
    }
    return true;
}

// ---- Opening -----------------------------------------------------------------

static const Counter *find_leader(const Counters *c, const EventSpec *spec)
{
    for (size_t k = 0; k < c->events.len && spec->group != EVENT_NO_GROUP; k++)
        if (c->events.at[k].spec.group == spec->group)
            return &c->events.at[k];
    return NULL;
}

// Opens the event; above paranoid 1 the kernel's part is refused to users without rights.
static bool open_allowed(Counters *c, Counter *event, const EventSpec *specs,
                         const CounterOptions *options)
{
    const Counter *leader = find_leader(c, specs);
    if (open_event(c, event, specs, leader, options))
        return true;
    if ((errno != EACCES && errno != EPERM) || specs->exclude_kernel || happens_in_kernel(specs) ||
        event_is_place(specs))
        return false;
    event->user_only = true;
    bool modified = str_find_char(specs->name, ':') != SIZE_MAX;
    event->name =
        arena_printf(c->arena, "%" STR_FMT "%s", STR_ARG(specs->name), modified ? "u" : ":u");
    return open_event(c, event, specs, leader, options);
}

static void explain(const EventSpec *spec, int reason, bool system_wide, Error *ret)
{
    PerfLimits limits = perf_limits();
    struct perf_event_attr attr = {0};
    event_spec_apply(spec, &attr);
    perf_explain(reason, &limits, &attr, spec->name, system_wide, ret);
    if (ret->kind == ERROR_PERMISSION && happens_in_kernel(spec) && !limits.privileged)
        error_hint(ret, "it occurs only in the kernel, and counting there is "
                        "refused; run: sudo sysctl kernel.perf_event_paranoid=1");
}

// Opens one counter, or adds it to those that are missing. False when nothing can be counted.
static bool add_counter(Counters *c, const EventSpec *specs, size_t places, uint32_t row,
                        const CounterOptions *options, Error *err)
{
    bool by_family = c->family && event_is_place(specs);
    Counter event = {.spec = *specs, .name = specs->name, .row = row};
    event.places = by_family ? 1 : places;
    event.fds = arena_array(c->arena, int, c->targets.len *event.places + 1);
    bool opened = open_allowed(c, &event, specs, options);
    int reason = errno;
    if (opened) {
        if (specs->filter.len && !set_filter(c, &event, specs->filter, err))
            return false;
        vec_push(c->arena, &c->events, event);
        return true;
    }
    CounterMissing missing = {.name = specs->name};
    bool system_wide = c->targets.len && c->targets.at[0].cpu >= 0;
    explain(specs, reason, system_wide, &missing.reason);
    if (reason == ESRCH)
        return error_set(err, ERROR_NOT_FOUND, "the process to count has ended");
    if (event_is_place(specs)) {
        *err = missing.reason;
        return refuse_probe(specs->name, err);
    }
    vec_push(c->arena, &c->missing, missing);
    return true;
}

bool counters_open(Arena *arena, const EventSpecVec *events, const CounterTargetVec *targets,
                   const CounterOptions *options, Counters *ret, Error *err)
{
    Counters c = {.arena = arena, .targets = *targets};
    open_family(&c, events, options);
    uint32_t row = 0;
    bool ok = true;
    for (size_t i = 0, n; ok && i < events->len; i += n, row++) {
        n = counter_places(events, i);
        ok = add_counter(&c, &events->at[i], n, row, options, err);
    }
    if (ok && c.events.len == 0 && !options->may_be_none) {
        ok = false;
        if (c.missing.len)
            *err = c.missing.at[0].reason;
        else
            (void)error_set(err, ERROR_USAGE, "no event to count");
    }
    if (!ok)
        counters_close(&c);
    else
        *ret = c;
    return ok;
}

void counters_close(Counters *c)
{
    for (size_t i = 0; i < c->events.len; i++)
        close_event(c, &c->events.at[i]);
    c->events.len = 0;
    family_hits_close(c->family);
    c->family = NULL;
}

static void control(const Counters *c, unsigned long request)
{
    for (size_t i = 0; i < c->events.len; i++)
        for (size_t t = 0; t < c->targets.len * c->events.at[i].places; t++)
            ioctl(c->events.at[i].fds[t], request, 0);
}

void counters_enable(const Counters *c)
{
    control(c, PERF_EVENT_IOC_ENABLE);
    if (c->family)
        family_hits_enable(c->family, true);
}

void counters_disable(const Counters *c)
{
    control(c, PERF_EVENT_IOC_DISABLE);
    if (c->family)
        family_hits_enable(c->family, false);
}

CounterValue counters_read(const Counters *c, size_t event, size_t target)
{
    const Counter *e = &c->events.at[event];
    CounterValue sum = {0};
    for (size_t place = 0; place < e->places; place++) {
        uint64_t words[3];
        if (read(e->fds[place * c->targets.len + target], words, sizeof(words)) != sizeof(words))
            continue;
        // The times are those of the probe, not of its places together.
        sum.value += words[0];
        sum.enabled_ns = MAX(sum.enabled_ns, words[1]);
        sum.running_ns = MAX(sum.running_ns, words[2]);
    }
    if (c->family && event_is_place(&e->spec) && target == 0)
        sum.value = family_hits_read(c->family, e->row);
    return sum;
}

double counter_scaled(CounterValue v)
{
    if (v.running_ns == 0)
        return NAN;
    if (v.running_ns >= v.enabled_ns)
        return (double)v.value;
    return (double)v.value * ((double)v.enabled_ns / (double)v.running_ns);
}
