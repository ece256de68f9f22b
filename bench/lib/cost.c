// SPDX-License-Identifier: Apache-2.0
// cost [-n TIMES] [-o FILE] COMMAND...: what a command costs, by rusage of it and its
// children. Prints the medians over TIMES runs: cpu=SECONDS wall=SECONDS rss_kb=N
// status=N, and the least processor time: least=SECONDS. The command's output goes to
// FILE. A child counts from fork on, so that what measures must be small: the peak
// of a command of 2 MB is not that of an interpreter beside it.

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIMES_MAX = 1000 };

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void run(char **command, const char *out)
{
    int in = open("/dev/null", O_RDWR);
    int to = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (in < 0 || to < 0)
        _exit(127);
    dup2(in, 0);
    dup2(to, 1);
    dup2(in, 2);
    execvp(command[0], command);
    _exit(127);
}

int main(int argc, char **argv)
{
    static double cpu[TIMES_MAX], wall[TIMES_MAX], rss[TIMES_MAX];
    const char *out = "/dev/null";
    int times = 1, status = 0, option;
    while ((option = getopt(argc, argv, "+n:o:")) != -1) {
        if (option == 'n')
            times = atoi(optarg);
        else if (option == 'o')
            out = optarg;
        else
            return 2;
    }
    if (optind == argc || times < 1 || times > TIMES_MAX) {
        fprintf(stderr, "usage: cost [-n TIMES] [-o FILE] COMMAND...\n");
        return 2;
    }
    for (int i = 0; i < times; i++) {
        struct rusage used;
        double start = now();
        pid_t pid = fork();
        if (pid == 0)
            run(argv + optind, out);
        if (pid < 0 || wait4(pid, &status, 0, &used) < 0) {
            perror("cost");
            return 1;
        }
        wall[i] = now() - start;
        cpu[i] = seconds(used.ru_utime) + seconds(used.ru_stime);
        rss[i] = (double)used.ru_maxrss;
    }
    double middle = median(cpu, times);
    printf("cpu=%.6f wall=%.6f rss_kb=%.0f status=%d least=%.6f\n", middle, median(wall, times),
           median(rss, times), WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), cpu[0]);
    return 0;
}
