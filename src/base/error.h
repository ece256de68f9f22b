// SPDX-License-Identifier: Apache-2.0
// Errors as plain values: nothing to free, copied freely.
//
// Every function that can fail returns bool and takes `Error *err` last. The
// setters return false, so that failing is one statement:
//     return error_set(err, ERROR_FORMAT, "block %u: checksum differs", n);

#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/str.h"

typedef enum ErrorKind {
    ERROR_NONE,
    ERROR_OS,         // a system call failed; os_errno says why
    ERROR_FORMAT,     // bytes from outside are not what their format says
    ERROR_NOT_FOUND,  // what was asked for is not there
    ERROR_PERMISSION, // refused; the hint says what lifts it
    ERROR_USAGE,      // the user's words are off
    ERROR_LIMIT,      // a stated limit was reached
    ERROR_UNSUPPORTED // understood, but not possible here
} ErrorKind;

typedef struct Error {
    ErrorKind kind;
    int os_errno;    // 0 unless a system call failed
    char text[1024]; // lower case, no full stop, subject in 'quotes'
    char hint[512];  // what to do about it; "" when there is nothing to say
} Error;

// A false that the compiler sees through and that may stand unused.
static inline bool error_false(void)
{
    return false;
}

// Sets kind and text; clears errno and hint. `err` may be NULL where the caller
// only wants to know whether it worked.
//     bool error_set(Error *err, ErrorKind kind, const char *fmt, ...)
#define error_set(...) (error_put(__VA_ARGS__), error_false())

// Like error_set, with ": strerror(errno)" appended and errno kept. EACCES and
// EPERM become ERROR_PERMISSION, ENOENT and ESRCH ERROR_NOT_FOUND, the rest
// ERROR_OS.
//     bool error_os(Error *err, const char *fmt, ...)
#define error_os(...) (error_put_os(__VA_ARGS__), error_false())

// Puts "what failed: " before the text that is there.
//     bool error_context(Error *err, const char *fmt, ...)
#define error_context(...) (error_put_context(__VA_ARGS__), error_false())

// Sets the hint and leaves the rest.
//     bool error_hint(Error *err, const char *fmt, ...)
#define error_hint(...) (error_put_hint(__VA_ARGS__), error_false())

// What is behind the macros, which exist so that the compiler sees the false.
void error_put(Error *err, ErrorKind kind, const char *fmt, ...) PRINTF_LIKE(3, 4);
void error_put_os(Error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);
void error_put_context(Error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);
void error_put_hint(Error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif // BASE_ERROR_H
