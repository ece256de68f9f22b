// SPDX-License-Identifier: Apache-2.0
// profiled_ends WAY [N]: profiles itself at its highest rate and ends in another way than by its
// main's return. Truths: exec: status 9 after N programs one after the other, of which each starts
// a profile; signal: ends by SIGTERM; abort: by SIGABRT; quick: status 7 by _exit in a thread.

#include <assay/profile.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static void work(long ms)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    long end = t.tv_sec * 1000 + t.tv_nsec / 1000000 + ms;
    do {
        for (int i = 0; i < 10000; i++)
            sink = sink * 31 + (unsigned long)i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    } while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < end);
}

static void *work_forever(void *arg)
{
    (void)arg;
    for (;;)
        work(1000);
    return NULL;
}

static void *quit(void *arg)
{
    (void)arg;
    work(20);
    _exit(7);
}

static void exec_again(const char *self, int left)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", left - 1);
    if (left > 0)
        execl(self, self, "exec", text, (char *)NULL);
    else
        execl("/bin/sh", "sh", "-c", "exit 9", (char *)NULL);
    _exit(1);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    AssayProfileOptions o = {.size = sizeof(o), .rate_hz = 1000, .buffer_bytes = 1 << 20};
    pthread_t other;
    if (assay_profile_start(&o) != 0)
        return 2;
    pthread_create(&other, NULL, strcmp(way, "quick") == 0 ? quit : work_forever, NULL);
    work(20);
    if (strcmp(way, "exec") == 0)
        exec_again(argv[0], argc > 2 ? atoi(argv[2]) : 0);
    if (strcmp(way, "signal") == 0)
        raise(SIGTERM);
    if (strcmp(way, "abort") == 0)
        abort();
    work(60000);
    return 0;
}
