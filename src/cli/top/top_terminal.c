// SPDX-License-Identifier: Apache-2.0
// The terminal while a screen is drawn on it.
// Control sequences: ECMA-48 (CUP, EL, ED), xterm's private modes 25 and 1049.

#include "cli/top/top_terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "cli/cli.h"

#define ENTER "\x1b[?1049h\x1b[?25l\x1b[2J"
#define LEAVE "\x1b[?25h\x1b[?1049l"

// Signals that end a program and that it may not expect. SIGBUS belongs to os/map_guard.h.
static const int ending[] = {SIGINT, SIGTERM, SIGHUP,  SIGQUIT, SIGSEGV, SIGABRT, SIGILL,
                             SIGFPE, SIGALRM, SIGPIPE, SIGUSR1, SIGUSR2, SIGXCPU, SIGVTALRM};

// Read by the handlers.
static volatile sig_atomic_t taken;   // the terminal is ours
static volatile sig_atomic_t stopped; // the program was stopped and goes on
static int terminal_fd = -1;
static struct termios before, ours;

int top_terminal_open(void)
{
    Str term = cli_env("TERM");
    if (term.len == 0 || str_equal(term, STR("dumb")))
        return -1;
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    return fd;
}

// Only calls that signal handlers may make.
static void give_back(void)
{
    if (!taken)
        return;
    taken = 0;
    (void)!write(terminal_fd, LEAVE, sizeof(LEAVE) - 1);
    tcsetattr(terminal_fd, TCSANOW, &before);
}

static void take(void)
{
    tcsetattr(terminal_fd, TCSANOW, &ours);
    (void)!write(terminal_fd, ENTER, sizeof(ENTER) - 1);
    taken = 1;
}

// SA_RESETHAND has set the default action, which takes place when the handler returns.
static void on_end(int number)
{
    give_back();
    raise(number);
}

static void on_stop(int number)
{
    (void)number;
    bool was_taken = taken;
    give_back();
    raise(SIGSTOP);
    if (was_taken) // SIGCONT has come
        take();
    stopped = 1;
}

static void set_handler(int number, void (*handler)(int), int flags)
{
    struct sigaction old, new = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&new.sa_mask);
    // A signal that is ignored, as by nohup, stays ignored.
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(number, &new, NULL);
}

bool top_terminal_enter(int fd, Error *err)
{
    if (tcgetattr(fd, &before) != 0)
        return error_os(err, "cannot read the settings of the terminal");
    terminal_fd = fd;
    ours = before;
    // Keys come one by one and are not shown; those that send signals still do.
    ours.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    ours.c_cc[VMIN] = 1;
    ours.c_cc[VTIME] = 0;
    for (size_t i = 0; i < ARRAY_LEN(ending); i++)
        set_handler(ending[i], on_end, (int)SA_RESETHAND);
    set_handler(SIGTSTP, on_stop, SA_RESTART);
    take();
    return true;
}

void top_terminal_leave(void)
{
    give_back();
}

bool top_terminal_was_stopped(void)
{
    bool was = stopped;
    stopped = 0;
    return was;
}

void top_terminal_draw(int fd, Str text)
{
    StrBuf out = {0};
    strbuf_add(&out, STR("\x1b[H"));
    for (Str rest = text, line; str_next_line(&rest, &line);) {
        strbuf_add(&out, line);
        // No line end behind the last line, which would move the screen up.
        strbuf_add(&out, rest.len ? STR("\x1b[K\n") : STR("\x1b[K"));
    }
    strbuf_add(&out, STR("\x1b[J"));
    for (Str rest = strbuf_str(&out); taken && rest.len;) {
        ssize_t n = write(fd, rest.ptr, rest.len);
        if (n <= 0)
            break;
        rest = str_slice(rest, (size_t)n, rest.len);
    }
    strbuf_deinit(&out);
}

void top_terminal_size(int fd, size_t *columns, size_t *rows)
{
    struct winsize size = {0};
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col < 20 || size.ws_row < 5)
        return;
    *columns = size.ws_col;
    *rows = size.ws_row;
}
