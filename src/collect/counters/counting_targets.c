// SPDX-License-Identifier: Apache-2.0
// CPUs, threads and control groups to count, and the parts that their values are added up to.

#include "collect/counters/counting.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "os/file.h"
#include "os/proc.h"

bool counting_add_cpus(Arena *arena, Str list, CountingTargets *ret, Error *err)
{
    U32Vec cpus = {0};
    bool ok = list.len ? cpu_list_parse(list, 1 << 16, &cpus, err) : cpu_list_online(&cpus, err);
    for (size_t i = 0; ok && i < cpus.len; i++) {
        vec_push(arena, &ret->at, (CounterTarget){.pid = -1, .cpu = (int32_t)cpus.at[i]});
        vec_push(arena, &ret->names, arena_printf(arena, "CPU%u", cpus.at[i]));
    }
    ret->cpus = ok;
    vec_free(&cpus);
    return ok;
}

static void add_thread(Arena *arena, uint32_t pid, uint32_t tid, CountingTargets *ret)
{
    Str comm = proc_comm(arena, pid, tid);
    vec_push(arena, &ret->at, (CounterTarget){.pid = (int32_t)tid, .cpu = -1});
    vec_push(arena, &ret->names, arena_printf(arena, "%" STR_FMT "-%u", STR_ARG(comm), tid));
}

bool counting_add_threads(Arena *arena, Str list, bool processes, CountingTargets *ret, Error *err)
{
    Str part;
    while (str_next_part(&list, ',', &part)) {
        uint64_t id;
        U32Vec threads = {0};
        if (!str_parse_u64(part, 10, &id) || id == 0 || id > INT32_MAX)
            return error_set(err, ERROR_USAGE, "'%" STR_FMT "' is not a process", STR_ARG(part));
        if (processes && !proc_list_threads((uint32_t)id, &threads, err))
            return false;
        if (!processes)
            vec_push(NULL, &threads, (uint32_t)id);
        for (size_t i = 0; i < threads.len; i++)
            add_thread(arena, processes ? (uint32_t)id : threads.at[i], threads.at[i], ret);
        vec_free(&threads);
    }
    return true;
}

bool counting_add_all_threads(Arena *arena, CountingTargets *ret, Error *err)
{
    U32Vec processes = {0};
    if (!proc_list_all(&processes, err))
        return false;
    for (size_t i = 0; i < processes.len; i++) {
        U32Vec threads = {0};
        Error gone;
        // A kernel thread has no command line; a process may have ended.
        if (proc_command_line(arena, processes.at[i]).len &&
            proc_list_threads(processes.at[i], &threads, &gone))
            for (size_t k = 0; k < threads.len; k++)
                add_thread(arena, processes.at[i], threads.at[k], ret);
        vec_free(&threads);
    }
    vec_free(&processes);
    ret->may_be_gone = true;
    return true;
}

// ---- Control groups ----------------------------------------------------------

// The folder under which the control groups with perf events stand: version 1's own hierarchy,
// else version 2's. "" when none is mounted.
static Str cgroup_root(Arena *arena)
{
    Bytes mounts;
    Str root = STR(""), line, word;
    if (!os_read_file(arena, STR("/proc/self/mounts"), 1 << 20, &mounts, NULL))
        return root;
    for (Str rest = str_from_bytes(mounts); str_next_line(&rest, &line);) {
        Str words[4] = {{0}};
        for (size_t i = 0; i < ARRAY_LEN(words) && str_next_part(&line, ' ', &word); i++)
            words[i] = word;
        if (str_equal(words[2], STR("cgroup")))
            for (Str options = words[3], option; str_next_part(&options, ',', &option);)
                if (str_equal(option, STR("perf_event")))
                    return words[1];
        if (str_equal(words[2], STR("cgroup2")))
            root = words[1];
    }
    return root;
}

bool counting_add_cgroups(Arena *arena, Str names, CountingTargets *ret, Error *err)
{
    Str root = cgroup_root(arena), name;
    CountingTargets groups = {.cpus = true};
    if (root.len == 0)
        return error_set(err, ERROR_NOT_FOUND, "no control groups with perf events are mounted");
    while (str_next_part(&names, ',', &name)) {
        Str path = arena_printf(arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(root), STR_ARG(name));
        int fd = open(arena_c_str(arena, path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0) {
            error_os(err, "no control group '%" STR_FMT "'", STR_ARG(name));
            return error_hint(err, "names are folders under %" STR_FMT, STR_ARG(root));
        }
        // The descriptor stays open until the program ends, as the events need it for every run.
        for (size_t i = 0; i < ret->at.len; i++) {
            vec_push(arena, &groups.at, (CounterTarget){fd, ret->at.at[i].cpu, true});
            vec_push(arena, &groups.names, name);
        }
    }
    *ret = groups;
    return true;
}

// ---- Parts -------------------------------------------------------------------

static int64_t topology(int32_t cpu, const char *file)
{
    char path[128];
    int64_t value;
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, file);
    return os_read_i64(path, &value) ? value : -1;
}

static int64_t node_of(int32_t cpu)
{
    enum { NODES_MAX = 1024 };
    char path[128];
    for (int64_t node = 0; node < NODES_MAX; node++) {
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/node%lld", cpu,
                 (long long)node);
        if (access(path, F_OK) == 0)
            return node;
    }
    return 0; // a kernel without memory nodes has one
}

static Str part_name(Arena *arena, CountingParts by, const CountingTargets *t, size_t i)
{
    int32_t cpu = t->at.at[i].cpu;
    long long socket = topology(cpu, "physical_package_id"), die = topology(cpu, "die_id"),
              core = topology(cpu, "core_id");
    die = MAX(die, 0LL); // kernels before 5.2 know none
    switch (by) {
    case COUNTING_CORES:
        return arena_printf(arena, "S%lld-D%lld-C%lld", socket, die, core);
    case COUNTING_DIES:
        return arena_printf(arena, "S%lld-D%lld", socket, die);
    case COUNTING_SOCKETS:
        return arena_printf(arena, "S%lld", socket);
    case COUNTING_NODES:
        return arena_printf(arena, "N%lld", (long long)node_of(cpu));
    case COUNTING_WHOLE:
    case COUNTING_EACH:
    case COUNTING_CGROUPS:
        break;
    }
    return t->names.at[i];
}

void counting_part(Arena *arena, CountingParts by, CountingTargets *targets)
{
    targets->by = by;
    for (size_t i = 0; by != COUNTING_WHOLE && i < targets->at.len; i++) {
        Str name = part_name(arena, by, targets, i);
        uint32_t part = by == COUNTING_EACH ? (uint32_t)targets->parts.len : 0;
        while (part < targets->parts.len && !str_equal(targets->parts.at[part], name))
            part++;
        if (part == targets->parts.len) {
            vec_push(arena, &targets->parts, name);
            vec_push(arena, &targets->sizes, 0);
        }
        targets->sizes.at[part]++;
        vec_push(arena, &targets->part_of, part);
    }
}
