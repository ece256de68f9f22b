// SPDX-License-Identifier: Apache-2.0
// A thread that looks at other threads by /proc and process_vm_readv(2).

#include "collect/wait/proc_sampler_internal.h"

#include "base/vec.h"
#include "os/clock.h"
#include "os/proc.h"
#include "wire/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
    LIST_EVERY = 2,     // ticks: new threads are looked for
    CHILDREN_EVERY = 4, // and new processes
    PAGE = 4096,
    LINE_BYTES = 256,
    COMPACT_AT = 4096, // events that were taken
};

typedef struct SeenThread {
    int fd, times_fd; // of its "syscall" and "schedstat"
    ProcLife life;
    uint64_t base_run_ns, base_delay_ns; // of before the recording
    ProcWait *wait;                      // what it waits for; NULL: it runs
    bool is_listed;
} SeenThread;

typedef struct SeenProcess {
    uint32_t pid;
    bool is_new;
    Vec(SeenThread) threads;
} SeenProcess;

struct ProcSampler {
    pthread_t thread;
    bool is_running;
    atomic_bool stop;
    bool inherit;
    pthread_mutex_t lock; // of `events` and `added`
    Vec(ProcEvent) events;
    size_t taken;               // events that the reader has
    Vec(SeenProcess) added;     // not yet in `processes`
    Vec(SeenProcess) processes; // the thread's own
    uint64_t last_ns, tick;     // of the look before
    ProcSamplerCounts counts;
    Vec(uint64_t) looks; // when
    uint8_t stack[PROC_STACK_BYTES];
};

// ---- What a thread waits for --------------------------------------------------------------

static bool next_number(Str *rest, uint64_t *ret)
{
    Str word;
    if (!str_next_word(rest, &word))
        return false;
    bool is_hex = str_starts_with(word, STR("0x"));
    return str_parse_u64(is_hex ? str_slice(word, 2, word.len) : word, is_hex ? 16 : 10, ret);
}

bool proc_syscall_parse(Str line, ProcWait *ret)
{
    enum { ARGS = 6 };
    uint64_t call, args[ARGS];
    ProcWait w = {.call = WAIT_NO_CALL};
    if (str_starts_with(line, STR("-1 "))) {
        line = str_slice(line, 3, line.len);
    } else {
        if (!next_number(&line, &call) || call >= WAIT_NO_CALL)
            return false;
        w.call = call < WAIT_CALLS ? (uint32_t)call : WAIT_NO_CALL;
        for (size_t i = 0; i < ARGS; i++)
            if (!next_number(&line, &args[i]))
                return false;
        memcpy(w.args, args, sizeof(w.args));
    }
    if (!next_number(&line, &w.sp) || !next_number(&line, &w.pc))
        return false;
    ret->call = w.call;
    memcpy(ret->args, w.args, sizeof(w.args));
    ret->sp = w.sp;
    ret->pc = w.pc;
    return true;
}

static bool is_same_wait(const ProcWait *a, const ProcWait *b)
{
    return a->call == b->call && a->sp == b->sp && a->pc == b->pc &&
           memcmp(a->args, b->args, sizeof(a->args)) == 0;
}

// Whether the state of the thread tells more than its system call. Opening the file that states it
// costs as much as all else.
static bool needs_how(uint32_t call)
{
#ifdef SYS_open
    if (call == SYS_open || call == SYS_creat)
        return true;
#endif
    return call == WAIT_NO_CALL || call == SYS_openat;
}

// Whether a thread was stopped, or sleeps without heeding signals, by its state (proc(5), "stat").
static uint32_t how_it_sleeps(uint32_t pid, uint32_t tid)
{
    char path[64], text[512];
    snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", pid, tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
    if (fd >= 0)
        close(fd);
    const char *end = n > 0 ? memrchr(text, ')', (size_t)n) : NULL;
    char state = end && end + 2 < text + n ? end[2] : 'S';
    return state == 'D' ? WAIT_HOW_DEEP : state == 'T' || state == 't' ? WAIT_HOW_STOPPED : 0;
}

// Pages are read one by one, because a read of a range that ends behind the stack fails as a whole.
static uint32_t read_stack(ProcSampler *s, uint32_t pid, uint64_t sp)
{
    enum { PARTS = PROC_STACK_BYTES / PAGE + 1 };
    struct iovec to = {s->stack, PROC_STACK_BYTES}, from[PARTS];
    size_t count = 0, at = 0;
    while (at < PROC_STACK_BYTES && count < PARTS) {
        size_t part = MIN(PAGE - (size_t)((sp + at) % PAGE), (size_t)PROC_STACK_BYTES - at);
        from[count++] = (struct iovec){(void *)(uintptr_t)(sp + at), part};
        at += part;
    }
    ssize_t n = process_vm_readv((pid_t)pid, &to, 1, from, count, 0);
    return n > 0 ? (uint32_t)n : 0;
}

// ---- Events -----------------------------------------------------------------------------

static void tell(ProcSampler *s, const ProcEvent *e)
{
    pthread_mutex_lock(&s->lock);
    vec_push(NULL, &s->events, *e);
    pthread_mutex_unlock(&s->lock);
}

static void end_wait(ProcSampler *s, SeenThread *t, uint64_t now)
{
    if (!t->wait)
        return;
    tell(s, &(ProcEvent){.kind = PROC_WAIT_ENDS, .time_ns = now, .wait = t->wait});
    t->wait = NULL;
}

static void begin_wait(ProcSampler *s, SeenThread *t, const ProcWait *like, uint64_t now)
{
    ProcWait *w = heap_alloc(sizeof(*w));
    *w = *like;
    w->pid = t->life.pid;
    w->tid = t->life.tid;
    w->begin_ns = now;
    if (needs_how(w->call))
        w->how = how_it_sleeps(w->pid, w->tid);
    w->stack_len = read_stack(s, w->pid, w->sp);
    w->stack = heap_alloc(MAX(w->stack_len, 1u));
    memcpy(w->stack, s->stack, w->stack_len);
    t->wait = w;
    tell(s, &(ProcEvent){.kind = PROC_WAIT_BEGINS, .time_ns = now, .wait = w});
}

// ---- Looking ------------------------------------------------------------------------------

static void read_times(SeenThread *t)
{
    char text[LINE_BYTES];
    ssize_t n = t->times_fd >= 0 ? pread(t->times_fd, text, sizeof(text), 0) : -1;
    Str line = {text, (size_t)MAX(n, (ssize_t)0)};
    uint64_t run, delay, turns;
    if (!next_number(&line, &run) || !next_number(&line, &delay) || !next_number(&line, &turns))
        return;
    t->life.turns = turns;
    t->life.run_ns = run - MIN(run, t->base_run_ns);
    t->life.delay_ns = delay - MIN(delay, t->base_delay_ns);
}

static void thread_ends(ProcSampler *s, SeenThread *t, uint64_t now)
{
    end_wait(s, t, now);
    tell(s, &(ProcEvent){.kind = PROC_THREAD_ENDS, .time_ns = now, .life = t->life});
    close(t->fd);
    if (t->times_fd >= 0)
        close(t->times_fd);
}

static void add_look(ProcWait *w, uint64_t span, bool is_another, uint64_t now)
{
    if (w->count == 0 || is_another) {
        w->count++;
        w->single_ns = 0;
    }
    w->single_ns += span;
    w->longest_ns = MAX(w->longest_ns, w->single_ns);
    w->span_ns += span;
    w->end_ns = now;
}

// False: it has ended.
static bool look_at(ProcSampler *s, SeenThread *t, uint64_t now)
{
    char text[LINE_BYTES];
    ssize_t n = pread(t->fd, text, sizeof(text), 0);
    uint64_t span = now - MAX(s->last_ns, t->life.begin_ns);
    ProcWait seen = {0};
    if (n <= 0)
        return false;
    s->counts.looks++;
    t->life.end_ns = now;
    uint64_t turns = t->life.turns;
    read_times(t);
    if (!proc_syscall_parse((Str){text, (size_t)n}, &seen)) {
        end_wait(s, t, now);
        t->life.running_ns += span;
        return true;
    }
    if (t->wait && !is_same_wait(t->wait, &seen))
        end_wait(s, t, now);
    if (!t->wait)
        begin_wait(s, t, &seen, now);
    add_look(t->wait, span, turns != t->life.turns, now);
    return true;
}

static int open_of(uint32_t pid, uint32_t tid, const char *file)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", pid, tid, file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void add_thread(ProcSampler *s, SeenProcess *p, uint32_t tid, uint64_t now)
{
    SeenThread t = {.fd = open_of(p->pid, tid, "syscall"),
                    .life = {.pid = p->pid, .tid = tid, .begin_ns = now, .end_ns = now},
                    .is_listed = true};
    if (t.fd < 0) {
        s->counts.refused += errno == EACCES || errno == EPERM;
        return;
    }
    t.times_fd = open_of(p->pid, tid, "schedstat");
    if (!p->is_new) {
        read_times(&t);
        t.base_run_ns = t.life.run_ns;
        t.base_delay_ns = t.life.delay_ns;
        t.life.run_ns = t.life.delay_ns = 0;
    }
    vec_push(NULL, &p->threads, t);
}

static bool is_watched(const ProcSampler *s, uint32_t pid)
{
    for (size_t i = 0; i < s->processes.len; i++)
        if (s->processes.at[i].pid == pid)
            return true;
    return false;
}

// The processes that a thread made, where the kernel lists them (proc(5), "children").
static void add_children(ProcSampler *s, uint32_t pid, uint32_t tid)
{
    char text[4096];
    int fd = open_of(pid, tid, "children");
    ssize_t n = fd >= 0 ? read(fd, text, sizeof(text)) : -1;
    if (fd >= 0)
        close(fd);
    Str rest = {text, (size_t)MAX(n, (ssize_t)0)};
    uint64_t child;
    while (next_number(&rest, &child) && child <= INT32_MAX)
        proc_sampler_add(s, (uint32_t)child, true);
}

static void list_threads(ProcSampler *s, SeenProcess *p, uint64_t now)
{
    U32Vec tids = {0};
    if (!proc_list_threads(p->pid, &tids, NULL))
        tids.len = 0;
    for (size_t i = 0; i < tids.len; i++) {
        bool known = false;
        for (size_t k = 0; k < p->threads.len && !known; k++)
            known = p->threads.at[(i + k) % p->threads.len].life.tid == tids.at[i];
        if (!known)
            add_thread(s, p, tids.at[i], now);
    }
    vec_free(&tids);
    p->is_new = true; // threads that appear from now on are
}

// Whether the process has as many threads as are looked at: each is a folder in its "task", which
// counts as a link.
static bool has_all_threads(const SeenProcess *p)
{
    enum { LINKS = 2 };
    char path[64];
    struct stat st;
    snprintf(path, sizeof(path), "/proc/%u/task", p->pid);
    return stat(path, &st) == 0 && st.st_nlink == p->threads.len + LINKS;
}

static void look_at_process(ProcSampler *s, SeenProcess *p, uint64_t now)
{
    if (p->threads.len == 0 || (s->tick % LIST_EVERY == 0 && !has_all_threads(p)))
        list_threads(s, p, now);
    for (size_t i = 0; s->inherit && s->tick % CHILDREN_EVERY == 0 && i < p->threads.len; i++)
        add_children(s, p->pid, p->threads.at[i].life.tid);
    size_t kept = 0;
    for (size_t i = 0; i < p->threads.len; i++) {
        SeenThread t = p->threads.at[i];
        if (look_at(s, &t, now))
            p->threads.at[kept++] = t;
        else
            thread_ends(s, &t, now);
    }
    p->threads.len = kept;
}

static void take_added(ProcSampler *s)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->added.len; i++)
        if (!is_watched(s, s->added.at[i].pid))
            vec_push(NULL, &s->processes, s->added.at[i]);
    s->added.len = 0;
    pthread_mutex_unlock(&s->lock);
}

static void look_at_all(ProcSampler *s)
{
    uint64_t now = (uint64_t)os_monotonic_ns();
    size_t kept = 0;
    take_added(s);
    for (size_t i = 0; i < s->processes.len; i++) {
        SeenProcess *p = &s->processes.at[i];
        look_at_process(s, p, now);
        if (p->threads.len)
            s->processes.at[kept++] = *p;
        else
            vec_free(&p->threads);
    }
    s->processes.len = kept;
    s->last_ns = now;
    s->tick++;
    vec_push(NULL, &s->looks, now);
}

static void *run(void *ctx)
{
    ProcSampler *s = ctx;
    uint64_t next = (uint64_t)os_monotonic_ns();
    s->last_ns = next;
    while (!atomic_load(&s->stop)) {
        look_at_all(s);
        uint64_t now = (uint64_t)os_monotonic_ns();
        next = MAX(next + PROC_TICK_NS, now);
        struct timespec until = {(time_t)(next / 1000000000), (long)(next % 1000000000)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
    look_at_all(s);
    for (size_t i = 0; i < s->processes.len; i++) {
        SeenProcess *p = &s->processes.at[i];
        for (size_t k = 0; k < p->threads.len; k++) {
            read_times(&p->threads.at[k]);
            thread_ends(s, &p->threads.at[k], s->last_ns);
        }
        vec_free(&p->threads);
    }
    s->processes.len = 0;
    s->counts.cpu_ns = (uint64_t)os_thread_cpu_ns();
    return NULL;
}

// ---- From the outside ---------------------------------------------------------------------

bool proc_sampler_open(bool inherit, ProcSampler **ret, Error *err)
{
    ProcSampler *s = heap_alloc(sizeof(*s));
    s->inherit = inherit;
    pthread_mutex_init(&s->lock, NULL);
    errno = pthread_create(&s->thread, NULL, run, s);
    if (errno != 0) {
        error_os(err, "cannot start a thread that looks at others");
        pthread_mutex_destroy(&s->lock);
        heap_free(s);
        return false;
    }
    s->is_running = true;
    *ret = s;
    return true;
}

void proc_sampler_stop(ProcSampler *s)
{
    if (!s->is_running)
        return;
    atomic_store(&s->stop, true);
    pthread_join(s->thread, NULL);
    s->is_running = false;
}

void proc_sampler_close(ProcSampler *s)
{
    if (!s)
        return;
    proc_sampler_stop(s);
    for (size_t i = s->taken; i < s->events.len; i++)
        if (s->events.at[i].kind == PROC_WAIT_ENDS) {
            heap_free(s->events.at[i].wait->stack);
            heap_free(s->events.at[i].wait);
        }
    vec_free(&s->events);
    vec_free(&s->added);
    vec_free(&s->looks);
    vec_free(&s->processes);
    pthread_mutex_destroy(&s->lock);
    heap_free(s);
}

void proc_sampler_add(ProcSampler *s, uint32_t pid, bool is_new)
{
    SeenProcess p = {.pid = pid, .is_new = is_new};
    pthread_mutex_lock(&s->lock);
    vec_push(NULL, &s->added, p);
    pthread_mutex_unlock(&s->lock);
}

bool proc_sampler_take(ProcSampler *s, uint64_t until_ns, ProcEvent *ret)
{
    pthread_mutex_lock(&s->lock);
    bool found = s->taken < s->events.len && s->events.at[s->taken].time_ns <= until_ns;
    if (found)
        *ret = s->events.at[s->taken++];
    if (s->taken == s->events.len) {
        s->taken = s->events.len = 0;
    } else if (s->taken >= COMPACT_AT) {
        memmove(s->events.at, s->events.at + s->taken,
                (s->events.len - s->taken) * sizeof(s->events.at[0]));
        s->events.len -= s->taken;
        s->taken = 0;
    }
    pthread_mutex_unlock(&s->lock);
    return found;
}

const uint64_t *proc_sampler_looks(const ProcSampler *s, size_t *count)
{
    *count = s->looks.len;
    return s->looks.at;
}

ProcSamplerCounts proc_sampler_counts(const ProcSampler *s)
{
    return s->counts;
}
