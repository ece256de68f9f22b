// SPDX-License-Identifier: Apache-2.0
// The keeper's start, its loop and its end.

#include "os/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/message.h"

// Sends a byte, and with it the descriptor; without one when `opened` is negative.
static bool send_descriptor(int fd, int opened)
{
    char byte = 0;
    struct iovec io = {&byte, 1};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};
    if (opened >= 0) {
        m.msg_control = &control;
        m.msg_controllen = sizeof(control.bytes);
        struct cmsghdr *head = CMSG_FIRSTHDR(&m);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(head), &opened, sizeof(opened));
    }
    return sendmsg(fd, &m, MSG_NOSIGNAL) == 1;
}

static int receive_descriptor(int fd)
{
    char byte;
    struct iovec io = {&byte, 1};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr m = {.msg_iov = &io,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof(control.bytes)};
    ssize_t n;
    int opened = -1;
    while ((n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        ;
    struct cmsghdr *head = n == 1 ? CMSG_FIRSTHDR(&m) : NULL;
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
        memcpy(&opened, CMSG_DATA(head), sizeof(opened));
    return opened;
}

static bool answer(int fd, const KeeperTask *task, Str request, StrBuf *reply)
{
    if (!task->open) {
        strbuf_clear(reply);
        task->serve(task->ctx, request, reply);
        return message_send(fd, strbuf_str(reply), KEEPER_MAX_BYTES);
    }
    int opened = task->open(task->ctx, request);
    bool ok = send_descriptor(fd, opened);
    if (opened >= 0)
        close(opened);
    return ok;
}

static _Noreturn void keep(int fd, const KeeperTask *task)
{
    StrBuf request = {0}, reply = {0};
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    // Readers of the command's output wait for the end of the command, not of the keeper.
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing >= 0) {
        dup2(nothing, STDIN_FILENO);
        dup2(nothing, STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
    }
    while (message_receive(fd, &request, KEEPER_MAX_BYTES))
        if (!answer(fd, task, strbuf_str(&request), &reply))
            break;
    if (task->end)
        task->end(task->ctx);
    _exit(0);
}

bool keeper_start(const KeeperTask *task, Keeper *ret)
{
    int ends[2];
    *ret = (Keeper){.fd = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    // It is not a child of this process, so that the recorded command is the only child.
    int status = 1;
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        pid_t keeper = fork();
        if (keeper == 0)
            keep(ends[1], task);
        _exit(keeper < 0);
    }
    close(ends[1]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (pid < 0 || status != 0) {
        close(ends[0]);
        return false;
    }
    *ret = (Keeper){.fd = ends[0], .is_there = true};
    return true;
}

bool keeper_ask(Keeper *k, Str request, StrBuf *reply)
{
    return k->is_there && message_send(k->fd, request, KEEPER_MAX_BYTES) &&
           message_receive(k->fd, reply, KEEPER_MAX_BYTES);
}

int keeper_open(Keeper *k, Str request)
{
    if (!k->is_there || !message_send(k->fd, request, KEEPER_MAX_BYTES))
        return -1;
    return receive_descriptor(k->fd);
}

void keeper_end(Keeper *k)
{
    char end;
    if (!k->is_there)
        return;
    shutdown(k->fd, SHUT_WR);
    while (recv(k->fd, &end, 1, 0) > 0)
        ;
    close(k->fd);
    *k = (Keeper){.fd = -1};
}
