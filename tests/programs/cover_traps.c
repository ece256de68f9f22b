// SPDX-License-Identifier: Apache-2.0
// What breakpoints must not break: cover_traps HOW [LIBRARY].
//   traps    breakpoint instructions and SIGTRAP of its own, in a handler for them
//   crash    one without a handler
//   reopen   an object that is loaded again, most likely to the same place
//   daemon   a process that lives on and loads an object when nobody watches it
//   many     200 processes at once
//   hidden   one that keeps its memory to itself, and forks
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t traps;

static void on_trap(int number)
{
    traps++; // trap
    if (traps > 1)
        traps += number - SIGTRAP; // second trap
}

static int own_traps(void)
{
    signal(SIGTRAP, on_trap);
    __asm__ volatile("int3"); // own
    __asm__ volatile("int3");
    __asm__ volatile(".byte 0xcd, 3");
    for (int i = 0; i < 3; i++)
        __asm__ volatile("int3"); // own again
    raise(SIGTRAP);
    kill(getpid(), SIGTRAP);
    printf("traps %d\n", (int)traps); // told
    return traps;
}

static int call(const char *library, const char *name)
{
    int (*function)(int) = NULL;
    void *handle = dlopen(library, RTLD_NOW);
    if (!handle)
        return -1;
    *(void **)&function = dlsym(handle, name);
    int result = function(2);
    dlclose(handle);
    return result;
}

static int live_on(const char *library)
{
    if (fork() > 0)
        return 0;
    setsid();
    fclose(stdout);
    fclose(stderr);
    sleep(4);
    FILE *out = fopen("daemon.result", "w");
    fprintf(out, "%d\n", call(library, "late") + call(library, "later"));
    fclose(out);
    _exit(0);
}

static int many_at_once(void)
{
    int status, failed = 0;
    for (int i = 0; i < 200; i++)
        if (fork() == 0) {
            usleep(300000);
            _exit(traps + 3 != 3); // each
        }
    while (wait(&status) > 0)
        failed += status != 0;
    return failed;
}

static int hide_and_fork(void)
{
    int status = 0;
    prctl(PR_SET_DUMPABLE, 0);
    traps = 5; // hidden
    if (fork() == 0)
        _exit(traps + 1);
    wait(&status);
    return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "traps";
    const char *library = argc > 2 ? argv[2] : "./liblate.so";
    if (strcmp(how, "crash") == 0)
        __asm__ volatile("int3"); // crash
    if (strcmp(how, "reopen") == 0)
        return call(library, "late") + call(library, "later");
    if (strcmp(how, "daemon") == 0)
        return live_on(library);
    if (strcmp(how, "many") == 0)
        return many_at_once();
    if (strcmp(how, "hidden") == 0)
        return hide_and_fork();
    return own_traps();
}
