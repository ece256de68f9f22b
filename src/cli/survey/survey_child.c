// SPDX-License-Identifier: Apache-2.0
// Runs the steps of a survey.

#include "cli/survey/survey_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "os/capture.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/spawn.h"
#include "os/unnamed_file.h"

// The file of this program, also when another has its name meanwhile.
#define OWN_FILE "/proc/self/exe"

enum { SAID_MAX_BYTES = 64 << 10, CAPTURED_MAX_BYTES = 64 << 20 };

static char **c_words(Arena *arena, const StrVec *words)
{
    char **ret = arena_array(arena, char *, words->len + 2);
    ret[0] = arena_c_str(arena, STR("assay"));
    for (size_t i = 0; i < words->len; i++)
        ret[i + 1] = arena_c_str(arena, words->at[i]);
    return ret;
}

// ---- Signals -----------------------------------------------------------------------------------

// The signals to wait for: those that end a program, unless they are ignored, and the child's end.
static sigset_t waited_signals(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        struct sigaction old;
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaddset(&set, ends[i]);
    }
    return set;
}

static void show_progress(const SurveyChild *c, int64_t since_ns)
{
    enum { FIRST_NS = 500000000, NS_PER_S = 1000000000 };
    int64_t past = os_monotonic_ns() - since_ns;
    if (past >= FIRST_NS && !c->show_output && isatty(STDERR_FILENO) == 1) {
        fputs("\r\033[K", stderr);
        if (c->count)
            fprintf(stderr, "%u of %u: ", c->number, c->count);
        fprintf(stderr, "%s · %lld s%s", c->what, (long long)(past / NS_PER_S),
                c->count ? " (Ctrl-C: stop and show what there is)" : "");
    }
}

static void clear_progress(const SurveyChild *c)
{
    if (!c->show_output && isatty(STDERR_FILENO) == 1)
        fputs("\r\033[K", stderr);
}

// Waits for the child's end. A signal that only this process got goes on to the child; the terminal
// has sent Ctrl-C to both. The second one is passed on in any case, as the child may hang.
static int wait_for(const SurveyChild *c, pid_t pid, const sigset_t *signals, bool *interrupted)
{
    const struct timespec turn = {.tv_sec = 1};
    int64_t since = os_monotonic_ns();
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(pid, &status, WNOHANG)) == 0) {
        siginfo_t info;
        int number = sigtimedwait(signals, &info, &turn);
        if (number > 0 && number != SIGCHLD) {
            if (info.si_code != SI_KERNEL || *interrupted)
                kill(pid, number);
            *interrupted = true;
        }
        show_progress(c, since);
    }
    clear_progress(c);
    return ended < 0 ? 1 : exit_status_of(status);
}

// ---- One step ----------------------------------------------------------------------------------

static Str read_said(Arena *arena, int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    off_t from = size > SAID_MAX_BYTES ? size - SAID_MAX_BYTES : 0;
    Bytes text = {0};
    if (size < 0 || lseek(fd, from, SEEK_SET) < 0 ||
        !os_read_fd(arena, fd, STR("standard error"), 2 * SAID_MAX_BYTES, &text, NULL))
        return STR("");
    return str_from_bytes(text);
}

// In the child; only calls that are allowed between fork and exec.
static void become(char **words, char **environment, const sigset_t *mask, int in, int null,
                   int said)
{
    sigprocmask(SIG_SETMASK, mask, NULL);
    dup2(in, STDIN_FILENO);
    if (said >= 0) {
        dup2(null, STDOUT_FILENO);
        dup2(said, STDERR_FILENO);
    }
    execve(OWN_FILE, words, environment);
    _exit(127);
}

static bool run_with(Arena *arena, const SurveyChild *c, int in, int null, int said,
                     SurveyChildEnd *ret, Error *err)
{
    static const StrVec nothing = {0};
    char **words = c_words(arena, c->words);
    char **environment = cli_environment_with(arena, c->environment ? c->environment : &nothing);
    sigset_t signals = waited_signals(), mask;
    sigprocmask(SIG_BLOCK, &signals, &mask);
    pid_t pid = fork();
    if (pid == 0)
        become(words, environment, c->mask ? c->mask : &mask, in, null, c->show_output ? -1 : said);
    bool ok = pid > 0;
    if (ok)
        ret->status = wait_for(c, pid, &signals, &ret->interrupted);
    else
        error_os(err, "cannot start a process");
    // A signal that is still pending was meant for the child that ended.
    const struct timespec now = {0};
    int late;
    while ((late = sigtimedwait(&signals, NULL, &now)) > 0)
        ret->interrupted |= late != SIGCHLD;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (ok)
        ret->said = read_said(arena, said);
    return ok;
}

bool survey_child_run(Arena *arena, const SurveyChild *c, SurveyChildEnd *ret, Error *err)
{
    *ret = (SurveyChildEnd){0};
    int in = os_open_read(c->input, err);
    if (in < 0)
        return false;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int said = os_open_unnamed(STR("/tmp"), err);
    bool ok = said >= 0;
    if (null < 0)
        ok = error_os(err, "cannot open '/dev/null'");
    ok = ok && run_with(arena, c, in, null, said, ret, err);
    close(in);
    if (null >= 0)
        close(null);
    if (said >= 0)
        close(said);
    return ok;
}

bool survey_child_capture(Arena *arena, const StrVec *words, Str *ret, Error *err)
{
    Program own = {.path = STR(OWN_FILE)};
    Bytes out;
    int status;
    if (!os_capture(arena, &own, c_words(arena, words), true, CAPTURED_MAX_BYTES, &out, &status,
                    err))
        return false;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return error_set(err, ERROR_UNSUPPORTED, "'assay %" STR_FMT "' failed",
                         STR_ARG(words->at[0]));
    *ret = str_from_bytes(out);
    return true;
}

void survey_child_reason(Str said, Str *why, Str *cure)
{
    Str line;
    *why = *cure = STR("");
    while (str_next_line(&said, &line)) {
        bool is_why = str_starts_with(line, STR("assay: "));
        if (is_why) {
            *why = str_slice(line, strlen("assay: "), line.len);
            *cure = STR("");
        } else if (str_starts_with(line, STR("hint: "))) {
            *cure = str_slice(line, strlen("hint: "), line.len);
        }
    }
}
