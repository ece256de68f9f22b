// SPDX-License-Identifier: Apache-2.0
// The spawning process. A request and its reply lie in shared memory; each side sends a byte
// through a socket when it has written its part.

#include "collect/bench/spawn_server.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect/bench/kernel_clock.h"
#include "collect/counters/counters.h"
#include "os/owned_file.h"
#include "os/proc.h"
#include "os/unnamed_file.h"

// argv and environment of one request; more than the kernel takes in exec is
// refused before it gets here.
enum { SHARED_TEXT_BYTES = 2 << 20, WORDS_MAX = 1 << 15, CHILD_STACK_BYTES = 64 << 10 };

typedef struct SpawnShared {
    // To open counters: events, names lying in `text`. Else a command is run.
    bool count;
    uint32_t event_count;
    EventSpec events[SPAWN_COUNTERS_MAX];
    SpawnCounter counters[SPAWN_COUNTERS_MAX]; // the reply
    // Request: offsets into `text`; 0 stands for NULL.
    uint32_t path, input, output_file, folder;
    uint32_t argc, envc;
    uint32_t words[WORDS_MAX]; // argv, then env
    SpawnOutput output, errors;
    int64_t timeout_ns;
    bool quick, weigh;
    // Reply.
    SpawnResult result;
    int spawn_errno; // 0: it ran
    char failed_at[32];
    // While a command runs: its process group.
    int32_t running;
    bool kernel_clock;
    uint64_t rss_floor_bytes;
    char clock_reason[256];
    char text[SHARED_TEXT_BYTES];
} SpawnShared;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// ---- In the server ---------------------------------------------------------

typedef struct Server {
    SpawnShared *shared;
    KernelClock clock;
    Arena arena; // of the counters
    Counters counters;
    bool anchored;                            // see handle_count
    uint32_t counter_row[SPAWN_COUNTERS_MAX]; // of counters.events: the request's event
    CounterValue before[SPAWN_COUNTERS_MAX];  // by counters.events
    char *const *environment;
    int null_fd;
    int pipe_write;
    int output_fd;        // came with the request, for SPAWN_OUTPUT_FD; -1: none
    bool accounts_delays; // kernel.task_delayacct
    int stat_fd;          // /proc/stat
    int64_t steal_ns;     // at the last reading; -1 never
    int64_t stat_at_ns;   // when that was
    char *stack;          // of the child until it executes
    long tick_ns;
    int64_t least_start_ns; // the quickest way from clone to exec so far; 0: none yet
} Server;

typedef struct Child {
    const char *path;
    char **argv, **env;
    const char *folder; // NULL: as ours
    int in, out, err;   // -1: as ours
    bool traced;        // asks to be traced
    int exec_errno;     // set in our memory by the child
} Child;

// Runs in the server's memory while the server is suspended: touches no
// memory that it does not own, and calls only functions that are async-signal-safe.
static int child_main(void *arg)
{
    Child *c = arg;
    sigset_t none; // the server blocks signals, and handles and ignores none
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    if ((c->folder && chdir(c->folder) != 0) || (c->in >= 0 && dup2(c->in, 0) < 0) ||
        (c->out >= 0 && dup2(c->out, 1) < 0) || (c->err >= 0 && dup2(c->err, 2) < 0)) {
        c->exec_errno = errno;
        _exit(127);
    }
    if (c->traced)
        ptrace(PTRACE_TRACEME, 0, NULL, NULL); // refused: it runs untraced
    execve(c->path, c->argv, c->env);
    c->exec_errno = errno;
    _exit(127);
}

static const char *text_at(const SpawnShared *s, uint32_t at)
{
    return at ? s->text + at : NULL;
}

static bool fail_with(SpawnShared *s, const char *what)
{
    s->spawn_errno = errno ? errno : EINVAL;
    snprintf(s->failed_at, sizeof(s->failed_at), "%s", what);
    return false;
}

// Reads how much the hypervisor took so far, in all CPUs together.
static int64_t read_steal(const Server *server)
{
    char buf[256];
    ssize_t n = pread(server->stat_fd, buf, sizeof(buf) - 1, 0);
    if (n <= 0)
        return -1;
    buf[n] = '\0';
    unsigned long long steal;
    if (sscanf(buf, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &steal) != 1)
        return -1;
    return (int64_t)steal * server->tick_ns;
}

// The main thread's time on a CPU and waiting for one, from its zombie.
static void read_schedstat(int32_t pid, SpawnResult *r)
{
    char path[64], buf[128];
    snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n = read(fd, buf, sizeof(buf) - 1);
    close(fd);
    if (n <= 0)
        return;
    buf[n] = '\0';
    unsigned long long on_cpu, delay;
    if (sscanf(buf, "%llu %llu", &on_cpu, &delay) == 2) {
        r->on_cpu_ns = (int64_t)on_cpu;
        r->run_delay_ns = (int64_t)delay;
    }
}

// The wait for a CPU is counted from the child's birth to its last switch, the time from
// exec to exit. What was waited before is as much as the start took longer than the
// quickest one. What was waited after is not known but for its limit, the time until we
// saw the end, which is taken off: too much rather than too little is called the
// command's own. A command that never slept needs no such care, because the CPU time that
// it used says what its wait was; its last switch is the one voluntary one.
static void leave_out_ends(Server *server, int64_t start_took_ns, int64_t end_took_ns,
                           SpawnResult *r)
{
    enum { START_TAKES_NS = 200000 }; // at most, before one was seen that waited for nothing
    if (server->least_start_ns == 0)
        server->least_start_ns = START_TAKES_NS;
    if (start_took_ns > 0)
        server->least_start_ns = MIN(server->least_start_ns, start_took_ns);
    if (r->run_delay_ns < 0)
        return;
    int64_t outside = MAX((int64_t)0, start_took_ns - server->least_start_ns);
    if (r->voluntary_switches > 1)
        outside += MAX((int64_t)0, end_took_ns);
    r->run_delay_ns = MIN(MAX((int64_t)0, r->run_delay_ns - outside), r->wall_ns);
}

// Waits until the child is a zombie; kills its group when its time is over, and
// empties the kernel's rings before they overflow.
static void watch_until_end(Server *server, int pid_fd, int32_t pid, int64_t deadline_ns,
                            ExecTimes *times, SpawnResult *r)
{
    struct pollfd one = {.fd = pid_fd, .events = POLLIN}, *fds = &one;
    nfds_t count = 1;
    if (server->clock.count) {
        fds = server->clock.poll;
        fds[0] = one;
        count += server->clock.count;
    }
    for (;;) {
        struct timespec left, *wait = NULL;
        if (deadline_ns && !r->timed_out) {
            int64_t ns = MAX((int64_t)0, deadline_ns - now_ns());
            left = (struct timespec){ns / 1000000000, ns % 1000000000};
            wait = &left;
        }
        int ready = ppoll(fds, count, wait, NULL);
        if (ready < 0 && errno != EINTR)
            return; // the wait that follows blocks
        if (ready > 0 && fds[0].revents)
            return;
        if (ready > 0)
            kernel_clock_drain(&server->clock, (uint32_t)pid, times);
        if (ready == 0 && deadline_ns) {
            r->timed_out = true;
            kill(-pid, SIGKILL);
            kill(pid, SIGKILL);
        }
    }
}

// The server's counters are inherited by the processes that it starts. The kernel adds a child's
// counts to them when the child has ended.
static void read_counters(const Server *server, CounterValue *values)
{
    for (size_t i = 0; i < server->counters.events.len; i++)
        values[i] = counters_read(&server->counters, i, 0);
}

static void count_since(const Server *server, SpawnResult *r)
{
    CounterValue now[SPAWN_COUNTERS_MAX];
    read_counters(server, now);
    for (size_t i = 0; i < server->counters.events.len; i++)
        r->counts[server->counter_row[i]] =
            counter_scaled(counter_since(now[i], server->before[i]));
}

static bool start_and_wait(Server *server, Child *child)
{
    SpawnShared *s = server->shared;
    SpawnResult r = {.on_cpu_ns = -1, .run_delay_ns = -1, .steal_ns = -1, .disk_wait_ns = -1};
    for (size_t i = 0; i < SPAWN_COUNTERS_MAX; i++)
        r.counts[i] = NAN;
    if (!s->quick)
        read_counters(server, server->before);
    ExecTimes times = {0};
    // With SPAWN_CLOCK_WAIT the time would include that of a pidfd and a poll. They are not used
    // where the server waits for nothing but the end.
    bool watched = server->clock.count || s->timeout_ns;
    int pid_fd = -1;
    r.start_ns = now_ns();
    int32_t pid =
        clone(child_main, server->stack + CHILD_STACK_BYTES,
              CLONE_VM | CLONE_VFORK | (watched ? CLONE_PIDFD : 0) | SIGCHLD, child, &pid_fd);
    if (pid < 0)
        return fail_with(s, "start");
    __atomic_store_n(&s->running, pid, __ATOMIC_SEQ_CST);
    siginfo_t info;
    if (watched)
        watch_until_end(server, pid_fd, pid, s->timeout_ns ? r.start_ns + s->timeout_ns : 0, &times,
                        &r);
    else
        while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
            ;
    int64_t end_ns = now_ns();
    if (!s->quick) {
        read_schedstat(pid, &r);
        if (server->accounts_delays)
            r.disk_wait_ns = proc_disk_wait_ns((uint32_t)pid);
    }
    struct rusage usage;
    while (wait4(pid, &r.status, 0, &usage) < 0 && errno == EINTR)
        ;
    __atomic_store_n(&s->running, 0, __ATOMIC_SEQ_CST);
    if (pid_fd >= 0)
        close(pid_fd);
    kernel_clock_drain(&server->clock, (uint32_t)pid, &times);
    if (!s->quick)
        count_since(server, &r);
    if (child->exec_errno) {
        errno = child->exec_errno;
        return fail_with(s, "execute");
    }

    r.waited_ns = r.wall_ns = end_ns - r.start_ns;
    r.clock = SPAWN_CLOCK_WAIT;
    if (times.exec_ns && times.exit_ns > times.exec_ns) {
        r.clock = SPAWN_CLOCK_KERNEL;
        r.wall_ns = times.exit_ns - times.exec_ns;
        r.alone = times.started == 0 && times.lost == 0;
        r.one_process = times.processes == 0 && times.lost == 0;
    }
    r.user_ns = (int64_t)usage.ru_utime.tv_sec * 1000000000 + usage.ru_utime.tv_usec * 1000;
    r.system_ns = (int64_t)usage.ru_stime.tv_sec * 1000000000 + usage.ru_stime.tv_usec * 1000;
    r.max_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
    r.minor_faults = (uint64_t)usage.ru_minflt;
    r.major_faults = (uint64_t)usage.ru_majflt;
    r.voluntary_switches = (uint64_t)usage.ru_nvcsw;
    r.involuntary_switches = (uint64_t)usage.ru_nivcsw;
    if (r.clock == SPAWN_CLOCK_KERNEL)
        leave_out_ends(server, times.exec_ns - r.start_ns, end_ns - times.exit_ns, &r);
    r.blocks_in = (uint64_t)usage.ru_inblock;
    r.blocks_out = (uint64_t)usage.ru_oublock;

    // The kernel counts steal in ticks, and reading it is dear on many CPUs:
    // short runs are not asked for one by one.
    enum { STEAL_EVERY_NS = 10000000 };
    if (!s->quick && end_ns - server->stat_at_ns > STEAL_EVERY_NS) {
        int64_t steal = read_steal(server);
        if (steal >= 0 && server->steal_ns >= 0 && r.waited_ns > STEAL_EVERY_NS)
            r.steal_ns = steal - server->steal_ns;
        server->steal_ns = steal;
        server->stat_at_ns = end_ns;
    }

    // As subreaper the server inherits the command's orphans: it reaps those that have ended, and
    // reports those that live.
    int32_t orphan;
    while ((orphan = waitpid(-1, NULL, WNOHANG)) > 0)
        ;
    r.left_children = orphan == 0;
    if (r.timed_out)
        kill(-pid, SIGKILL);
    s->result = r;
    return true;
}

// The peak of a process that lives, summed over all CPUs; 0 when it cannot be read.
static uint64_t read_peak(int32_t pid)
{
    char path[64], buf[4096];
    snprintf(path, sizeof(path), "/proc/%d/status", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, buf, sizeof(buf) - 1);
    close(fd);
    buf[MAX(n, (ssize_t)0)] = '\0';
    const char *line = strstr(buf, "\nVmHWM:");
    unsigned long long kib = 0;
    return line && sscanf(line, "\nVmHWM: %llu", &kib) == 1 ? kib * 1024 : 0;
}

// Lets a stopped child go on. Its memory is looked at when it is about to end.
static void continue_traced(int32_t pid, int status, SpawnResult *r)
{
    int event = status >> 16, signal = WSTOPSIG(status);
    if (event == PTRACE_EVENT_EXIT)
        r->exact_rss_bytes = read_peak(pid);
    else if (event == 0 && signal == SIGTRAP)
        ptrace(PTRACE_SETOPTIONS, pid, NULL, // the first stop, after exec
               (void *)(PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL));
    bool own = event != 0 || signal == SIGTRAP;
    ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)(own ? 0 : signal));
}

// Runs a command to read its memory at its end.
static bool start_and_weigh(Server *server, Child *child)
{
    SpawnShared *s = server->shared;
    SpawnResult r = {.on_cpu_ns = -1, .run_delay_ns = -1, .steal_ns = -1, .start_ns = now_ns()};
    ExecTimes times = {0};
    struct rusage usage = {0};
    int status = 0;
    child->traced = true;
    int32_t pid = clone(child_main, server->stack + CHILD_STACK_BYTES,
                        CLONE_VM | CLONE_VFORK | SIGCHLD, child);
    if (pid < 0)
        return fail_with(s, "start");
    __atomic_store_n(&s->running, pid, __ATOMIC_SEQ_CST);
    for (;;) {
        int32_t got = wait4(pid, &status, __WALL | (s->timeout_ns ? WNOHANG : 0), &usage);
        if ((got < 0 && errno != EINTR) || (got > 0 && !WIFSTOPPED(status)))
            break;
        if (got > 0)
            continue_traced(pid, status, &r);
        if (got != 0)
            continue;
        if (s->timeout_ns && now_ns() - r.start_ns > s->timeout_ns && !r.timed_out) {
            r.timed_out = true;
            kill(-pid, SIGKILL);
            kill(pid, SIGKILL);
        }
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    }
    __atomic_store_n(&s->running, 0, __ATOMIC_SEQ_CST);
    kernel_clock_drain(&server->clock, (uint32_t)pid, &times);
    if (child->exec_errno) {
        errno = child->exec_errno;
        return fail_with(s, "execute");
    }
    r.status = status;
    r.alone = times.exec_ns && times.started == 0 && times.lost == 0;
    r.max_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    s->result = r;
    return true;
}

// The given environment with the request's variables in place of its own.
static void build_environment(const SpawnShared *s, char *const *base, char **out)
{
    size_t n = 0;
    for (char *const *e = base; *e && n < WORDS_MAX; e++) {
        bool replaced = false;
        for (uint32_t i = 0; i < s->envc && !replaced; i++) {
            const char *var = s->text + s->words[s->argc + i];
            size_t name = (size_t)(strchr(var, '=') - var) + 1;
            replaced = strncmp(*e, var, name) == 0;
        }
        if (!replaced)
            out[n++] = *e;
    }
    for (uint32_t i = 0; i < s->envc; i++)
        out[n++] = (char *)(uintptr_t)(s->text + s->words[s->argc + i]);
    out[n] = NULL;
}

static bool handle_request(Server *server)
{
    static char *argv[WORDS_MAX + 1], *env[2 * WORDS_MAX + 1];
    SpawnShared *s = server->shared;
    s->spawn_errno = 0;
    Child child = {.path = text_at(s, s->path),
                   .argv = argv,
                   .env = env,
                   .folder = text_at(s, s->folder),
                   .out = -1,
                   .err = -1};
    for (uint32_t i = 0; i < s->argc; i++)
        argv[i] = s->text + s->words[i];
    argv[s->argc] = NULL;
    build_environment(s, server->environment, env);

    int input = -1, output = -1;
    bool ok = true;
    if (s->input) {
        input = open(text_at(s, s->input), O_RDONLY | O_CLOEXEC);
        ok = input >= 0 || fail_with(s, "open the input of");
    }
    child.in = input >= 0 ? input : server->null_fd;
    if (ok && s->output == SPAWN_OUTPUT_FILE) {
        output = os_open_command_output(text_at(s, s->output_file), NULL);
        ok = output >= 0 || fail_with(s, "open the output of");
        child.out = output;
    } else if (s->output == SPAWN_OUTPUT_FD) {
        child.out = server->output_fd;
    } else if (s->output == SPAWN_OUTPUT_NULL) {
        child.out = server->null_fd;
    } else if (s->output == SPAWN_OUTPUT_PIPE) {
        child.out = server->pipe_write;
    }
    if (s->errors == SPAWN_OUTPUT_NULL)
        child.err = server->null_fd;
    struct rusage own;
    if (!s->quick && getrusage(RUSAGE_SELF, &own) == 0)
        s->rss_floor_bytes = (uint64_t)own.ru_maxrss * 1024;
    ok = ok && (s->weigh ? start_and_weigh(server, &child) : start_and_wait(server, &child));
    if (input >= 0)
        close(input);
    if (output >= 0)
        close(output);
    return ok;
}

static void handle_count(Server *server)
{
    SpawnShared *s = server->shared;
    EventSpecVec events = {0};
    CounterTargetVec self = {0};
    Error err = {0};
    counters_close(&server->counters);
    server->counters = (Counters){0};
    vec_push(&server->arena, &self, (CounterTarget){.cpu = -1});
    for (uint32_t i = 0; i < s->event_count; i++) {
        vec_push(&server->arena, &events, s->events[i]);
        s->counters[i] = (SpawnCounter){0};
    }
    CounterOptions options = {.inherit = true, .enable_on_exec = true};
    Counters *c = &server->counters;
    // One event that is not inherited: the kernel swaps the events of parent and
    // child at a switch where they are equal, and the child's exec would then
    // enable, once and for all, the server's own.
    struct perf_event_attr anchor = {
        .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .disabled = 1};
    anchor.exclude_kernel = 1;
    if (!server->anchored && perf_event_open(&anchor, 0, -1, -1) >= 0)
        server->anchored = true;
    if (!counters_open(&server->arena, &events, &self, &options, c, &err))
        *c = (Counters){0};
    // Those that are open keep their order; the specs' addresses tell them apart.
    for (uint32_t i = 0, at = 0, missing = 0; i < s->event_count; i++) {
        SpawnCounter *to = &s->counters[i];
        bool open = at < c->events.len && c->events.at[at].spec.name.ptr == s->events[i].name.ptr;
        to->open = open;
        to->is_time = str_equal(s->events[i].unit, STR("ns"));
        Str name = open ? c->events.at[at].name : s->events[i].name;
        snprintf(to->name, sizeof(to->name), "%.*s", (int)MIN(name.len, sizeof(to->name) - 1),
                 name.ptr);
        if (open)
            server->counter_row[at++] = i;
        else
            to->reason = missing < c->missing.len ? c->missing.at[missing++].reason : err;
    }
}

static void serve(SpawnShared *shared, int socket, int pipe_write, char *const *environment,
                  bool allow_kernel_clock)
{
    Server server = {
        .shared = shared, .pipe_write = pipe_write, .environment = environment, .steal_ns = -1};
    // The terminal's signals are the parent's to handle; it tells us. They are
    // blocked, not ignored, so that a child needs one call to have them back.
    static const int defaults[] = {SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGTTOU};
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGQUIT);
    sigaddset(&blocked, SIGTTOU);
    sigaddset(&blocked, SIGTERM); // sent to the whole group by timeout(1)
    sigaddset(&blocked, SIGHUP);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    for (size_t i = 0; i < ARRAY_LEN(defaults); i++)
        signal(defaults[i], SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_NAME, "assay-spawn");
    server.null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    server.accounts_delays = proc_accounts_delays();
    server.stat_fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    server.tick_ns = 1000000000 / MAX(1L, sysconf(_SC_CLK_TCK));
    server.stack = mmap(NULL, CHILD_STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    Error err = {0};
    shared->kernel_clock = allow_kernel_clock && kernel_clock_open(&server.clock, &err);
    snprintf(shared->clock_reason, sizeof(shared->clock_reason), "%.255s",
             allow_kernel_clock ? err.text : "asked for by --wait-clock");
    if (server.stack == MAP_FAILED || !os_send_turn(socket, -1))
        _exit(1);
    while (os_receive_turn(socket, &server.output_fd)) {
        if (shared->count)
            handle_count(&server);
        else
            handle_request(&server);
        if (server.output_fd >= 0)
            close(server.output_fd);
        if (!os_send_turn(socket, -1))
            _exit(1);
    }
    _exit(0);
}

// ---- In the client ---------------------------------------------------------

static void *drain_pipe(void *arg)
{
    int fd = (int)(intptr_t)arg, null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (;;) {
        ssize_t n = splice(fd, NULL, null_fd, NULL, 64 << 10, SPLICE_F_MOVE);
        if (n == 0 || (n < 0 && errno != EINTR))
            break;
    }
    close(null_fd);
    return NULL;
}

static bool await_turn(SpawnServer *s, Error *err)
{
    int none;
    if (os_receive_turn(s->socket, &none))
        return true;
    return errno ? error_os(err, "cannot read from the spawning process")
                 : error_set(err, ERROR_OS, "the spawning process has ended");
}

bool spawn_server_open(char *const *environment, bool allow_kernel_clock, SpawnServer *ret,
                       Error *err)
{
    SpawnServer s = {.socket = -1, .pipe_read = -1};
    int sockets[2], pipe_fds[2];
    s.shared =
        mmap(NULL, sizeof(*s.shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s.shared == MAP_FAILED)
        return error_os(err, "cannot share memory with the spawning process");
    if (pipe2(pipe_fds, O_CLOEXEC) < 0) {
        munmap(s.shared, sizeof(*s.shared));
        return error_os(err, "cannot make a pipe");
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0) {
        error_os(err, "cannot make a socket");
        close(pipe_fds[0]);
        close(pipe_fds[1]);
        munmap(s.shared, sizeof(*s.shared));
        return false;
    }
    s.pid = fork();
    if (s.pid == 0) {
        close(sockets[0]);
        close(pipe_fds[0]);
        serve(s.shared, sockets[1], pipe_fds[1], environment, allow_kernel_clock);
    }
    int fork_errno = errno;
    close(sockets[1]);
    close(pipe_fds[1]);
    s.socket = sockets[0];
    s.pipe_read = pipe_fds[0];
    pthread_t thread = 0;
    if (s.pid < 0) {
        errno = fork_errno;
        error_os(err, "cannot start the spawning process");
    } else if (pthread_create(&thread, NULL, drain_pipe, (void *)(intptr_t)s.pipe_read) != 0) {
        error_set(err, ERROR_OS, "cannot start a thread");
        s.drain_thread = 0;
    } else {
        s.drain_thread = thread;
        if (await_turn(&s, err)) {
            s.kernel_clock = s.shared->kernel_clock;
            memcpy(s.clock_reason, s.shared->clock_reason, sizeof(s.clock_reason));
            *ret = s;
            return true;
        }
    }
    spawn_server_close(&s);
    return false;
}

void spawn_server_close(SpawnServer *s)
{
    if (!s->shared)
        return;
    close(s->socket); // it exits
    if (s->pid > 0) {
        // A command that still runs (Ctrl-C while it does) would hold it up.
        if (__atomic_load_n(&s->shared->running, __ATOMIC_SEQ_CST))
            kill(s->pid, SIGKILL);
        while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    // Every write end is closed now, or a process that was left behind has one.
    if (s->drain_thread) {
        pthread_cancel(s->drain_thread);
        pthread_join(s->drain_thread, NULL);
    }
    close(s->pipe_read);
    munmap(s->shared, sizeof(*s->shared));
    *s = (SpawnServer){.socket = -1, .pipe_read = -1};
}

void spawn_server_signal(const SpawnServer *s, int signal)
{
    int32_t group = s->shared ? __atomic_load_n(&s->shared->running, __ATOMIC_SEQ_CST) : 0;
    if (group > 0)
        kill(-group, signal);
}

// Puts a text into the request; its place, or 0 when there is no room.
static uint32_t put_text(SpawnShared *s, size_t *used, const char *text)
{
    size_t len = text ? strlen(text) + 1 : 0;
    if (len == 0 || len > SHARED_TEXT_BYTES - *used)
        return 0;
    uint32_t at = (uint32_t)*used;
    memcpy(s->text + at, text, len);
    *used += len;
    return at;
}

static bool put_words(SpawnShared *s, size_t *used, const char *const *words, uint32_t *count,
                      uint32_t from)
{
    for (*count = 0; words && words[*count]; (*count)++) {
        if (from + *count >= WORDS_MAX)
            return false;
        uint32_t at = put_text(s, used, words[*count]);
        if (!at)
            return false;
        s->words[from + *count] = at;
    }
    return true;
}

// `fd` goes along; -1: none.
static bool hand_over(SpawnServer *s, int fd, Error *err)
{
    if (!os_send_turn(s->socket, fd))
        return error_os(err, "cannot reach the spawning process");
    return await_turn(s, err);
}

bool spawn_server_count(SpawnServer *s, const EventSpecVec *events, SpawnCounter *ret, Error *err)
{
    SpawnShared *sh = s->shared;
    size_t used = 1;
    if (events->len > SPAWN_COUNTERS_MAX)
        return error_set(err, ERROR_USAGE, "more than %d events", SPAWN_COUNTERS_MAX);
    for (size_t i = 0; i < events->len; i++) {
        Str name = events->at[i].name;
        if (name.len > SHARED_TEXT_BYTES - used)
            return error_set(err, ERROR_LIMIT, "the names of the events are too long");
        memcpy(sh->text + used, name.ptr, name.len);
        sh->events[i] = events->at[i];
        // The unit is a constant of ours, which lies at the same place in the server.
        sh->events[i].name = str_over(sh->text + used, name.len);
        used += name.len;
    }
    sh->event_count = (uint32_t)events->len;
    sh->count = true;
    if (!hand_over(s, -1, err))
        return false;
    memcpy(ret, sh->counters, events->len * sizeof(*ret));
    return true;
}

bool spawn_server_run(SpawnServer *s, const SpawnRequest *request, SpawnResult *ret, Error *err)
{
    SpawnShared *sh = s->shared;
    size_t used = 1;
    sh->count = false;
    sh->path = put_text(sh, &used, request->path);
    sh->input = put_text(sh, &used, request->input);
    sh->output_file = put_text(sh, &used, request->output_file);
    sh->folder = put_text(sh, &used, request->folder);
    if (!put_words(sh, &used, request->argv, &sh->argc, 0) ||
        !put_words(sh, &used, request->env, &sh->envc, sh->argc))
        return error_set(err, ERROR_LIMIT, "the command line of '%s' is too long", request->path);
    sh->output = request->output;
    sh->errors = request->errors;
    sh->timeout_ns = request->timeout_ns;
    sh->quick = request->quick;
    sh->weigh = request->weigh;
    if (!hand_over(s, request->output == SPAWN_OUTPUT_FD ? request->output_fd : -1, err))
        return false;
    if (sh->spawn_errno) {
        errno = sh->spawn_errno;
        return error_os(err, "cannot %s '%s'", sh->failed_at, request->path);
    }
    s->rss_floor_bytes = sh->rss_floor_bytes;
    *ret = sh->result;
    return true;
}
