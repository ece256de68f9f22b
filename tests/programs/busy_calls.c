// SPDX-License-Identifier: Apache-2.0
// Calls one function in threads that run at the same time: busy_calls THREADS CALLS. Truths: called
// runs THREADS * CALLS times.

#include <pthread.h>
#include <stdlib.h>

enum { THREADS_MAX = 256 };

static volatile int sink;
static int calls;

__attribute__((noinline)) void called(int i)
{
    sink = i;
}

static void *work(void *arg)
{
    (void)arg;
    for (int i = 0; i < calls; i++)
        called(i);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 4;
    pthread_t all[THREADS_MAX];
    calls = argc > 2 ? atoi(argv[2]) : 100;
    if (threads > THREADS_MAX)
        return 2;
    for (int i = 0; i < threads; i++)
        if (pthread_create(&all[i], NULL, work, NULL) != 0)
            return 1;
    for (int i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
    return 0;
}
