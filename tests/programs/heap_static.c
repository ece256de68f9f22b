// SPDX-License-Identifier: Apache-2.0
// Allocates 100 blocks of 100 bytes in `work`, half of which it frees, after what its argument
// says. Truths: 100 blocks, 10000 bytes, 50 blocks at the end; exit status 7 where none is said.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static void work(int blocks)
{
    for (int i = 0; i < blocks; i++) {
        char *volatile block = malloc(100);
        block[0] = 1;
        if (i % 2)
            free(block);
    }
}

// A child that allocates, or executes another program, before this process has allocated.
static int child(int executes)
{
    int status;
    pid_t pid = executes ? vfork() : fork();
    if (pid == 0) {
        if (executes)
            execl("/bin/true", "true", (char *)NULL);
        work(10);
        _exit(executes ? 9 : 7);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == (executes ? 0 : 7) ? 7 : 99;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int status = 7;
    if (strcmp(how, "nothing") == 0) // status 5, without a block
        return 5;
    if (strcmp(how, "exec") == 0) // 100 blocks of another program, which is named behind
        execv(argv[2], argv + 2);
    if (strcmp(how, "killed") == 0) // by SIGUSR1, without a block
        raise(SIGUSR1);
    if (strcmp(how, "fork") == 0)
        status = child(0);
    if (strcmp(how, "vfork") == 0)
        status = child(1);
    if (strcmp(how, "signal") == 0) {
        signal(SIGUSR2, SIG_IGN);
        raise(SIGUSR2);
    }
    if (strcmp(how, "wait") == 0)
        usleep(300000);
    work(100);
    if (strcmp(how, "fork-late") == 0) // a child with 10 blocks and 5 calls of free
        status = child(0);
    if (strcmp(how, "crash") == 0) // SIGSEGV, after the blocks
        raise(SIGSEGV);
    if (strcmp(how, "stays") == 0) {
        printf("%d\n", (int)getpid());
        fflush(stdout);
        for (;;)
            pause();
    }
    return status;
}
