// SPDX-License-Identifier: Apache-2.0
// Runs `assay` on a dump.

#include "agent/convert.h"

#include "agent/environment.h"
#include "agent/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

enum { NOT_RUN = 127 }; // the status of a shell for a command that it does not find

static bool ends_with(const char *text, const char *end)
{
    size_t n = 0, m = 0;
    while (text[n])
        n++;
    while (end[m])
        m++;
    return n > m && __builtin_memcmp(text + n - m, end, m) == 0;
}

static bool is_pprof(const char *path)
{
    return ends_with(path, ".pb.gz") || ends_with(path, ".pprof");
}

bool convert_is_wanted(const char *path)
{
    return ends_with(path, ".assay") || is_pprof(path);
}

// In the child. Tries each folder of PATH, as execvp(3) does.
static void execute(const char *const argv[])
{
    const char *at = environment_get("PATH");
    char path[AGENT_PATH_MAX];
    while (at && *at) {
        SysText t = sys_text(path, sizeof(path));
        for (; *at && *at != ':'; at++) {
            char one[2] = {*at, 0};
            sys_text_add(&t, one);
        }
        at += *at == ':';
        sys_text_add(&t, "/assay");
        if (path[0] == '/') // not a file of this name in the current folder
            (void)SYS3(SYS_execve, path, argv, environment());
    }
}

static void run_assay(const char *const argv[], const uint64_t *mask)
{
    int null = sys_open("/dev/null", O_RDWR, 0);
    for (int fd = 0; null >= 0 && fd < 3; fd++)
        (void)SYS3(SYS_dup3, null, fd, 0);
    (void)SYS4(SYS_rt_sigprocmask, SIG_SETMASK, mask, NULL, sizeof(*mask));
    execute(argv);
    for (;;)
        (void)SYS1(SYS_exit, NOT_RUN);
}

static int wait_for(long pid)
{
    int status = -1;
    long rc;
    while ((rc = SYS4(SYS_wait4, pid, &status, __WALL, NULL)) == -EINTR)
        continue;
    return rc > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : NOT_RUN;
}

// Starts a child like vfork: it uses this stack, and this thread waits until its end or exec.
// `signal` is what its end sends to its parent. 0 in the child.
static inline long start_child(int signal)
{
    return SYS2(SYS_clone, CLONE_VM | CLONE_VFORK | signal, 0);
}

// An exec makes every child send SIGCHLD. So a child that does not exec stands between, which
// sends nothing and which only a wait with __WALL finds. No signal may run a handler on the shared
// stack meanwhile.
static int run_unseen(const char *const argv[])
{
    uint64_t all = ~(uint64_t)0, before = 0;
    (void)SYS4(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
    long middle = start_child(0);
    if (middle == 0) {
        long pid = start_child(SIGCHLD);
        if (pid == 0)
            run_assay(argv, &before);
        int status = pid > 0 ? wait_for(pid) : NOT_RUN;
        for (;;)
            (void)SYS1(SYS_exit, status);
    }
    int status = middle > 0 ? wait_for(middle) : NOT_RUN;
    (void)SYS4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
    return status;
}

bool convert_file(const char *dump, const char *path)
{
    const char *const import[] = {"assay", "import", "-f", "-o", path, dump, NULL};
    const char *const export[] = {"assay", "export", "--force", "-f", "pprof",
                                  "-o",    path,     dump,      NULL};
    return run_unseen(is_pprof(path) ? export : import) == 0;
}
