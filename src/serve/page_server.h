// SPDX-License-Identifier: Apache-2.0
// Serves one page to browsers of this machine: HTTP/1.1 on the loopback, at an address that holds
// a secret token.

#ifndef SERVE_PAGE_SERVER_H
#define SERVE_PAGE_SERVER_H

#include <stdatomic.h>

#include "base/error.h"
#include "serve/page_request.h"

typedef struct PageServer {
    int fd;
    uint16_t port;
    char token[PAGE_TOKEN_DIGITS + 1];
} PageServer;

// Listens on 127.0.0.1. Port 0: any free one, which stands in `ret->port` then. ERROR_LIMIT when
// the port is taken. Release it with page_server_close.
MUST_CHECK bool page_server_open(PageServer *ret, uint16_t port, Error *err);
void page_server_close(PageServer *s);

// Why a server stopped.
typedef enum PageServerEnd { PAGE_SERVER_STOPPED, PAGE_SERVER_IDLE } PageServerEnd;

// Answers requests until `stop` is set, or until no request with the token came for `idle_ns`.
MUST_CHECK bool page_server_run(const PageServer *s, Str page, int64_t idle_ns,
                                const atomic_bool *stop, PageServerEnd *ret, Error *err);

#endif // SERVE_PAGE_SERVER_H
