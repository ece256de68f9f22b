// SPDX-License-Identifier: Apache-2.0
// profiled WAY FILE: profiles itself and dumps to FILE. Of what it samples, first() has 25 % and
// second() 75 %, in main or in threads. It prints every result that is not the expected one.

#include <assay/profile.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiled.h"

PROFILED_WORK(before, 0)
PROFILED_WORK(first, 1)
PROFILED_WORK(second, 2)

static int wrong;

static void expect(const char *what, int got, int want)
{
    if (got == want)
        return;
    printf("%s: %d, not %d\n", what, got, want);
    wrong = 1;
}

static void *in_thread(void *arg)
{
    (void)arg;
    first(100);
    second(300);
    return NULL;
}

static void threads(const char *file)
{
    pthread_t early, late;
    pthread_create(&early, NULL, in_thread, NULL); // its time before the start is not counted
    expect("start", assay_profile_start(NULL), 0);
    pthread_create(&late, NULL, in_thread, NULL);
    pthread_join(early, NULL);
    pthread_join(late, NULL);
    expect("dump while it runs", assay_profile_dump(file), 0);
    expect("stop", assay_profile_stop(), 0);
}

static void simple(const char *file)
{
    AssayProfileOptions o = {.size = sizeof(o), .rate_hz = 500, .buffer_bytes = 1 << 20};
    before(100);
    errno = 77;
    expect("stop too early", assay_profile_stop(), -ESRCH);
    expect("dump too early", assay_profile_dump(file), -ENODATA);
    expect("start", assay_profile_start(&o), 0);
    expect("start twice", assay_profile_start(&o), -EALREADY);
    first(100);
    second(300);
    expect("stop", assay_profile_stop(), 0);
    before(100);
    expect("dump", assay_profile_dump(file), 0);
    expect("dump nowhere", assay_profile_dump("no/such/folder/x"), -ENOENT);
    expect("errno", errno, 77);
    o.rate_hz = 1001;
    expect("start too fast", assay_profile_start(&o), -EINVAL);
}

// The child's dump has only the child's time, and the parent's only the parent's.
static void forks(const char *file)
{
    int status;
    expect("start", assay_profile_start(NULL), 0);
    first(100);
    pid_t child = fork();
    if (child == 0) {
        char name[4096];
        snprintf(name, sizeof(name), "%s.child", file);
        second(300);
        first(100);
        expect("dump in the child", assay_profile_dump(name), 0);
        exit(wrong);
    }
    second(300);
    waitpid(child, &status, 0);
    expect("the child", status, 0);
    expect("dump", assay_profile_dump(file), 0);
}

// A buffer for less than what comes: samples are thinned, the shares stay.
static void long_run(const char *file)
{
    AssayProfileOptions o = {.size = sizeof(o), .buffer_bytes = 64 << 10};
    expect("start", assay_profile_start(&o), 0);
    for (int i = 0; i < 60; i++) {
        first(10);
        second(30);
    }
    expect("dump", assay_profile_dump(file), 0);
}

// A module that is loaded, runs and is unloaded, again and again.
static void modules(const char *file)
{
    expect("start", assay_profile_start(NULL), 0);
    for (int i = 0; i < 10; i++) {
        const char *const names[] = {"./module_first.so", "./module_second.so"};
        for (int k = 0; k < 2; k++) {
            void *module = dlopen(names[k], RTLD_NOW);
            void (*work)(double);
            if (!module) {
                printf("%s\n", dlerror());
                exit(1);
            }
            *(void **)&work = dlsym(module, "work");
            work(k ? 30 : 10);
            dlclose(module);
        }
    }
    expect("dump", assay_profile_dump(file), 0);
}

// The helper that converts a dump is not a child that the program can see.
static volatile sig_atomic_t child_signals;

static void on_child(int number)
{
    (void)number;
    child_signals++;
}

static void converts(const char *file)
{
    signal(SIGCHLD, on_child);
    expect("start", assay_profile_start(NULL), 0);
    first(100);
    second(300);
    expect("dump", assay_profile_dump(file), 0);
    expect("signals of children", (int)child_signals, 0);
    expect("children", (int)waitpid(-1, NULL, WNOHANG), -1);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(const char *file);
    } ways[] = {{"simple", simple}, {"threads", threads}, {"fork", forks},
                {"long", long_run}, {"modules", modules}, {"convert", converts}};
    for (size_t i = 0; argc == 3 && i < sizeof(ways) / sizeof(ways[0]); i++)
        if (strcmp(argv[1], ways[i].name) == 0) {
            ways[i].run(argv[2]);
            return wrong;
        }
    return 2;
}
