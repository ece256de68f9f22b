// SPDX-License-Identifier: Apache-2.0
// Calls `step` often while a timer sends signals: hit_often CALLS [FILE]. With FILE it first writes
// its pid there. Truths: it prints "steps CALLS, signals handled"; status 5.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long steps;
static volatile sig_atomic_t signals;

__attribute__((noinline)) void step(long i)
{
    steps = i + 1;
}

static void on_timer(int number)
{
    (void)number;
    signals = 1;
}

int main(int argc, char **argv)
{
    long calls = argc > 1 ? atol(argv[1]) : 1000;
    struct itimerval each_ms = {{0, 1000}, {0, 1000}}, none = {{0, 0}, {0, 0}};
    signal(SIGALRM, on_timer);
    setitimer(ITIMER_REAL, &each_ms, NULL);
    if (argc > 2) {
        FILE *f = fopen(argv[2], "w");
        if (!f)
            return 1;
        fprintf(f, "%d\n", (int)getpid());
        fclose(f);
    }
    for (long i = 0; i < calls; i++)
        step(i);
    while (!signals)
        ;
    setitimer(ITIMER_REAL, &none, NULL);
    printf("steps %ld, signals handled\n", steps);
    return 5;
}
