// SPDX-License-Identifier: Apache-2.0
// Counting processes that their command does not wait for, or that change their user:
// cover_outlive daemon FILE (lives until FILE is there, a minute at most) | nobody.
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int as_nobody(void)
{
    return 0; // nobody
}

static int later(void)
{
    return 0; // later
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "daemon") == 0) {
        if (daemon(1, 0) != 0)
            return 1;
        for (int i = 0; i < 6000 && access(argv[2], F_OK) != 0; i++)
            usleep(10000);
        exit(later());
    }
    if (fork() == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(9);
        exit(as_nobody());
    }
    int status = 0;
    wait(&status);
    return status != 0;
}
