// SPDX-License-Identifier: Apache-2.0
// Output of the commands.

#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>
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

bool cli_print_data(Str text)
{
    if (!isatty(STDOUT_FILENO))
        return cli_print(text);
    StrBuf out = {0};
    for (Str rest = text, line; str_next_line(&rest, &line);) {
        strbuf_add_terminal(&out, line);
        strbuf_add_char(&out, '\n');
    }
    bool written = cli_print(strbuf_str(&out));
    strbuf_deinit(&out);
    return written;
}

// The first of LC_ALL, LC_CTYPE and LANG that is set decides; without any, the locale is C.
static bool locale_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = "";
    for (size_t i = 0; i < ARRAY_LEN(names) && !*locale; i++)
        locale = getenv(names[i]) ? getenv(names[i]) : "";
    return strcasestr(locale, "UTF-8") || strcasestr(locale, "UTF8");
}

typedef struct Sign {
    Str utf8, ascii;
} Sign;

// The signs that assay itself writes. Other text that is not ASCII is not changed.
static const Sign signs[] = {
    {STR_INIT("·"), STR_INIT("-")},  {STR_INIT("…"), STR_INIT("..")},
    {STR_INIT("±"), STR_INIT("+-")}, {STR_INIT("σ"), STR_INIT("s")},
    {STR_INIT("µ"), STR_INIT("u")},  {STR_INIT("▁"), STR_INIT(".")},
    {STR_INIT("▂"), STR_INIT(".")},  {STR_INIT("▃"), STR_INIT(":")},
    {STR_INIT("▄"), STR_INIT(":")},  {STR_INIT("▅"), STR_INIT("|")},
    {STR_INIT("▆"), STR_INIT("|")},  {STR_INIT("▇"), STR_INIT("#")},
    {STR_INIT("█"), STR_INIT("#")},
};

static const Sign *sign_at(Str text)
{
    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (str_starts_with(text, signs[i].utf8))
            return &signs[i];
    return NULL;
}

void cli_add_text(StrBuf *out, Str text)
{
    if (locale_is_utf8()) {
        strbuf_add(out, text);
        return;
    }
    for (size_t i = 0; i < text.len;) {
        bool ascii = !((unsigned char)text.ptr[i] & 0x80);
        const Sign *sign = ascii ? NULL : sign_at(str_slice(text, i, text.len));
        if (sign)
            strbuf_add(out, sign->ascii);
        else
            strbuf_add_char(out, text.ptr[i]);
        i += sign ? sign->utf8.len : 1;
    }
}

bool cli_print_text(Str text)
{
    StrBuf out = {0};
    cli_add_text(&out, text);
    bool written = cli_print(strbuf_str(&out));
    strbuf_deinit(&out);
    return written;
}

void cli_add_size(StrBuf *out, uint64_t bytes)
{
    if (bytes < 10 * 1024)
        strbuf_printf(out, "%" PRIu64 " bytes", bytes);
    else if (bytes < 10 * 1024 * 1024)
        strbuf_printf(out, "%" PRIu64 " KiB", bytes / 1024);
    else
        strbuf_printf(out, "%" PRIu64 " MiB", bytes / (1024 * 1024));
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
    StrBuf shown = {0};
    cli_add_text(&shown, strbuf_str(&line));
    // A failure to write to stderr cannot be reported anywhere.
    (void)!write_all(STDERR_FILENO, strbuf_str(&shown));
    strbuf_deinit(&shown);
    strbuf_deinit(&line);
}

void cli_print_aside(Str text)
{
    StrBuf shown = {0};
    cli_add_text(&shown, text);
    (void)!write_all(STDERR_FILENO, strbuf_str(&shown));
    strbuf_deinit(&shown);
}

int cli_fail(const Error *err)
{
    say_line(STR("assay: "), str_from_c(err->text));
    if (err->hint[0])
        say_line(STR("hint: "), str_from_c(err->hint));
    return err->kind == ERROR_USAGE ? STATUS_USAGE : STATUS_FAILED;
}

void cli_say_left_out(const Error *why)
{
    say_line(STR("assay: left out: "), str_from_c(why->text));
    if (why->hint[0])
        say_line(STR("hint: "), str_from_c(why->hint));
}

void cli_say_hint(Str text)
{
    say_line(STR("hint: "), text);
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

char **cli_environment_with(Arena *arena, const StrVec *more)
{
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **ret = arena_array(arena, char *, count + more->len + 1);
    for (size_t i = 0; i < count; i++) {
        Str own = str_from_c(environ[i]), name = own, value;
        bool is_replaced = false;
        (void)str_split(own, '=', &name, &value);
        for (size_t k = 0; k < more->len; k++)
            is_replaced |= more->at[k].len > name.len && str_starts_with(more->at[k], name) &&
                           more->at[k].ptr[name.len] == '=';
        if (!is_replaced)
            ret[kept++] = environ[i];
    }
    for (size_t k = 0; k < more->len; k++)
        ret[kept++] = arena_c_str(arena, more->at[k]);
    return ret;
}
