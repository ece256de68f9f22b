// SPDX-License-Identifier: Apache-2.0
// Starts the observed program in two steps.

#include "os/spawn.h"

#include "os/file.h"
#include "os/proc.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

// ---- Finding it ---------------------------------------------------------------

static bool is_executable_file(const char *path, struct stat *st)
{
    if (stat(path, st) != 0)
        return false;
    if (S_ISDIR(st->st_mode)) {
        errno = EISDIR;
        return false;
    }
    return access(path, X_OK) == 0;
}

// Searches PATH as execvp does. A file that may not be executed is remembered: if no other is
// found, the error is about that file.
static bool find_in_path(Arena *arena, Str name, Str search_path, Str *ret, struct stat *st,
                         Error *err)
{
    Str rest = search_path.len ? search_path : STR("/usr/local/bin:/usr/bin:/bin"), dir;
    Str refused = {0};
    while (str_next_part(&rest, ':', &dir)) {
        if (dir.len == 0)
            dir = STR(".");
        Str path = arena_printf(arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(dir), STR_ARG(name));
        if (is_executable_file(path.ptr, st)) {
            *ret = path;
            return true;
        }
        if (errno == EACCES && refused.len == 0 && os_file_exists(path))
            refused = path;
    }
    if (refused.len) {
        errno = EACCES;
        (void)error_os(err, "cannot run '%" STR_FMT "'", STR_ARG(refused));
        return error_hint(err, "run: chmod +x %" STR_FMT, STR_ARG(refused));
    }
    (void)error_set(err, ERROR_NOT_FOUND, "cannot run '%" STR_FMT "': command not found",
                    STR_ARG(name));
    return error_hint(
        err, "no folder of PATH contains it; a program in this folder is named ./%" STR_FMT,
        STR_ARG(name));
}

static void read_interpreter(Arena *arena, Str head, Program *p)
{
    Str line;
    if (!str_next_line(&head, &line))
        return;
    line = str_trim(str_slice(line, 2, line.len));
    size_t end = str_find_char(line, ' ');
    p->interpreter = arena_str(arena, end == SIZE_MAX ? line : str_slice(line, 0, end));
}

// Notes whether the program loads libraries. Properties that the start of the file does not show
// stay false.
static void read_program_headers(Bytes start, Program *p)
{
    Elf64_Ehdr e;
    p->is_32bit = start.len > EI_CLASS && start.ptr[EI_CLASS] == ELFCLASS32;
    if (p->is_32bit || start.len < sizeof(e))
        return;
    memcpy(&e, start.ptr, sizeof(e));
    uint64_t end = e.e_phoff + (uint64_t)e.e_phnum * sizeof(Elf64_Phdr);
    if (e.e_phentsize != sizeof(Elf64_Phdr) || e.e_phoff > start.len || end > start.len)
        return;
    p->is_static = true;
    for (unsigned i = 0; i < e.e_phnum; i++) {
        Elf64_Phdr h;
        memcpy(&h, start.ptr + e.e_phoff + i * sizeof(h), sizeof(h));
        p->is_static &= h.p_type != PT_INTERP;
    }
}

// Reads the start of the file: ELF, "#!", or nothing that can be executed.
static bool look_inside(Arena *arena, Program *p, Error *err)
{
    int fd = open(p->path.ptr, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        if (errno != EACCES && errno != EPERM)
            return error_os(err, "cannot read '%" STR_FMT "'", STR_ARG(p->path));
        p->unreadable = geteuid() != 0;
        return true;
    }
    char head[1024];
    ssize_t n = read(fd, head, sizeof(head));
    close(fd);
    Str text = str_over(head, n > 0 ? (size_t)n : 0);
    if (str_starts_with(text, STR("\177ELF"))) {
        read_program_headers(bytes_from_str(text), p);
        return true;
    }
    if (str_starts_with(text, STR("#!"))) {
        p->is_script = true;
        read_interpreter(arena, text, p);
        return true;
    }
    if (text.len == 0) {
        (void)error_set(err, ERROR_USAGE, "cannot run '%" STR_FMT "': the file is empty",
                        STR_ARG(p->path));
        return false;
    }
    errno = ENOEXEC;
    (void)error_os(err, "cannot run '%" STR_FMT "'", STR_ARG(p->path));
    // A shell would read a text and execute it itself, so that the shell would be the program.
    if (!memchr(text.ptr, 0, text.len))
        (void)error_hint(err, "a script needs a first line like #!/bin/sh; or: sh %" STR_FMT,
                         STR_ARG(p->path));
    return false;
}

static bool gains_rights(const char *path, const struct stat *st)
{
    if (geteuid() == 0)
        return false;
    if (st->st_mode & S_ISUID && st->st_uid != geteuid())
        return true;
    if ((st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st->st_gid != getegid())
        return true;
    return getxattr(path, "security.capability", NULL, 0) > 0;
}

bool program_find(Arena *arena, Str name, Str search_path, Program *ret, Error *err)
{
    Program p = {0};
    struct stat st = {0};
    if (name.len == 0)
        return error_set(err, ERROR_USAGE, "the command is empty");
    if (str_find_char(name, '/') == SIZE_MAX) {
        if (!find_in_path(arena, name, search_path, &p.path, &st, err))
            return false;
    } else {
        p.path = arena_str(arena, name);
        if (!is_executable_file(p.path.ptr, &st)) {
            int saved = errno;
            (void)error_os(err, "cannot run '%" STR_FMT "'", STR_ARG(name));
            if (saved == EACCES && os_file_exists(name))
                (void)error_hint(err, "run: chmod +x %" STR_FMT, STR_ARG(name));
            return false;
        }
    }
    p.changes_user = gains_rights(p.path.ptr, &st);
    if (!look_inside(arena, &p, err))
        return false;
    *ret = p;
    return true;
}

// ---- Starting it --------------------------------------------------------------

// Runs in the child between fork and exec: only async-signal-safe calls.
__attribute__((noreturn)) static void run_child(const Program *program, char *const argv[],
                                                const sigset_t *child_mask, int wait_fd,
                                                int result_fd)
{
    char byte;
    ssize_t n;
    // Needed where Yama lets only ancestors trace; elsewhere the kernel does not know the option.
    if (program->tracer)
        prctl(PR_SET_PTRACER, (unsigned long)program->tracer, 0L, 0L, 0L);
    do
        n = read(wait_fd, &byte, 1);
    while (n < 0 && errno == EINTR);
    if (n != 1)
        _exit(127); // the recorder has ended or failed
    sigprocmask(SIG_SETMASK, child_mask, NULL);
    if (program->folder.len == 0 || chdir(program->folder.ptr) == 0) {
        if (program->environment)
            execve(program->path.ptr, argv, program->environment);
        else
            execv(program->path.ptr, argv);
    }
    int saved = errno;
    ssize_t unused = write(result_fd, &saved, sizeof(saved));
    (void)unused;
    _exit(127);
}

bool spawn_prepare(const Program *program, char *const argv[], const sigset_t *child_mask,
                   Spawned *ret, Error *err)
{
    int wait_pipe[2] = {-1, -1}, result_pipe[2] = {-1, -1};
    if (pipe2(wait_pipe, O_CLOEXEC) != 0 || pipe2(result_pipe, O_CLOEXEC) != 0) {
        (void)error_os(err, "cannot make a pipe");
        if (wait_pipe[0] >= 0) {
            close(wait_pipe[0]);
            close(wait_pipe[1]);
        }
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(wait_pipe[1]);
        close(result_pipe[0]);
        run_child(program, argv, child_mask, wait_pipe[0], result_pipe[1]);
    }
    int saved = errno;
    close(wait_pipe[0]);
    close(result_pipe[1]);
    if (pid < 0) {
        close(wait_pipe[1]);
        close(result_pipe[0]);
        errno = saved;
        return error_os(err, "cannot start a process");
    }
    *ret = (Spawned){.pid = pid,
                     .release_fd = wait_pipe[1],
                     .result_fd = result_pipe[0],
                     .pid_fd = (int)syscall(SYS_pidfd_open, pid, 0)};
    return true;
}

static bool release(Spawned *s, const Program *program, Error *err)
{
    ssize_t n;
    do
        n = write(s->release_fd, "", 1);
    while (n < 0 && errno == EINTR);
    if (n != 1) {
        int saved = errno;
        spawn_close(s, true);
        errno = saved;
        return error_os(err, "cannot start '%" STR_FMT "'", STR_ARG(program->path));
    }
    close(s->release_fd);
    s->release_fd = -1;
    return true;
}

// The result of the exec: the child writes errno, or nothing when it succeeded.
static bool take_result(Spawned *s, const Program *program, Error *err)
{
    ssize_t n;
    int failure = 0;
    do
        n = read(s->result_fd, &failure, sizeof(failure));
    while (n < 0 && errno == EINTR);
    if (n == 0)
        return true;
    int saved = n == sizeof(failure) ? failure : n < 0 ? errno : EIO;
    spawn_close(s, true);
    errno = saved;
    return error_os(err, "cannot run '%" STR_FMT "'", STR_ARG(program->path));
}

bool spawn_release(Spawned *s, const Program *program, Error *err)
{
    return release(s, program, err) && take_result(s, program, err);
}

bool spawn_release_traced(Spawned *s, const Program *program, void (*attend)(void *ctx), void *ctx,
                          Error *err)
{
    enum { ATTEND_MS = 2 };
    if (!release(s, program, err))
        return false;
    struct pollfd p = {.fd = s->result_fd, .events = POLLIN};
    while (poll(&p, 1, ATTEND_MS) <= 0)
        attend(ctx);
    return take_result(s, program, err);
}

void spawn_close(Spawned *s, bool kill_child)
{
    if (s->release_fd >= 0)
        close(s->release_fd);
    if (s->result_fd >= 0)
        close(s->result_fd);
    if (s->pid_fd >= 0)
        close(s->pid_fd);
    s->release_fd = s->result_fd = s->pid_fd = -1;
    if (kill_child && s->pid > 0) {
        kill(s->pid, SIGKILL);
        while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        s->pid = 0;
    }
}

bool spawn_collect(const Spawned *s, ChildEnd *ret)
{
    pid_t pid;
    siginfo_t ended = {.si_pid = 0};
    int64_t disk_wait_ns = -1;
    // What /proc tells of it is gone when it was waited for.
    // A child that is traced may have stopped, which wait4 would report, too.
    int failed;
    do
        failed = waitid(P_PID, (id_t)s->pid, &ended, WEXITED | WNOHANG | WNOWAIT);
    while (failed != 0 && errno == EINTR);
    if (failed != 0 || !ended.si_pid)
        return false;
    disk_wait_ns = proc_accounts_delays() ? proc_disk_wait_ns((uint32_t)s->pid) : -1;
    do
        pid = wait4(s->pid, &ret->status, WNOHANG, &ret->usage);
    while (pid < 0 && errno == EINTR);
    if (pid == s->pid)
        ret->disk_wait_ns = disk_wait_ns;
    return pid == s->pid;
}

bool spawn_trace_allowed(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    if (pid < 0)
        return false;
    bool allowed = ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0;
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return allowed;
}

int exit_status_of(int wait_status)
{
    if (WIFEXITED(wait_status))
        return WEXITSTATUS(wait_status);
    if (WIFSIGNALED(wait_status))
        return 128 + WTERMSIG(wait_status);
    return 1;
}
