// SPDX-License-Identifier: Apache-2.0
// Lets the n-th system call of a kind fail, once, in one process:
//   fault KIND=ERROR N RESULT COMMAND…
// ERROR may be KILL: SIGKILL ends the process before that call; the kind "any" takes every
// call. N may be "places": nothing fails, and RESULT gets the numbers of the first and the last
// call from each place in the program, which is told by its callers. Watches COMMAND's threads by
// ptrace, not its children; with KIND as "child:KIND" it watches the first process that COMMAND
// forks, and not COMMAND. The loader's own calls do not count. RESULT gets "fired" or, when there
// were fewer than N, how many there were. After the fault the process is let go, so that it runs on
// as it would. The status is the command's, 128 + signal when one ended it, 125 on trouble here:
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
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __x86_64__

enum { CALLS_MAX = 6, MAPPINGS_MAX = 256 };

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

typedef struct Mapping {
    uint64_t start, end;
    uint64_t base; // of the file's first mapping, so that places are the same in each run
    bool is_loader;
} Mapping;

// The code of a process.
typedef struct Code {
    Mapping at[MAPPINGS_MAX];
    size_t len;
    size_t program; // how many of them are the program's own: the first ones
} Code;

// In a static program there is no loader.
static Code code_of(pid_t pid)
{
    char path[64], line[1024], file[1024] = "";
    Code code = {.len = 0};
    uint64_t base = 0;
    bool is_program = true;
    snprintf(path, sizeof(path), "/proc/%d/maps", pid);
    FILE *maps = fopen(path, "r");
    if (!maps)
        die(path);
    while (fgets(line, sizeof(line), maps)) {
        uint64_t start, end;
        char rights[5];
        int at = 0;
        if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %n", &start, &end, rights, &at) != 3 || at == 0)
            continue;
        if (strcmp(line + at, file) != 0) {
            is_program = base == 0;
            base = start;
            snprintf(file, sizeof(file), "%s", line + at);
        }
        bool is_loader = strstr(file, "/ld-linux");
        if (code.len == MAPPINGS_MAX || (rights[2] != 'x' && !is_loader))
            continue;
        code.at[code.len++] = (Mapping){start, end, base, is_loader};
        code.program += is_program;
    }
    fclose(maps);
    return code;
}

static const Mapping *mapping_find(const Code *code, uint64_t address)
{
    for (size_t i = 0; i < code->len; i++)
        if (address >= code->at[i].start && address < code->at[i].end)
            return &code->at[i];
    return NULL;
}

static bool is_loaders(const Code *code, uint64_t address)
{
    const Mapping *m = mapping_find(code, address);
    return m && m->is_loader;
}

// ---- Places ----------------------------------------------------------------------------------

enum { PLACES_MAX = 4096, STACK_WORDS = 1024, CALLERS = 3, FRAMES = 8 };

typedef struct Place {
    uint64_t hash, first, last;
} Place;

typedef struct Places {
    Place at[PLACES_MAX];
    size_t len;
} Places;

static uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

// Whether the instruction before the address is a call.
static bool follows_call(pid_t pid, uint64_t address)
{
    uint8_t b[7];
    struct iovec to = {b, sizeof(b)}, from = {(void *)(uintptr_t)(address - sizeof(b)), sizeof(b)};
    if (process_vm_readv(pid, &to, 1, &from, 1, 0) != sizeof(b))
        return false;
    return b[2] == 0xe8 || (b[5] == 0xff && (b[6] & 0x38) == 0x10) ||
           (b[4] == 0xff && (b[5] & 0x38) == 0x10) || (b[1] == 0xff && (b[2] & 0x38) == 0x10) ||
           (b[0] == 0xff && (b[1] & 0x38) == 0x10);
}

// The call's number and those who called it: the innermost callers, which may be libraries
// without frame pointers, and the program's own functions, which have them. A stale word of the
// stack that looks like a caller makes two places of one.
static uint64_t place_of(const Code *code, pid_t thread, uint64_t call, uint64_t sp)
{
    static uint64_t stack[STACK_WORDS];
    struct iovec to = {stack, sizeof(stack)}, from = {(void *)(uintptr_t)sp, sizeof(stack)};
    ssize_t got = process_vm_readv(thread, &to, 1, &from, 1, 0);
    size_t words = got > 0 ? (size_t)got / sizeof(stack[0]) : 0, i = 0;
    uint64_t hash = mixed(1, call);
    bool in_program = false;
    for (unsigned callers = 0; i < words && (callers < CALLERS || !in_program); i++) {
        const Mapping *m = mapping_find(code, stack[i]);
        if (!m || m->is_loader || !follows_call(thread, stack[i]))
            continue;
        in_program |= m < code->at + code->program;
        if (callers++ < CALLERS || in_program)
            hash = mixed(hash, stack[i] - m->base);
    }
    // The next frame: a saved frame pointer, and behind it where the function returns to.
    for (unsigned frames = 0; i + 1 < words && frames < FRAMES; i++) {
        const Mapping *m = mapping_find(code, stack[i + 1]);
        uint64_t above = stack[i];
        if (!m || m >= code->at + code->program || above <= sp + 8 * i || above >= sp + 8 * words ||
            above % 8 != 0)
            continue;
        hash = mixed(hash, stack[i + 1] - m->base);
        frames++;
        i = (above - sp) / 8 - 1;
    }
    return hash;
}

static void places_add(Places *p, uint64_t hash, uint64_t number)
{
    for (size_t i = 0; i < p->len; i++)
        if (p->at[i].hash == hash) {
            p->at[i].last = number;
            return;
        }
    if (p->len < PLACES_MAX)
        p->at[p->len++] = (Place){hash, number, number};
}

static void places_print(const Places *p, FILE *to)
{
    for (size_t i = 0; i < p->len; i++) {
        fprintf(to, "%lu\n", p->at[i].first);
        if (p->at[i].last != p->at[i].first)
            fprintf(to, "%lu\n", p->at[i].last);
    }
}

// ---- The watched process ---------------------------------------------------------------------

typedef struct Watch {
    const Kind *kind;
    int error;
    uint64_t wanted; // the call that fails, from 1
    uint64_t seen;
    pid_t process, failing; // failing: the thread between the call's entry and its exit
    bool in_child;
    pid_t child; // with in_child: the first that is forked; 0: not yet
    Code code;
    Places *places; // or NULL
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
        is_loaders(&w->code, info.instruction_pointer))
        return;
    ++w->seen;
    if (w->places) {
        // Libraries that were loaded meanwhile.
        if (!mapping_find(&w->code, info.instruction_pointer))
            w->code = code_of(thread);
        places_add(w->places, place_of(&w->code, thread, info.entry.nr, info.stack_pointer),
                   w->seen);
    }
    if (w->seen != w->wanted)
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
            w->code = code_of(thread);
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
    static Places places;
    bool wants_places = strcmp(argv[2], "places") == 0;
    bool in_child = strncmp(argv[1], "child:", 6) == 0;
    const char *kind = in_child ? argv[1] + 6 : argv[1];
    Watch w = {.kind = kind_find(kind, (size_t)(error - kind)),
               .in_child = in_child,
               .error = error_find(error + 1),
               .wanted = wants_places ? 0 : strtoull(argv[2], NULL, 10),
               .places = wants_places ? &places : NULL};
    // Children whose parent ends become ours.
    prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
    w.process = start(argv + 4, in_child);
    w.code = code_of(w.process);
    ptrace(PTRACE_SYSCALL, w.process, 0L, 0L);
    int status = watch(&w);
    if (!all_ended())
        status = 125;
    FILE *result = fopen(argv[3], "w");
    if (!result)
        die(argv[3]);
    if (wants_places)
        places_print(&places, result);
    else if (w.fired)
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
