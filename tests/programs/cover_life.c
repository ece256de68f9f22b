// SPDX-License-Identifier: Apache-2.0
// Ways in which counting programs end: cover_life HOW.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i; // work
    return sum;
}

static void on_signal(int number)
{
    exit(40 + number); // on_signal
}

// Each child counts for itself.
static void fork_children(int n)
{
    for (int i = 0; i < n; i++) {
        pid_t child = fork();
        if (child == 0)
            exit(work(10) != 45); // child
        waitpid(child, NULL, 0);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "exit";
    work(10);
    if (strcmp(how, "status") == 0)
        return 7;
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "_exit") == 0)
        _exit(3);
    if (strcmp(how, "fork") == 0)
        fork_children(5);
    if (strcmp(how, "exec") == 0)
        execl(argv[0], argv[0], "status", (char *)NULL);
    if (strcmp(how, "wait") == 0) {
        signal(SIGINT, on_signal);
        signal(SIGTERM, on_signal);
        printf("waiting\n");
        fflush(stdout);
        for (;;)
            pause();
    }
    return 0;
}
