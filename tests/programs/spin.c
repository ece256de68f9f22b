// SPDX-License-Identifier: Apache-2.0
// Burns CPU for the given milliseconds of its own CPU time, then ends as told:
//     spin MS [exit N | signal N | threads N | fork N]
// Truth: `burn` takes nearly all of it, in every thread and child.

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;
static long ms;

static int64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

__attribute__((noinline)) static void burn(void)
{
    int64_t end = cpu_ns() + ms * 1000000;
    uint64_t x = 1;
    do {
        for (int i = 0; i < 200000; i++)
            x = x * 6364136223846793005ull + 1442695040888963407ull;
    } while (cpu_ns() < end);
    sink = x;
}

static void *burn_thread(void *unused)
{
    (void)unused;
    burn();
    return NULL;
}

int main(int argc, char **argv)
{
    ms = argc > 1 ? strtol(argv[1], NULL, 10) : 200;
    const char *how = argc > 2 ? argv[2] : "exit";
    long n = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
    if (strcmp(how, "threads") == 0) {
        pthread_t threads[256];
        for (long i = 0; i < n && i < 256; i++)
            if (pthread_create(&threads[i], NULL, burn_thread, NULL) != 0)
                return 99;
        for (long i = 0; i < n && i < 256; i++)
            pthread_join(threads[i], NULL);
        return 0;
    }
    if (strcmp(how, "fork") == 0) {
        for (long i = 0; i < n; i++) {
            if (fork() == 0) {
                burn();
                _exit(0);
            }
        }
        while (wait(NULL) > 0) {
        }
        return 0;
    }
    burn();
    if (strcmp(how, "signal") == 0) {
        raise((int)n);
        return 98;
    }
    return (int)n;
}
