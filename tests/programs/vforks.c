// SPDX-License-Identifier: Apache-2.0
// Children that share the memory of their parent until they run a program of their own: each sleeps
// 60 ms in `early_child` while its parent waits in vfork, then `sleep` runs for 60 ms. `N` of them,
// one after the other.
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static void early_child(void)
{
    const struct timespec nap = {0, 60000000};
    nanosleep(&nap, NULL);
    __asm__ volatile("");
}

__attribute__((noinline)) static void start_one(void)
{
    pid_t pid = vfork();
    if (pid == 0) {
        early_child();
        execlp("sleep", "sleep", "0.06", (char *)NULL);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    for (int n = argc > 1 ? atoi(argv[1]) : 5; n > 0; n--)
        start_one();
    return 0;
}
