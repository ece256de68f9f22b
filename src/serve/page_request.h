// SPDX-License-Identifier: Apache-2.0
// Reads the head of an HTTP request for the one page that is served, and decides on it.
// Format: RFC 9112; Host and Origin: RFC 9110 7.2, RFC 6454.

#ifndef SERVE_PAGE_REQUEST_H
#define SERVE_PAGE_REQUEST_H

#include "base/str.h"

// 128 bits as hexadecimal digits.
enum { PAGE_TOKEN_DIGITS = 32, PAGE_HEAD_MAX = 16 << 10 };

// What is answered.
typedef enum PageStatus {
    PAGE_OK = 200,
    PAGE_BAD = 400,       // no request of HTTP/1
    PAGE_FORBIDDEN = 403, // for another host, or from another site's page
    PAGE_UNKNOWN = 404,   // the path has not the token
    PAGE_METHOD = 405,    // neither GET nor HEAD
} PageStatus;

// The length of the head, with its empty line, at the start of `received`; 0: it is not complete.
size_t page_head_len(Str received);

// Decides on a complete head, for a server at this port of the loopback with this token.
// `*ret_body` becomes false for HEAD. The token is compared in a time that does not depend on it.
PageStatus page_request_judge(Str head, uint16_t port, Str token, bool *ret_body);

#endif // SERVE_PAGE_REQUEST_H
