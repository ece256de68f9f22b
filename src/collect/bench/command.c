// SPDX-License-Identifier: Apache-2.0
// Command lines to run.

#include "collect/bench/command.h"

#include "base/shell_words.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"

enum { SCAN_MAX = 100000 };

void bench_split_list(Arena *arena, Str text, StrVec *ret)
{
    StrBuf part = {0};
    for (size_t i = 0; i <= text.len; i++) {
        if (i == text.len || text.ptr[i] == ',') {
            vec_push(arena, ret, arena_str(arena, strbuf_str(&part)));
            strbuf_clear(&part);
        } else if (text.ptr[i] == '\\' && i + 1 < text.len &&
                   (text.ptr[i + 1] == ',' || text.ptr[i + 1] == '\\')) {
            strbuf_add_char(&part, text.ptr[++i]);
        } else {
            strbuf_add_char(&part, text.ptr[i]);
        }
    }
    strbuf_deinit(&part);
}

static unsigned decimals(Str number)
{
    size_t dot = str_find_char(number, '.');
    return dot == SIZE_MAX ? 0 : (unsigned)MIN(number.len - dot - 1, (size_t)15);
}

bool bench_scan_values(Arena *arena, Str min, Str max, Str step, StrVec *ret, Error *err)
{
    double from, to, by = 1;
    if (!str_parse_double(min, &from) || !str_parse_double(max, &to) || !isfinite(from) ||
        !isfinite(to))
        return error_set(err, ERROR_USAGE,
                         "a parameter scan needs numbers, not '%" STR_FMT "' and '%" STR_FMT "'",
                         STR_ARG(min), STR_ARG(max));
    unsigned places = decimals(min);
    if (step.len) {
        if (!str_parse_double(step, &by) || !isfinite(by) || by == 0)
            return error_set(err, ERROR_USAGE, "'%" STR_FMT "' is not a step size", STR_ARG(step));
        places = MAX(places, decimals(step));
    } else if (places || decimals(max)) {
        return error_set(err, ERROR_USAGE, "a scan over decimals needs --parameter-step-size (-D)");
    }
    double count = floor((to - from) / by + 1e-9) + 1;
    if (!(count >= 1))
        return error_set(err, ERROR_USAGE, "the parameter range is empty");
    if (count > SCAN_MAX)
        return error_set(err, ERROR_USAGE, "the parameter range has %.0f values, more than %d",
                         count, SCAN_MAX);
    for (size_t i = 0; i < (size_t)count; i++)
        vec_push(arena, ret, arena_printf(arena, "%.*f", (int)places, from + by * (double)i));
    return true;
}

Str bench_fill_in(Arena *arena, Str text, const RunParameterVec *parameters)
{
    StrBuf out = {0};
    for (size_t i = 0; i < text.len;) {
        bool replaced = false;
        for (size_t p = 0; p < parameters->len && text.ptr[i] == '{' && !replaced; p++) {
            Str name = parameters->at[p].name;
            size_t end = i + 1 + name.len;
            if (end < text.len && text.ptr[end] == '}' &&
                str_equal(str_slice(text, i + 1, end), name)) {
                strbuf_add(&out, parameters->at[p].value);
                i = end + 1;
                replaced = true;
            }
        }
        if (!replaced)
            strbuf_add_char(&out, text.ptr[i++]);
    }
    Str filled = arena_str(arena, strbuf_str(&out));
    strbuf_deinit(&out);
    return filled;
}

bool bench_is_plain(Str text)
{
    // Words that are built-ins in POSIX shells, reserved words first.
    static const char *const builtins[] = {
        "if",     "then",  "else",    "elif",   "fi",       "do",      "done",     "case",
        "esac",   "while", "until",   "for",    "in",       "break",   "continue", "return",
        "exit",   "exec",  "eval",    "export", "readonly", "set",     "shift",    "source",
        "times",  "trap",  "unset",   "alias",  "bg",       "cd",      "command",  "false",
        "fc",     "fg",    "getopts", "hash",   "jobs",     "kill",    "newgrp",   "pwd",
        "read",   "true",  "type",    "ulimit", "umask",    "unalias", "wait",     "echo",
        "printf", "test",  "local",   "time",   "."};
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     (c != '\0' && strchr(" _./:@%+,=-", c));
        if (!plain)
            return false;
    }
    Str first = str_trim(text);
    size_t space = str_find_char(first, ' ');
    if (space != SIZE_MAX)
        first = str_slice(first, 0, space);
    if (first.len == 0 || str_find_char(first, '=') != SIZE_MAX)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(builtins); i++)
        if (str_equal(first, str_from_c(builtins[i])))
            return false;
    return true;
}

static bool can_execute(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool bench_find_program(Arena *arena, Str name, Str path, const char **ret)
{
    if (name.len == 0)
        return false;
    if (str_find_char(name, '/') != SIZE_MAX) {
        const char *here = arena_c_str(arena, name);
        if (!can_execute(here))
            return false;
        *ret = here;
        return true;
    }
    Str rest = path.len ? path : STR("/usr/local/bin:/usr/bin:/bin"), folder;
    while (str_next_part(&rest, ':', &folder)) {
        Str full = folder.len ? arena_printf(arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(folder),
                                             STR_ARG(name))
                              : arena_printf(arena, "./%" STR_FMT, STR_ARG(name));
        const char *there = arena_c_str(arena, full);
        if (can_execute(there)) {
            *ret = there;
            return true;
        }
    }
    return false;
}

static bool no_program(Arena *arena, Str name, Error *err)
{
    bool is_path = str_find_char(name, '/') != SIZE_MAX;
    if (is_path && access(arena_c_str(arena, name), F_OK) == 0)
        return error_set(err, ERROR_NOT_FOUND,
                         "'%" STR_FMT "' is not a program: it is not a file that may be executed",
                         STR_ARG(name));
    return error_set(err, ERROR_NOT_FOUND, "there is no program '%" STR_FMT "'", STR_ARG(name));
}

// The kernel can execute it without a shell's help.
static bool has_format(const char *path)
{
    FILE *f = fopen(path, "rbe");
    char magic[4] = {0};
    size_t n = f ? fread(magic, 1, sizeof(magic), f) : 0;
    if (f)
        fclose(f);
    return n >= 2 &&
           (memcmp(magic, "#!", 2) == 0 || memcmp(magic, "\177ELF", MIN(n, (size_t)4)) == 0);
}

static const char *const *c_words(Arena *arena, const StrVec *words)
{
    const char **argv = arena_array(arena, const char *, words->len + 1);
    for (size_t i = 0; i < words->len; i++)
        argv[i] = arena_c_str(arena, words->at[i]);
    return argv;
}

bool bench_find_late(Arena *arena, BenchCommand *c, Error *err)
{
    Str name = str_from_c(c->argv[0]);
    return c->path || bench_find_program(arena, name, c->search, &c->path) ||
           no_program(arena, name, err);
}

bool bench_prepare_command(Arena *arena, BenchCommand *c, const char *const *shell,
                           bool plain_direct, Str path, Error *err)
{
    StrVec words = {0};
    if (str_trim(c->text).len == 0)
        return error_set(err, ERROR_USAGE, "a command is empty");
    if (!shell || (plain_direct && bench_is_plain(c->text))) {
        if (!shell_split_words(arena, c->text, &words, err))
            return false;
        bool found = words.len && bench_find_program(arena, words.at[0], path, &c->path);
        if (found && (!shell || has_format(c->path))) {
            c->argv = c_words(arena, &words);
            return true;
        }
        // A string with shell syntax is the shell's anyway, and a plain word may be its built-in.
        bool is_late = c->setup.len || c->prepare.len;
        if (is_late && words.len && (!shell || str_find_char(words.at[0], '/') != SIZE_MAX) &&
            !found && access(arena_c_str(arena, words.at[0]), F_OK) != 0) {
            c->argv = c_words(arena, &words);
            c->search = path;
            return true;
        }
        if (!shell)
            return no_program(arena, words.len ? words.at[0] : c->text, err);
        words = (StrVec){0};
    }
    for (size_t i = 0; shell[i]; i++)
        vec_push(arena, &words, str_from_c(shell[i]));
    vec_push(arena, &words, c->text);
    c->argv = c_words(arena, &words);
    c->path = c->argv[0];
    c->via_shell = true;
    return true;
}
