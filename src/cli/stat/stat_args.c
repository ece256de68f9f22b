// SPDX-License-Identifier: Apache-2.0
// From the options of `assay stat` to events.

#include "cli/stat/stat_args.h"

#include <fcntl.h>

#include "cli/record/record_events.h"

// The processes in which probes are searched.
static void find_pids(const CountingTargets *targets, U32Vec *ret)
{
    for (size_t i = 0; i < targets->at.len; i++)
        if (!targets->cpus && targets->at.at[i].pid > 0)
            vec_push(NULL, ret, (uint32_t)targets->at.at[i].pid);
}

static bool add_events(Arena *arena, const StatArgs *a, const EventSources *sources,
                       CountingOptions *o, Error *err)
{
    bool asks_other = a->metrics.len || a->topdown;
    U32Vec ends = {0};
    for (size_t i = 0; i < a->events.len; i++) {
        StrVec one = {0};
        vec_push(arena, &one, a->events.at[i]);
        if (!counting_choose_events(arena, sources, &one, 0, &o->events, err))
            return false;
        vec_push(arena, &ends, (uint32_t)o->events.len);
    }
    const StrVec none = {0};
    if (a->events.len == 0 && (!asks_other || a->detailed) &&
        !counting_choose_events(arena, sources, &none, a->detailed, &o->events, err))
        return false;
    if ((a->metrics.len && !counting_add_metrics(arena, a->metrics, &o->events, err)) ||
        (a->topdown && !counting_add_topdown(arena, &o->events, err)))
        return false;
    o->show_missing = a->events.len || asks_other;
    if (!event_filters_apply(&a->filters, &ends, &o->events, err))
        return false;
    for (size_t i = 0; i < o->events.len; i++) {
        o->events.at[i].exclude_kernel |= a->all_user;
        o->events.at[i].exclude_hv |= a->all_user;
        o->events.at[i].exclude_user |= a->all_kernel;
    }
    return true;
}

bool stat_choose_events(Arena *arena, const StatArgs *a, CountingOptions *o, Error *err)
{
    U32Vec pids = {0};
    StrVec no_dirs = {0};
    RecordSources sources;
    find_pids(&o->targets, &pids);
    record_sources_init(arena, o->program ? o->program->path : STR(""), &pids, &no_dirs, &sources);
    sources.context.names_each = true;
    bool ok =
        add_events(arena, a, &sources.events, o, err) && counters_check_probes(&o->events, err);
    if (ok)
        record_sources_say(&sources);
    vec_free(&pids);
    return ok;
}

// ---- Targets -----------------------------------------------------------------

static CountingParts parts_asked(const StatArgs *a)
{
    return a->each_cgroup.len || a->cgroup.len ? COUNTING_CGROUPS
           : a->per_core                       ? COUNTING_CORES
           : a->per_die                        ? COUNTING_DIES
           : a->per_socket                     ? COUNTING_SOCKETS
           : a->per_node                       ? COUNTING_NODES
           : a->per_cpu || a->per_thread       ? COUNTING_EACH
                                               : COUNTING_WHOLE;
}

static bool choose_targets(Arena *arena, const StatArgs *a, bool has_command, CountingOptions *o,
                           Error *err)
{
    CountingTargets *targets = &o->targets;
    CountingParts by = parts_asked(a);
    bool of_cpus = a->all_cpus || a->cpus.len;
    if (a->pids.len || a->tids.len) {
        if (of_cpus)
            return error_set(err, ERROR_USAGE, "-p and -t exclude -a and -C");
        if (!counting_add_threads(arena, a->pids, true, targets, err) ||
            !counting_add_threads(arena, a->tids, false, targets, err))
            return false;
    } else if (a->per_thread) {
        if (!of_cpus)
            return error_set(err, ERROR_USAGE, "--per-thread needs -p, -t or -a");
        if (!counting_add_all_threads(arena, targets, err))
            return false;
    } else if (of_cpus) {
        Str groups = a->each_cgroup.len ? a->each_cgroup : a->cgroup;
        if (!counting_add_cpus(arena, a->cpus, targets, err) ||
            (groups.len && !counting_add_cgroups(arena, groups, targets, err)))
            return false;
    } else if (by != COUNTING_WHOLE) {
        return error_set(err, ERROR_USAGE, "%s needs -a or -C",
                         by == COUNTING_CGROUPS ? "--for-each-cgroup and -G"
                         : a->per_cpu           ? "--no-aggr"
                                                : "a part of the machine");
    } else if (!has_command) {
        return error_set(err, ERROR_USAGE, "nothing to count: give a command, -p, -t, -a or -C");
    }
    if (!targets->cpus && by != COUNTING_EACH && by != COUNTING_WHOLE)
        return error_set(err, ERROR_USAGE, "threads have no core, socket or node; give -a or -C");
    if (!targets->cpus && a->per_cpu)
        return error_set(err, ERROR_USAGE, "--no-aggr needs -a or -C");
    counting_part(arena, by, targets);
    return true;
}

bool stat_choose_targets(Arena *arena, const StatArgs *a, bool has_command,
                         CountingOptions *options, Error *err)
{
    options->threads_apart = a->tids.len > 0;
    return choose_targets(arena, a, has_command, options, err);
}

bool stat_check_args(const StatArgs *a, Error *err)
{
    if (a->table && a->repeat == UINT64_MAX)
        return error_set(err, ERROR_USAGE, "--table needs -r");
    if (a->repeat != UINT64_MAX && a->interval)
        return error_set(err, ERROR_USAGE, "-r excludes -I");
    if ((a->interval_count || a->summary || a->interval_clear) && !a->interval)
        return error_set(err, ERROR_USAGE,
                         "--interval-count, --summary and --interval-clear need -I");
    if (a->json && a->separator.len)
        return error_set(err, ERROR_USAGE, "-j excludes -x");
    if (a->force && a->recording.len == 0)
        return error_set(err, ERROR_USAGE, "--force needs --recording");
    if (a->append && a->output.len == 0)
        return error_set(err, ERROR_USAGE, "--append needs -o");
    if (a->output.len && a->log_fd != UINT64_MAX)
        return error_set(err, ERROR_USAGE, "-o excludes --log-fd");
    if (a->all_user && a->all_kernel)
        return error_set(err, ERROR_USAGE, "--all-user excludes --all-kernel");
    if (a->cgroup.len && (a->each_cgroup.len || str_find_char(a->cgroup, ',') != SIZE_MAX)) {
        error_set(err, ERROR_USAGE, "-G takes one control group, for all events");
        return error_hint(err, "--for-each-cgroup takes several");
    }
    if (a->per_core + a->per_die + a->per_socket + a->per_node + a->per_cpu + a->per_thread +
            (a->each_cgroup.len || a->cgroup.len) >
        1)
        return error_set(err, ERROR_USAGE, "the counts can be in parts of one kind only");
    return true;
}

// ---- Control -----------------------------------------------------------------

static bool parse_fd(Str text, int *ret)
{
    uint64_t fd;
    if (!str_parse_u64(text, 10, &fd) || fd > 65535 || fcntl((int)fd, F_GETFD) < 0)
        return false;
    *ret = (int)fd;
    return true;
}

static bool open_fifo(Str path, int *ret)
{
    char name[4096];
    if (path.len >= sizeof(name))
        return false;
    memcpy(name, path.ptr, path.len);
    name[path.len] = '\0';
    // For both, so that the other side may come and go.
    *ret = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    return *ret >= 0;
}

bool stat_open_control(Str text, CountingOptions *options, Error *err)
{
    Str kind, rest, first, second = STR("");
    if (text.len == 0)
        return true;
    bool ok = str_split(text, ':', &kind, &rest);
    bool is_fd = ok && str_equal(kind, STR("fd"));
    if (!ok || !(is_fd || str_equal(kind, STR("fifo")))) {
        error_set(err, ERROR_USAGE, "'%" STR_FMT "' is nothing for --control", STR_ARG(text));
        return error_hint(err, "give fd:N, fd:N,ANSWERS, fifo:PATH or fifo:PATH,ANSWERS");
    }
    if (!str_split(rest, ',', &first, &second))
        first = rest;
    ok = is_fd ? parse_fd(first, &options->control_fd) : open_fifo(first, &options->control_fd);
    if (ok && second.len)
        ok = is_fd ? parse_fd(second, &options->ack_fd) : open_fifo(second, &options->ack_fd);
    return ok || error_os(err, "cannot open '%" STR_FMT "' of --control", STR_ARG(text));
}
