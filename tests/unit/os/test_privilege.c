// SPDX-License-Identifier: Apache-2.0
// What a process can do after it has given up its rights.

#include "os/privilege.h"

#include "os/keeper.h"

#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// LeakSanitizer traces the process from one of its own, so that it is left to do so.
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define HAS_LEAK_CHECK
#endif
#endif

static void *nothing(void *arg)
{
    return arg;
}

static bool is_refused(long result)
{
    return result < 0 && errno == EPERM;
}

// 0, or a number as below.
static int refuses_what_changes_others(void)
{
    char letter = 'x';
    struct rlimit limit;
    cpu_set_t cpus;
    struct perf_event_attr attr = {.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE};
    CPU_ZERO(&cpus);
    CPU_SET(0, &cpus);
    // Without a filter these fail with ENOTTY, or not at all.
    if (!is_refused(ioctl(STDIN_FILENO, TIOCSTI, &letter)) ||
        !is_refused(ioctl(STDIN_FILENO, FIONBIO, &(int){0})))
        return 8;
    (void)isatty(STDIN_FILENO);
    if (errno == EPERM)
        return 9;
    if (!is_refused(setpriority(PRIO_PROCESS, (id_t)getppid(), 0)) ||
        !is_refused(prlimit(getppid(), RLIMIT_CORE, NULL, &limit)) ||
        !is_refused(sched_setaffinity(getppid(), sizeof(cpus), &cpus)))
        return 10;
    if (!is_refused(shmget(IPC_PRIVATE, 1, 0600)) || !is_refused(msgget(IPC_PRIVATE, 0600)))
        return 11;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 12;
    attr.disabled = attr.exclude_kernel = 1;
    int event = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
    return event >= 0 && ioctl(event, PERF_EVENT_IOC_ENABLE, 0) != 0 ? 13 : 0;
}

// 0, or the number of the first thing that was not as it must be. `open_file` was opened before.
static int confined(int open_file)
{
    char *const argv[] = {(char *)(uintptr_t) "true", NULL};
    char byte;
    pthread_t thread;
    privilege_reduce(false);
    if (!privilege_confine(false))
        return 77;
    if (!is_refused(execv("/bin/true", argv)))
        return 1;
    if (!is_refused(open("/dev/null", O_WRONLY)) || !is_refused(open("/dev/null", O_RDWR)) ||
        !is_refused(open("made", O_RDONLY | O_CREAT, 0600)))
        return 2;
    if (!is_refused(rename("a", "b")) || !is_refused(unlink("a")) ||
        !is_refused(mkdir("a", 0700)) || !is_refused(symlink("a", "b")) ||
        !is_refused(chmod("/dev/null", 0600)))
        return 3;
    if (!is_refused(socket(AF_INET, SOCK_STREAM, 0)) ||
        !is_refused(socket(AF_UNIX, SOCK_STREAM, 0)))
        return 4;
#ifndef HAS_LEAK_CHECK
    if (!is_refused(fork()) || !is_refused(ptrace(PTRACE_SEIZE, getppid(), 0L, 0L)))
        return 5;
#endif
    int fd = open("/proc/self/maps", O_RDONLY);
    if (fd < 0 || read(fd, &byte, 1) != 1 || write(open_file, "x", 1) != 1)
        return 6;
    if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 7;
    return refuses_what_changes_others();
}

static void a_confined_process_reads_and_neither_executes_nor_opens_for_writing(void **state)
{
    (void)state;
    int status, file = open("/dev/null", O_WRONLY);
    pid_t pid = fork();
    if (pid == 0)
        _exit(confined(file));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(file);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void answer(void *ctx, Str request, StrBuf *reply)
{
    (void)ctx;
    strbuf_add(reply, request);
    strbuf_printf(reply, " from %d", (int)getpid());
}

static void a_keeper_answers_until_it_is_ended(void **state)
{
    (void)state;
    Keeper k;
    StrBuf reply = {0};
    assert_true(keeper_start(&(KeeperTask){.serve = answer}, &k));
    for (int i = 0; i < 3; i++) {
        assert_true(keeper_ask(&k, STR("hello"), &reply));
        assert_true(str_starts_with(strbuf_str(&reply), STR("hello from ")));
    }
    int pid = atoi(strbuf_str(&reply).ptr + strlen("hello from "));
    assert_int_not_equal(pid, getpid());
    keeper_end(&k);
    assert_false(keeper_ask(&k, STR("hello"), &reply));
    keeper_end(&k);
    strbuf_deinit(&reply);
}

static void a_keeper_takes_large_and_empty_requests(void **state)
{
    (void)state;
    Keeper k;
    StrBuf large = {0}, reply = {0};
    assert_true(keeper_start(&(KeeperTask){.serve = answer}, &k));
    for (int i = 0; i < 1 << 16; i++)
        strbuf_add(&large, STR("0123456789abcdef"));
    assert_true(keeper_ask(&k, strbuf_str(&large), &reply));
    assert_true(reply.len > large.len);
    assert_true(keeper_ask(&k, STR(""), &reply));
    keeper_end(&k);
    strbuf_deinit(&large);
    strbuf_deinit(&reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_confined_process_reads_and_neither_executes_nor_opens_for_writing),
        cmocka_unit_test(a_keeper_answers_until_it_is_ended),
        cmocka_unit_test(a_keeper_takes_large_and_empty_requests),
    };
    return RUN_TESTS(tests);
}
