// SPDX-License-Identifier: Apache-2.0
// What every command uses to speak to the user. stdout is the result, stderr is
// everything else.

#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/error.h"
#include "base/strbuf.h"

enum {
    STATUS_OK = 0,
    STATUS_FAILED = 1,
    STATUS_USAGE = 2,
    STATUS_THRESHOLD = 3, // a threshold that the user set was missed
};

// Writes all of `text` to stdout. False, with the reason already said on
// stderr, when it cannot; a reader that went away (EPIPE) is silent.
MUST_CHECK bool cli_print(Str text);

// The same for text that people read: the signs that this program puts in it
// (·, ±, …) are spelt in ASCII where the locale is not one of UTF-8. Not for data.
MUST_CHECK bool cli_print_text(Str text);

// Appends `text` as cli_print_text shows it.
void cli_add_text(StrBuf *out, Str text);

// "assay: text" and "hint: …" on stderr, escaped for a terminal. Returns
// STATUS_FAILED, or STATUS_USAGE for ERROR_USAGE.
int cli_fail(const Error *err);

// "assay: left out: text" and "hint: …": an input that the others do without.
void cli_say_left_out(const Error *why);

// "assay: …" on stderr.
void cli_say(const char *fmt, ...) PRINTF_LIKE(1, 2);

// Whether what -o was given is a file: nothing and "-" mean standard output.
static inline bool names_file(Str output)
{
    return output.len && !str_equal(output, STR("-"));
}

// An environment variable; "" when absent.
Str cli_env(const char *name);

#endif // CLI_CLI_H
