// SPDX-License-Identifier: Apache-2.0
// Sends messages and tries again while a server is away or overloaded.

#include "send/delivery.h"

#include <sys/random.h>
#include <time.h>

#include "os/clock.h"
#include "send/retry.h"

#define NS_OF_S INT64_C(1000000000)

enum { ATTEMPT_S = 30, REPLY_SHOWN_BYTES = 200 };

Str delivery_endpoint(Str url)
{
    return str_slice(url, 0, MIN(url.len, str_find_char(url, '?')));
}

// The first line of a reply.
static Str shown_part(const StrBuf *body)
{
    Str rest = str_trim(strbuf_str(body)), line = {0};
    (void)!str_next_line(&rest, &line);
    return str_slice(line, 0, MIN(line.len, (size_t)REPLY_SHOWN_BYTES));
}

static bool is_success(unsigned status)
{
    return status >= 200 && status < 300;
}

static void set_refusal(const HttpReply *reply, Error *err)
{
    Str words = shown_part(&reply->body);
    error_set(err, ERROR_OS, "the server replied with status %u%s%" STR_FMT, reply->status,
              words.len ? ": " : "", STR_ARG(words));
    switch (reply->status) {
    case 401:
    case 403:
        error_hint(err, "set ASSAY_TO_TOKEN, or a header in ASSAY_TO_HEADERS");
        break;
    case 404:
        error_hint(err, "a collector takes profiles with '--feature-gates=service.profilesSupport' "
                        "and a pipeline of profiles; Pyroscope needs '--format pprof'");
        break;
    case 413:
        error_hint(err, "send less: give --time, --focus or -e");
        break;
    default:
        if (reply->status >= 300 && reply->status < 400)
            error_hint(err, "redirections are not followed: name the URL that it leads to");
    }
}

// One attempt.
static DeliveryResult attempt(Delivery *d, const HttpRequest *request, HttpReply *reply, Error *err)
{
    bool can_retry = false;
    int64_t rejected;
    Str why;
    reply->retry_after_ns = -1;
    if (!http_post(&d->http, request, reply, &can_retry, err))
        return can_retry ? DELIVERY_LATER : DELIVERY_REFUSED;
    if (!is_success(reply->status)) {
        set_refusal(reply, err);
        return retry_status(reply->status) ? DELIVERY_LATER : DELIVERY_REFUSED;
    }
    Bytes body = bytes_from_str(strbuf_str(&reply->body));
    if (d->is_rejected && d->is_rejected(body, &rejected, &why)) {
        error_set(err, ERROR_OS, "the server rejected %lld of the profiles: %" STR_FMT,
                  (long long)rejected, STR_ARG(why));
        return DELIVERY_REFUSED;
    }
    return DELIVERY_SENT;
}

static uint64_t random_number(void)
{
    uint64_t random;
    if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
        random = (uint64_t)os_monotonic_ns();
    return random;
}

static void wait_for(int64_t ns)
{
    struct timespec left = {.tv_sec = ns / NS_OF_S, .tv_nsec = ns % NS_OF_S};
    while (nanosleep(&left, &left) != 0) {
    }
}

// Waits before the next attempt. False when the time for attempts would end meanwhile.
static bool wait_again(Delivery *d, unsigned attempts, int64_t asked_ns, Error *why)
{
    int64_t now = os_monotonic_ns();
    int64_t wait = asked_ns >= 0 ? asked_ns : retry_delay_ns(attempts, random_number());
    if (d->deadline_ns == 0)
        d->deadline_ns = now + d->retry_for_ns;
    if (now + wait > d->deadline_ns) {
        if (asked_ns > 0 && why->hint[0] == 0)
            error_hint(why, "it asks to wait for %lld s, longer than --retry-for allows",
                       (long long)(asked_ns / NS_OF_S));
        return false;
    }
    if (d->on_wait)
        d->on_wait(why, wait);
    wait_for(wait);
    return true;
}

static int64_t attempt_timeout_ns(const Delivery *d)
{
    if (d->retry_for_ns == 0)
        return ATTEMPT_S * NS_OF_S;
    int64_t left = d->deadline_ns ? d->deadline_ns - os_monotonic_ns() : d->retry_for_ns;
    return MAX(NS_OF_S, MIN(left, ATTEMPT_S * NS_OF_S));
}

DeliveryResult delivery_send(Delivery *d, const Message *message, Error *err)
{
    Arena scratch = {0};
    HttpReply reply = {0};
    StrVec headers = {0};
    Str endpoint = delivery_endpoint(message->url);
    vec_push(&scratch, &headers,
             arena_printf(&scratch, "Content-Type: %" STR_FMT, STR_ARG(message->type)));
    if (message->encoding.len)
        vec_push(&scratch, &headers,
                 arena_printf(&scratch, "Content-Encoding: %" STR_FMT, STR_ARG(message->encoding)));
    for (size_t i = 0; i < d->headers.len; i++)
        vec_push(&scratch, &headers, d->headers.at[i]);
    HttpRequest request = {.url = arena_c_str(&scratch, message->url),
                           .headers = headers,
                           .body = message->body,
                           .ca_file = d->ca_file};
    DeliveryResult result;
    for (unsigned attempts = 1;; attempts++) {
        Error why = {0};
        request.timeout_ns = attempt_timeout_ns(d);
        result = attempt(d, &request, &reply, &why);
        if (result == DELIVERY_LATER && wait_again(d, attempts, reply.retry_after_ns, &why))
            continue;
        if (result != DELIVERY_SENT) {
            *err = why;
            (void)error_context(err, "cannot send to '%" STR_FMT "'", STR_ARG(endpoint));
        }
        break;
    }
    strbuf_deinit(&reply.body);
    arena_deinit(&scratch);
    return result;
}

// Sends one message of the spool; true when the next one may follow.
static bool send_kept(Delivery *d, const Spool *s, Str name, Str endpoint,
                      void (*on_refused)(const Error *why), unsigned *sent, DeliveryResult *result,
                      Error *err)
{
    Arena arena = {0};
    Message message;
    Error why;
    int fd = -1;
    SpoolTake taken = spool_take(s, name, &arena, &message, &fd, &why);
    bool is_ours = taken == SPOOL_TAKEN && str_equal(delivery_endpoint(message.url), endpoint);
    if (taken == SPOOL_BROKEN)
        on_refused(&why);
    if (taken == SPOOL_TAKEN && !is_ours)
        spool_keep(fd);
    *result = is_ours ? delivery_send(d, &message, &why) : DELIVERY_SENT;
    if (is_ours && *result == DELIVERY_LATER) {
        *err = why;
        spool_keep(fd);
    } else if (is_ours) {
        if (*result == DELIVERY_REFUSED)
            on_refused(&why);
        else
            ++*sent;
        spool_done(s, name, fd);
    }
    arena_deinit(&arena);
    return *result != DELIVERY_LATER;
}

DeliveryResult delivery_send_spool(Delivery *d, const Spool *s, Str endpoint,
                                   void (*on_refused)(const Error *why), unsigned *sent,
                                   unsigned *left, Error *err)
{
    Arena scratch = {0};
    StrVec names = {0};
    DeliveryResult result = DELIVERY_SENT;
    bool was_refused = false;
    *sent = *left = 0;
    if (!spool_list(s, &scratch, &names, err)) {
        arena_deinit(&scratch);
        return DELIVERY_REFUSED;
    }
    for (size_t i = 0; i < names.len; i++) {
        if (!send_kept(d, s, names.at[i], endpoint, on_refused, sent, &result, err)) {
            *left = (unsigned)(names.len - i);
            break;
        }
        was_refused |= result == DELIVERY_REFUSED;
    }
    arena_deinit(&scratch);
    return result == DELIVERY_LATER ? result : was_refused ? DELIVERY_REFUSED : DELIVERY_SENT;
}
