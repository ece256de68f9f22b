// SPDX-License-Identifier: Apache-2.0
// HTTP requests by libcurl, which is opened at run time: assay starts without it.

#ifndef SEND_HTTP_H
#define SEND_HTTP_H

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"

typedef struct HttpLibrary HttpLibrary; // libcurl's functions, of http.c

// A connection that requests to one server share.
typedef struct Http {
    const HttpLibrary *library;
    void *handle;
} Http;

typedef struct HttpRequest {
    const char *url;     // http:// or https://
    StrVec headers;      // "Name: value"; never shown
    Bytes body;          // sent with POST
    const char *ca_file; // certificates that are trusted; NULL: the system's
    int64_t timeout_ns;  // for the connection, and as long as nothing is sent or received
} HttpRequest;

typedef struct HttpReply {
    unsigned status;        // 0: no reply
    int64_t retry_after_ns; // the server asks to wait; -1: it does not
    StrBuf body;            // its first kilobytes
} HttpReply;

// Opens libcurl. ERROR_UNSUPPORTED with a hint where it is not installed. End with http_close.
MUST_CHECK bool http_open(Arena *arena, Http *ret, Error *err);
void http_close(Http *h);

// Sends the request and waits for the reply, whose body is emptied first. True for a reply of any
// status: redirections are not followed, because another server must not get the headers. On false
// `can_retry` says whether the reason may go away: no connection, a time-out, a reply that was cut.
MUST_CHECK bool http_post(Http *h, const HttpRequest *request, HttpReply *reply, bool *can_retry,
                          Error *err);

#endif // SEND_HTTP_H
