// SPDX-License-Identifier: Apache-2.0
// Lists the events of this machine, from the kernel's fixed names, sysfs and tracefs, and tests
// them.

#include "os/event_list.h"

#include "base/strbuf.h"
#include "os/file.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LIST_EVENTS_MAX = 1 << 17, // in one folder: no sysfs has more
    TRY_PERIOD = 1 << 30,      // so long that no sample is taken during a test
    PROBE_CODE_BYTES = 64,
};

const char *event_group_name(EventGroup group)
{
    static const char *const names[] = {
        [EVENT_GROUP_HARDWARE] = "hardware",
        [EVENT_GROUP_CACHE] = "cache",
        [EVENT_GROUP_SOFTWARE] = "software",
        [EVENT_GROUP_PMU] = "pmu",
        [EVENT_GROUP_RAW] = "raw",
        [EVENT_GROUP_BREAKPOINT] = "breakpoint",
        [EVENT_GROUP_TRACEPOINT] = "tracepoint",
    };
    return names[group];
}

// ---- Folders -----------------------------------------------------------------

static int by_text(const void *a, const void *b)
{
    return str_compare(*(const Str *)a, *(const Str *)b);
}

// The names in a folder, sorted, without hidden ones.
static bool folder_names(Arena *arena, Str path, StrVec *ret, Error *err)
{
    DIR *dir = opendir(arena_c_str(arena, path));
    if (!dir)
        return error_os(err, "cannot read folder '%" STR_FMT "'", STR_ARG(path));
    const struct dirent *entry;
    while (ret->len < LIST_EVENTS_MAX && (entry = readdir(dir)) != NULL)
        if (entry->d_name[0] != '.')
            vec_push(arena, ret, arena_str(arena, str_from_c(entry->d_name)));
    closedir(dir);
    if (ret->len)
        qsort(ret->at, ret->len, sizeof(ret->at[0]), by_text);
    return true;
}

static Str join_path(Arena *arena, Str folder, Str name)
{
    return arena_printf(arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(folder), STR_ARG(name));
}

// ---- Gathering -----------------------------------------------------------------

static void list_known(Arena *arena, uint32_t type, EventGroup group, ListedEventVec *ret)
{
    size_t count;
    const EventName *names = event_names(&count);
    for (size_t i = 0; i < count; i++) {
        if (names[i].type != type)
            continue;
        Str name = str_from_c(names[i].name);
        vec_push(
            arena, ret,
            (ListedEvent){
                .group = group, .name = name, .alias = str_from_c(names[i].alias), .try = name});
    }
}

static void list_caches(Arena *arena, ListedEventVec *ret)
{
    StrVec names = {0};
    event_cache_names(arena, &names);
    for (size_t i = 0; i < names.len; i++)
        vec_push(
            arena, ret,
            (ListedEvent){.group = EVENT_GROUP_CACHE, .name = names.at[i], .try = names.at[i]});
}

// Whether a file describes an event with a file of its own: "mem-loads.unit", "….scale".
static bool is_about_event(Str name)
{
    return str_ends_with(name, STR(".unit")) || str_ends_with(name, STR(".scale")) ||
           str_ends_with(name, STR(".snapshot")) || str_ends_with(name, STR(".per-pkg"));
}

// Adds "cpu/event=…,umask=…/", the form for events that the PMU counts but does not list.
static void list_pmu_form(Arena *arena, Str dir, Str pmu, bool is_probe, ListedEventVec *ret)
{
    StrVec fields = {0};
    (void)folder_names(arena, join_path(arena, dir, STR("format")), &fields, NULL);
    if (fields.len == 0 && !is_probe)
        return;
    StrBuf about = {0};
    for (size_t i = 0; i < fields.len; i++) {
        strbuf_add(&about, i ? STR(", ") : STR("fields: "));
        strbuf_add(&about, fields.at[i]);
    }
    ListedEvent e = {
        .group = EVENT_GROUP_PMU,
        .name = arena_printf(arena, "%" STR_FMT "/FIELD=VALUE,…/", STR_ARG(pmu)),
        .about = arena_str(arena, strbuf_str(&about)),
        .try = is_probe ? STR("") : arena_printf(arena, "%" STR_FMT "/config=0/", STR_ARG(pmu)),
        .pmu = pmu,
    };
    strbuf_deinit(&about);
    vec_push(arena, ret, e);
}

static void list_pmu(Arena *arena, Str dir, Str pmu, ListedEventVec *ret)
{
    StrVec names = {0};
    (void)folder_names(arena, join_path(arena, dir, STR("events")), &names, NULL);
    for (size_t i = 0; i < names.len; i++) {
        if (is_about_event(names.at[i]))
            continue;
        Str name =
            arena_printf(arena, "%" STR_FMT "/%" STR_FMT "/", STR_ARG(pmu), STR_ARG(names.at[i]));
        vec_push(arena, ret,
                 (ListedEvent){.group = EVENT_GROUP_PMU, .name = name, .try = name, .pmu = pmu});
    }
    bool is_probe = str_equal(pmu, STR("uprobe")) || str_equal(pmu, STR("kprobe"));
    list_pmu_form(arena, dir, pmu, is_probe, ret);
}

static void list_pmus(Arena *arena, const EventSources *src, ListedEventVec *ret)
{
    // The events of these have groups of their own.
    static const char *const others[] = {"software", "tracepoint", "breakpoint"};
    StrVec pmus = {0};
    (void)folder_names(arena, src->sysfs, &pmus, NULL);
    for (size_t i = 0; i < pmus.len; i++) {
        bool is_other = false;
        for (size_t o = 0; o < ARRAY_LEN(others); o++)
            is_other |= str_equal(pmus.at[i], str_from_c(others[o]));
        Str dir = join_path(arena, src->sysfs, pmus.at[i]);
        if (!is_other && os_file_exists(join_path(arena, dir, STR("type"))))
            list_pmu(arena, dir, pmus.at[i], ret);
    }
}

static void list_system(Arena *arena, Str events, Str system, ListedEventVec *ret)
{
    Str dir = join_path(arena, events, system);
    StrVec names = {0};
    (void)folder_names(arena, dir, &names, NULL);
    for (size_t i = 0; i < names.len; i++) {
        // Files beside the events are skipped; no event has one of these names.
        if (str_equal(names.at[i], STR("enable")) || str_equal(names.at[i], STR("filter")))
            continue;
        Str name =
            arena_printf(arena, "%" STR_FMT ":%" STR_FMT, STR_ARG(system), STR_ARG(names.at[i]));
        vec_push(arena, ret,
                 (ListedEvent){
                     .group = EVENT_GROUP_TRACEPOINT, .name = name, .try = name, .pmu = system});
    }
}

static void list_tracepoints(Arena *arena, const EventSources *src, ListedEventVec *ret,
                             Error *none)
{
    if (src->tracefs.len == 0) {
        (void)error_set(none, ERROR_NOT_FOUND, "tracefs is not mounted");
        (void)error_hint(none, "run: sudo mount -t tracefs tracefs /sys/kernel/tracing");
        return;
    }
    Str events = join_path(arena, src->tracefs, STR("events"));
    StrVec systems = {0};
    if (!folder_names(arena, events, &systems, none)) {
        (void)error_hint(none, "run assay as root, or: sudo chmod -R a+rX %" STR_FMT,
                         STR_ARG(src->tracefs));
        return;
    }
    size_t before = ret->len;
    for (size_t i = 0; i < systems.len; i++)
        list_system(arena, events, systems.at[i], ret);
    if (ret->len == before)
        (void)error_set(none, ERROR_NOT_FOUND, "this kernel has no tracepoints");
}

void event_list(Arena *arena, const EventSources *src, ListedEventVec *ret, Error *no_tracepoints)
{
    list_known(arena, PERF_TYPE_HARDWARE, EVENT_GROUP_HARDWARE, ret);
    list_caches(arena, ret);
    list_known(arena, PERF_TYPE_SOFTWARE, EVENT_GROUP_SOFTWARE, ret);
    list_pmus(arena, src, ret);
    vec_push(arena, ret,
             (ListedEvent){.group = EVENT_GROUP_RAW,
                           .name = STR("rNNNN"),
                           .about = STR("the processor's own event number, in hexadecimal"),
                           .try = STR("r0")});
    vec_push(arena, ret,
             (ListedEvent){.group = EVENT_GROUP_BREAKPOINT,
                           .name = STR("mem:ADDRESS[/LENGTH][:rwx]"),
                           .about = STR("accesses to memory, or execution of an address"),
                           .try = STR("mem:")});
    list_tracepoints(arena, src, ret, no_tracepoints);
}

// ---- Trying --------------------------------------------------------------------

// Opens and closes an event: 0 or errno.
static int open_once(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
    struct perf_event_attr copy = *attr;
    int fd = perf_event_open(&copy, pid, cpu, -1);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static bool is_refused(int os_errno)
{
    return os_errno == EACCES || os_errno == EPERM;
}

// Tries to open for sampling, then for counting, then for counting on a CPU.
static int open_somehow(const struct perf_event_attr *attr, EventAccess *access)
{
    struct perf_event_attr counting = *attr;
    counting.sample_period = 0;
    *access = EVENT_OPENS;
    int first = open_once(attr, 0, -1);
    if (first == 0 || is_refused(first))
        return first;
    *access = EVENT_COUNTS;
    int second = open_once(&counting, 0, -1);
    if (second == 0 || is_refused(second))
        return second;
    // Uncore PMUs count for no process and cannot exclude anything.
    struct perf_event_attr whole = counting;
    whole.exclude_kernel = whole.exclude_hv = 0;
    *access = EVENT_COUNTS_CPU;
    int third = open_once(&whole, -1, 0);
    return third == 0 || is_refused(third) ? third : first;
}

static EventTry try_attr(struct perf_event_attr *attr, const PerfLimits *limits, Str name)
{
    EventTry t = {0};
    attr->disabled = 1;
    attr->sample_period = TRY_PERIOD;
    int refused = open_somehow(attr, &t.access);
    if (refused == 0)
        return t;
    bool system_wide = t.access == EVENT_COUNTS_CPU;
    t.access = EVENT_CLOSED;
    (void)perf_explain(refused, limits, attr, name, system_wide, &t.err);
    if (!is_refused(refused) || attr->exclude_kernel)
        return t;
    attr->exclude_kernel = attr->exclude_hv = 1;
    EventAccess access;
    int without_kernel = open_somehow(attr, &access);
    if (without_kernel == 0) {
        t.access = access;
        t.user_only = true;
    } else if (without_kernel == ENOENT || without_kernel == ENODEV ||
               without_kernel == EOPNOTSUPP) {
        // More rights would not help.
        (void)perf_explain(without_kernel, limits, attr, name, false, &t.err);
    }
    return t;
}

// Tests a probe on code that no process maps, so that the test changes no program.
static EventTry try_uprobe(const EventSources *src, Arena *arena, const PerfLimits *limits, Str pmu)
{
    EventTry t = {0};
    uint64_t type;
    Str path =
        arena_printf(arena, "%" STR_FMT "/%" STR_FMT "/type", STR_ARG(src->sysfs), STR_ARG(pmu));
    if (!os_read_u64(arena_c_str(arena, path), &type)) {
        (void)error_set(&t.err, ERROR_NOT_FOUND, "cannot read '%" STR_FMT "'", STR_ARG(path));
        return t;
    }
    struct perf_event_attr attr = {.type = (uint32_t)type};
    int memory = -1;
    if (str_equal(pmu, STR("uprobe"))) {
        uint8_t code[PROBE_CODE_BYTES];
        memset(code, 0x90, sizeof(code));
        memory = memfd_create("assay-list", MFD_CLOEXEC);
        if (memory < 0 || write(memory, code, sizeof(code)) != (ssize_t)sizeof(code)) {
            (void)error_os(&t.err, "cannot make a file to probe");
            if (memory >= 0)
                close(memory);
            return t;
        }
        attr.config1 = (uintptr_t)arena_printf(arena, "/proc/self/fd/%d", memory).ptr;
    } else {
        attr.config1 = (uintptr_t) "schedule";
    }
    t = try_attr(&attr, limits, pmu);
    if (t.access == EVENT_CLOSED && t.err.kind == ERROR_PERMISSION && !limits->privileged) {
        // CAP_PERFMON was enough until commit ba677dbe77af of Linux 6.16, which the stable kernels
        // of July 2025 have as well. Functions of the kernel were left as they were.
        bool in_programs = memory >= 0;
        (void)error_set(&t.err, ERROR_PERMISSION,
                        in_programs ? "probes in programs are for root alone (kernels before 6.16 "
                                      "and July 2025: or CAP_PERFMON)"
                                    : "probes of the kernel are for root and CAP_PERFMON");
        (void)error_hint(&t.err, in_programs ? "run assay as root, or give it cap_sys_admin"
                                             : "run assay as root, or give it cap_perfmon");
    }
    if (memory >= 0)
        close(memory);
    return t;
}

EventTry event_try(Arena *arena, const EventSources *src, const PerfLimits *limits,
                   const ListedEvent *event)
{
    if (event->try.len == 0)
        return try_uprobe(src, arena, limits, event->pmu);
    EventTry t = {0};
    struct perf_event_attr attr = {0};
    volatile uint64_t watched_word = 0; // by a tried breakpoint, for as long as the try lasts
    if (event->group == EVENT_GROUP_BREAKPOINT) {
        attr = (struct perf_event_attr){.type = PERF_TYPE_BREAKPOINT,
                                        .bp_type = HW_BREAKPOINT_W,
                                        .bp_addr = (uintptr_t)&watched_word,
                                        .bp_len = HW_BREAKPOINT_LEN_4};
    } else {
        EventSpecVec specs = {0};
        if (!events_parse(arena, src, event->try, &specs, &t.err))
            return t;
        event_spec_apply(&specs.at[0], &attr);
    }
    return try_attr(&attr, limits, event->name);
}
