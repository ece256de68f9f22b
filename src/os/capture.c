// SPDX-License-Identifier: Apache-2.0
// Runs a helper program and captures its output.

#include "os/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/file.h"

// Runs in the child between fork and exec: only async-signal-safe calls.
__attribute__((noreturn)) static void run_child(const Program *program, char *const argv[],
                                                bool quiet, int out)
{
    int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(out, 1);
    if (quiet)
        dup2(null, 2);
    if (null > 2)
        close(null);
    execv(program->path.ptr, argv);
    _exit(127);
}

bool os_capture(Arena *arena, const Program *program, char *const argv[], bool quiet,
                size_t max_bytes, Bytes *output, int *wait_status, Error *err)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0)
        return error_os(err, "cannot make a pipe");
    pid_t pid = fork();
    if (pid == 0)
        run_child(program, argv, quiet, fds[1]);
    close(fds[1]);
    if (pid < 0) {
        close(fds[0]);
        return error_os(err, "cannot run '%" STR_FMT "'", STR_ARG(program->path));
    }
    bool ok = os_read_fd(arena, fds[0], program->path, max_bytes, output, err);
    close(fds[0]);
    while (waitpid(pid, wait_status, 0) < 0 && errno == EINTR)
        continue;
    return ok;
}
