// SPDX-License-Identifier: Apache-2.0
// Gets into trouble in the way that its argument names. With PLUGIN it is the library that
// "plugins" loads.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))
static void *volatile kept[64];

#ifdef PLUGIN
KEEP void plugin_allocates(int round) // 2 blocks each time, of which one stays every second time
{
    kept[0] = malloc(30);
    free(kept[0]);
    kept[0] = malloc(40);
    if (round % 2)
        free(kept[0]);
}
#else
static const char *how = "";

KEEP static void before(void) // 20 blocks of 100 bytes, of which 5 stay
{
    for (int i = 0; i < 20; i++)
        kept[i] = malloc(100);
    for (int i = 5; i < 20; i++)
        free(kept[i]);
}

KEEP static void after(void) // 7 blocks
{
    for (int i = 0; i < 7; i++)
        free(malloc(200));
}

// ---- Before main and after it -----------------------------------------------------------

KEEP __attribute__((constructor)) static void in_constructor(void)
{
    for (int i = 0; i < 3; i++)
        kept[40 + i] = malloc(10);
}

KEEP __attribute__((destructor)) static void in_destructor(void)
{
    free(malloc(10));
    free(malloc(10));
}

KEEP static void at_exit(void)
{
    free(malloc(10));
}

KEEP static void at_thread_end(void *value)
{
    free(value);
    for (int i = 0; i < 4; i++)
        free(malloc(20));
}

static pthread_key_t key;

static void *sets_key(void *unused)
{
    pthread_setspecific(key, malloc(1));
    return unused;
}

static void life(void)
{
    pthread_t t;
    atexit(at_exit);
    pthread_key_create(&key, at_thread_end);
    pthread_create(&t, NULL, sets_key, NULL);
    pthread_join(t, NULL);
}

// ---- Threads ----------------------------------------------------------------------------

static _Atomic int stop;

static void *storm(void *unused)
{
    while (!stop)
        for (int i = 1; i < 50; i++)
            free(malloc((size_t)i * 20));
    return unused;
}

KEEP static void in_child(void) // 20 blocks
{
    for (int i = 0; i < 20; i++)
        free(malloc(33));
}

static void forks(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, storm, NULL);
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (child == 0) {
            in_child();
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    stop = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
}

KEEP static void *in_thread(void *unused) // a block that the first thread frees
{
    (void)unused;
    return malloc(55);
}

static void threads(int count)
{
    static pthread_t t[100];
    for (int done = 0; done < count; done += 100) {
        for (int i = 0; i < 100; i++)
            if (pthread_create(&t[i], NULL, in_thread, NULL) != 0)
                exit(9);
        for (int i = 0; i < 100; i++) {
            void *block;
            pthread_join(t[i], &block);
            free(block);
        }
    }
}

static void *runs(void *program)
{
    execl(program, program, (char *)NULL);
    return NULL;
}

static void exec_from_thread(char *program)
{
    pthread_t t[3];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, storm, NULL);
    pthread_create(&t[2], NULL, runs, program);
    pthread_join(t[2], NULL);
}

// ---- Surroundings -----------------------------------------------------------------------

static void plugins(const char *path)
{
    for (int i = 0; i < 20; i++) {
        void *library = dlopen(path, RTLD_NOW);
        void (*allocates)(int) = (void (*)(int))dlsym(library, "plugin_allocates");
        allocates(i);
        dlclose(library);
        free(malloc(77));
    }
}

// From here on only what a program that computes needs: another call ends it.
static void sandbox(void)
{
    static const int allowed[] = {SYS_write,  SYS_exit_group, SYS_exit,  SYS_brk,   SYS_mmap,
                                  SYS_munmap, SYS_madvise,    SYS_futex, SYS_close, SYS_newfstatat};
    enum { COUNT = sizeof(allowed) / sizeof(*allowed) };
    struct sock_filter filter[COUNT + 3] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    for (int i = 0; i < COUNT; i++)
        filter[1 + i] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], COUNT - i, 0);
    filter[COUNT + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1);
    filter[COUNT + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {COUNT + 3, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        exit(8);
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "";
    before();
#define IS(word) (strcmp(how, word) == 0)
    if (IS("double"))
        free(kept[7]), free(kept[6]), free(kept[6]);
    if (IS("foreign")) {
        char here[64];
        free(here + 8);
    }
    if (IS("corrupt")) {
        memset((char *)kept[0] - 8, 0x41, 8);
        free(kept[0]);
    }
    if (IS("overflow")) {
        char *volatile block = kept[4];
        memset(block, 0x41, 5000);
        for (int i = 0; i < 100; i++)
            free(malloc(3000));
        abort();
    }
    if (IS("abort"))
        abort();
    if (IS("segv"))
        *(volatile int *)0 = 1;
    if (IS("kill"))
        kill(getpid(), SIGKILL);
    if (IS("life"))
        life();
    if (IS("plugins"))
        plugins(argv[2]);
    if (IS("forks"))
        forks();
    if (IS("threads"))
        threads(argc > 2 ? atoi(argv[2]) : 1000);
    if (IS("exec"))
        exec_from_thread(argv[2]);
    if (IS("closes"))
        for (int i = 3; i < 1024; i++)
            close(i);
    if (IS("chroot") && (chroot("/proc/self/fdinfo") != 0 || chdir("/") != 0))
        return 7;
    if (IS("setuid") && setuid(65534) != 0)
        return 7;
    if (IS("seccomp"))
        sandbox();
    after();
    puts("done");
    return 0;
}
#endif
