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

// Sets kind and text; clears errno and hint. Returns false. `err` may be NULL
// where the caller only wants to know whether it worked.
bool error_set(Error *err, ErrorKind kind, const char *fmt, ...) PRINTF_LIKE(3, 4);

// Like error_set, with ": strerror(errno)" appended and errno kept. EACCES and
// EPERM become ERROR_PERMISSION, ENOENT ERROR_NOT_FOUND, the rest ERROR_OS.
bool error_os(Error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

// Puts "what failed: " before the text that is there.
bool error_context(Error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

// Sets the hint and leaves the rest.
bool error_hint(Error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif // BASE_ERROR_H
