// SPDX-License-Identifier: Apache-2.0
// Ways a process lives and dies that a recorder must follow. Usage: life HOW [ARG]
//   burn MS        CPU time in burn()
//   vfork N        N children by vfork and exec, each with 50 ms in burn()
//   churn N        N rounds of four threads with 20 ms each
//   threads N      N threads, one after another, that do nothing
//   unlink FILE    removes FILE (itself) and burns 500 ms
//   replace FILE BY  puts BY in the place of FILE (itself) and burns 500 ms
//   jit            a loop in generated code, named in /tmp/perf-PID.map
//   daemon MS      a child that outlives it
//   dlopen         burns inside libm, loaded at run time
// Truth: burn() has at least 90 % of burn, churn, unlink and replace.

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// By CPU time: a busy machine must not make it shorter.
__attribute__((noinline)) static void burn(double ms)
{
    double end = now(CLOCK_THREAD_CPUTIME_ID) + ms / 1e3;
    do
        for (unsigned long i = 0; i < 100000; i++)
            sink += i;
    while (now(CLOCK_THREAD_CPUTIME_ID) < end);
}

static void *burn_in_thread(void *arg)
{
    (void)arg;
    burn(20);
    return NULL;
}

static void by_vfork(int n)
{
    for (int i = 0; i < n; i++) {
        if (vfork() == 0) {
            execl("/proc/self/exe", "life", "burn", "50", (char *)NULL);
            _exit(1);
        }
    }
    while (wait(NULL) > 0)
        continue;
}

static void churn(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        pthread_t t[4];
        for (int j = 0; j < 4; j++)
            pthread_create(&t[j], NULL, burn_in_thread, NULL);
        for (int j = 0; j < 4; j++)
            pthread_join(t[j], NULL);
    }
}

static void *do_nothing(void *arg)
{
    return arg;
}

static void make_threads(int count)
{
    for (int i = 0; i < count; i++) {
        pthread_t t;
        pthread_create(&t, NULL, do_nothing, NULL);
        pthread_join(t, NULL);
    }
}

static int jit(void)
{
#if defined(__x86_64__)
    // dec %rdi; jnz -5; ret
    static const uint8_t code[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};
    void *at =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return 1;
    memcpy(at, code, sizeof(code));
    char name[64];
    snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
    FILE *map = fopen(name, "w");
    if (!map)
        return 1;
    fprintf(map, "%lx %zx jitted_loop\n", (unsigned long)(uintptr_t)at, sizeof(code));
    fclose(map);
    ((void (*)(unsigned long))(uintptr_t)at)(500000000);
    printf("%s\n", name);
#endif
    return 0;
}

static int by_dlopen(void)
{
    void *lib = dlopen("libm.so.6", RTLD_NOW);
    double (*tgamma_of)(double) = lib ? (double (*)(double))dlsym(lib, "tgamma") : NULL;
    if (!tgamma_of)
        return 1;
    double end = now(CLOCK_THREAD_CPUTIME_ID) + 0.2, sum = 0;
    while (now(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 1; i < 1000; i++)
            sum += tgamma_of(1 + i / 100.0);
    sink += (unsigned long)(sum > 1);
    return 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    const char *arg = argc > 2 ? argv[2] : "100";
    if (strcmp(how, "burn") == 0)
        burn(atof(arg));
    else if (strcmp(how, "vfork") == 0)
        by_vfork(atoi(arg));
    else if (strcmp(how, "churn") == 0)
        churn(atoi(arg));
    else if (strcmp(how, "threads") == 0)
        make_threads(atoi(arg));
    else if (strcmp(how, "unlink") == 0)
        return unlink(arg) != 0 || (burn(500), 0);
    else if (strcmp(how, "replace") == 0)
        return argc < 4 || rename(argv[3], arg) != 0 || (burn(500), 0);
    else if (strcmp(how, "jit") == 0)
        return jit();
    else if (strcmp(how, "dlopen") == 0)
        return by_dlopen();
    else if (strcmp(how, "daemon") == 0) {
        if (fork() == 0) {
            setsid();
            burn(atof(arg));
            _exit(0);
        }
    } else
        return 2;
    return 0;
}
