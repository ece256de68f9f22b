// SPDX-License-Identifier: Apache-2.0
// CPU time inside a signal handler that interrupts a loop. Usage: in_handler [MS]
// Truth: main -> spin -> (what the handler returns to) -> on_signal -> burn, which
// has at least 80 %.

#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static volatile unsigned long sink;
static volatile int done;
static double ms = 200;

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

__attribute__((noinline)) static void burn(void)
{
    double end = cpu_ms() + ms;
    do
        for (unsigned long i = 0; i < 100000; i++)
            sink += i;
    while (cpu_ms() < end);
    done = 1;
}

__attribute__((noinline)) static void on_signal(int number)
{
    (void)number;
    burn();
    sink++;
}

__attribute__((noinline)) static void spin(void)
{
    while (!done)
        sink++;
    sink++;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        ms = atof(argv[1]);
    signal(SIGALRM, on_signal);
    struct itimerval timer = {.it_value.tv_usec = 5000};
    setitimer(ITIMER_REAL, &timer, 0);
    spin();
    sink++;
    return 0;
}
