// SPDX-License-Identifier: Apache-2.0
// Sampling by ptrace(2), where the kernel refuses perf_event_open.

#include "collect/sampling/tracer_internal.h"

#include "model/facts.h"
#include "os/clock.h"
#include "os/proc.h"
#include "unwind/core.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
static const UnwindArch machine_arch = UNWIND_X86_64;
typedef struct user_regs_struct UserRegs;
#else
static const UnwindArch machine_arch = UNWIND_AARCH64;
typedef struct user_pt_regs UserRegs;
#endif

enum {
    TRACER_EVENT_ID = 1,
    STACK_BYTES_MAX = 65024, // a record has 16 bits for its size
    RECORD_BYTES_MAX = 512,  // of a sample without its stack, of others without their text
    PATH_BYTES_MAX = 4096,
    MAPS_EVERY_NS = 10000000, // no sooner, where reading them told nothing new
    PUSH_EVERY_NS = 50000000, // samples may wait for the worker so long
    DETACH_MS = 1000,
    RATE_MAX_HZ = 1000, // each sample stops a thread
};

#define NS_PER_MS 1000000ll

// ---- The events -------------------------------------------------------------------

void tracer_events(Arena *arena, const SamplingOptions *options, Str why, EventSet *ret)
{
    PerfLimits limits = perf_limits();
    *ret = (EventSet){.arena = arena, .options = options, .limits = limits};
    ret->stacks = STACKS_TABLES;
    ret->user_only = true;
    ret->traced = true;
    ret->counts_lost = true;
    ret->freq_hz = options->freq_hz ? options->freq_hz : RATE_MAX_HZ;
    ret->freq_clamped = ret->freq_hz > RATE_MAX_HZ;
    ret->freq_hz = MIN(ret->freq_hz, (uint64_t)RATE_MAX_HZ);
    ret->stack_bytes = STACK_BYTES_MAX;
    ret->event_name = STR(EVENT_PTRACE);
    ret->fallback = why;
    EventSpec clock = {.name = STR(EVENT_PTRACE),
                       .type = PERF_TYPE_SOFTWARE,
                       .config = PERF_COUNT_SW_CPU_CLOCK,
                       .unit = STR("ns"),
                       .group = EVENT_NO_GROUP};
    vec_push(arena, &ret->events, clock);
    ret->base = (struct perf_event_attr){
        .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
                       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
        .sample_regs_user = unwind_perf_regs_mask(machine_arch),
        .sample_stack_user = STACK_BYTES_MAX,
        .sample_id_all = 1,
    };
    ret->layout = perf_layout(&ret->base);
    // The merge of rings sees one; there is nothing to drain or to close.
    ret->rings = arena_new(arena, PerfRing);
    ret->ring_count = 1;
    vec_push(NULL, &ret->open, (OpenEvent){.fd = -1, .event = 0, .id = TRACER_EVENT_ID});
    table_insert(&ret->by_id, hash_u64(TRACER_EVENT_ID), 0);
}

// ---- Records ------------------------------------------------------------------------

static void push_chunk(Tracer *t)
{
    if (!t->chunk)
        return;
    t->chunk->ends_round = true;
    queue_push(t->queue, t->chunk);
    t->chunk = NULL;
    t->pushed_ns = os_monotonic_ns();
}

// Room for a record of at most `size` bytes; NULL when the worker is too far behind.
static uint8_t *room_for(Tracer *t, size_t size, bool must)
{
    if (t->chunk && CHUNK_BYTES - t->chunk->len < size)
        push_chunk(t);
    if (!t->chunk) {
        t->chunk = queue_take_empty(t->queue, must);
        if (!t->chunk)
            return NULL;
        t->chunk->ring = 0;
    }
    return t->chunk->data + t->chunk->len;
}

typedef struct RecordWriter {
    uint8_t *start, *at;
} RecordWriter;

static void put_u64(RecordWriter *w, uint64_t v)
{
    memcpy(w->at, &v, sizeof(v));
    w->at += sizeof(v);
}

static void put_two_u32(RecordWriter *w, uint32_t a, uint32_t b)
{
    put_u64(w, a | (uint64_t)b << 32);
}

static void put_text(RecordWriter *w, Str text)
{
    size_t len = MIN(text.len, (size_t)PATH_BYTES_MAX);
    size_t padded = align_up(len + 1, 8);
    memset(w->at, 0, padded);
    if (len)
        memcpy(w->at, text.ptr, len);
    w->at += padded;
}

static RecordWriter record_begin(Tracer *t, size_t text_len)
{
    RecordWriter w;
    w.start = room_for(t, RECORD_BYTES_MAX + MIN(text_len, (size_t)PATH_BYTES_MAX), true);
    w.at = w.start + sizeof(struct perf_event_header);
    return w;
}

static void finish(Tracer *t, RecordWriter *w, uint32_t type, uint16_t misc)
{
    struct perf_event_header h = {.type = type, .misc = misc, .size = (uint16_t)(w->at - w->start)};
    memcpy(w->start, &h, sizeof(h));
    t->chunk->len += h.size;
}

// With the part that ends all records but samples: see tracer_events.
static void record_end(Tracer *t, RecordWriter *w, uint32_t type, uint16_t misc, uint32_t pid,
                       uint32_t tid)
{
    put_two_u32(w, pid, tid);
    put_u64(w, (uint64_t)os_monotonic_ns());
    put_u64(w, 0); // CPU
    put_u64(w, TRACER_EVENT_ID);
    finish(t, w, type, misc);
}

static void tell_task(Tracer *t, uint32_t type, uint32_t pid, uint32_t parent_pid, uint32_t tid,
                      uint32_t parent_tid)
{
    RecordWriter w = record_begin(t, 0);
    put_two_u32(&w, pid, parent_pid);
    put_two_u32(&w, tid, parent_tid);
    put_u64(&w, (uint64_t)os_monotonic_ns());
    record_end(t, &w, type, PERF_RECORD_MISC_USER, pid, tid);
}

static void tell_name(Tracer *t, uint32_t pid, uint32_t tid, Str name, bool exec)
{
    RecordWriter w = record_begin(t, name.len);
    put_two_u32(&w, pid, tid);
    put_text(&w, name);
    record_end(t, &w, PERF_RECORD_COMM,
               PERF_RECORD_MISC_USER | (exec ? PERF_RECORD_MISC_COMM_EXEC : 0), pid, tid);
}

static void tell_map(Tracer *t, uint32_t pid, const ProcMap *m)
{
    RecordWriter w = record_begin(t, m->path.len);
    put_two_u32(&w, pid, pid);
    put_u64(&w, m->start);
    put_u64(&w, m->end - m->start);
    put_u64(&w, m->offset);
    put_two_u32(&w, m->device_major, m->device_minor);
    put_u64(&w, m->inode);
    put_u64(&w, 0); // generation of the inode
    put_two_u32(&w, PROT_READ | PROT_EXEC, MAP_PRIVATE);
    put_text(&w, m->path);
    record_end(t, &w, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, pid, pid);
}

// ---- Processes and threads --------------------------------------------------------------

static TracedThread *find_thread(Tracer *t, uint32_t tid)
{
    uint32_t row;
    for (TableProbe p = table_probe(&t->by_tid, hash_u64(tid)); table_next(&t->by_tid, &p, &row);)
        if (t->threads.at[row].tid == tid && !t->threads.at[row].gone)
            return &t->threads.at[row];
    return NULL;
}

static TracedProcess *find_process(Tracer *t, uint32_t pid)
{
    for (size_t i = 0; i < t->processes.len; i++)
        if (t->processes.at[i].pid == pid)
            return &t->processes.at[i];
    return NULL;
}

// A file of /proc/PID.
static int open_of(uint32_t pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

// A file of one of its threads.
static int open_of_thread(uint32_t pid, uint32_t tid, const char *name)
{
    char below[32];
    snprintf(below, sizeof(below), "task/%u/%s", tid, name);
    return open_of(pid, below);
}

static void close_if_open(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void open_memory(TracedProcess *p)
{
    close_if_open(&p->memory_fd);
    p->memory_fd = open_of(p->pid, "mem");
}

static TracedProcess *add_process(Tracer *t, uint32_t pid, const TracedProcess *parent)
{
    TracedProcess p = {.pid = pid, .memory_fd = -1};
    open_memory(&p);
    p.size_fd = open_of(pid, "statm");
    // Its maps are the parent's, and whoever hears of the fork knows.
    for (size_t i = 0; parent && i < parent->maps.len; i++)
        vec_push(NULL, &p.maps, parent->maps.at[i]);
    vec_push(NULL, &t->processes, p);
    return &vec_last(&t->processes);
}

static void close_process(TracedProcess *p)
{
    close_if_open(&p->memory_fd);
    close_if_open(&p->size_fd);
    vec_free(&p->maps);
}

static void remove_process(Tracer *t, TracedProcess *p)
{
    close_process(p);
    *p = vec_pop(&t->processes);
}

static TracedThread *add_thread(Tracer *t, TracedProcess *p, uint32_t tid)
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

// Rows of threads that ended are dropped when they are the greater part.
static void forget_gone(Tracer *t)
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

static void remove_thread(Tracer *t, TracedThread *thread)
{
    close_if_open(&thread->schedstat_fd);
    close_if_open(&thread->stat_fd);
    thread->gone = true;
    t->gone++;
    TracedProcess *p = find_process(t, thread->pid);
    if (p && --p->threads == 0)
        remove_process(t, p);
}

// A thread that the kernel made ours. NULL when it is gone already.
static TracedThread *need_thread(Tracer *t, uint32_t tid, uint32_t parent_tid)
{
    TracedThread *known = find_thread(t, tid);
    if (known)
        return known;
    Arena scratch = {0};
    ProcStatus st;
    bool alive = proc_status_read(&scratch, tid, &st, NULL);
    arena_deinit(&scratch);
    if (!alive)
        return NULL;
    const TracedThread *parent = parent_tid ? find_thread(t, parent_tid) : NULL;
    uint32_t parent_pid = parent ? parent->pid : st.parent;
    TracedProcess *p = find_process(t, st.thread_group);
    if (p)
        parent_pid = p->pid;
    else
        p = add_process(t, st.thread_group, find_process(t, parent_pid));
    tell_task(t, PERF_RECORD_FORK, p->pid, parent_pid, tid, parent_tid ? parent_tid : parent_pid);
    return add_thread(t, p, tid);
}

// ---- What /proc says of a thread ------------------------------------------------------------

static Str read_at(int fd, char *buf, size_t size)
{
    ssize_t n = fd >= 0 ? pread(fd, buf, size, 0) : -1;
    return str_over(buf, n > 0 ? (size_t)n : 0);
}

typedef struct ThreadStat {
    Str name; // in the caller's buffer
    char state;
    uint64_t ticks; // of processor time
    uint32_t cpu;
} ThreadStat;

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

static bool read_stat(const TracedThread *thread, char *buf, size_t size, ThreadStat *ret)
{
    return parse_stat(read_at(thread->stat_fd, buf, size), ret);
}

// Processor time of a thread, and how often it was given a processor. Exact while
// it stands; of a thread that runs the kernel knows it up to its last tick.
static bool read_cpu_time(const TracedThread *thread, uint64_t *ret_ns, uint64_t *ret_switches)
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
    ThreadStat st; // CONFIG_SCHED_INFO is not set, or this is no Linux
    if (!read_stat(thread, buf, sizeof(buf), &st))
        return false;
    *ret_ns = st.ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
    *ret_switches = 0;
    return true;
}

// ---- Maps ------------------------------------------------------------------------------------

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

static void read_maps(Tracer *t, TracedProcess *p)
{
    Arena scratch = {0};
    ProcMapVec maps = {0};
    p->maps_read_ns = os_monotonic_ns();
    if (proc_maps_read(&scratch, p->pid, &maps, NULL)) {
        for (size_t i = 0; i < maps.len; i++)
            if (maps.at[i].exec && !is_told(p, &maps.at[i])) {
                tell_map(t, p->pid, &maps.at[i]);
                t->urgent = true;    // its file may not be there for long
                p->maps_read_ns = 0; // more may come soon
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

// No record tells of a mapping, but each changes the size of the address space.
static void refresh_maps(Tracer *t, TracedProcess *p)
{
    char buf[128];
    Str text = read_at(p->size_fd, buf, sizeof(buf)), word;
    uint64_t pages;
    if (!str_next_part(&text, ' ', &word) || !str_parse_u64(word, 10, &pages) ||
        pages == p->pages || os_monotonic_ns() - p->maps_read_ns < MAPS_EVERY_NS)
        return;
    p->pages = pages;
    read_maps(t, p);
}

// ---- Samples -----------------------------------------------------------------------------------

static void put_regs(RecordWriter *w, const UserRegs *r)
{
#if defined(__x86_64__)
    // In the order of perf's numbers: asm/perf_regs.h, less flags and segments.
    const uint64_t values[] = {r->rax, r->rbx, r->rcx, r->rdx, r->rsi, r->rdi,
                               r->rbp, r->rsp, r->rip, r->r8,  r->r9,  r->r10,
                               r->r11, r->r12, r->r13, r->r14, r->r15};
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        put_u64(w, values[i]);
#else
    for (size_t i = 0; i < ARRAY_LEN(r->regs); i++)
        put_u64(w, r->regs[i]);
    put_u64(w, r->sp);
    put_u64(w, r->pc);
#endif
}

static uint64_t pc_of(const UserRegs *r)
{
#if defined(__x86_64__)
    return r->rip;
#else
    return r->pc;
#endif
}

static uint64_t sp_of(const UserRegs *r)
{
#if defined(__x86_64__)
    return r->rsp;
#else
    return r->sp;
#endif
}

// Whether the thread came to its stop out of a system call, not out of an
// interrupt; false where registers do not tell.
static bool left_syscall(const UserRegs *r)
{
#if defined(__x86_64__)
    return (int64_t)r->orig_rax >= 0;
#else
    (void)r;
    return false;
#endif
}

static void tell_sample(Tracer *t, const TracedThread *thread, const TracedProcess *p,
                        const UserRegs *regs, uint32_t cpu, uint64_t weight_ns)
{
    RecordWriter w;
    w.start = room_for(t, RECORD_BYTES_MAX + STACK_BYTES_MAX, false);
    if (!w.start) {
        t->dropped++;
        return;
    }
    w.at = w.start + sizeof(struct perf_event_header);
    put_u64(&w, TRACER_EVENT_ID);
    put_u64(&w, pc_of(regs));
    put_two_u32(&w, thread->pid, thread->tid);
    put_u64(&w, (uint64_t)os_monotonic_ns());
    put_u64(&w, cpu);
    put_u64(&w, weight_ns);
    put_u64(&w, PERF_SAMPLE_REGS_ABI_64);
    put_regs(&w, regs);
    uint8_t *stack = w.at + 8;
    ssize_t n =
        p->memory_fd >= 0 ? pread(p->memory_fd, stack, STACK_BYTES_MAX, (off_t)sp_of(regs)) : -1;
    uint64_t size = n > 0 ? align_down((uint64_t)n, 8) : 0;
    put_u64(&w, size);
    w.at += size;
    if (size)
        put_u64(&w, size);
    finish(t, &w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    t->samples++;
}

// The thread stands. It stands for the processor time since its last sample.
static void take_sample(Tracer *t, TracedThread *thread)
{
    uint64_t cpu_ns, switches;
    UserRegs regs;
    struct iovec iov = {&regs, sizeof(regs)};
    TracedProcess *p = find_process(t, thread->pid);
    if (!p || !read_cpu_time(thread, &cpu_ns, &switches))
        return;
    thread->waited = switches != thread->switches || cpu_ns <= thread->counted_ns;
    if (cpu_ns <= thread->counted_ns ||
        ptrace(PTRACE_GETREGSET, thread->tid, (void *)(uintptr_t)NT_PRSTATUS, &iov) != 0)
        return;
    // The kernel likes to take a processor away at the end of system calls: not a
    // place that stands for where time goes.
    if (thread->waited && left_syscall(&regs)) {
        p->due_ns += (int64_t)(1000000000u / t->events->freq_hz);
        return;
    }
    thread->sampled_at = switches;
    uint64_t weight = cpu_ns - thread->counted_ns;
    thread->counted_ns = cpu_ns;
    // A program of another word size has other registers.
    if (!t->sampling || iov.iov_len != sizeof(regs))
        return;
    refresh_maps(t, p);
    tell_sample(t, thread, p, &regs, thread->cpu, weight);
    t->counted_ns += weight;
}

// ---- Stops --------------------------------------------------------------------------------------

static void go_on(uint32_t tid, int signal)
{
    // One that was killed meanwhile reports its end.
    (void)ptrace(PTRACE_CONT, tid, NULL, (void *)(uintptr_t)signal);
}

static void on_new_task(Tracer *t, uint32_t parent_tid)
{
    unsigned long tid = 0;
    if (ptrace(PTRACE_GETEVENTMSG, parent_tid, NULL, &tid) == 0 && tid)
        (void)need_thread(t, (uint32_t)tid, parent_tid);
}

// The thread that did it has the number of the process now; the others are gone.
static void on_exec(Tracer *t, uint32_t pid)
{
    TracedProcess *p = find_process(t, pid);
    for (size_t i = 0; i < t->threads.len; i++) {
        TracedThread *other = &t->threads.at[i];
        if (other->gone || other->pid != pid || other->tid == pid)
            continue;
        remove_thread(t, other);
        p = find_process(t, pid);
    }
    if (!p)
        p = add_process(t, pid, NULL);
    TracedThread *thread = find_thread(t, pid);
    if (!thread)
        thread = add_thread(t, p, pid);
    thread->interrupted = false; // see on_report
    uint64_t switches;
    if (pid == (uint32_t)t->child && !t->started) {
        // What was used up to here is ours.
        t->started = true;
        (void)!read_cpu_time(thread, &thread->counted_ns, &switches);
    }
    open_memory(p);
    p->maps.len = 0;
    p->pages = 0;
    Arena scratch = {0};
    tell_name(t, pid, pid, proc_comm(&scratch, pid, pid), true);
    arena_deinit(&scratch);
    read_maps(t, p);
}

static bool stops_the_group(int signal)
{
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

static void on_event_stop(Tracer *t, TracedThread *thread, uint32_t tid, int signal)
{
    int64_t reported = os_monotonic_ns();
    bool interrupted = thread && thread->interrupted;
    if (thread)
        thread->interrupted = thread->waited = false;
    if (stops_the_group(signal)) {
        // Job control: it stays stopped, and tells when it is continued.
        (void)ptrace(PTRACE_LISTEN, tid, NULL, NULL);
        return;
    }
    if (interrupted)
        take_sample(t, thread);
    go_on(tid, 0);
    if (interrupted)
        // One that waited for a processor would have waited without us as well.
        t->stopped_ns += os_monotonic_ns() - (thread->waited ? reported : thread->asked_ns);
}

static void on_end(Tracer *t, uint32_t tid, int status, const struct rusage *usage)
{
    TracedThread *thread = find_thread(t, tid);
    if (thread) {
        tell_task(t, PERF_RECORD_EXIT, thread->pid, thread->pid, tid, tid);
        remove_thread(t, thread);
    }
    if (tid == (uint32_t)t->child) {
        t->child_ended = true;
        t->child_end = (ChildEnd){.status = status, .usage = *usage};
    }
}

static void on_report(Tracer *t, uint32_t tid, int status, const struct rusage *usage)
{
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
        on_end(t, tid, status, usage);
        return;
    }
    if (!WIFSTOPPED(status))
        return;
    int event = status >> 16, signal = WSTOPSIG(status);
    // An exec first: its number may be that of a leader that is gone.
    if (event == PTRACE_EVENT_EXEC) {
        on_exec(t, tid);
        go_on(tid, 0);
        return;
    }
    TracedThread *thread = need_thread(t, tid, 0);
    // A stop of any kind takes the place of one that was asked for and had not come.
    if (thread && event != PTRACE_EVENT_STOP)
        thread->interrupted = false;
    switch (event) {
    case PTRACE_EVENT_CLONE:
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
        on_new_task(t, tid);
        go_on(tid, 0);
        break;
    case PTRACE_EVENT_STOP:
        on_event_stop(t, thread, tid, signal);
        break;
    default: // on its way to get a signal
        go_on(tid, signal);
        break;
    }
}

void tracer_reap(Tracer *t)
{
    int status;
    struct rusage usage;
    pid_t tid;
    while ((tid = wait4(-1, &status, __WALL | WNOHANG, &usage)) > 0)
        on_report(t, (uint32_t)tid, status, &usage);
    forget_gone(t);
    if (t->urgent || t->child_ended || os_monotonic_ns() - t->pushed_ns > PUSH_EVERY_NS)
        push_chunk(t);
    t->urgent = false;
}

// ---- Asking for samples ------------------------------------------------------------------------

static void look_at_name(Tracer *t, TracedThread *thread, Str name)
{
    uint64_t hash = str_hash(name);
    if (thread->name_hash && thread->name_hash != hash)
        tell_name(t, thread->pid, thread->tid, name, false);
    thread->name_hash = hash;
}

// Only one that has a processor, or waits for one: a thread that sleeps in a
// system call is not to be woken, some of them end early. True when it was asked.
static bool ask(Tracer *t, TracedThread *thread)
{
    char buf[1024];
    uint64_t cpu_ns, switches;
    ThreadStat st;
    if (thread->interrupted || !read_cpu_time(thread, &cpu_ns, &switches))
        return false;
    // Not given a processor since its last sample.
    if (switches && switches == thread->sampled_at)
        return false;
    if (!thread->was_running && cpu_ns == thread->seen_ns && switches == thread->switches)
        return false;
    thread->seen_ns = cpu_ns;
    thread->switches = switches;
    if (!read_stat(thread, buf, sizeof(buf), &st))
        return false;
    look_at_name(t, thread, st.name);
    thread->was_running = st.state == 'R';
    thread->cpu = st.cpu;
    if (!thread->was_running || ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) != 0)
        return false;
    thread->interrupted = true;
    thread->asked_ns = os_monotonic_ns();
    return true;
}

// The processor time of a whole process, up to now, as the kernel's clock of it
// tells: clock_getcpuclockid(3). A period more where there is no such clock.
static uint64_t process_cpu_ns(const TracedProcess *p, uint64_t period_ns)
{
    clockid_t clock;
    struct timespec ts;
    if (clock_getcpuclockid((pid_t)p->pid, &clock) != 0 || clock_gettime(clock, &ts) != 0)
        return p->clock_ns + period_ns;
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void tracer_tick(Tracer *t)
{
    enum { DUE_MAX = 8 }; // periods: more is not caught up with
    int64_t period = (int64_t)(1000000000u / t->events->freq_hz);
    bool any = false;
    for (size_t i = 0; i < t->processes.len; i++) {
        TracedProcess *p = &t->processes.at[i];
        uint64_t now = process_cpu_ns(p, (uint64_t)period);
        int64_t used = now > p->clock_ns ? (int64_t)(now - p->clock_ns) : 0;
        p->due_ns = MIN(p->due_ns + used, period * DUE_MAX * (int64_t)MAX(p->threads, 1u));
        p->clock_ns = now;
        any = any || p->due_ns >= period;
    }
    size_t count = t->threads.len;
    for (size_t i = 0; any && i < count; i++) {
        TracedThread *thread = &t->threads.at[(t->first + i) % count];
        TracedProcess *p = thread->gone ? NULL : find_process(t, thread->pid);
        if (p && p->due_ns >= period && ask(t, thread))
            p->due_ns -= period;
    }
    t->first = count ? (t->first + 1) % count : 0;
}

void tracer_start(Tracer *t)
{
    uint64_t switches;
    for (size_t i = 0; i < t->threads.len; i++)
        if (!t->threads.at[i].gone)
            (void)!read_cpu_time(&t->threads.at[i], &t->threads.at[i].counted_ns, &switches);
    t->sampling = true;
}

// ---- Begin and end -----------------------------------------------------------------------------

bool tracer_seize(Tracer *t, const EventSet *events, ChunkQueue *queue, pid_t child, Error *err)
{
    *t = (Tracer){.events = events, .queue = queue, .child = child};
    uintptr_t options =
        PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;
    if (ptrace(PTRACE_SEIZE, child, NULL, (void *)options) != 0)
        return error_os(err, "cannot trace process %d", (int)child);
    (void)add_thread(t, add_process(t, (uint32_t)child, NULL), (uint32_t)child);
    return true;
}

void tracer_detach(Tracer *t)
{
    size_t held = 0;
    for (size_t i = 0; i < t->threads.len; i++)
        if (!t->threads.at[i].gone)
            held += ptrace(PTRACE_INTERRUPT, t->threads.at[i].tid, NULL, NULL) == 0;
    int64_t end = os_monotonic_ns() + DETACH_MS * NS_PER_MS;
    int status;
    struct rusage usage;
    while (held > 0 && os_monotonic_ns() < end) {
        pid_t tid = wait4(-1, &status, __WALL | WNOHANG, &usage);
        if (tid < 0)
            break;
        if (tid == 0) {
            struct timespec pause = {.tv_nsec = 200000};
            nanosleep(&pause, NULL);
            continue;
        }
        held--;
        if (!WIFSTOPPED(status)) {
            on_end(t, (uint32_t)tid, status, &usage);
            continue;
        }
        int signal = status >> 16 ? 0 : WSTOPSIG(status);
        (void)ptrace(PTRACE_DETACH, tid, NULL, (void *)(uintptr_t)signal);
    }
    // What could not be reached in time the kernel lets go when we end.
    push_chunk(t);
}

void tracer_deinit(Tracer *t)
{
    for (size_t i = 0; i < t->threads.len; i++) {
        close_if_open(&t->threads.at[i].schedstat_fd);
        close_if_open(&t->threads.at[i].stat_fd);
    }
    for (size_t i = 0; i < t->processes.len; i++)
        close_process(&t->processes.at[i]);
    vec_free(&t->threads);
    vec_free(&t->processes);
    table_deinit(&t->by_tid);
    if (t->chunk)
        queue_recycle(t->queue, t->chunk);
    *t = (Tracer){0};
}
