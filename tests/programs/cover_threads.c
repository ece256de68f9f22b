// SPDX-License-Identifier: Apache-2.0
// Threads that meet at the same statements, an object that is loaded late, and a
// timer that interrupts them: cover_threads LIBRARY.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

enum { THREADS = 16, ROUNDS = 200 };

static pthread_barrier_t barrier;
static volatile sig_atomic_t ticks;

static void on_tick(int number)
{
    (void)number;
    ticks++; // tick
}

#define STEP(n)                                                                                    \
    static long step_##n(long x)                                                                   \
    {                                                                                              \
        return x * 3 + n;                                                                          \
    }
STEP(1)
STEP(2)
STEP(3)

static void *work(void *arg)
{
    long sum = (long)arg;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < ROUNDS; i++) {
        sum = step_1(sum) % 1000;
        sum = step_2(sum) % 1000;
        if (sum < 0)
            sum = step_3(sum); // not reached
        sum += i;              // every thread
    }
    return (void *)sum;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    struct itimerval often = {{0, 1000}, {0, 1000}};
    long total = 0;
    signal(SIGALRM, on_tick);
    setitimer(ITIMER_REAL, &often, NULL);
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        total += (long)result;
    }
    while (ticks < 3)
        continue;
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (library) {
        int (*late)(int) = NULL;
        *(void **)&late = dlsym(library, "late");
        total += late(2);
        dlclose(library);
    }
    printf("%ld\n", total);
    return 0;
}
