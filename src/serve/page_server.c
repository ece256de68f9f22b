// SPDX-License-Identifier: Apache-2.0
// The server: one thread, few connections, each answered once and closed.

#include "serve/page_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "os/clock.h"

enum {
    CONNECTIONS = 32,
    ANSWER_LIMIT_S = 60, // from the first byte to the last: a slow reader does not stay for ever
    WAIT_MS = 200,       // between looks at the flag
};

typedef struct Connection {
    int fd; // -1: free
    int64_t since_ns;
    size_t received;
    size_t sent; // of the head of the answer and its body
    StrBuf head; // of the answer; empty: the request is being read
    bool has_page;
    bool is_allowed;
    char request[PAGE_HEAD_MAX];
} Connection;

typedef struct Serving {
    const PageServer *server;
    Str page;
    int64_t asked_ns; // when somebody with the token last asked or was answered
    Connection connections[CONNECTIONS];
} Serving;

bool page_server_open(PageServer *ret, uint16_t port, Error *err)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t random[PAGE_TOKEN_DIGITS / 2];
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(port),
                             .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(at);
    PageServer s = {.fd = -1};
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return error_os(err, "no random numbers for the address");
    for (size_t i = 0; i < sizeof(random); i++) {
        s.token[2 * i] = digits[random[i] >> 4];
        s.token[2 * i + 1] = digits[random[i] & 15];
    }
    s.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s.fd < 0)
        return error_os(err, "no socket for the page");
    // A port whose last server has just ended is free; one that another listens at is not.
    int one = 1;
    (void)setsockopt(s.fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(s.fd, (const struct sockaddr *)&at, sizeof(at)) != 0 ||
        listen(s.fd, CONNECTIONS) != 0 || getsockname(s.fd, (struct sockaddr *)&at, &len) != 0) {
        if (errno == EADDRINUSE) {
            error_set(err, ERROR_LIMIT, "port %u is taken", (unsigned)port);
            error_hint(err, "give another with --port, or none for any that is free");
        } else {
            (void)error_os(err, "cannot listen at port %u of 127.0.0.1", (unsigned)port);
        }
        close(s.fd);
        return false;
    }
    s.port = ntohs(at.sin_port);
    *ret = s;
    return true;
}

void page_server_close(PageServer *s)
{
    close(s->fd);
    s->fd = -1;
}

static void drop(Connection *c)
{
    close(c->fd);
    c->fd = -1;
    strbuf_deinit(&c->head);
}

static const char *reason_of(PageStatus status)
{
    switch (status) {
    case PAGE_OK:
        return "OK";
    case PAGE_FORBIDDEN:
        return "Forbidden";
    case PAGE_UNKNOWN:
        return "Not Found";
    case PAGE_METHOD:
        return "Method Not Allowed";
    case PAGE_BAD:
        break;
    }
    return "Bad Request";
}

// No answer but the page's says anything about it, and none allows another site to read it.
static void answer(const Serving *s, Connection *c, PageStatus status, bool has_body)
{
    static const char common[] = "Cache-Control: no-store\r\n"
                                 "X-Content-Type-Options: nosniff\r\n"
                                 "X-Frame-Options: DENY\r\n"
                                 "Referrer-Policy: no-referrer\r\n"
                                 "Cross-Origin-Resource-Policy: same-origin\r\n"
                                 "Cross-Origin-Opener-Policy: same-origin\r\n"
                                 "Connection: close\r\n";
    c->has_page = status == PAGE_OK && has_body;
    c->is_allowed = status == PAGE_OK;
    strbuf_printf(&c->head, "HTTP/1.1 %d %s\r\n%s", (int)status, reason_of(status), common);
    if (status == PAGE_METHOD)
        strbuf_add(&c->head, STR("Allow: GET, HEAD\r\n"));
    if (status == PAGE_OK)
        strbuf_printf(&c->head,
                      "Content-Type: text/html; charset=utf-8\r\nContent-Length: %zu\r\n\r\n",
                      s->page.len);
    else
        strbuf_add(&c->head, STR("Content-Length: 0\r\n\r\n"));
}

static void receive(const Serving *s, Connection *c)
{
    ssize_t n = recv(c->fd, c->request + c->received, sizeof(c->request) - c->received, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        drop(c);
        return;
    }
    c->received += (size_t)n;
    Str received = str_over(c->request, c->received);
    size_t head = page_head_len(received);
    bool has_body = true;
    if (head) {
        PageStatus status = page_request_judge(str_slice(received, 0, head), s->server->port,
                                               str_from_c(s->server->token), &has_body);
        answer(s, c, status, has_body);
    } else if (c->received == sizeof(c->request)) {
        answer(s, c, PAGE_BAD, true);
    }
}

static void send_more(Serving *s, Connection *c)
{
    size_t of_head = c->head.len, whole = of_head + (c->has_page ? s->page.len : 0);
    const char *from =
        c->sent < of_head ? c->head.ptr + c->sent : s->page.ptr + (c->sent - of_head);
    size_t part = c->sent < of_head ? of_head - c->sent : whole - c->sent;
    ssize_t n = send(c->fd, from, part, MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 0) {
        drop(c);
        return;
    }
    c->sent += (size_t)n;
    if (c->is_allowed)
        s->asked_ns = os_monotonic_ns();
    if (c->sent == whole) {
        // What of the request is unread would make the kernel reset the connection.
        shutdown(c->fd, SHUT_WR);
        while (recv(c->fd, c->request, sizeof(c->request), MSG_DONTWAIT) > 0)
            ;
        drop(c);
    }
}

static void take_connection(Serving *s)
{
    int fd = accept4(s->server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    Connection *free_one = NULL, *oldest = &s->connections[0];
    for (size_t i = 0; i < CONNECTIONS; i++) {
        Connection *c = &s->connections[i];
        if (c->fd < 0)
            free_one = c;
        else if (c->since_ns < oldest->since_ns || oldest->fd < 0)
            oldest = c;
    }
    // Connections that say nothing do not keep others out.
    if (!free_one) {
        drop(oldest);
        free_one = oldest;
    }
    free_one->fd = fd;
    free_one->since_ns = os_monotonic_ns();
    free_one->received = free_one->sent = 0;
    free_one->has_page = free_one->is_allowed = false;
}

static bool serve_ready(Serving *s, Error *err)
{
    struct pollfd ready[CONNECTIONS + 1] = {{.fd = s->server->fd, .events = POLLIN}};
    for (size_t i = 0; i < CONNECTIONS; i++)
        ready[i + 1] = (struct pollfd){.fd = s->connections[i].fd,
                                       .events = s->connections[i].head.len ? POLLOUT : POLLIN};
    int n = poll(ready, ARRAY_LEN(ready), WAIT_MS);
    if (n < 0 && errno != EINTR)
        return error_os(err, "cannot wait for requests");
    int64_t now = os_monotonic_ns();
    for (size_t i = 0; i < CONNECTIONS; i++) {
        Connection *c = &s->connections[i];
        if (c->fd < 0)
            continue;
        if (n > 0 && ready[i + 1].revents) {
            if (c->head.len)
                send_more(s, c);
            else
                receive(s, c);
        } else if (now - c->since_ns > (int64_t)ANSWER_LIMIT_S * 1000000000) {
            drop(c);
        }
    }
    if (n > 0 && ready[0].revents)
        take_connection(s);
    return true;
}

bool page_server_run(const PageServer *server, Str page, int64_t idle_ns, const atomic_bool *stop,
                     PageServerEnd *ret, Error *err)
{
    Serving *s = heap_alloc(sizeof(Serving));
    *s = (Serving){.server = server, .page = page, .asked_ns = os_monotonic_ns()};
    for (size_t i = 0; i < CONNECTIONS; i++)
        s->connections[i].fd = -1;
    bool ok = true;
    *ret = PAGE_SERVER_STOPPED;
    while (ok && !atomic_load(stop)) {
        if (os_monotonic_ns() - s->asked_ns >= idle_ns) {
            *ret = PAGE_SERVER_IDLE;
            break;
        }
        ok = serve_ready(s, err);
    }
    for (size_t i = 0; i < CONNECTIONS; i++)
        if (s->connections[i].fd >= 0)
            drop(&s->connections[i]);
    heap_free(s);
    return ok;
}
