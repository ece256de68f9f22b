// SPDX-License-Identifier: Apache-2.0
// timer_signals WAY: works for 400 ms of processor time in work(), and meanwhile does one thing
// with signals that a sampler by signals could break. It prints "WAY: as without" when it was not
// disturbed.

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { WORK_MS = 400, PIECE_MS = 4, COROUTINE_BYTES = 16 << 10 };

static volatile unsigned long sink;
static volatile sig_atomic_t calls, wrong_stack;

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

__attribute__((noinline)) static void work(double ms)
{
    double end = cpu_ms() + ms;
    do
        for (unsigned long i = 0; i < 50000; i++)
            sink += i;
    while (cpu_ms() < end);
}

static void on_signal(int number)
{
    (void)number;
    calls++;
}

static int blocked(void)
{
    sigset_t all, now;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    work(WORK_MS);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    return sigismember(&now, SIGUSR1) == 1 && sigismember(&now, SIGRTMIN) == 1;
}

// Handlers for every signal that there is; each that is set can be read back, and none is called.
static int handlers(void)
{
    int good = 1;
    for (int i = 1; i <= SIGRTMAX; i++) {
        struct sigaction a = {.sa_handler = on_signal}, there;
        if (i == SIGKILL || i == SIGSTOP || (i > 31 && i < SIGRTMIN))
            continue;
        good &= sigaction(i, &a, NULL) == 0 && sigaction(i, NULL, &there) == 0 &&
                there.sa_handler == on_signal;
    }
    work(WORK_MS);
    return good && calls == 0;
}

static int profiler(void)
{
    struct itimerval every = {{0, 10000}, {0, 10000}}, none = {{0, 0}, {0, 0}};
    signal(SIGPROF, on_signal);
    setitimer(ITIMER_PROF, &every, NULL);
    work(WORK_MS);
    setitimer(ITIMER_PROF, &none, NULL);
    return calls > 5;
}

// The handler of the program runs on the stack that the program gave, as small as it may be.
static char *alternate;
static size_t alternate_bytes;

static void on_alternate(int number)
{
    char here;
    (void)number;
    calls++;
    wrong_stack |= &here < alternate || &here >= alternate + alternate_bytes;
}

static int altstack(void)
{
    alternate_bytes = (size_t)sysconf(_SC_MINSIGSTKSZ) + 2048;
    alternate = malloc(alternate_bytes);
    stack_t s = {.ss_sp = alternate, .ss_size = alternate_bytes}, there;
    struct sigaction a = {.sa_handler = on_alternate, .sa_flags = SA_ONSTACK};
    memset(alternate, 0x5a, alternate_bytes);
    sigaltstack(&s, NULL);
    sigaction(SIGUSR1, &a, NULL);
    for (double spent = 0; spent < WORK_MS; spent += PIECE_MS) {
        work(PIECE_MS);
        raise(SIGUSR1);
    }
    sigaltstack(NULL, &there);
    return calls >= WORK_MS / PIECE_MS && !wrong_stack && there.ss_sp == alternate;
}

static ucontext_t home, away;

static void in_coroutine(void)
{
    for (int i = 0; i < WORK_MS / PIECE_MS; i++) {
        work(PIECE_MS);
        swapcontext(&away, &home);
    }
}

static int coroutine(void)
{
    // What lies around a stack must stay as it is.
    enum { GUARD = 4096 };
    unsigned char *room = malloc(COROUTINE_BYTES + 2 * GUARD);
    memset(room, 0xa5, COROUTINE_BYTES + 2 * GUARD);
    getcontext(&away);
    away.uc_stack.ss_sp = room + GUARD;
    away.uc_stack.ss_size = COROUTINE_BYTES;
    away.uc_link = &home;
    makecontext(&away, in_coroutine, 0);
    for (int i = 0; i < WORK_MS / PIECE_MS; i++)
        swapcontext(&home, &away);
    for (int i = 0; i < GUARD; i++)
        if (room[i] != 0xa5 || room[GUARD + COROUTINE_BYTES + i] != 0xa5)
            return 0;
    return 1;
}

// Work between short sleeps, of the kinds that SA_RESTART does not restart.
static int eintr(void)
{
    int interrupted = 0, ends[2];
    if (pipe(ends) != 0)
        return 0;
    for (double spent = 0; spent < WORK_MS; spent += PIECE_MS) {
        struct timespec pause = {.tv_nsec = 200000};
        struct pollfd p = {.fd = ends[0], .events = POLLIN};
        work(PIECE_MS);
        interrupted += nanosleep(&pause, NULL) != 0;
        interrupted += poll(&p, 1, 1) < 0;
    }
    return interrupted == 0;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    errno = 0;
    int good = strcmp(way, "blocked") == 0     ? blocked()
               : strcmp(way, "handlers") == 0  ? handlers()
               : strcmp(way, "profiler") == 0  ? profiler()
               : strcmp(way, "altstack") == 0  ? altstack()
               : strcmp(way, "coroutine") == 0 ? coroutine()
               : strcmp(way, "eintr") == 0     ? eintr()
                                               : 0;
    printf("%s: %s\n", way, good ? "as without" : "disturbed");
    return 0;
}
