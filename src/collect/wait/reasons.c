// SPDX-License-Identifier: Apache-2.0
// System calls that sleep: their class, and the argument that says what for (syscalls(2)).

#include "collect/wait/reasons_internal.h"

#include "wire/wait.h"

#include <sys/syscall.h>

typedef struct Reason {
    uint16_t call;
    uint8_t class; // of WaitClass; for WAIT_OBJECT_FD, unless the descriptor says another
    uint8_t object;
    uint8_t arg;
} Reason;

#define FD(call, class)                                                                            \
    {                                                                                              \
        SYS_##call, class, WAIT_OBJECT_FD, 0                                                       \
    }
#define CALL(call, class)                                                                          \
    {                                                                                              \
        SYS_##call, class, WAIT_OBJECT_NONE, 0                                                     \
    }

// Of a path that leads to a disk or to a named pipe.
#define PATH(call)                                                                                 \
    {                                                                                              \
        SYS_##call, WAIT_DISK, WAIT_OBJECT_PATH, 0                                                 \
    }

// Numbers that the headers of Debian 12 do not have.
enum { CALL_FUTEX_WAITV = 449, CALL_FUTEX_WAIT = 455 };

static const Reason reasons[] = {
    {SYS_futex, WAIT_LOCK, WAIT_OBJECT_LOCK, 0},
    {CALL_FUTEX_WAITV, WAIT_LOCK, WAIT_OBJECT_NONE, 0},
    {CALL_FUTEX_WAIT, WAIT_LOCK, WAIT_OBJECT_LOCK, 0},
    FD(flock, WAIT_LOCK),
    FD(fcntl, WAIT_LOCK),
    CALL(semop, WAIT_LOCK),
    CALL(semtimedop, WAIT_LOCK),

    FD(read, WAIT_NETWORK),
    FD(write, WAIT_NETWORK),
    FD(readv, WAIT_NETWORK),
    FD(writev, WAIT_NETWORK),
    FD(pread64, WAIT_DISK),
    FD(pwrite64, WAIT_DISK),
    FD(preadv, WAIT_DISK),
    FD(pwritev, WAIT_DISK),
    FD(preadv2, WAIT_DISK),
    FD(pwritev2, WAIT_DISK),
    FD(sendfile, WAIT_NETWORK),
    FD(splice, WAIT_NETWORK),
    FD(tee, WAIT_NETWORK),
    FD(copy_file_range, WAIT_DISK),
    FD(ioctl, WAIT_NETWORK),
    FD(close, WAIT_DISK),

    FD(recvfrom, WAIT_NETWORK),
    FD(recvmsg, WAIT_NETWORK),
    FD(recvmmsg, WAIT_NETWORK),
    FD(sendto, WAIT_NETWORK),
    FD(sendmsg, WAIT_NETWORK),
    FD(sendmmsg, WAIT_NETWORK),
    FD(accept, WAIT_NETWORK),
    FD(accept4, WAIT_NETWORK),
    FD(connect, WAIT_NETWORK),
    FD(epoll_pwait, WAIT_NETWORK),
    CALL(ppoll, WAIT_NETWORK),
    CALL(pselect6, WAIT_NETWORK),
    CALL(msgrcv, WAIT_NETWORK),
    CALL(msgsnd, WAIT_NETWORK),
    CALL(mq_timedreceive, WAIT_NETWORK),
    CALL(mq_timedsend, WAIT_NETWORK),
#ifdef SYS_poll
    FD(epoll_wait, WAIT_NETWORK),
    CALL(poll, WAIT_NETWORK),
    CALL(select, WAIT_NETWORK),
    CALL(pause, WAIT_SLEEP),
    PATH(open),
    PATH(creat),
    CALL(stat, WAIT_DISK),
    CALL(lstat, WAIT_DISK),
    CALL(rename, WAIT_DISK),
    CALL(mkdir, WAIT_DISK),
    CALL(rmdir, WAIT_DISK),
    CALL(link, WAIT_DISK),
    CALL(unlink, WAIT_DISK),
    CALL(symlink, WAIT_DISK),
    CALL(readlink, WAIT_DISK),
    CALL(chmod, WAIT_DISK),
    CALL(chown, WAIT_DISK),
    CALL(access, WAIT_DISK),
    FD(getdents, WAIT_DISK),
    CALL(vfork, WAIT_CHILD),
#endif
    CALL(nanosleep, WAIT_SLEEP),
    CALL(clock_nanosleep, WAIT_SLEEP),
    CALL(rt_sigtimedwait, WAIT_SLEEP),
    CALL(rt_sigsuspend, WAIT_SLEEP),

    FD(fsync, WAIT_DISK),
    FD(fdatasync, WAIT_DISK),
    FD(syncfs, WAIT_DISK),
    FD(sync_file_range, WAIT_DISK),
    FD(ftruncate, WAIT_DISK),
    FD(fallocate, WAIT_DISK),
    FD(fstat, WAIT_DISK),
    FD(getdents64, WAIT_DISK),
    CALL(sync, WAIT_DISK),
    CALL(msync, WAIT_DISK),
    CALL(truncate, WAIT_DISK),
    PATH(openat),
    CALL(newfstatat, WAIT_DISK),
    CALL(statx, WAIT_DISK),
    CALL(statfs, WAIT_DISK),
    CALL(renameat, WAIT_DISK),
    CALL(renameat2, WAIT_DISK),
    CALL(mkdirat, WAIT_DISK),
    CALL(linkat, WAIT_DISK),
    CALL(unlinkat, WAIT_DISK),
    CALL(symlinkat, WAIT_DISK),
    CALL(readlinkat, WAIT_DISK),
    CALL(faccessat, WAIT_DISK),
    CALL(io_getevents, WAIT_DISK),
    CALL(execve, WAIT_DISK),
    CALL(execveat, WAIT_DISK),

    CALL(wait4, WAIT_CHILD),
    CALL(waitid, WAIT_CHILD),
    CALL(clone, WAIT_CHILD), // with CLONE_VFORK
    CALL(clone3, WAIT_CHILD),
};

static const Reason *find(uint32_t call)
{
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i].call == call)
            return &reasons[i];
    return NULL;
}

WaitObject wait_object_of(uint32_t call, uint32_t *arg)
{
    const Reason *r = find(call);
    *arg = r ? r->arg : 0;
    return r && r->object != WAIT_OBJECT_PATH ? (WaitObject)r->object : WAIT_OBJECT_NONE;
}

// Whether a path is that of a file on a disk: not of a pipe, a socket or a device without blocks.
static bool is_on_disk(Str path)
{
    return path.len && path.ptr[0] == '/' && !str_starts_with(path, STR("/dev/pts/")) &&
           !str_equal(path, STR("/dev/tty")) && !str_equal(path, STR("/dev/ptmx"));
}

WaitClass wait_class_of(uint32_t call, uint32_t how, Str path)
{
    if (how & WAIT_HOW_STOPPED)
        return WAIT_STOPPED;
    if (call == WAIT_NO_CALL)
        return WAIT_FAULT;
    const Reason *r = find(call);
    if (!r)
        return WAIT_OTHER;
    // A named pipe is opened when its other end is; signals are heeded meanwhile.
    if (r->object == WAIT_OBJECT_PATH)
        return how & WAIT_HOW_DEEP ? WAIT_DISK : WAIT_NETWORK;
    if (r->object != WAIT_OBJECT_FD || r->class == WAIT_LOCK)
        return (WaitClass)r->class;
    if (path.len)
        return is_on_disk(path) ? WAIT_DISK : WAIT_NETWORK;
    // Only a disk is waited for without heeding signals.
    return how & WAIT_HOW_DEEP && r->class == WAIT_NETWORK ? WAIT_DISK : (WaitClass)r->class;
}
