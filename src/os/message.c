// SPDX-License-Identifier: Apache-2.0
// Messages over a stream socket, complete or not at all.

#include "os/message.h"

#include <errno.h>
#include <sys/socket.h>

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

bool message_send(int fd, Str message, uint32_t max_bytes)
{
    uint32_t len = (uint32_t)message.len;
    return message.len <= max_bytes && send_all(fd, &len, sizeof(len)) &&
           send_all(fd, message.ptr, message.len);
}

bool message_receive(int fd, StrBuf *ret, uint32_t max_bytes)
{
    uint32_t len;
    strbuf_clear(ret);
    if (!receive_all(fd, &len, sizeof(len)) || len > max_bytes)
        return false;
    if (len > 0 && !receive_all(fd, strbuf_reserve(ret, len), len))
        return false;
    ret->len = len;
    return true;
}
