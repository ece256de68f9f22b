// SPDX-License-Identifier: Apache-2.0
// The keeper's start, its loop and its end.

#include "os/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/message.h"

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
    while (message_receive(fd, &request, KEEPER_MAX_BYTES)) {
        strbuf_clear(&reply);
        serve(ctx, strbuf_str(&request), &reply);
        if (!message_send(fd, strbuf_str(&reply), KEEPER_MAX_BYTES))
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
    return k->is_there && message_send(k->fd, request, KEEPER_MAX_BYTES) &&
           message_receive(k->fd, reply, KEEPER_MAX_BYTES);
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
