// SPDX-License-Identifier: Apache-2.0
// A thread that looks at other threads by /proc and process_vm_readv(2).

#include "collect/wait/proc_sampler_internal.h"

#include "base/vec.h"
#include "os/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE_BYTES = 256,
    COMPACT_AT = 4096,   // events that were taken
    SCAN_TICKS = 4,      // a new thread may have its number long before it is in a list
    SCAN_ANYWAY = 32,    // ticks, in case that a new thread was overlooked
    GIVE_UP_TICKS = 8,   // for a process that may not be looked at, as in the middle of an exec
    KEEP_OPEN = 1000,    // threads whose files stay open, beside the one that each look reads
    MANY_THREADS = 64,   // of more, those that sleep for long are looked at less often
    REST_TICKS_MAX = 12, // … than each tick
    LIST_TICKS = 4,      // between two lists of all processes
    TIMES_TICKS = 8,     // between two looks at the times of a thread whose switches are recorded
    PIDS_MAX = 1 << 22   // of Linux
};

typedef struct SeenThread {
    int fd, times_fd, children_fd; // of its "syscall", "schedstat", "children"; -1: not kept open
    bool has_times;                // the kernel has "schedstat"
    ProcLife life;
    uint64_t base_run_ns, base_delay_ns; // of before the recording
    uint64_t looked_ns, due_ns;          // of the last look, and of the next
    uint64_t sought_turns;               // its `turns` when its children were looked for
    uint32_t times_left;                 // looks until its times are read again
    ProcWait *wait;                      // what it waits for; NULL: it runs
} SeenThread;

typedef struct ProcRange {
    uint64_t start, end;
} ProcRange;

typedef struct SeenProcess {
    uint32_t pid;
    bool is_new;
    uint32_t refused;        // ticks, since it has no thread that may be looked at
    DIR *folder;             // of its threads; NULL: not open
    Vec(ProcRange) code;     // as it was told
    Vec(SeenThread) threads; // ascending by number
} SeenProcess;

struct ProcSampler {
    pthread_t thread;
    bool is_running;
    atomic_bool stop;
    atomic_bool has_switches;
    bool inherit, reads_maps;
    pthread_mutex_t lock; // of `events` and `added`
    Vec(ProcEvent) events;
    size_t taken;               // events that the reader has
    Vec(SeenProcess) added;     // not yet in `processes`
    Vec(SeenProcess) processes; // the thread's own
    uint64_t tick;
    size_t thread_count; // at the tick before
    int load_fd;         // of /proc/loadavg, which ends with the last number of a new thread
    uint64_t last_number;
    int scans_left;
    uint8_t
        *known; // bits of the processes that were found in /proc; NULL: these are not looked for
    bool scans; // in this tick: there may be new threads
    bool ends;  // this is the last tick
    ProcSamplerCounts counts;
    Vec(uint64_t) looks; // when
    uint8_t stack[PROC_STACK_BYTES];
};

static bool is_same_wait(const ProcWait *a, const ProcWait *b)
{
    return a->call == b->call && a->sp == b->sp && a->pc == b->pc &&
           memcmp(a->args, b->args, sizeof(a->args)) == 0;
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

static bool is_in_code(const SeenProcess *p, uint64_t pc)
{
    for (size_t i = 0; i < p->code.len; i++)
        if (pc - p->code.at[i].start < p->code.at[i].end - p->code.at[i].start)
            return true;
    return false;
}

void proc_maps_free(ProcMaps *maps)
{
    if (!maps)
        return;
    arena_deinit(&maps->arena);
    heap_free(maps);
}

// The reader may ask too late for the mappings of a process that ends soon.
static void tell_maps(ProcSampler *s, SeenProcess *p, uint64_t now)
{
    ProcMaps *maps = heap_alloc(sizeof(*maps));
    if (!proc_maps_read(&maps->arena, p->pid, &maps->at, NULL)) {
        proc_maps_free(maps);
        return;
    }
    p->code.len = 0;
    for (size_t i = 0; i < maps->at.len; i++)
        if (maps->at.at[i].exec)
            vec_push(NULL, &p->code, (ProcRange){maps->at.at[i].start, maps->at.at[i].end});
    tell(s, &(ProcEvent){.kind = PROC_HAS_MAPS, .time_ns = now, .pid = p->pid, .maps = maps});
}

static void begin_wait(ProcSampler *s, SeenProcess *p, SeenThread *t, const ProcWait *like,
                       uint64_t now)
{
    if (s->reads_maps && !is_in_code(p, like->pc))
        tell_maps(s, p, now);
    ProcWait *w = heap_alloc(sizeof(*w));
    *w = *like;
    w->pid = t->life.pid;
    w->tid = t->life.tid;
    w->begin_ns = now;
    w->how = proc_how_it_sleeps(w->pid, w->tid, w->call);
    w->stack_len = proc_read_stack(w->pid, w->sp, s->stack);
    w->stack = heap_alloc(MAX(w->stack_len, 1u));
    memcpy(w->stack, s->stack, w->stack_len);
    t->wait = w;
    // Mappings that were made since the look began are in the records before this time.
    uint64_t read_ns = (uint64_t)os_monotonic_ns();
    tell(s, &(ProcEvent){.kind = PROC_WAIT_BEGINS, .time_ns = read_ns, .wait = w});
}

// ---- Looking ------------------------------------------------------------------------------

// False: the thread has ended.
static bool read_times(SeenThread *t)
{
    char text[LINE_BYTES];
    if (!t->has_times)
        return true;
    ssize_t n = proc_read_of(t->times_fd, t->life.pid, t->life.tid, "schedstat", text, LINE_BYTES);
    Str line = {text, (size_t)MAX(n, (ssize_t)0)};
    uint64_t run, delay, turns;
    if (n <= 0)
        return false;
    if (!proc_next_number(&line, &run) || !proc_next_number(&line, &delay) ||
        !proc_next_number(&line, &turns))
        return true;
    t->life.turns = turns;
    t->life.run_ns = run - MIN(run, t->base_run_ns);
    t->life.delay_ns = delay - MIN(delay, t->base_delay_ns);
    return true;
}

static void close_files(SeenThread *t)
{
    if (t->fd >= 0)
        close(t->fd);
    if (t->times_fd >= 0)
        close(t->times_fd);
    if (t->children_fd >= 0)
        close(t->children_fd);
}

static void thread_ends(ProcSampler *s, SeenThread *t, uint64_t now)
{
    end_wait(s, t, now);
    tell(s, &(ProcEvent){.kind = PROC_THREAD_ENDS, .time_ns = now, .life = t->life});
    close_files(t);
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

// Of many threads those that have slept for long are looked at again after a quarter of that time.
static void rest(const ProcSampler *s, SeenThread *t, uint64_t now)
{
    uint64_t most = MIN(s->thread_count / MANY_THREADS, (size_t)REST_TICKS_MAX);
    uint64_t ticks = MIN(most, t->wait->single_ns / PROC_TICK_NS / 4);
    t->due_ns = ticks > 1 ? now + ticks * PROC_TICK_NS - PROC_TICK_NS / 2 : 0;
}

// False: it has ended.
static bool look_at(ProcSampler *s, SeenProcess *p, SeenThread *t, uint64_t now)
{
    char text[LINE_BYTES];
    if (now < t->due_ns && !s->ends)
        return true;
    uint64_t span = now - MAX(t->looked_ns, t->life.begin_ns), turns = t->life.turns;
    bool reads_times = t->times_left == 0 || s->ends;
    t->times_left -= t->times_left > 0;
    if (reads_times && !read_times(t))
        return false;
    s->counts.looks++;
    // Records of its switches count its turns and its time: they are not asked for at each look.
    if (reads_times && turns != t->life.turns && atomic_load(&s->has_switches))
        t->times_left = TIMES_TICKS - 1;
    // The times were read before the wait was seen. So a thread that has not got a processor since
    // then still sleeps in that wait.
    if (t->wait && t->has_times && reads_times && turns == t->life.turns) {
        t->looked_ns = t->life.end_ns = now;
        add_look(t->wait, span, false, now);
        rest(s, t, now);
        return true;
    }
    ssize_t n = proc_read_of(t->fd, t->life.pid, t->life.tid, "syscall", text, sizeof(text));
    ProcWait seen = {0};
    if (n <= 0)
        return false;
    t->looked_ns = t->life.end_ns = now;
    if (t->wait && span > 2 * PROC_TICK_NS) { // it ended some time after the last look
        add_look(t->wait, span / 2, false, now - (span - span / 2));
        span -= span / 2;
    }
    if (!proc_syscall_parse((Str){text, (size_t)n}, &seen)) {
        end_wait(s, t, now);
        t->life.running_ns += span;
        return true;
    }
    if (t->wait && !is_same_wait(t->wait, &seen))
        end_wait(s, t, now);
    if (!t->wait)
        begin_wait(s, p, t, &seen, now);
    // The first look at a thread stands for the time since it was made, in the mean.
    add_look(t->wait, span || !p->is_new ? span : PROC_TICK_NS / 2, turns != t->life.turns, now);
    t->due_ns = 0;
    return true;
}

// ---- Threads and processes ------------------------------------------------------------------

// The place of a thread among those of its process, or where it belongs.
static size_t place_of(const SeenProcess *p, uint32_t tid)
{
    size_t low = 0, high = p->threads.len;
    if (high && p->threads.at[high - 1].life.tid < tid)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->threads.at[middle].life.tid < tid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_thread(ProcSampler *s, SeenProcess *p, uint32_t tid, uint64_t now)
{
    size_t at = place_of(p, tid);
    if ((at < p->threads.len && p->threads.at[at].life.tid == tid) || proc_is_ending(p->pid, tid))
        return; // one that has ended stays in the list until its parent has asked for its status
    SeenThread t = {.fd = proc_open_of(p->pid, tid, "syscall"),
                    .times_fd = -1,
                    .children_fd = -1,
                    .life = {.pid = p->pid, .tid = tid, .begin_ns = now, .end_ns = now},
                    .looked_ns = now,
                    .sought_turns = UINT64_MAX};
    if (t.fd < 0 && errno != EMFILE) {
        bool is_refused = errno == EACCES || errno == EPERM;
        is_refused = is_refused && !proc_is_ending(p->pid, tid);
        p->refused += is_refused;
        s->counts.refused += is_refused && (p->refused == GIVE_UP_TICKS || p->threads.len);
        return;
    }
    t.times_fd = proc_open_of(p->pid, tid, "schedstat");
    t.has_times = t.times_fd >= 0 || errno == EMFILE;
    if (s->thread_count > KEEP_OPEN && t.fd >= 0) {
        close(t.fd);
        t.fd = -1;
    }
    if (!p->is_new && read_times(&t)) {
        t.base_run_ns = t.life.run_ns;
        t.base_delay_ns = t.life.delay_ns;
        t.life.run_ns = t.life.delay_ns = 0;
    }
    if (!look_at(s, p, &t, now)) {
        close_files(&t);
        return;
    }
    vec_push(NULL, &p->threads, t);
    memmove(&p->threads.at[at + 1], &p->threads.at[at],
            (p->threads.len - 1 - at) * sizeof(p->threads.at[0]));
    p->threads.at[at] = t;
}

// Whether the process has as many threads as are looked at: each is a folder in its "task", which
// counts as a link.
static bool has_all_threads(const SeenProcess *p)
{
    enum { LINKS = 2 };
    struct stat st;
    return p->folder && fstat(dirfd(p->folder), &st) == 0 && st.st_nlink == p->threads.len + LINKS;
}

// Adds the threads that the kernel lists from a place on. It lists the older ones first.
static void list_from(ProcSampler *s, SeenProcess *p, size_t place, uint64_t now)
{
    seekdir(p->folder, (long)place);
    for (struct dirent *e; (e = readdir(p->folder));) {
        uint64_t tid;
        if (str_parse_u64(str_from_c(e->d_name), 10, &tid) && tid <= INT32_MAX)
            add_thread(s, p, (uint32_t)tid, now);
    }
}

static void list_threads(ProcSampler *s, SeenProcess *p, uint64_t now)
{
    enum { BACK = 64 }; // that have ended, and stand before the new ones
    char path[64];
    snprintf(path, sizeof(path), "/proc/%u/task", p->pid);
    if (!p->folder)
        p->folder = opendir(path);
    if (!p->folder)
        return;
    if (p->threads.len > BACK)
        list_from(s, p, p->threads.len - BACK, now);
    if (p->threads.len <= BACK || !has_all_threads(p)) {
        rewinddir(p->folder);
        list_from(s, p, 0, now);
    }
}

static bool is_watched(const ProcSampler *s, uint32_t pid)
{
    for (size_t i = 0; i < s->processes.len; i++)
        if (s->processes.at[i].pid == pid)
            return true;
    return false;
}

// The processes that a thread made, where the kernel lists them (proc(5), "children").
static void add_children(ProcSampler *s, SeenThread *t)
{
    char text[4096];
    uint32_t pid = t->life.pid, tid = t->life.tid;
    bool is_fresh = t->wait && t->has_times && t->times_left == 0;
    uint64_t turns = is_fresh ? t->life.turns : UINT64_MAX;
    if (turns != UINT64_MAX && turns == t->sought_turns)
        return; // it sleeps since then
    t->sought_turns = turns;
    if (t->children_fd < 0 && s->thread_count <= KEEP_OPEN)
        t->children_fd = proc_open_of(pid, tid, "children");
    ssize_t n = proc_read_of(t->children_fd, pid, tid, "children", text, sizeof(text));
    Str rest = {text, (size_t)MAX(n, (ssize_t)0)};
    uint64_t child;
    while (proc_next_number(&rest, &child) && child <= INT32_MAX)
        if (!is_watched(s, (uint32_t)child))
            vec_push(NULL, &s->processes, (SeenProcess){.pid = (uint32_t)child, .is_new = true});
}

static void look_at_threads(ProcSampler *s, SeenProcess *p, uint64_t now)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->threads.len; i++) {
        SeenThread t = p->threads.at[i];
        if (look_at(s, p, &t, now))
            p->threads.at[kept++] = t;
        else
            thread_ends(s, &t, now);
    }
    p->threads.len = kept;
}

// False: it has ended.
static bool look_at_process(ProcSampler *s, size_t row, uint64_t now)
{
    SeenProcess p = s->processes.at[row];
    look_at_threads(s, &p, now);
    if (p.threads.len == 0 || (s->scans && !has_all_threads(&p)))
        list_threads(s, &p, now);
    p.is_new = true; // threads that appear from now on are
    // This may move the table of processes.
    for (size_t i = 0; s->inherit && !s->known && s->scans && i < p.threads.len; i++)
        add_children(s, &p.threads.at[i]);
    s->processes.at[row] = p;
    return p.threads.len || (p.refused && p.refused < GIVE_UP_TICKS);
}

static void free_process(SeenProcess *p)
{
    if (p->folder)
        closedir(p->folder);
    vec_free(&p->threads);
    vec_free(&p->code);
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

// Adds the processes of the machine that are new.
static void add_all(ProcSampler *s)
{
    U32Vec pids = {0};
    if (!proc_list_all(&pids, NULL))
        pids.len = 0;
    for (size_t i = 0; i < pids.len; i++) {
        uint32_t pid = pids.at[i];
        if (pid >= PIDS_MAX || s->known[pid / 8] >> pid % 8 & 1)
            continue;
        s->known[pid / 8] |= (uint8_t)(1 << pid % 8);
        if (pid != (uint32_t)getpid() && !proc_is_kernel_thread(pid) && !is_watched(s, pid))
            vec_push(NULL, &s->processes, (SeenProcess){.pid = pid, .is_new = s->tick > 0});
    }
    vec_free(&pids);
}

// Whether there may be new threads: the kernel states the last number that it gave to one.
static void find_out_whether_to_scan(ProcSampler *s)
{
    char text[LINE_BYTES];
    ssize_t n = s->load_fd >= 0 ? pread(s->load_fd, text, sizeof(text), 0) : -1;
    Str line = {text, (size_t)MAX(n, (ssize_t)0)}, word = {0}, last = {0};
    uint64_t number = 0;
    while (str_next_word(&line, &word))
        last = word;
    bool is_known = str_parse_u64(last, 10, &number);
    if (!is_known || number != s->last_number)
        s->scans_left = SCAN_TICKS;
    s->last_number = number;
    s->scans = s->scans_left > 0 || s->tick % SCAN_ANYWAY == 0;
    s->scans_left -= s->scans_left > 0;
}

static void look_at_all(ProcSampler *s)
{
    uint64_t now = (uint64_t)os_monotonic_ns();
    size_t kept = 0, threads = 0;
    take_added(s);
    find_out_whether_to_scan(s);
    if (s->known && s->scans && s->tick % LIST_TICKS == 0)
        add_all(s);
    for (size_t i = 0; i < s->processes.len; i++) { // new ones are added at the end
        if (look_at_process(s, i, now)) {
            threads += s->processes.at[i].threads.len;
            s->processes.at[kept++] = s->processes.at[i];
        } else {
            uint32_t pid = s->processes.at[i].pid;
            if (s->known && pid < PIDS_MAX)
                s->known[pid / 8] &= (uint8_t) ~(1 << pid % 8);
            free_process(&s->processes.at[i]);
        }
    }
    s->processes.len = kept;
    s->thread_count = threads;
    s->tick++;
    vec_push(NULL, &s->looks, now);
}

static void end_all(ProcSampler *s)
{
    uint64_t now = (uint64_t)os_monotonic_ns();
    for (size_t i = 0; i < s->processes.len; i++) {
        SeenProcess *p = &s->processes.at[i];
        for (size_t k = 0; k < p->threads.len; k++) {
            (void)read_times(&p->threads.at[k]);
            thread_ends(s, &p->threads.at[k], now);
        }
        free_process(p);
    }
    s->processes.len = 0;
}

static void *run(void *ctx)
{
    ProcSampler *s = ctx;
    uint64_t next = (uint64_t)os_monotonic_ns();
    while (!atomic_load(&s->stop)) {
        look_at_all(s);
        uint64_t now = (uint64_t)os_monotonic_ns();
        next = MAX(next + PROC_TICK_NS, now);
        struct timespec until = {(time_t)(next / 1000000000), (long)(next % 1000000000)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
    s->ends = true;
    look_at_all(s);
    end_all(s);
    s->counts.cpu_ns = (uint64_t)os_thread_cpu_ns();
    return NULL;
}

// ---- From the outside ---------------------------------------------------------------------

bool proc_sampler_open(bool inherit, bool reads_maps, bool every, ProcSampler **ret, Error *err)
{
    ProcSampler *s = heap_alloc(sizeof(*s));
    s->inherit = inherit;
    s->reads_maps = reads_maps;
    s->known = every ? heap_alloc(PIDS_MAX / 8) : NULL;
    s->load_fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    pthread_mutex_init(&s->lock, NULL);
    errno = pthread_create(&s->thread, NULL, run, s);
    if (errno != 0) {
        error_os(err, "cannot start a thread that looks at others");
        pthread_mutex_destroy(&s->lock);
        if (s->load_fd >= 0)
            close(s->load_fd);
        heap_free(s->known);
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
    for (size_t i = s->taken; i < s->events.len; i++) {
        ProcEvent *e = &s->events.at[i];
        if (e->kind == PROC_WAIT_ENDS) {
            heap_free(e->wait->stack);
            heap_free(e->wait);
        } else if (e->kind == PROC_HAS_MAPS) {
            proc_maps_free(e->maps);
        }
    }
    vec_free(&s->events);
    vec_free(&s->added);
    vec_free(&s->looks);
    vec_free(&s->processes);
    pthread_mutex_destroy(&s->lock);
    if (s->load_fd >= 0)
        close(s->load_fd);
    heap_free(s->known);
    heap_free(s);
}

void proc_sampler_has_switches(ProcSampler *s)
{
    atomic_store(&s->has_switches, true);
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
