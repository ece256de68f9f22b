// SPDX-License-Identifier: Apache-2.0
// known_stacks MS [PLUGIN ...]: stacks that come again, of all kinds that a hash of a stack must
// tell apart, for MS of processor time: recursion of several depths, frames of changing size, two
// callers that leave each other's return addresses on the stack, threads, a signal handler, a fork,
// and libraries that take each other's place. Truth: `twice` has twice the time of `once`.
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noinline)) void work(int n)
{
    for (int i = 0; i < n * 1000; i++)
        sink += (unsigned long)i * i;
}

__attribute__((noinline)) void once(void)
{
    work(30);
    sink++;
}

__attribute__((noinline)) void twice(void)
{
    work(60);
    sink++;
}

// A frame of changing size, whose caller is found by the frame pointer.
__attribute__((noinline)) static void changing(size_t size, void (*f)(void))
{
    char *room = alloca(size);
    memset(room, 1, size / 2);
    f();
    sink += (unsigned char)room[size / 3];
}

__attribute__((noinline)) static void deeper(int depth, void (*f)(void))
{
    volatile char room[48];
    room[depth % 48] = 1;
    if (depth)
        deeper(depth - 1, f);
    else
        changing(64 + (sink & 1) * 32, f);
    sink += (unsigned char)room[depth % 48];
}

static void on_signal(int number)
{
    (void)number;
    work(5);
}

static void round_of_work(int i)
{
    deeper(i % 4, once);
    deeper(i % 3, twice);
    if (i % 16 == 0)
        raise(SIGUSR1);
}

static double cpu_ms(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void *run(void *ms)
{
    double end = cpu_ms(CLOCK_THREAD_CPUTIME_ID) + *(double *)ms;
    for (int i = 0; cpu_ms(CLOCK_THREAD_CPUTIME_ID) < end; i++)
        round_of_work(i);
    return NULL;
}

// Loads each library after the other where the first was: `half_a` and `half_b` have the same time.
static void run_plugins(int count, char **paths)
{
    for (int i = 0; i < 40 * count; i++) {
        void *library = dlopen(paths[i % count], RTLD_NOW);
        void (*f)(void (*)(int)) = library ? (void (*)(void (*)(int)))dlsym(library, "half") : NULL;
        if (!f) {
            fprintf(stderr, "%s\n", dlerror());
            exit(1);
        }
        f(work);
        dlclose(library);
    }
}

int main(int argc, char **argv)
{
    double ms = argc > 1 ? atof(argv[1]) / 4 : 250;
    pthread_t threads[2];
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run, &ms);
    run(&ms);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pid_t child = fork();
    if (child == 0) {
        run(&ms);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    if (argc > 2)
        run_plugins(argc - 2, argv + 2);
    return 0;
}
