// SPDX-License-Identifier: Apache-2.0
// Requests and replies go over a stream socket: 4 bytes of length, then the bytes.

#include "os/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static bool send_all(int fd, const void *bytes, size_t len)
{
    for (const char *at = bytes; len > 0;) {
        ssize_t n = send(fd, at, len, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool receive_all(int fd, void *bytes, size_t len)
{
    for (char *at = bytes; len > 0;) {
        ssize_t n = recv(fd, at, len, 0);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        at += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool send_message(int fd, Str message)
{
    uint32_t len = (uint32_t)message.len;
    return message.len <= KEEPER_MAX_BYTES && send_all(fd, &len, sizeof(len)) &&
           send_all(fd, message.ptr, message.len);
}

static bool receive_message(int fd, StrBuf *ret)
{
    uint32_t len;
    strbuf_clear(ret);
    if (!receive_all(fd, &len, sizeof(len)) || len > KEEPER_MAX_BYTES)
        return false;
    if (len > 0 && !receive_all(fd, strbuf_reserve(ret, len), len))
        return false;
    ret->len = len;
    return true;
}

static _Noreturn void keep(int fd, KeeperDo *serve, void *ctx)
{
    StrBuf request = {0}, reply = {0};
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    // Those who read the command's output wait for its end, not for the keeper's.
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing >= 0) {
        dup2(nothing, STDIN_FILENO);
        dup2(nothing, STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
    }
    while (receive_message(fd, &request)) {
        strbuf_clear(&reply);
        serve(ctx, strbuf_str(&request), &reply);
        if (!send_message(fd, strbuf_str(&reply)))
            break;
    }
    _exit(0);
}

bool keeper_start(KeeperDo *serve, void *ctx, Keeper *ret)
{
    int ends[2];
    *ret = (Keeper){.fd = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    // Not a child of ours: who looks for the recorded command among our children finds only that.
    int status = 1;
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        pid_t keeper = fork();
        if (keeper == 0)
            keep(ends[1], serve, ctx);
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
    return k->is_there && send_message(k->fd, request) && receive_message(k->fd, reply);
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
