// SPDX-License-Identifier: Apache-2.0
// When a request is tried again, and the meaning of a reply.

#include "send/retry.h"

#include <time.h>

#include "base/cursor.h"

enum { FIRST_MS = 500, LONGEST_MS = 30000 };

#define NS_OF_S INT64_C(1000000000)
// A server that asks for more than a day is not tried again.
#define AFTER_MAX_S UINT64_C(86400)

bool retry_status(unsigned status)
{
    return status == 429 || status == 502 || status == 503 || status == 504;
}

int64_t retry_delay_ns(unsigned attempt, uint64_t random)
{
    int64_t ms = FIRST_MS;
    for (unsigned i = 1; i < attempt && ms < LONGEST_MS; i++)
        ms *= 2;
    ms = MIN(ms, (int64_t)LONGEST_MS);
    return (ms - ms / 4 + (int64_t)(random % (uint64_t)(ms / 2 + 1))) * 1000000;
}

bool retry_after_parse(Str value, int64_t now_ns, int64_t *ret_ns)
{
    uint64_t seconds;
    char text[40];
    struct tm date = {0};
    value = str_trim(value);
    if (str_parse_u64(value, 10, &seconds)) {
        *ret_ns = (int64_t)MIN(seconds, AFTER_MAX_S) * NS_OF_S;
        return true;
    }
    if (value.len >= sizeof(text))
        return false;
    memcpy(text, value.ptr, value.len);
    text[value.len] = 0;
    const char *end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &date);
    if (value.len == 0 || !end || *end)
        return false;
    int64_t wait_s = (int64_t)timegm(&date) - now_ns / NS_OF_S;
    *ret_ns = MAX((int64_t)0, MIN(wait_s, (int64_t)AFTER_MAX_S)) * NS_OF_S;
    return true;
}

// ---- The collector's reply -----------------------------------------------------------

enum { WIRE_VARINT, WIRE_FIXED64, WIRE_BYTES, WIRE_FIXED32 = 5 };

typedef struct Field {
    uint64_t number, value; // the value of a varint
    Bytes bytes;
} Field;

// One field of a protobuf message; false at its end and where it is broken.
static bool next_field(Cursor *c, Field *ret)
{
    if (!cursor_more(c))
        return false;
    uint64_t key = cursor_uleb(c);
    *ret = (Field){.number = key >> 3};
    switch (key & 7) {
    case WIRE_VARINT:
        ret->value = cursor_uleb(c);
        break;
    case WIRE_FIXED64:
        (void)cursor_u64(c);
        break;
    case WIRE_BYTES:
        ret->bytes = cursor_bytes(c, cursor_uleb(c));
        break;
    case WIRE_FIXED32:
        (void)cursor_u32(c);
        break;
    default:
        return false;
    }
    return cursor_ok(c);
}

bool otlp_reply_rejects(Bytes body, int64_t *rejected, Str *why)
{
    Field field;
    int64_t count = 0;
    Str text = {0};
    Cursor c = cursor_over(body, "reply");
    while (next_field(&c, &field)) {
        if (field.number != 1) // partial_success
            continue;
        Cursor in = cursor_over(field.bytes, "reply");
        Field part;
        while (next_field(&in, &part)) {
            if (part.number == 1) // rejected_profiles
                count = (int64_t)part.value;
            if (part.number == 2) // error_message
                text = str_from_bytes(part.bytes);
        }
    }
    if (count <= 0)
        return false;
    *rejected = count;
    *why = text;
    return true;
}
