// SPDX-License-Identifier: Apache-2.0
// Heads of requests.

#include "serve/page_request.h"

#include <stdio.h>
#include <strings.h>

size_t page_head_len(Str received)
{
    size_t at = str_find(received, STR("\r\n\r\n"));
    return at == SIZE_MAX ? 0 : at + 4;
}

static bool is_named(Str name, const char *wanted)
{
    return name.len == strlen(wanted) && strncasecmp(name.ptr, wanted, name.len) == 0;
}

// "127.0.0.1:PORT" and "localhost:PORT", behind `scheme`. A name of another site that was made to
// resolve to this machine (DNS rebinding) is neither.
static bool is_ours(Str value, const char *scheme, uint16_t port)
{
    static const char *const hosts[] = {"127.0.0.1", "localhost"};
    char wanted[64];
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        snprintf(wanted, sizeof(wanted), "%s%s:%u", scheme, hosts[i], (unsigned)port);
        if (is_named(value, wanted))
            return true;
    }
    return false;
}

// The line up to "\r\n"; false at the empty line that ends the head.
static bool next_line(Str *rest, Str *line)
{
    size_t end = str_find(*rest, STR("\r\n"));
    if (end == SIZE_MAX || end == 0)
        return false;
    *line = str_slice(*rest, 0, end);
    *rest = str_slice(*rest, end + 2, rest->len);
    return true;
}

typedef struct Fields {
    unsigned hosts;
    bool host_is_ours, origin_is_ours, is_broken;
} Fields;

static Fields read_fields(Str rest, uint16_t port)
{
    Fields f = {.origin_is_ours = true};
    Str line, name, value;
    while (next_line(&rest, &line)) {
        // White space before the colon, or at the start, hides a field from other readers.
        if (!str_split(line, ':', &name, &value) || name.len == 0 || name.ptr[0] == ' ' ||
            name.ptr[0] == '\t' || name.ptr[name.len - 1] == ' ' ||
            name.ptr[name.len - 1] == '\t') {
            f.is_broken = true;
            break;
        }
        value = str_trim(value);
        if (is_named(name, "host")) {
            f.hosts++;
            f.host_is_ours = is_ours(value, "", port);
        } else if (is_named(name, "origin")) {
            f.origin_is_ours = f.origin_is_ours && is_ours(value, "http://", port);
        }
    }
    return f;
}

// "/TOKEN/"
static bool has_token(Str target, Str token)
{
    unsigned differs = 0;
    if (target.len != token.len + 2 || target.ptr[0] != '/' || target.ptr[target.len - 1] != '/')
        return false;
    for (size_t i = 0; i < token.len; i++)
        differs |= (unsigned char)target.ptr[i + 1] ^ (unsigned char)token.ptr[i];
    return differs == 0;
}

PageStatus page_request_judge(Str head, uint16_t port, Str token, bool *ret_body)
{
    Str line, method, target, version;
    *ret_body = true;
    if (!next_line(&head, &line) || !str_split(line, ' ', &method, &target) ||
        !str_split(target, ' ', &target, &version) ||
        (!str_equal(version, STR("HTTP/1.1")) && !str_equal(version, STR("HTTP/1.0"))))
        return PAGE_BAD;
    Fields f = read_fields(head, port);
    *ret_body = !str_equal(method, STR("HEAD"));
    if (f.is_broken || f.hosts != 1)
        return PAGE_BAD;
    if (!f.host_is_ours || !f.origin_is_ours)
        return PAGE_FORBIDDEN;
    if (*ret_body && !str_equal(method, STR("GET")))
        return PAGE_METHOD;
    return has_token(target, token) ? PAGE_OK : PAGE_UNKNOWN;
}
