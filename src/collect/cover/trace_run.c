// SPDX-License-Identifier: Apache-2.0
// The two children of a run with breakpoints: the program, and the helper that traces it. Why two:
// docs/decisions/0180.

#include "collect/cover/trace.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/breakpoints/journal.h"
#include "collect/cover/trace_internal.h"
#include "os/message.h"

#ifdef __x86_64__

#define MESSAGE_MAX_BYTES (1u << 30)

// What the helper sends: once when the tracing begins or cannot, once when it has ended. Then the
// text follows.
typedef struct HelperReport {
    bool ok;
    Error err;
    CoverTraceResult result;
} HelperReport;

static Str report_bytes(const HelperReport *report)
{
    return (Str){(const char *)report, sizeof(*report)};
}

// ---- In the helper -------------------------------------------------------------------

static bool say_attached(void *ctx)
{
    static const HelperReport begun = {.ok = true};
    const int *line = ctx;
    return message_send(*line, report_bytes(&begun), MESSAGE_MAX_BYTES);
}

static void trace_and_report(const CoverTraceOptions *o, pid_t child, int line, int journal)
{
    Profile profile;
    StrBuf text = {0};
    HelperReport report = {0};
    Tracer t = {.result = &report.result, .journal = journal};
    profile_init(&profile);
    site_loader_init(&t.loader, &t.arena, &profile);
    t.loader.keep = o->keep;
    t.loader.keep_ctx = o->keep_ctx;
    t.loader.debug = o->debug;
    report.result.no_disassembler = t.loader.disasm == NULL;
    report.ok = trace_follow(&t, child, say_attached, &line, &report.err);
    if (report.ok) {
        report.result.lines = profile.line_counts.count.len;
        for (size_t i = 0; i < profile.line_counts.count.len; i++)
            report.result.lines_ran += profile.line_counts.count.at[i] != 0;
        o->print(&profile, &text);
    }
    (void)(message_send(line, report_bytes(&report), MESSAGE_MAX_BYTES) &&
           message_send(line, strbuf_str(&text), MESSAGE_MAX_BYTES));
    site_loader_deinit(&t.loader);
    trace_deinit(&t);
    profile_deinit(&profile);
    strbuf_deinit(&text);
}

static _Noreturn void help(const CoverTraceOptions *o, int line, int journal)
{
    StrBuf message = {0};
    pid_t child = 0;
    // killall and pkill by the command's name do not end this process.
    prctl(PR_SET_NAME, "breakpoints", 0L, 0L, 0L);
    if (message_receive(line, &message, sizeof(child)) && message.len == sizeof(child)) {
        memcpy(&child, message.ptr, sizeof(child));
        trace_and_report(o, child, line, journal);
    }
    strbuf_deinit(&message);
    _exit(0);
}

// ---- In the command ------------------------------------------------------------------

typedef struct Helper {
    pid_t pid; // 0: has ended
    int line;  // a socket
    int journal;
} Helper;

static bool start_helper(const CoverTraceOptions *o, Helper *h, Error *err)
{
    int ends[2];
    *h = (Helper){.line = -1, .journal = journal_open(err)};
    if (h->journal < 0)
        return false;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return error_os(err, "cannot make a socket");
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        help(o, ends[1], h->journal);
    }
    int saved = errno;
    close(ends[1]);
    h->line = ends[0];
    errno = saved;
    if (pid < 0)
        return error_os(err, "cannot start a process");
    h->pid = pid;
    return true;
}

static void await(pid_t pid, ChildEnd *end)
{
    while (wait4(pid, &end->status, 0, &end->usage) < 0 && errno == EINTR)
        ;
}

static void end_helper(Helper *h)
{
    ChildEnd unused;
    if (h->line >= 0)
        close(h->line);
    if (h->pid)
        await(h->pid, &unused);
    if (h->journal >= 0)
        close(h->journal);
    *h = (Helper){.line = -1, .journal = -1};
}

// Waits for a report. A helper that ends without one was killed.
static bool receive_report(Helper *h, HelperReport *ret, Error *err)
{
    StrBuf message = {0};
    bool ok = message_receive(h->line, &message, sizeof(*ret)) && message.len == sizeof(*ret);
    if (ok)
        memcpy(ret, message.ptr, sizeof(*ret));
    strbuf_deinit(&message);
    if (!ok)
        return error_set(err, ERROR_OS, "the process that set the breakpoints was killed");
    if (!ret->ok)
        *err = ret->err;
    return ret->ok;
}

// Pid of the traced program for the signal handler; 0: none. A pid_t is an int.
static volatile sig_atomic_t signal_target;

// A terminal sends its signals to the program, too; signals from elsewhere are passed on.
static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
    if (info->si_code != SI_KERNEL && signal_target > 0)
        kill(signal_target, number);
    errno = saved;
}

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static void catch_signals(struct sigaction old[])
{
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
        sigaction(passed_on[i], &action, &old[i]);
    signal(SIGCHLD, SIG_DFL);
}

static void restore_signals(const struct sigaction old[])
{
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
        sigaction(passed_on[i], &old[i], NULL);
}

// Takes the helper's report and its text. When it fails or is killed, the program goes on without
// breakpoints.
static bool take_lines(Helper *h, CoverTraceResult *ret, StrBuf *text, Error *err)
{
    HelperReport report = {0};
    bool ok = receive_report(h, &report, err);
    if (ok && !message_receive(h->line, text, MESSAGE_MAX_BYTES))
        ok = error_set(err, ERROR_OS, "the process that set the breakpoints was killed");
    if (ok)
        *ret = report.result;
    if (!ok) {
        // At once, since threads run; and once more when the kernel has ended the tracing, since
        // breakpoints may have been set meanwhile and children made.
        ChildEnd unused;
        journal_rescue(h->journal);
        await(h->pid, &unused);
        h->pid = 0;
        journal_rescue(h->journal);
    }
    return ok;
}

static bool run(const CoverTraceOptions *o, Helper *h, CoverTraceResult *ret, StrBuf *text,
                Error *err)
{
    Spawned child;
    HelperReport begun;
    sigset_t mask;
    struct sigaction old[ARRAY_LEN(passed_on)];
    Program program = *o->program;
    program.tracer = h->pid;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    if (!spawn_prepare(&program, o->argv, &mask, &child, err))
        return false;
    if (!message_send(h->line, (Str){(const char *)&child.pid, sizeof(child.pid)},
                      sizeof(child.pid)) ||
        !receive_report(h, &begun, err)) {
        spawn_close(&child, true);
        return false;
    }
    signal_target = child.pid;
    catch_signals(old);
    bool ok = spawn_release(&child, &program, err);
    if (ok) {
        ok = take_lines(h, ret, text, err);
        await(child.pid, &ret->child);
        ret->child_ran = true;
    }
    signal_target = 0;
    restore_signals(old);
    spawn_close(&child, false);
    return ok;
}

bool cover_trace_run(const CoverTraceOptions *o, CoverTraceResult *ret, StrBuf *text, Error *err)
{
    Helper helper;
    *ret = (CoverTraceResult){0};
    bool ok = start_helper(o, &helper, err) && run(o, &helper, ret, text, err);
    end_helper(&helper);
    return ok;
}

#else

bool cover_trace_run(const CoverTraceOptions *o, CoverTraceResult *ret, StrBuf *text, Error *err)
{
    (void)o;
    (void)ret;
    (void)text;
    error_set(err, ERROR_UNSUPPORTED, "breakpoints at lines work on x86-64 only");
    return error_hint(err, "compile with what 'assay cover flags' prints");
}

#endif
