// SPDX-License-Identifier: Apache-2.0
// switches N: two processes hand a byte to and fro N times. Truth: each gives up
// its processor at least N times, whatever else runs on the machine.

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int pass(int from, int to, int count, int first)
{
    char byte = 0;
    for (int i = 0; i < count; i++) {
        if (first && write(to, &byte, 1) != 1)
            return 1;
        if (read(from, &byte, 1) != 1)
            return 1;
        if (!first && write(to, &byte, 1) != 1)
            return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 10000;
    int there[2], back[2];
    if (pipe(there) != 0 || pipe(back) != 0)
        return 1;
    pid_t child = fork();
    if (child == 0)
        _exit(pass(there[0], back[1], count, 0));
    int status = pass(back[0], there[1], count, 1);
    return child < 0 || waitpid(child, NULL, 0) != child ? 1 : status;
}
