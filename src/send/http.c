// SPDX-License-Identifier: Apache-2.0
// HTTP requests by libcurl. The library is opened at run time, because it loads some forty others,
// which would cost milliseconds at every start of any command.
// Numbers of options and errors: curl's symbols-in-versions; they are part of its ABI.

#include "send/http.h"

#include <dlfcn.h>
#include <strings.h>

#include "os/clock.h"
#include "send/retry.h"

struct curl_slist;

struct HttpLibrary {
    void *(*init)(void);
    int (*setopt)(void *handle, int option, ...);
    int (*perform)(void *handle);
    int (*getinfo)(void *handle, int info, ...);
    void (*cleanup)(void *handle);
    const char *(*strerror)(int code);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *line);
    void (*slist_free_all)(struct curl_slist *list);
};

enum {
    OPT_POST = 47,
    OPT_LOW_SPEED_LIMIT = 19, // bytes a second
    OPT_LOW_SPEED_TIME = 20,  // seconds
    OPT_NOSIGNAL = 99,
    OPT_CONNECTTIMEOUT_MS = 156,
    OPT_PROTOCOLS = 181,
    OPT_WRITEDATA = 10001,
    OPT_URL = 10002,
    OPT_POSTFIELDS = 10015,
    OPT_HTTPHEADER = 10023,
    OPT_HEADERDATA = 10029,
    OPT_CAINFO = 10065,
    OPT_WRITEFUNCTION = 20011,
    OPT_HEADERFUNCTION = 20079,
    OPT_POSTFIELDSIZE_LARGE = 30120,
    INFO_RESPONSE_CODE = 0x200002,
    PROTOCOLS_HTTP_HTTPS = 1 | 2,
    REPLY_MAX_BYTES = 64 << 10,
};

enum {
    CODE_PROXY_NAME = 5,
    CODE_HOST_NAME = 6,
    CODE_CONNECT = 7,
    CODE_PARTIAL_FILE = 18,
    CODE_TIMEOUT = 28,
    CODE_NO_REPLY = 52,
    CODE_SEND = 55,
    CODE_RECEIVE = 56,
    CODE_CERTIFICATE = 60,
};

static bool library_find(void *library, HttpLibrary *ret)
{
    ret->init = (void *(*)(void))dlsym(library, "curl_easy_init");
    ret->setopt = (int (*)(void *, int, ...))dlsym(library, "curl_easy_setopt");
    ret->perform = (int (*)(void *))dlsym(library, "curl_easy_perform");
    ret->getinfo = (int (*)(void *, int, ...))dlsym(library, "curl_easy_getinfo");
    ret->cleanup = (void (*)(void *))dlsym(library, "curl_easy_cleanup");
    ret->strerror = (const char *(*)(int))dlsym(library, "curl_easy_strerror");
    ret->slist_append = (struct curl_slist * (*)(struct curl_slist *, const char *))
        dlsym(library, "curl_slist_append");
    ret->slist_free_all = (void (*)(struct curl_slist *))dlsym(library, "curl_slist_free_all");
    return ret->init && ret->setopt && ret->perform && ret->getinfo && ret->cleanup &&
           ret->strerror && ret->slist_append && ret->slist_free_all;
}

bool http_open(Arena *arena, Http *ret, Error *err)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
    HttpLibrary *found = arena_new(arena, HttpLibrary);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        // Never closed: that would run the clean-up of forty libraries, a risk without a benefit.
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (!library || !library_find(library, found))
            continue;
        void *handle = found->init();
        if (!handle)
            return error_set(err, ERROR_LIMIT, "libcurl cannot begin a request");
        *ret = (Http){.library = found, .handle = handle};
        return true;
    }
    error_set(err, ERROR_UNSUPPORTED, "cannot open libcurl, which sends the request");
    error_hint(err, "install it: apt-get install libcurl4");
    return false;
}

void http_close(Http *h)
{
    if (h->handle)
        h->library->cleanup(h->handle);
    h->handle = NULL;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *ctx)
{
    HttpReply *reply = ctx;
    size_t room = REPLY_MAX_BYTES - MIN(reply->body.len, (size_t)REPLY_MAX_BYTES);
    strbuf_add(&reply->body, str_over(bytes, MIN(size * count, room)));
    return size * count;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *ctx)
{
    HttpReply *reply = ctx;
    Str line = str_over(bytes, size * count), name = STR("retry-after:");
    // An interim reply (100 Continue) or a proxy's stands before the last one.
    if (str_starts_with(line, STR("HTTP/")))
        reply->retry_after_ns = -1;
    if (line.len > name.len && strncasecmp(line.ptr, name.ptr, name.len) == 0)
        (void)!retry_after_parse(str_slice(line, name.len, line.len), os_realtime_ns(),
                                 &reply->retry_after_ns);
    return line.len;
}

static bool may_go_away(int code)
{
    return code == CODE_PROXY_NAME || code == CODE_HOST_NAME || code == CODE_CONNECT ||
           code == CODE_PARTIAL_FILE || code == CODE_TIMEOUT || code == CODE_NO_REPLY ||
           code == CODE_SEND || code == CODE_RECEIVE;
}

bool http_post(Http *h, const HttpRequest *request, HttpReply *reply, bool *can_retry, Error *err)
{
    const HttpLibrary *l = h->library;
    struct curl_slist *headers = NULL;
    // Without it libcurl asks first and waits a second for servers that do not answer.
    headers = l->slist_append(headers, "Expect:");
    for (size_t i = 0; i < request->headers.len; i++) {
        StrBuf line = {0};
        strbuf_printf(&line, "%" STR_FMT, STR_ARG(request->headers.at[i]));
        strbuf_add_char(&line, '\0');
        headers = l->slist_append(headers, line.ptr);
        strbuf_deinit(&line);
    }
    strbuf_clear(&reply->body);
    reply->status = 0;
    reply->retry_after_ns = -1;
    l->setopt(h->handle, OPT_URL, request->url);
    l->setopt(h->handle, OPT_PROTOCOLS, (long)PROTOCOLS_HTTP_HTTPS);
    l->setopt(h->handle, OPT_NOSIGNAL, 1L);
    l->setopt(h->handle, OPT_POST, 1L);
    l->setopt(h->handle, OPT_POSTFIELDS, request->body.len ? (const char *)request->body.ptr : "");
    l->setopt(h->handle, OPT_POSTFIELDSIZE_LARGE, (int64_t)request->body.len);
    l->setopt(h->handle, OPT_HTTPHEADER, headers);
    l->setopt(h->handle, OPT_CONNECTTIMEOUT_MS, (long)(request->timeout_ns / 1000000));
    l->setopt(h->handle, OPT_LOW_SPEED_LIMIT, 1L);
    l->setopt(h->handle, OPT_LOW_SPEED_TIME,
              (long)MAX(INT64_C(1), request->timeout_ns / 1000000000));
    l->setopt(h->handle, OPT_WRITEFUNCTION, take_body);
    l->setopt(h->handle, OPT_WRITEDATA, reply);
    l->setopt(h->handle, OPT_HEADERFUNCTION, take_header);
    l->setopt(h->handle, OPT_HEADERDATA, reply);
    if (request->ca_file)
        l->setopt(h->handle, OPT_CAINFO, request->ca_file);
    int code = l->perform(h->handle);
    long status = 0;
    l->getinfo(h->handle, INFO_RESPONSE_CODE, &status);
    l->slist_free_all(headers);
    if (code != 0) {
        *can_retry = may_go_away(code);
        error_set(err, ERROR_OS, "%s", l->strerror(code));
        if (code == CODE_CERTIFICATE)
            error_hint(err, "give the certificate of its authority with --cacert FILE");
        return false;
    }
    reply->status = (unsigned)status;
    return true;
}
