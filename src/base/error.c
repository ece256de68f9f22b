// SPDX-License-Identifier: Apache-2.0
// Formats the texts of errors.

#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void error_put(Error *err, ErrorKind kind, const char *fmt, ...)
{
    if (!err)
        return;
    va_list args;
    va_start(args, fmt);
    char text[sizeof(err->text)]; // an argument may point into err itself
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    *err = (Error){.kind = kind};
    memcpy(err->text, text, sizeof(text));
}

static ErrorKind kind_of_errno(int os_errno)
{
    switch (os_errno) {
    case EACCES:
    case EPERM:
        return ERROR_PERMISSION;
    case ENOENT:
    case ESRCH:
        return ERROR_NOT_FOUND;
    default:
        return ERROR_OS;
    }
}

void error_put_os(Error *err, const char *fmt, ...)
{
    int os_errno = errno;
    if (!err)
        return;
    va_list args;
    va_start(args, fmt);
    char text[sizeof(err->text)];
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    *err = (Error){.kind = kind_of_errno(os_errno), .os_errno = os_errno};
    size_t len = strnlen(text, sizeof(text));
    memcpy(err->text, text, len);
    char reason[128];
    snprintf(err->text + len, sizeof(err->text) - len, ": %s",
             strerror_r(os_errno, reason, sizeof(reason)));
    errno = os_errno;
}

void error_put_context(Error *err, const char *fmt, ...)
{
    if (!err)
        return;
    va_list args;
    va_start(args, fmt);
    char text[sizeof(err->text)];
    int len = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (len > 0 && (size_t)len < sizeof(text))
        snprintf(text + len, sizeof(text) - (size_t)len, ": %.*s",
                 (int)(sizeof(text) - (size_t)len - 2), err->text);
    memcpy(err->text, text, sizeof(text));
}

void error_put_hint(Error *err, const char *fmt, ...)
{
    if (!err)
        return;
    va_list args;
    va_start(args, fmt);
    vsnprintf(err->hint, sizeof(err->hint), fmt, args);
    va_end(args);
}
