// SPDX-License-Identifier: Apache-2.0
// Lets the n-th system call of a kind fail, once, in one process:
//   fault KIND=ERROR N RESULT COMMAND…
// ERROR may be KILL: SIGKILL ends the process before that call; the kind "any" takes every
// call. Watches COMMAND's threads by ptrace, not its children; with KIND as "child:KIND" it
// watches the first process that COMMAND forks, and not COMMAND. The loader's own calls do not
// count. RESULT gets "fired" or, when there were fewer than N, how many there
// were. After the fault the process is let go, so that it runs on as it would.
// The status is the command's, 128 + signal when one ended it, 125 on trouble here:
// also when a process that the command started still runs 10 s after its end.

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __x86_64__

enum { CALLS_MAX = 6 };

typedef struct Kind {
    const char *name;
    int calls[CALLS_MAX]; // 0 ends the list, but for read, which is 0 and first
} Kind;

static const Kind kinds[] = {
    {"read", {SYS_read, SYS_pread64, SYS_readv, SYS_preadv}},
    {"write", {SYS_write, SYS_pwrite64, SYS_writev, SYS_ftruncate, SYS_fsync, SYS_fdatasync}},
    {"open", {SYS_openat, SYS_open}},
    {"fd", {SYS_openat, SYS_pipe2, SYS_eventfd2, SYS_perf_event_open, SYS_dup, SYS_memfd_create}},
    {"memory", {SYS_mmap, SYS_mremap}},
    {"perf", {SYS_perf_event_open}},
    {"ioctl", {SYS_ioctl}},
    {"clone", {SYS_clone3, SYS_clone, SYS_vfork, SYS_fork}},
    {"rename", {SYS_rename, SYS_renameat, SYS_renameat2, SYS_link, SYS_linkat}},
    {"stat", {SYS_newfstatat, SYS_fstat, SYS_stat, SYS_statx}},
    {"wait", {SYS_wait4, SYS_waitid, SYS_poll, SYS_ppoll}},
    {"fsync", {SYS_fsync, SYS_fdatasync}},
    {"change", {SYS_rename, SYS_renameat2, SYS_unlink, SYS_unlinkat, SYS_fsync, SYS_rmdir}},
    {"ptrace", {SYS_ptrace}},
    {"any", {-1}},
};

enum { ERROR_KILL = -1 };

static const struct {
    const char *name;
    int number;
} errors[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM},
              {"EACCES", EACCES}, {"EINTR", EINTR},   {"EAGAIN", EAGAIN}, {"EINVAL", EINVAL},
              {"EPERM", EPERM},   {"EXDEV", EXDEV},   {"ESRCH", ESRCH},   {"KILL", ERROR_KILL}};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "fault: %s: %s\n", what, strerror(errno));
    exit(125);
}

static const Kind *kind_find(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strlen(kinds[i].name) == len && strncmp(kinds[i].name, name, len) == 0)
            return &kinds[i];
    errno = EINVAL;
    die(name);
}

static int error_find(const char *name)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (strcmp(errors[i].name, name) == 0)
            return errors[i].number;
    errno = EINVAL;
    die(name);
}

static bool is_of_kind(const Kind *kind, uint64_t call)
{
    if (kind->calls[0] == -1)
        return true;
    for (int i = 0; i < CALLS_MAX && (i == 0 || kind->calls[i] != 0); i++)
        if ((uint64_t)kind->calls[i] == call)
            return true;
    return false;
}

typedef struct Loader {
    uint64_t start, end;
} Loader;

// Where the dynamic loader's code lies; nothing in a static program.
static Loader loader_of(pid_t pid)
{
    char path[64], line[512];
    Loader loader = {0, 0};
    snprintf(path, sizeof(path), "/proc/%d/maps", pid);
    FILE *maps = fopen(path, "r");
    if (!maps)
        die(path);
    while (fgets(line, sizeof(line), maps)) {
        uint64_t start, end;
        if (!strstr(line, "/ld-linux") || sscanf(line, "%lx-%lx", &start, &end) != 2)
            continue;
        if (loader.start == 0)
            loader.start = start;
        loader.end = end;
    }
    fclose(maps);
    return loader;
}

typedef struct Watch {
    const Kind *kind;
    int error;
    uint64_t wanted; // the call that fails, from 1
    uint64_t seen;
    pid_t process, failing; // failing: the thread between the call's entry and its exit
    bool in_child;
    pid_t child; // with in_child: the first that is forked; 0: not yet
    Loader loader;
    bool fired;
} Watch;

// One stop at a system call's entry or exit.
static void at_system_call(Watch *w, pid_t thread)
{
    if (w->failing == thread) {
        if (ptrace(PTRACE_POKEUSER, thread, offsetof(struct user_regs_struct, rax),
                   -(long)w->error) != 0)
            die("cannot set the result");
        w->failing = 0;
        w->fired = true;
        return;
    }
    struct __ptrace_syscall_info info;
    if (w->failing || ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof(info), &info) <= 0 ||
        info.op != PTRACE_SYSCALL_INFO_ENTRY || !is_of_kind(w->kind, info.entry.nr) ||
        (info.instruction_pointer >= w->loader.start && info.instruction_pointer < w->loader.end))
        return;
    if (++w->seen != w->wanted)
        return;
    if (w->error == ERROR_KILL) {
        kill(w->in_child ? w->child : w->process, SIGKILL);
        w->fired = true;
        return;
    }
    if (ptrace(PTRACE_POKEUSER, thread, offsetof(struct user_regs_struct, orig_rax), -1L) != 0)
        die("cannot take the call away");
    w->failing = thread;
}

// Children after the first are not watched.
static void at_fork(Watch *w, pid_t thread)
{
    unsigned long child = 0;
    if (w->child || ptrace(PTRACE_GETEVENTMSG, thread, 0L, &child) != 0)
        return;
    w->child = (pid_t)child;
    ptrace(PTRACE_SETOPTIONS, thread, 0L,
           PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
}

// How a stopped thread goes on.
static enum __ptrace_request next_request(const Watch *w, pid_t thread)
{
    if (w->fired)
        return PTRACE_DETACH;
    return w->in_child && thread != w->child ? PTRACE_CONT : PTRACE_SYSCALL;
}

// The signal that a stop is to deliver when the thread goes on.
static long signal_of(int status)
{
    int signal = WSTOPSIG(status);
    bool is_ours = signal == SIGTRAP || signal == (SIGTRAP | 0x80) || signal == SIGSTOP;
    return is_ours ? 0 : signal;
}

static int watch(Watch *w)
{
    for (;;) {
        int status;
        pid_t thread = waitpid(-1, &status, __WALL);
        if (thread < 0)
            die("waitpid");
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread == w->process)
                return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            continue;
        }
        if (status >> 16 == PTRACE_EVENT_FORK)
            at_fork(w, thread);
        // "env assay" has another loader after its exec.
        if (status >> 16 == PTRACE_EVENT_EXEC && thread == w->process)
            w->loader = loader_of(thread);
        if (WSTOPSIG(status) == (SIGTRAP | 0x80) && !w->fired)
            at_system_call(w, thread);
        // A thread that ended meanwhile is seen by the next wait.
        ptrace(next_request(w, thread), thread, 0L, signal_of(status));
    }
}

// Whether every process that the command left ends within 10 s. Those that do not are named
// and killed.
static bool all_ended(void)
{
    char path[64], pids[256] = "";
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
    for (int waited_ms = 0; waited_ms < 10000;) {
        pid_t ended = waitpid(-1, NULL, WNOHANG | __WALL);
        if (ended < 0)
            return true;
        if (ended > 0)
            continue;
        usleep(10000);
        waited_ms += 10;
    }
    FILE *left = fopen(path, "r");
    if (!left || !fgets(pids, sizeof(pids), left))
        return true;
    fclose(left);
    fprintf(stderr, "fault: still running 10 s after the command: %s\n", pids);
    for (char *at = pids, *end; strtol(at, &end, 10) > 0; at = end)
        kill((pid_t)strtol(at, NULL, 10), SIGKILL);
    return false;
}

static pid_t start(char **argv, bool in_child)
{
    pid_t pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0L, 0L) != 0)
            die("ptrace");
        execvp(argv[0], argv);
        die(argv[0]);
    }
    int status;
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
        die("the command did not start");
    if (ptrace(PTRACE_SETOPTIONS, pid, 0L,
               PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
                   PTRACE_O_EXITKILL | (in_child ? PTRACE_O_TRACEFORK : 0)) != 0)
        die("ptrace");
    return pid;
}

int main(int argc, char **argv)
{
    const char *error = argc > 4 ? strchr(argv[1], '=') : NULL;
    if (!error) {
        fprintf(stderr, "usage: fault KIND=ERROR N RESULT COMMAND...\n");
        return 125;
    }
    bool in_child = strncmp(argv[1], "child:", 6) == 0;
    const char *kind = in_child ? argv[1] + 6 : argv[1];
    Watch w = {.kind = kind_find(kind, (size_t)(error - kind)),
               .in_child = in_child,
               .error = error_find(error + 1),
               .wanted = strtoull(argv[2], NULL, 10)};
    // Children whose parent ends become ours.
    prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
    w.process = start(argv + 4, in_child);
    w.loader = loader_of(w.process);
    ptrace(PTRACE_SYSCALL, w.process, 0L, 0L);
    int status = watch(&w);
    if (!all_ended())
        status = 125;
    FILE *result = fopen(argv[3], "w");
    if (!result)
        die(argv[3]);
    if (w.fired)
        fprintf(result, "fired\n");
    else
        fprintf(result, "%lu\n", w.seen);
    return fclose(result) == 0 ? status : 125;
}

#else

int main(void)
{
    fprintf(stderr, "fault: made for x86-64\n");
    return 125;
}

#endif
