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
    ERROR_NOT_FOUND,  // the requested thing does not exist
    ERROR_PERMISSION, // refused; the hint says how to get the right
    ERROR_USAGE,      // what the user wrote has an error
    ERROR_LIMIT,      // a stated limit was reached
    ERROR_UNSUPPORTED // understood, but not possible here
} ErrorKind;

typedef struct Error {
    ErrorKind kind;
    int os_errno;    // 0 unless a system call failed
    char text[1024]; // lower case, no full stop, subject in 'quotes'
    char hint[512];  // what to do about it; "" when there is nothing to say
} Error;

// False, for the macros below: the compiler knows the value and does not warn when it is unused.
static inline bool error_false(void)
{
    return false;
}

// Sets kind and text; clears errno and hint. `err` may be NULL where the caller
// needs no more than the result.
//     bool error_set(Error *err, ErrorKind kind, const char *fmt, ...)
#define error_set(...) (error_put(__VA_ARGS__), error_false())

// Like error_set, with ": strerror(errno)" appended and errno kept. EACCES and
// EPERM become ERROR_PERMISSION, ENOENT and ESRCH ERROR_NOT_FOUND, the rest
// ERROR_OS.
//     bool error_os(Error *err, const char *fmt, ...)
#define error_os(...) (error_put_os(__VA_ARGS__), error_false())

// Puts "what failed: " before the text of the error.
//     bool error_context(Error *err, const char *fmt, ...)
#define error_context(...) (error_put_context(__VA_ARGS__), error_false())

// Sets the hint and leaves the rest.
//     bool error_hint(Error *err, const char *fmt, ...)
#define error_hint(...) (error_put_hint(__VA_ARGS__), error_false())

// The functions behind the macros above; call the macros, whose result the compiler knows.
void error_put(Error *err, ErrorKind kind, const char *fmt, ...) PRINTF_LIKE(3, 4);
void error_put_os(Error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);
void error_put_context(Error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);
void error_put_hint(Error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif // BASE_ERROR_H
