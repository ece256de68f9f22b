// SPDX-License-Identifier: Apache-2.0
// The properties of the terminal, and text that fits its width.

#include "cli/terminal.h"

#include <math.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"

static size_t size_from_env(const char *name, size_t otherwise)
{
    uint64_t value;
    if (str_parse_u64(cli_env(name), 10, &value) && value >= 20 && value <= 10000)
        return (size_t)value;
    return otherwise;
}

static bool want_colour(Str option, bool is_tty)
{
    if (str_equal(option, STR("always")))
        return true;
    if (str_equal(option, STR("never")))
        return false;
    Str force = cli_env("CLICOLOR_FORCE");
    if (cli_env("NO_COLOR").len)
        return false;
    if (force.len && !str_equal(force, STR("0")))
        return true;
    return is_tty && !str_equal(cli_env("TERM"), STR("dumb"));
}

Terminal terminal_get(Str colour)
{
    Terminal t = {.is_tty = isatty(STDOUT_FILENO) == 1};
    struct winsize size = {0};
    bool known = t.is_tty && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    t.columns = known && size.ws_col >= 20 ? size.ws_col : size_from_env("COLUMNS", 80);
    t.rows = known && size.ws_row >= 5 ? size.ws_row : size_from_env("LINES", 24);
    t.colour = want_colour(colour, t.is_tty);
    return t;
}

static const char *const style_codes[] = {
    [STYLE_BOLD] = "\x1b[1m",  [STYLE_DIM] = "\x1b[2m",   [STYLE_HOT] = "\x1b[1;31m",
    [STYLE_WARM] = "\x1b[33m", [STYLE_NAME] = "\x1b[36m",
};

void style_begin(StrBuf *out, const Terminal *t, Style style)
{
    if (t->colour && style != STYLE_PLAIN)
        strbuf_add(out, str_from_c(style_codes[style]));
}

void style_end(StrBuf *out, const Terminal *t, Style style)
{
    if (t->colour && style != STYLE_PLAIN)
        strbuf_add(out, STR("\x1b[0m"));
}

void pad_to(StrBuf *out, size_t from, size_t columns)
{
    size_t taken = str_columns(str_over(out->ptr + from, out->len - from));
    if (taken < columns)
        strbuf_add_repeated(out, ' ', columns - taken);
}

void add_percent(StrBuf *out, double percent)
{
    if (percent > 0 && percent < 0.05)
        strbuf_add(out, STR(" <0.1%"));
    else
        strbuf_printf(out, "%5.1f%%", percent);
}

void add_count(StrBuf *out, uint64_t value)
{
    StrBuf digits = {0};
    strbuf_add_u64(&digits, value);
    for (size_t i = 0; i < digits.len; i++) {
        if (i && (digits.len - i) % 3 == 0)
            strbuf_add_char(out, ' ');
        strbuf_add_char(out, digits.ptr[i]);
    }
    strbuf_deinit(&digits);
}

// The greatest of `scales` that is not above the value.
typedef struct Scale {
    double factor;
    const char *unit;
} Scale;

static void add_scaled(StrBuf *out, double value, const Scale *scales, size_t count)
{
    size_t i = 0;
    // 999.95 would be printed as "1000".
    while (i + 1 < count && value < scales[i].factor * 0.9995)
        i++;
    double x = value / scales[i].factor;
    int decimals = x >= 100 ? 0 : x >= 10 ? 1 : 2;
    if (i + 1 == count && value == (double)(uint64_t)value)
        decimals = 0;
    strbuf_printf(out, "%.*f %s", decimals, x, scales[i].unit);
}

void add_value(StrBuf *out, uint64_t value, Str unit)
{
    static const Scale time[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
    static const Scale size[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}};
    if (str_equal(unit, STR("ns")))
        add_scaled(out, (double)value, time, ARRAY_LEN(time));
    else if (str_equal(unit, STR("bytes")))
        add_scaled(out, (double)value, size, ARRAY_LEN(size));
    else
        add_count(out, value);
}

void add_rounded_count(StrBuf *out, double value)
{
    static const struct {
        double unit;
        const char *name;
    } scales[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}};
    for (size_t i = 0; i < ARRAY_LEN(scales); i++) {
        double scaled = value / scales[i].unit;
        if (scaled < 1)
            continue;
        strbuf_printf(out, "%.*f %s",
                      scaled < 9.995   ? 2
                      : scaled < 99.95 ? 1
                                       : 0,
                      scaled, scales[i].name);
        return;
    }
    add_count(out, (uint64_t)llround(value));
}

void add_quotient(StrBuf *out, double value, Str unit)
{
    if (value >= 1000)
        add_value(out, (uint64_t)value, unit);
    else
        strbuf_printf(out, "%.*f%s%" STR_FMT, value < 10 ? 2 : 1, value, unit.len ? " " : "",
                      STR_ARG(unit));
}

void add_shell_word(StrBuf *out, Str word)
{
    bool plain = word.len > 0;
    for (size_t i = 0; i < word.len && plain; i++) {
        char c = word.ptr[i];
        plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                (c && strchr("_-./:,+@%=", c)) || (unsigned char)c >= 0x80;
    }
    if (plain) {
        strbuf_add(out, word);
        return;
    }
    strbuf_add_char(out, '\'');
    for (size_t i = 0; i < word.len; i++) {
        if (word.ptr[i] == '\'')
            strbuf_add(out, STR("'\\''"));
        else
            strbuf_add_char(out, word.ptr[i]);
    }
    strbuf_add_char(out, '\'');
}
