// SPDX-License-Identifier: Apache-2.0
// Threads whose waits end in unusual ways. For each it prints its kind, its thread, and between
// which bounds its wait is, in microseconds by its own clock: the wait contains the shorter time
// and lies within the longer one (0: that is not known), whatever the load.
//   stopped  a process that its parent stops and continues
//   lock     a process that waits for a mutex in memory that it shares with the one that holds it
//   sleep    a thread that still sleeps when its process runs another program
//   sleep    a thread that still sleeps when its process ends
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void print(const char *kind, int tid, long long inner_ns, long long outer_ns)
{
    printf("%s %d %lld %lld\n", kind, tid, inner_ns / 1000, outer_ns / 1000 + 1);
    fflush(stdout);
}

// Waits until the thread has left its processor in that system call, or in any (-1): /proc states
// no call before.
static void wait_until_asleep(int pid, int tid, long call)
{
    char path[64], text[512], *end;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
    for (int tries = 0; tries < 20000; tries++) {
        int fd = open(path, O_RDONLY);
        ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
        if (fd >= 0)
            close(fd);
        text[n > 0 ? n : 0] = '\0';
        long found = strtol(text, &end, 10);
        if (end != text && (call < 0 || found == call))
            return;
        usleep(500);
    }
}

static void stop_one(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        for (volatile unsigned long i = 0;; i++)
            ;
    usleep(20000);
    long long before = now_ns();
    kill(pid, SIGSTOP);
    waitpid(pid, &status, WUNTRACED);
    wait_until_asleep(pid, pid, -1);
    long long stopped = now_ns();
    usleep(60000);
    long long still = now_ns();
    kill(pid, SIGCONT);
    long long after = now_ns();
    usleep(20000);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    print("stopped", pid, still - stopped, after - before);
}

static void share_a_lock(void)
{
    pthread_mutexattr_t a;
    pthread_mutex_t *lock =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(lock, &a);
    pthread_mutex_lock(lock);
    long long before = now_ns();
    pid_t pid = fork();
    if (pid == 0) {
        pthread_mutex_lock(lock);
        pthread_mutex_unlock(lock);
        _exit(0);
    }
    wait_until_asleep(pid, pid, SYS_futex);
    long long asleep = now_ns();
    usleep(60000);
    long long still = now_ns();
    pthread_mutex_unlock(lock);
    long long after = now_ns();
    waitpid(pid, NULL, 0);
    print("lock", pid, still - asleep, after - before);
}

static volatile int sleeper;

static void *sleep_on(void *unused)
{
    sleeper = (int)syscall(SYS_gettid);
    sleep(1000);
    return unused;
}

// When the thread ends is not known to the process that ends: there is no longer time (0).
static void end_asleep(char *self)
{
    pid_t pid = fork();
    long long times[2];
    if (pid) {
        waitpid(pid, NULL, 0);
        return;
    }
    pthread_t t;
    pthread_create(&t, NULL, sleep_on, NULL);
    while (sleeper == 0)
        usleep(500);
    wait_until_asleep(getpid(), sleeper, SYS_clock_nanosleep);
    times[0] = now_ns();
    usleep(60000);
    times[1] = now_ns();
    print("sleep", sleeper, times[1] - times[0], -1000);
    if (self)
        execl(self, self, "nothing", (char *)NULL);
    _exit(0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return 0;
    stop_one();
    share_a_lock();
    end_asleep(argv[0]);
    end_asleep(NULL);
    return 0;
}
