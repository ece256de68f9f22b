// SPDX-License-Identifier: Apache-2.0
// short_children N: N times child_work in a child of its own and parent_work in the
// program, each for 0.7 ms of processor time. Truth: both have the same share.

#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile long sum;

static long cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void work(long ns)
{
    for (long end = cpu_ns() + ns; cpu_ns() < end;)
        for (int i = 0; i < 1000; i++)
            sum += i;
}

__attribute__((noinline)) static void child_work(void)
{
    work(700000);
    sum++;
}

__attribute__((noinline)) static void parent_work(void)
{
    work(700000);
    sum += 2; // not the same code as that of child_work
}

int main(int argc, char **argv)
{
    for (int n = argc > 1 ? atoi(argv[1]) : 100; n > 0; n--) {
        pid_t pid = fork();
        if (pid == 0) {
            child_work();
            _exit(0);
        }
        parent_work();
        if (pid < 0 || waitpid(pid, NULL, 0) != pid)
            return 1;
    }
    return 0;
}
