// SPDX-License-Identifier: Apache-2.0
// Allocates in known ways. Its argument says what else happens; it prints what it was built to
// print.
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))
static void *volatile kept[64];

KEEP void leaks(void) // 7 blocks of 100 bytes stay
{
    for (int i = 0; i < 7; i++)
        kept[i] = malloc(100);
}

KEEP void churns(void) // 5000 blocks of 48 bytes, each freed at once
{
    for (int i = 0; i < 5000; i++) {
        void *volatile block = malloc(48);
        free(block);
    }
}

KEEP void grows(void) // 1 block, 20 calls of realloc with a block, 2000 bytes at last
{
    char *block = malloc(100);
    for (int i = 1; i <= 20; i++) {
        block = realloc(block, 100u * (unsigned)i);
        block[0] = 1;
    }
    free(block);
}

KEEP void peaks(void) // 10 blocks of 1 MB live at once: the peak
{
    for (int i = 0; i < 10; i++)
        kept[10 + i] = malloc(1000000);
    for (int i = 0; i < 10; i++)
        free(kept[10 + i]);
}

KEEP void all_kinds(void) // 10 blocks of 64 bytes
{
    void *block;
    free(calloc(4, 16));
    free(realloc(NULL, 64));
    free(reallocarray(NULL, 8, 8));
    free(aligned_alloc(64, 64));
    if (posix_memalign(&block, 64, 64) == 0)
        free(block);
    free(memalign(64, 64));
    free(valloc(64));
    free(pvalloc(64));
    free(strdup("sixty-three letters and a zero, sixty-three letters and a zero!"));
    free(malloc(64));
}

KEEP static void *gives(void *unused) // 3 blocks that another thread frees
{
    (void)unused;
    for (int i = 0; i < 3; i++)
        kept[30 + i] = malloc(333);
    return NULL;
}

static void threads(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, gives, NULL);
    pthread_join(thread, NULL);
    for (int i = 0; i < 3; i++)
        free(kept[30 + i]);
}

KEEP static void in_child(void) // 4 blocks of 77 bytes in the child alone
{
    for (int i = 0; i < 4; i++)
        kept[40 + i] = malloc(77);
    for (int i = 0; i < 4; i++)
        free(kept[i]); // the parent's
}

static void at_signal(int number)
{
    (void)number;
    free(malloc(11));
}

int main(int argc, char **argv)
{
    const char *more = argc > 1 ? argv[1] : "";
    static char buffer[BUFSIZ];
    setbuf(stdout, buffer);
    leaks();
    churns();
    grows();
    peaks();
    all_kinds();
    threads();
    printf("done\n");
    fflush(stdout);
    if (strcmp(more, "fork") == 0) {
        if (fork() == 0) {
            in_child();
            _exit(0);
        }
        wait(NULL);
    }
    if (strcmp(more, "exec") == 0)
        execl(argv[0], argv[0], (char *)NULL);
    if (strcmp(more, "exit") == 0)
        _exit(5);
    if (strcmp(more, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(more, "abort") == 0) // double free: glibc ends the program
        free(kept[0]), free(kept[0]);
    if (strcmp(more, "close") == 0)
        for (int i = 0; i < 256; i++)
            close(i);
    if (strcmp(more, "signal") == 0) {
        signal(SIGUSR1, at_signal);
        raise(SIGUSR1);
    }
    return 3;
}
