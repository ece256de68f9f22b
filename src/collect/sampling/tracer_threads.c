// SPDX-License-Identifier: Apache-2.0
// The processes and threads of a tracer, and reading of their files in /proc.

#include "collect/sampling/tracer_parts_internal.h"

#include "collect/breakpoints/journal.h"
#include "os/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { MAPS_EVERY_NS = 10000000 }; // mappings are read no more often while there is nothing new

// ---- The tables -----------------------------------------------------------------------

TracedThread *tracer_find_thread(Tracer *t, uint32_t tid)
{
    uint32_t row;
    for (TableProbe p = table_probe(&t->by_tid, hash_u64(tid)); table_next(&t->by_tid, &p, &row);)
        if (t->threads.at[row].tid == tid && !t->threads.at[row].gone)
            return &t->threads.at[row];
    return NULL;
}

TracedProcess *tracer_find_process(Tracer *t, uint32_t pid)
{
    for (size_t i = 0; i < t->processes.len; i++)
        if (t->processes.at[i].pid == pid)
            return &t->processes.at[i];
    return NULL;
}

// Opens a file of /proc/PID.
static int open_of(uint32_t pid, const char *name, int mode)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
    return open(path, mode | O_CLOEXEC);
}

// Opens a file of one of its threads.
static int open_of_thread(uint32_t pid, uint32_t tid, const char *name)
{
    char below[32];
    snprintf(below, sizeof(below), "task/%u/%s", tid, name);
    return open_of(pid, below, O_RDONLY);
}

static void close_if_open(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void tracer_open_memory(const Tracer *t, TracedProcess *p)
{
    close_if_open(&p->memory_fd);
    p->memory_fd = open_of(p->pid, "mem", t->breaks ? O_RDWR : O_RDONLY);
}

// Its memory is a copy of the parent's, or the same, with the breakpoints.
static void copy_breaks(Tracer *t, TracedProcess *p, const TracedProcess *parent)
{
    for (size_t i = 0; i < parent->breaks.len; i++) {
        const TracedBreak *b = &parent->breaks.at[i];
        (void)!journal_add_byte(t->breaks->journal, (pid_t)p->pid, b->at, b->code[0]);
        vec_push(NULL, &p->breaks, *b);
    }
    if (parent->hook)
        (void)!journal_add_byte(t->breaks->journal, (pid_t)p->pid, parent->hook, parent->hook_byte);
    p->hook = parent->hook;
    p->hook_byte = parent->hook_byte;
    p->slot = parent->slot;
}

TracedProcess *tracer_add_process(Tracer *t, uint32_t pid, const TracedProcess *parent)
{
    TracedProcess p = {.pid = pid, .memory_fd = -1};
    tracer_open_memory(t, &p);
    p.size_fd = open_of(pid, "statm", O_RDONLY);
    // A new process has the mappings of its parent; the reader of the fork record knows them.
    for (size_t i = 0; parent && i < parent->maps.len; i++)
        vec_push(NULL, &p.maps, parent->maps.at[i]);
    if (t->breaks && parent)
        copy_breaks(t, &p, parent);
    vec_push(NULL, &t->processes, p);
    return &vec_last(&t->processes);
}

void tracer_close_process(TracedProcess *p)
{
    close_if_open(&p->memory_fd);
    close_if_open(&p->size_fd);
    vec_free(&p->maps);
    vec_free(&p->breaks);
}

static void remove_process(Tracer *t, TracedProcess *p)
{
    if (t->breaks)
        journal_drop_process(t->breaks->journal, (pid_t)p->pid);
    tracer_close_process(p);
    *p = vec_pop(&t->processes);
}

TracedThread *tracer_add_thread(Tracer *t, TracedProcess *p, uint32_t tid)
{
    TracedThread thread = {.tid = tid, .pid = p->pid};
    thread.schedstat_fd = open_of_thread(p->pid, tid, "schedstat");
    thread.stat_fd = open_of_thread(p->pid, tid, "stat");
    t->unwatched += thread.stat_fd < 0;
    p->threads++;
    table_insert(&t->by_tid, hash_u64(tid), (uint32_t)t->threads.len);
    vec_push(NULL, &t->threads, thread);
    return &vec_last(&t->threads);
}

void tracer_forget_gone(Tracer *t)
{
    enum { GONE_MIN = 64 };
    if (t->gone < GONE_MIN || t->gone * 2 < t->threads.len)
        return;
    size_t kept = 0;
    table_deinit(&t->by_tid);
    for (size_t i = 0; i < t->threads.len; i++) {
        if (t->threads.at[i].gone)
            continue;
        t->threads.at[kept] = t->threads.at[i];
        table_insert(&t->by_tid, hash_u64(t->threads.at[kept].tid), (uint32_t)kept);
        kept++;
    }
    t->threads.len = kept;
    t->gone = 0;
}

void tracer_close_thread(TracedThread *thread)
{
    close_if_open(&thread->schedstat_fd);
    close_if_open(&thread->stat_fd);
}

void tracer_remove_thread(Tracer *t, TracedThread *thread)
{
    tracer_close_thread(thread);
    thread->gone = true;
    t->gone++;
    TracedProcess *p = tracer_find_process(t, thread->pid);
    if (p && --p->threads == 0)
        remove_process(t, p);
}

TracedThread *tracer_need_thread(Tracer *t, uint32_t tid, uint32_t parent_tid)
{
    TracedThread *known = tracer_find_thread(t, tid);
    if (known)
        return known;
    Arena scratch = {0};
    ProcStatus st;
    bool alive = proc_status_read(&scratch, tid, &st, NULL);
    arena_deinit(&scratch);
    if (!alive)
        return NULL;
    const TracedThread *parent = parent_tid ? tracer_find_thread(t, parent_tid) : NULL;
    uint32_t parent_pid = parent ? parent->pid : st.parent;
    TracedProcess *p = tracer_find_process(t, st.thread_group);
    if (p)
        parent_pid = p->pid;
    else
        p = tracer_add_process(t, st.thread_group, tracer_find_process(t, parent_pid));
    tracer_tell_task(t, PERF_RECORD_FORK, p->pid, parent_pid, tid,
                     parent_tid ? parent_tid : parent_pid);
    return tracer_add_thread(t, p, tid);
}

// ---- A thread in /proc ------------------------------------------------------

static Str read_at(int fd, char *buf, size_t size)
{
    ssize_t n = fd >= 0 ? pread(fd, buf, size, 0) : -1;
    return str_over(buf, n > 0 ? (size_t)n : 0);
}

static bool parse_stat(Str text, ThreadStat *ret)
{
    enum { STATE = 3, USER = 14, SYSTEM = 15, PROCESSOR = 39 };
    size_t open = str_find_char(text, '('), end = str_find_last_char(text, ')');
    if (open == SIZE_MAX || end == SIZE_MAX || end < open)
        return false;
    *ret = (ThreadStat){.name = str_slice(text, open + 1, end)};
    Str rest = str_slice(text, end + 2, text.len), word;
    for (int field = STATE; field <= PROCESSOR && str_next_part(&rest, ' ', &word); field++) {
        uint64_t n;
        if (field == STATE && word.len)
            ret->state = word.ptr[0];
        else if ((field == USER || field == SYSTEM) && str_parse_u64(word, 10, &n))
            ret->ticks += n;
        else if (field == PROCESSOR && str_parse_u64(word, 10, &n))
            ret->cpu = (uint32_t)n;
    }
    return ret->state != 0;
}

bool tracer_read_stat(const TracedThread *thread, char *buf, size_t size, ThreadStat *ret)
{
    return parse_stat(read_at(thread->stat_fd, buf, size), ret);
}

bool tracer_read_cpu_time(const TracedThread *thread, uint64_t *ret_ns, uint64_t *ret_switches)
{
    char buf[512];
    Str text = str_trim(read_at(thread->schedstat_fd, buf, sizeof(buf))), word;
    uint64_t value[3] = {0};
    size_t n = 0;
    while (n < ARRAY_LEN(value) && str_next_part(&text, ' ', &word) &&
           str_parse_u64(word, 10, &value[n]))
        n++;
    if (n == ARRAY_LEN(value)) {
        *ret_ns = value[0];
        *ret_switches = value[2];
        return true;
    }
    ThreadStat st; // when CONFIG_SCHED_INFO is not set, or this is no Linux
    if (!tracer_read_stat(thread, buf, sizeof(buf), &st))
        return false;
    *ret_ns = st.ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
    *ret_switches = 0;
    return true;
}

void tracer_look_at_name(Tracer *t, TracedThread *thread, Str name)
{
    uint64_t hash = str_hash(name);
    if (thread->name_hash && thread->name_hash != hash)
        tracer_tell_name(t, thread->pid, thread->tid, name, false);
    thread->name_hash = hash;
}

// ---- Maps -----------------------------------------------------------------------------

static bool is_told(const TracedProcess *p, const ProcMap *m)
{
    for (size_t i = 0; i < p->maps.len; i++) {
        const TracedMap *k = &p->maps.at[i];
        if (k->start == m->start && k->end == m->end && k->offset == m->offset &&
            k->inode == m->inode)
            return true;
    }
    return false;
}

void tracer_read_maps(Tracer *t, TracedProcess *p)
{
    Arena scratch = {0};
    ProcMapVec maps = {0};
    p->maps_read_ns = os_monotonic_ns();
    if (proc_maps_read(&scratch, p->pid, &maps, NULL)) {
        for (size_t i = 0; i < maps.len; i++)
            if (maps.at[i].exec && !is_told(p, &maps.at[i])) {
                tracer_tell_map(t, p->pid, &maps.at[i]);
                t->urgent = true;    // the mapped file may be deleted soon
                p->maps_read_ns = 0; // more mappings may come soon
            }
        p->maps.len = 0;
        for (size_t i = 0; i < maps.len; i++)
            if (maps.at[i].exec)
                vec_push(NULL, &p->maps,
                         (TracedMap){maps.at[i].start, maps.at[i].end, maps.at[i].offset,
                                     maps.at[i].inode});
    }
    arena_deinit(&scratch);
}

// There are no records of new mappings, but each changes the size of the address space.
void tracer_refresh_maps(Tracer *t, TracedProcess *p)
{
    char buf[128];
    Str text = read_at(p->size_fd, buf, sizeof(buf)), word;
    uint64_t pages;
    if (!str_next_part(&text, ' ', &word) || !str_parse_u64(word, 10, &pages) ||
        pages == p->pages || os_monotonic_ns() - p->maps_read_ns < MAPS_EVERY_NS)
        return;
    p->pages = pages;
    tracer_read_maps(t, p);
}
