// SPDX-License-Identifier: Apache-2.0
// What every unit test includes: cmocka with its prerequisites, and assertions
// on the project's own types.

#ifndef UNIT_HARNESS_H
#define UNIT_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

// A Str against a C string, both shown when they differ.
#define assert_str(got, want) harness_str((got), (want), #got, __FILE__, __LINE__)

static inline void harness_str(Str got, const char *want, const char *what, const char *file,
                               int line)
{
    if (str_equal(got, str_from_c(want)))
        return;
    print_error("%s: got '%" STR_FMT "', want '%s'\n", what, STR_ARG(got), want);
    _fail(file, line);
}

// The call succeeded; else its error is shown.
#define assert_ok(call, err) harness_ok((call), (err), #call, __FILE__, __LINE__)

static inline void harness_ok(bool ok, const Error *err, const char *what, const char *file,
                              int line)
{
    if (ok)
        return;
    print_error("%s: %s\n", what, err ? err->text : "failed");
    _fail(file, line);
}

// The call failed with an error of this kind whose text contains `text`.
#define assert_error(call, err, kind, text)                                                        \
    harness_error((call), (err), (kind), (text), #call, __FILE__, __LINE__)

static inline void harness_error(bool ok, const Error *err, ErrorKind kind, const char *text,
                                 const char *what, const char *file, int line)
{
    if (!ok && err->kind == kind && strstr(err->text, text))
        return;
    print_error("%s: %s, kind %d, text '%s'; want a failure of kind %d with '%s'\n", what,
                ok ? "succeeded" : "failed", err->kind, ok ? "" : err->text, kind, text);
    _fail(file, line);
}

// In main. tests/run sets CMOCKA_MESSAGE_OUTPUT=TAP and counts what comes out.
#define RUN_TESTS(tests) cmocka_run_group_tests((tests), NULL, NULL)

#endif // UNIT_HARNESS_H
