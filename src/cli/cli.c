// SPDX-License-Identifier: Apache-2.0
// What every command uses to speak to the user.

#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool write_all(int fd, Str text)
{
    while (text.len) {
        ssize_t n = write(fd, text.ptr, text.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        text = str_slice(text, (size_t)n, text.len);
    }
    return true;
}

bool cli_print(Str text)
{
    if (write_all(STDOUT_FILENO, text))
        return true;
    if (errno != EPIPE)
        cli_say("cannot write to standard output: %s", strerror(errno));
    return false;
}

static void say_line(Str prefix, Str text)
{
    StrBuf line = {0};
    strbuf_add(&line, prefix);
    Str rest = text;
    Str part;
    for (bool first = true; str_next_line(&rest, &part); first = false) {
        if (!first)
            strbuf_add(&line, STR("\n  "));
        strbuf_add_terminal(&line, part);
    }
    strbuf_add_char(&line, '\n');
    // Nobody is left to tell when stderr itself cannot be written.
    (void)!write_all(STDERR_FILENO, strbuf_str(&line));
    strbuf_deinit(&line);
}

int cli_fail(const Error *err)
{
    say_line(STR("assay: "), str_from_c(err->text));
    if (err->hint[0])
        say_line(STR("hint: "), str_from_c(err->hint));
    return err->kind == ERROR_USAGE ? STATUS_USAGE : STATUS_FAILED;
}

void cli_say(const char *fmt, ...)
{
    StrBuf text = {0};
    va_list args;
    va_start(args, fmt);
    strbuf_vprintf(&text, fmt, args);
    va_end(args);
    say_line(STR("assay: "), strbuf_str(&text));
    strbuf_deinit(&text);
}

Str cli_env(const char *name)
{
    return str_from_c(getenv(name));
}
