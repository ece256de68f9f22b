// SPDX-License-Identifier: Apache-2.0
// Output of the commands: stdout gets the result, stderr everything else.

#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"

enum {
    STATUS_OK = 0,
    STATUS_FAILED = 1,
    STATUS_USAGE = 2,
    STATUS_THRESHOLD = 3, // a threshold that the user set was missed
    STATUS_UNDECIDED = 4, // the measurement does not tell whether it was
};

// Writes all of `text` to stdout. When it cannot, it prints the reason on stderr and returns false;
// it prints nothing when the reader of a pipe has closed it (EPIPE).
MUST_CHECK bool cli_print(Str text);

// The same for formats whose names are bytes as they are: a terminal gets control characters and
// bidirectional controls escaped, line by line; a file or a pipe gets the bytes.
MUST_CHECK bool cli_print_data(Str text);

// The same for text that people read: in a locale without UTF-8, the signs that assay itself writes
// (·, ±, …) are replaced by ASCII. Not for data.
MUST_CHECK bool cli_print_text(Str text);

// Appends `text` as cli_print_text shows it.
void cli_add_text(StrBuf *out, Str text);

// Appends a number of bytes as people read it: "900 bytes", "23 KiB", "512 MiB", rounded down.
void cli_add_size(StrBuf *out, uint64_t bytes);

// Prints "assay: text" and "hint: …" on stderr, escaped for a terminal. Returns STATUS_FAILED, or
// STATUS_USAGE for ERROR_USAGE.
int cli_fail(const Error *err);

// Prints "assay: left out: text" and "hint: …" on stderr: for an input that is skipped while the
// others are used.
void cli_say_left_out(const Error *why);
// "hint: text": how to solve the problem of the line before.
void cli_say_hint(Str text);

// Prints a table on stderr as it is: its names are escaped already.
void cli_print_aside(Str text);

// Prints "assay: …" on stderr.
void cli_say(const char *fmt, ...) PRINTF_LIKE(1, 2);

// Whether the value of -o is a file; an empty value and "-" mean standard output.
static inline bool names_file(Str output)
{
    return output.len && !str_equal(output, STR("-"));
}

// The value of an environment variable; "" when it is not set.
Str cli_env(const char *name);

// The environment of this process with the variables `more` ("NAME=VALUE"), which replace those of
// the same names. Ends in NULL; lives in `arena`.
char **cli_environment_with(Arena *arena, const StrVec *more);

#endif // CLI_CLI_H
