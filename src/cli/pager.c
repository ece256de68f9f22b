// SPDX-License-Identifier: Apache-2.0
// Runs the user's pager. The text is complete before the pager starts, so that a failure of the
// command itself never shows up inside of the pager.

#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/terminal.h"

// The status of a POSIX shell for a command that it cannot execute, or cannot find.
enum { SHELL_NOT_EXECUTABLE = 126, SHELL_NOT_FOUND = 127 };

static Str pager_command(void)
{
    return getenv("PAGER") ? str_trim(cli_env("PAGER")) : STR("less");
}

bool pager_is_possible(bool no_pager)
{
    Str command = pager_command();
    return !no_pager && isatty(STDOUT_FILENO) == 1 && command.len &&
           !str_equal(command, STR("cat")) && !str_equal(cli_env("TERM"), STR("dumb"));
}

// The columns of a line without the codes of colours, "ESC [ … m".
static size_t shown_columns(Str line)
{
    size_t columns = 0;
    Str part;
    for (bool is_first = true; str_next_part(&line, '\x1b', &part); is_first = false) {
        size_t code = is_first ? SIZE_MAX : str_find_char(part, 'm');
        columns += str_columns(str_slice(part, code == SIZE_MAX ? 0 : code + 1, part.len));
    }
    return columns;
}

// Whether the text needs more rows than the terminal has above the next prompt.
static bool is_taller(Str text, const Terminal *t)
{
    size_t rows = 0;
    for (Str rest = text, line; rows < t->rows && str_next_line(&rest, &line);) {
        size_t columns = shown_columns(line);
        rows += columns ? (columns + t->columns - 1) / t->columns : 1;
    }
    return rows >= t->rows;
}

// The environment with LESS=FRX, which less reads before its arguments: quit where one screen is
// enough, show colours, leave the text on the screen.
static char **pager_environment(Arena *arena)
{
    StrVec more = {0};
    if (!getenv("LESS"))
        vec_push(arena, &more, STR("LESS=FRX"));
    return cli_environment_with(arena, &more);
}

// Starts the shell with the pager; its standard input becomes `input`.
static bool start(int input, pid_t *ret)
{
    char shell[] = "sh", option[] = "-c";
    Arena arena = {0};
    Str command = pager_command();
    char *argv[] = {shell, option, arena_c_str(&arena, command), NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGINT);
    sigaddset(&defaults, SIGQUIT);
    sigaddset(&defaults, SIGPIPE);
    bool ok = posix_spawn_file_actions_init(&files) == 0;
    if (ok && posix_spawnattr_init(&attr) == 0) {
        ok = posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO) == 0 &&
             posix_spawnattr_setsigdefault(&attr, &defaults) == 0 &&
             posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF) == 0 &&
             posix_spawn(ret, "/bin/sh", &files, &attr, argv, pager_environment(&arena)) == 0;
        posix_spawnattr_destroy(&attr);
        posix_spawn_file_actions_destroy(&files);
    }
    arena_deinit(&arena);
    return ok;
}

// Writes until the pager has all or reads no more.
static void feed(int fd, Str text)
{
    while (text.len) {
        ssize_t n = write(fd, text.ptr, text.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        text = str_slice(text, (size_t)n, text.len);
    }
}

// True when the pager has run, whatever its end. Keys such as Ctrl-C are for the pager.
static bool show(Str text)
{
    int ends[2];
    pid_t pid = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    struct termios saved;
    bool is_saved = tcgetattr(STDOUT_FILENO, &saved) == 0;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, of_int, of_quit, of_pipe;
    sigaction(SIGINT, &ignore, &of_int);
    sigaction(SIGQUIT, &ignore, &of_quit);
    sigaction(SIGPIPE, &ignore, &of_pipe);
    bool started = start(ends[0], &pid);
    close(ends[0]);
    int status = 0;
    if (started)
        feed(ends[1], text);
    close(ends[1]);
    while (started && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (started && is_saved)
        tcsetattr(STDOUT_FILENO, TCSADRAIN, &saved);
    sigaction(SIGPIPE, &of_pipe, NULL);
    sigaction(SIGQUIT, &of_quit, NULL);
    sigaction(SIGINT, &of_int, NULL);
    int code = started && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    return started && code != SHELL_NOT_FOUND && code != SHELL_NOT_EXECUTABLE;
}

bool pager_print(Str text, bool is_data, bool no_pager)
{
    Terminal t = terminal_get(STR("never"));
    if (pager_is_possible(no_pager) && is_taller(text, &t)) {
        StrBuf shown = {0};
        if (is_data)
            strbuf_add(&shown, text);
        else
            cli_add_text(&shown, text);
        bool done = show(strbuf_str(&shown));
        strbuf_deinit(&shown);
        if (done)
            return true;
    }
    return is_data ? cli_print(text) : cli_print_text(text);
}
