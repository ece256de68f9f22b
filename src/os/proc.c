// SPDX-License-Identifier: Apache-2.0
// /proc: mappings, threads, children, status.

#include "os/proc.h"

#include "os/file.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CPU_LIST_MAX = 65536 };

static bool take_hex(Str *rest, char sep, uint64_t *ret)
{
    Str part;
    return str_next_part(rest, sep, &part) && str_parse_u64(part, 16, ret);
}

bool proc_map_parse(Str line, ProcMap *ret)
{
    // start-end perms offset maj:min inode          path
    ProcMap m = {0};
    Str rest = line, perms, major, minor, inode, device;
    uint64_t n;
    if (!take_hex(&rest, '-', &m.start) || !take_hex(&rest, ' ', &m.end) || m.end <= m.start)
        return false;
    if (!str_next_part(&rest, ' ', &perms) || perms.len != 4)
        return false;
    m.read = perms.ptr[0] == 'r';
    m.write = perms.ptr[1] == 'w';
    m.exec = perms.ptr[2] == 'x';
    m.shared = perms.ptr[3] == 's';
    if (!take_hex(&rest, ' ', &m.offset) || !str_next_part(&rest, ' ', &device) ||
        !str_split(device, ':', &major, &minor))
        return false;
    if (!str_parse_u64(major, 16, &n) || n > UINT32_MAX)
        return false;
    m.device_major = (uint32_t)n;
    if (!str_parse_u64(minor, 16, &n) || n > UINT32_MAX)
        return false;
    m.device_minor = (uint32_t)n;
    if (!str_next_part(&rest, ' ', &inode) || !str_parse_u64(inode, 10, &m.inode))
        return false;
    // Only leading blanks are padding: a path may end in a blank.
    while (rest.len > 0 && rest.ptr[0] == ' ')
        rest = str_slice(rest, 1, rest.len);
    Str gone = STR(" (deleted)");
    m.deleted = str_ends_with(rest, gone);
    m.path = m.deleted ? str_slice(rest, 0, rest.len - gone.len) : rest;
    *ret = m;
    return true;
}

bool proc_maps_read(Arena *arena, uint32_t pid, ProcMapVec *ret, Error *err)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%u/maps", pid);
    Bytes content;
    if (!os_read_file(arena, str_from_c(path), OS_READ_MAX_BYTES, &content, err))
        return false;
    Str rest = str_from_bytes(content), line;
    ProcMap m;
    while (str_next_line(&rest, &line))
        if (proc_map_parse(line, &m))
            vec_push(arena, ret, m);
    return true;
}

static uint32_t number_before_blank(Str s, int base)
{
    Str part = {0};
    uint64_t n;
    s = str_trim(s);
    size_t end = 0;
    while (end < s.len && s.ptr[end] != ' ' && s.ptr[end] != '\t')
        end++;
    part = str_slice(s, 0, end);
    return str_parse_u64(part, base, &n) && n <= UINT32_MAX ? (uint32_t)n : 0;
}

static Str after_last_blank(Str s)
{
    s = str_trim(s);
    size_t at = s.len;
    while (at > 0 && s.ptr[at - 1] != ' ' && s.ptr[at - 1] != '\t')
        at--;
    return str_slice(s, at, s.len);
}

// The second column of a line "real effective saved file".
static uint32_t second_number(Str s)
{
    s = str_trim(s);
    size_t at = 0;
    while (at < s.len && s.ptr[at] != ' ' && s.ptr[at] != '\t')
        at++;
    return number_before_blank(str_slice(s, at, s.len), 10);
}

bool proc_status_parse(Str text, ProcStatus *ret)
{
    ProcStatus st = {0};
    bool seen = false;
    Str line, key, value;
    uint32_t pid = 0;
    while (str_next_line(&text, &line)) {
        if (!str_split(line, ':', &key, &value))
            continue;
        if (str_equal(key, STR("Name"))) {
            st.name = str_trim(value);
        } else if (str_equal(key, STR("Tgid"))) {
            st.thread_group = number_before_blank(value, 10);
            seen = true;
        } else if (str_equal(key, STR("Pid"))) {
            pid = number_before_blank(value, 10);
        } else if (str_equal(key, STR("PPid"))) {
            st.parent = number_before_blank(value, 10);
        } else if (str_equal(key, STR("TracerPid"))) {
            st.tracer = number_before_blank(value, 10);
        } else if (str_equal(key, STR("Uid"))) {
            st.uid = second_number(value);
        } else if (str_equal(key, STR("NStgid"))) {
            st.ns_pid = number_before_blank(after_last_blank(value), 10);
        } else if (str_equal(key, STR("Seccomp"))) {
            st.seccomp = number_before_blank(value, 10);
        } else if (str_equal(key, STR("CapEff"))) {
            uint64_t caps;
            if (str_parse_u64(str_trim(value), 16, &caps))
                st.cap_effective = caps;
        }
    }
    if (!seen)
        return false;
    if (st.ns_pid == 0)
        st.ns_pid = st.thread_group ? st.thread_group : pid;
    *ret = st;
    return true;
}

bool proc_status_read(Arena *arena, uint32_t pid, ProcStatus *ret, Error *err)
{
    char path[64] = "/proc/self/status";
    if (pid)
        snprintf(path, sizeof(path), "/proc/%u/status", pid);
    Bytes content;
    if (!os_read_file(arena, str_from_c(path), OS_READ_MAX_BYTES, &content, err))
        return false;
    if (!proc_status_parse(str_from_bytes(content), ret))
        return error_set(err, ERROR_FORMAT, "cannot read '%s': it has no Tgid line", path);
    return true;
}

// The entries of a /proc folder whose names are numbers.
static bool list_numbers(const char *path, U32Vec *ret, Error *err)
{
    DIR *dir = opendir(path);
    if (!dir)
        return error_os(err, "cannot list '%s'", path);
    struct dirent *entry;
    uint64_t n;
    while ((entry = readdir(dir)))
        if (str_parse_u64(str_from_c(entry->d_name), 10, &n) && n <= UINT32_MAX)
            vec_push(NULL, ret, (uint32_t)n);
    closedir(dir);
    return true;
}

bool proc_accounts_delays(void)
{
    uint64_t on;
    return os_read_u64("/proc/sys/kernel/task_delayacct", &on) && on == 1;
}

// A number of /proc/PID/stat, by proc(5)'s number of the field.
static bool stat_field(uint32_t pid, int number, uint64_t *ret)
{
    char path[64], buf[1024];
    Str text;
    unsigned long long value;
    snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    if (!os_read_small(path, buf, sizeof(buf), &text))
        return false;
    // The second field, a name in parentheses, may hold spaces.
    const char *at = strrchr(buf, ')');
    for (int field = 2; at && field < number; field++)
        at = strchr(at + 1, ' ');
    if (!at || sscanf(at, " %llu", &value) != 1)
        return false;
    *ret = value;
    return true;
}

int64_t proc_disk_wait_ns(uint32_t pid)
{
    enum { DELAYS = 42 };
    uint64_t ticks;
    if (!stat_field(pid, DELAYS, &ticks))
        return -1;
    return (int64_t)ticks * (1000000000 / MAX(1L, sysconf(_SC_CLK_TCK)));
}

bool proc_is_kernel_thread(uint32_t pid)
{
    enum { FLAGS = 9, KERNEL_THREAD = 0x200000 }; // PF_KTHREAD of the kernel
    uint64_t flags;
    return stat_field(pid, FLAGS, &flags) && flags & KERNEL_THREAD;
}

bool proc_list_threads(uint32_t pid, U32Vec *ret, Error *err)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%u/task", pid);
    if (access(path, F_OK) < 0 && errno == ENOENT)
        return error_set(err, ERROR_NOT_FOUND, "there is no process %u", pid);
    return list_numbers(path, ret, err);
}

bool proc_list_all(U32Vec *ret, Error *err)
{
    return list_numbers("/proc", ret, err);
}

void proc_list_children(uint32_t pid, U32Vec *ret)
{
    U32Vec tids = {0};
    Arena arena = {0};
    if (!proc_list_threads(pid, &tids, NULL))
        tids.len = 0;
    for (size_t i = 0; i < tids.len; i++) {
        char path[96];
        Bytes content;
        snprintf(path, sizeof(path), "/proc/%u/task/%u/children", pid, tids.at[i]);
        if (!os_read_file(&arena, str_from_c(path), OS_READ_MAX_BYTES, &content, NULL))
            continue;
        Str rest = str_from_bytes(content), part;
        uint64_t n;
        while (str_next_part(&rest, ' ', &part))
            if (str_parse_u64(part, 10, &n) && n <= UINT32_MAX)
                vec_push(NULL, ret, (uint32_t)n);
    }
    vec_free(&tids);
    arena_deinit(&arena);
}

Str proc_comm(Arena *arena, uint32_t pid, uint32_t tid)
{
    char path[96], buf[64];
    Str text;
    snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
    return os_read_small(path, buf, sizeof(buf), &text) ? arena_str(arena, text) : STR("");
}

Str proc_command_line(Arena *arena, uint32_t pid)
{
    char path[64];
    Bytes content;
    snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
    if (!os_read_file(arena, str_from_c(path), 1 << 22, &content, NULL))
        return STR("");
    Str text = str_from_bytes(content);
    while (text.len > 0 && text.ptr[text.len - 1] == 0)
        text.len--;
    return text;
}

bool proc_exists(uint32_t pid)
{
    return pid > 0 && pid <= INT32_MAX && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

bool cpu_list_parse(Str text, size_t max, U32Vec *ret, Error *err)
{
    Str rest = str_trim(text), part, head, tail;
    while (str_next_part(&rest, ',', &part)) {
        uint64_t from, to;
        if (str_split(part, '-', &head, &tail)) {
            if (!str_parse_u64(head, 10, &from) || !str_parse_u64(tail, 10, &to) || to < from)
                return error_set(err, ERROR_USAGE,
                                 "'%" STR_FMT "' is not a list of CPUs like 0-3,8", STR_ARG(text));
        } else if (str_parse_u64(part, 10, &from)) {
            to = from;
        } else {
            return error_set(err, ERROR_USAGE, "'%" STR_FMT "' is not a list of CPUs like 0-3,8",
                             STR_ARG(text));
        }
        if (to >= CPU_LIST_MAX || to - from >= max || ret->len + (to - from) >= max)
            return error_set(err, ERROR_USAGE, "'%" STR_FMT "' names more than %zu CPUs",
                             STR_ARG(text), max);
        for (uint64_t cpu = from; cpu <= to; cpu++)
            vec_push(NULL, ret, (uint32_t)cpu);
    }
    if (ret->len == 0)
        return error_set(err, ERROR_USAGE, "an empty list of CPUs");
    return true;
}

bool cpu_list_online(U32Vec *ret, Error *err)
{
    char buf[4096];
    Str text;
    if (os_read_small("/sys/devices/system/cpu/online", buf, sizeof(buf), &text))
        return cpu_list_parse(text, CPU_LIST_MAX, ret, err);
    // This container has no sysfs: the numbers are nearly always 0 … n-1 then.
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    for (long cpu = 0; cpu < (n > 0 ? n : 1); cpu++)
        vec_push(NULL, ret, (uint32_t)cpu);
    return true;
}
