// SPDX-License-Identifier: Apache-2.0
// A program that runs before its heap is recorded. Lines on its standard input say what to do; it
// answers each with a line.
// Truths: "after" makes after() allocate 1000 blocks of 100 bytes, of which it frees 600. "old"
// frees 20 of the 50 blocks of 300 bytes that before() has allocated at the start. "old+" makes one
// of the others larger. "fork" does "after" in a child. "storm N SECONDS" allocates in N threads
// until the time is over, and "done" is its answer.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OLD = 50, OLD_BYTES = 300, NEW = 1000, NEW_BYTES = 100, FREED = 600 };
static void *old[OLD];
static _Atomic int stop;

__attribute__((noinline)) static void before(void)
{
    for (int i = 0; i < OLD; i++)
        old[i] = malloc(OLD_BYTES);
}

__attribute__((noinline)) static void after(void)
{
    for (int i = 0; i < NEW; i++) {
        void *volatile block = malloc(NEW_BYTES);
        if (i < FREED)
            free(block);
    }
}

static void *storm(void *seed)
{
    unsigned state = (unsigned)(size_t)seed;
    void *held[64] = {0};
    while (!stop) {
        void **at = &held[(state = state * 1664525 + 1013904223) >> 26];
        if (state & 1) {
            free(*at);
            *at = malloc(1 + (state >> 8) % 1000);
        } else {
            void *larger = realloc(*at, 1 + (state >> 8) % 3000);
            *at = larger;
        }
    }
    for (int i = 0; i < 64; i++)
        free(held[i]);
    return NULL;
}

static void storm_for(int threads, int seconds)
{
    pthread_t *t = calloc((size_t)threads, sizeof(*t));
    for (int i = 0; i < threads; i++)
        if (pthread_create(&t[i], NULL, storm, (void *)(size_t)i) != 0)
            abort();
    for (unsigned left = (unsigned)seconds; left > 0;)
        left = sleep(left);
    stop = 1;
    for (int i = 0; i < threads; i++)
        pthread_join(t[i], NULL);
    free(t);
}

int main(void)
{
    char line[80];
    int threads, seconds;
    setvbuf(stdin, NULL, _IONBF, 0);
    before();
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        if (strcmp(line, "after\n") == 0)
            after();
        else if (strcmp(line, "old\n") == 0)
            for (int i = 0; i < 20; i++)
                free(old[i]);
        else if (strcmp(line, "old+\n") == 0)
            old[30] = realloc(old[30], 2 * OLD_BYTES);
        else if (sscanf(line, "storm %d %d", &threads, &seconds) == 2)
            storm_for(threads, seconds);
        else if (strcmp(line, "fork\n") == 0) {
            if (fork() == 0) {
                after();
                _exit(0);
            }
            wait(NULL);
        }
        puts("done");
        fflush(stdout);
    }
    return 0;
}
