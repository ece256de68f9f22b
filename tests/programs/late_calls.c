// SPDX-License-Identifier: Apache-2.0
// Calls functions in threads and processes that start one after the other: late_calls THREADS
// PROCESSES CALLS. Truths: called runs (1 + THREADS + 2 * PROCESSES) * CALLS times: in the first
// thread, in each thread, in each child and in a thread of each child; the first call of each
// comes at once.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sink;

__attribute__((noinline)) void called(int i)
{
    sink = i;
}

static void *work(void *arg)
{
    for (int i = 0; i < *(int *)arg; i++)
        called(i);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 4, processes = argc > 2 ? atoi(argv[2]) : 2;
    int calls = argc > 3 ? atoi(argv[3]) : 100;
    pthread_t thread;
    usleep(argc > 4 ? (unsigned)atoi(argv[4]) * 1000 : 0); // for a recorder that attaches
    work(&calls);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread, NULL, work, &calls) != 0 || pthread_join(thread, NULL) != 0)
            return 1;
    for (int i = 0; i < processes; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            work(&calls);
            if (pthread_create(&thread, NULL, work, &calls) != 0)
                exit(1);
            pthread_join(thread, NULL);
            exit(0); // which writes the counts of a coverage build
        }
        if (pid < 0 || waitpid(pid, NULL, 0) != pid)
            return 1;
    }
    return 0;
}
