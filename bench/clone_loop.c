// SPDX-License-Identifier: Apache-2.0
// The floor of spawning: clone(VM|VFORK), exec with the caller's environment,
// wait4 and nothing else.
// clone_loop PROGRAM N prints N times in seconds.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char stack[65536] __attribute__((aligned(16)));
static int null_fd;

static int child(void *arg)
{
    char *argv[] = {arg, NULL};
    dup2(null_fd, 0);
    dup2(null_fd, 1);
    dup2(null_fd, 2);
    execve(arg, argv, environ);
    _exit(127);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[2]) : 0;
    double *times = calloc((size_t)n + 1, sizeof(*times));
    null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < n; i++) {
        struct rusage usage;
        int status;
        double start = now();
        pid_t pid = clone(child, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, argv[1]);
        if (pid < 0 || wait4(pid, &status, 0, &usage) < 0 || status != 0)
            return 1;
        times[i] = now() - start;
    }
    for (int i = 0; i < n; i++)
        printf("%.9f\n", times[i]);
    free(times);
    return 0;
}
