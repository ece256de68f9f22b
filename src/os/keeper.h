// SPDX-License-Identifier: Apache-2.0
// A small process beside this one that keeps the rights which this one gives up
// (os/privilege.h), and does a few things for it on request.

#ifndef OS_KEEPER_H
#define OS_KEEPER_H

#include "base/str.h"
#include "base/strbuf.h"

#include <stdbool.h>

// Largest request and reply.
#define KEEPER_MAX_BYTES (64u << 20)

// Does what a request asks for and appends the reply. Runs in the keeper. Requests are not trusted.
typedef void KeeperDo(void *ctx, Str request, StrBuf *reply);
// Opens what a request asks for; -1 when it does not. Runs in the keeper. Requests are not trusted.
typedef int KeeperOpen(void *ctx, Str request);

// What a keeper is there for: one of the first two.
typedef struct KeeperTask {
    KeeperDo *serve;  // for keeper_ask
    KeeperOpen *open; // for keeper_open
    void (*end)(
        void *ctx); // called in the keeper when the process has ended it, or is gone; or NULL
    void *ctx;      // of the functions
} KeeperTask;

typedef struct Keeper {
    bool is_there;
    int fd;
} Keeper;

// Forks the keeper, which has this process's memory and descriptors as they are now, and its
// standard input and output closed. Signals of the terminal do not end it; the end of this process
// does. False when no process could be made.
MUST_CHECK bool keeper_start(const KeeperTask *task, Keeper *ret);
// Sends a request and waits for the reply. False when the keeper is gone.
MUST_CHECK bool keeper_ask(Keeper *k, Str request, StrBuf *reply);
// Sends a request and waits for the descriptor, which the caller closes. -1: there is none.
MUST_CHECK int keeper_open(Keeper *k, Str request);
// Ends the keeper and waits until it has ended. Accepts one that was never started.
void keeper_end(Keeper *k);

#endif // OS_KEEPER_H
