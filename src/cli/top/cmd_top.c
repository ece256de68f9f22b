// SPDX-License-Identifier: Apache-2.0
// assay top: where time goes, while it goes.

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/record/record_events.h"
#include "cli/record/record_parts.h"
#include "cli/record/recorded_symbols.h"
#include "cli/symbols.h"
#include "cli/top/top_keyboard.h"
#include "cli/top/top_screen.h"
#include "cli/top/top_terminal.h"
#include "os/clock.h"
#include "os/proc.h"
#include "os/unnamed_file.h"

#define NS_PER_S 1000000000ll

enum {
    CPUS_MAX = 65536,
    // Rarer than by `record`: ten seconds have two thousand samples of a busy CPU, and the machine
    // is hardly disturbed.
    DEFAULT_FREQ_HZ = 199,
    WIDE_FREQ_HZ = 99, // of the whole machine, whose CPUs may all be busy
    PLAIN_ROWS = 10,
    OUTPUT_SHOWN = 64 << 10, // bytes at the end of the program's output that are shown
    // What screens and names may take of a CPU: one part of so many.
    SCREENS_SHARE = 100,
    NAMES_SHARE = 100,
    NAMES_WAIT_MAX_S = 20,
    // Frames without names wait for others while samples with them are fewer: one part of so many.
    NAMES_MATTER = 100,
    NAMES_LATE_S = 30, // … but no longer
};

typedef struct TopOptions {
    Str freq;
    uint64_t period;
    StrVec events;
    EventFilters filters;
    StrVec pids;
    StrVec tids;
    bool system_wide;
    Str cpus;
    int64_t delay_ns;
    uint64_t screens;
    uint64_t entries;
    Str by;
    bool user_only;
    bool kernel_only;
    StrVec debug_dirs;
    Str colour;
} TopOptions;

static const Option top_options[] = {
    OPT_LIST('p', "pid", TopOptions, pids, "PID", "a running process with all its threads"),
    OPT_LIST('t', "tid", TopOptions, tids, "TID", "one running thread"),
    OPT_FLAG('a', "all-cpus", TopOptions, system_wide,
             "the whole machine (the default without a command or process)"),
    OPT_TEXT('C', "cpu", TopOptions, cpus, "CPUS", "all that runs on these CPUs: 0-3,8"),
    OPT_TEXT('F', "freq", TopOptions, freq, "HZ",
             "samples per second on each CPU (default 199; of the whole machine 99)"),
    OPT_U64('c', "count", TopOptions, period, "N", "take a sample every N events, not by time"),
    OPT_LIST('e', "event", TopOptions, events, "EVENT",
             "the event to sample on, as for 'assay record'"),
    OPT_LIST(0, "filter", TopOptions, filters.texts, "FILTER",
             "sample only occurrences that match FILTER, of the tracepoints of the preceding -e"),
    OPT_DURATION('d', "delay", TopOptions, delay_ns, "S", "time between two screens (default 1)"),
    OPT_U64('n', "screens", TopOptions, screens, "N", "end after N screens"),
    OPT_U64('E', "entries", TopOptions, entries, "ROWS",
            "rows of the table (default 10; on a terminal as many as fit)"),
    OPT_CHOICE(0, "by", TopOptions, by, "WHAT", "function|line|module|process",
               "what a row is (default function)"),
    OPT_FLAG('K', "all-user", TopOptions, user_only, "leave the kernel out"),
    OPT_FLAG('U', "all-kernel", TopOptions, kernel_only, "leave the programs out"),
    OPT_LIST(0, "debug-dir", TopOptions, debug_dirs, "DIR",
             "also search DIR for separate debug files"),
    COLOUR_OPTION(TopOptions, colour),
};

static const char top_details[] =
    "Samples as 'assay record' does, and shows once a second where the time of the\n"
    "last 10 seconds went, and beside it the time since the start. Nothing is kept.\n"
    "\n"
    "  assay top                    the whole machine; needs root\n"
    "  assay top -p 1234            one process\n"
    "  assay top -- ./server        a command\n"
    "  assay top -a --by process    which processes\n"
    "  assay top -n 5 -p 1234 >f    five screens as plain text\n"
    "\n"
    "Keys: q ends; / types a part of names to show; arrows choose a row, Enter shows\n"
    "its callers and callees, Esc goes back. Ctrl-C goes to the command, too.\n";

typedef struct Top {
    Arena *arena;
    const TopOptions *options;
    SamplingOptions sampling;
    EventSpecVec events;
    Program program;
    U32Vec pids, tids, cpus;
    Str target;
    TopRequest request; // without `around`
    Terminal terminal;
    // The worker's alone.
    SymboliseOptions symbols;
    uint32_t named_frames; // frames below were looked up
    uint32_t named_stacks; // stacks below have only such frames
    int64_t named_at_ns;   // when that was
    int64_t names_at_ns;   // when names are looked up again
    int64_t screen_at_ns;  // when the next screen is due
    uint64_t screens;
    // The terminal with its thread; -1: plain lines.
    int tty;
    int wake_fd; // an event for that thread
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; // of what is below
    TopView *view;
    TopKeys keys;
    bool wants_view; // keys ask for another view
    bool is_over;
    // Of a command whose output would run over the screen.
    int saved_in, saved_out, saved_err; // -1: not replaced
    int output;
} Top;

// ---- The screen on a terminal ----------------------------------------------------------

static size_t table_rows(const Top *t)
{
    size_t room = t->terminal.rows > TOP_HEAD_LINES ? t->terminal.rows - TOP_HEAD_LINES : 1;
    return t->options->entries ? MIN((size_t)t->options->entries, room) : room;
}

static TopScreen screen_of(const Top *t)
{
    return (TopScreen){.terminal = t->terminal,
                       .target = t->target,
                       .rows = table_rows(t),
                       .first = t->keys.first,
                       .chosen = t->keys.chosen,
                       .has_chosen = t->keys.has_chosen,
                       .filter = strbuf_str(&t->keys.filter),
                       .is_typing = t->keys.is_typing};
}

// Called with the lock.
static void draw(Top *t)
{
    StrBuf text = {0}, shown = {0};
    top_terminal_size(t->tty, &t->terminal.columns, &t->terminal.rows);
    top_keys_settle(&t->keys, t->view, table_rows(t));
    TopScreen screen = screen_of(t);
    top_screen_add(&text, t->view, &screen);
    cli_add_text(&shown, strbuf_str(&text));
    top_terminal_draw(t->tty, strbuf_str(&shown));
    strbuf_deinit(&text);
    strbuf_deinit(&shown);
}

static void read_keys(Top *t)
{
    char bytes[256];
    ssize_t n = read(t->tty, bytes, sizeof(bytes));
    if (n == 0) // the terminal is gone
        t->keys.quit = true;
    if (n > 0)
        t->wants_view |=
            top_keys_apply(&t->keys, t->view, table_rows(t), str_over(bytes, (size_t)n));
}

static void *attend_terminal(void *arg)
{
    enum { SIZE_MS = 250 }; // a terminal of another size is seen after so long
    Top *t = arg;
    struct pollfd p[2] = {{.fd = t->tty, .events = POLLIN}, {.fd = t->wake_fd, .events = POLLIN}};
    size_t columns = 0, rows = 0;
    for (bool is_over = false; !is_over;) {
        int n = poll(p, 2, SIZE_MS);
        eventfd_t count;
        bool is_new = n > 0;
        if (n > 0 && p[1].revents)
            (void)!eventfd_read(t->wake_fd, &count);
        pthread_mutex_lock(&t->lock);
        is_over = t->is_over;
        if (n > 0 && p[0].revents)
            read_keys(t);
        top_terminal_size(t->tty, &columns, &rows);
        is_new |= columns != t->terminal.columns || rows != t->terminal.rows;
        is_new |= top_terminal_was_stopped();
        if (is_new && !is_over)
            draw(t);
        pthread_mutex_unlock(&t->lock);
    }
    return NULL;
}

// Starts the thread that attends the terminal. It gets no signals: they are for the recorder.
static void start_terminal(Top *t)
{
    sigset_t all, old;
    sigfillset(&all);
    for (size_t i = 0; i < 5; i++)
        sigdelset(&all, (const int[]){SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}[i]);
    if (!top_terminal_enter(t->tty, NULL))
        return;
    pthread_sigmask(SIG_BLOCK, &all, &old);
    t->has_thread = pthread_create(&t->thread, NULL, attend_terminal, t) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void stop_terminal(Top *t)
{
    if (t->has_thread) {
        pthread_mutex_lock(&t->lock);
        t->is_over = true;
        pthread_mutex_unlock(&t->lock);
        (void)!eventfd_write(t->wake_fd, 1);
        pthread_join(t->thread, NULL);
        t->has_thread = false;
    }
    top_terminal_leave();
}

// ---- What the worker shows ---------------------------------------------------------------

static bool has_new_frame(const Top *t, const Profile *p, StackId stack)
{
    for (; stack.v >= t->named_stacks && stack.v; stack = p->stacks.parent.at[stack.v])
        if (p->stacks.frame.at[stack.v].v >= t->named_frames)
            return true;
    return false;
}

// Whether samples of the last seconds that hold frames without names are more than a few. To look
// up one address of a program takes as long as to look up a thousand: its tables must be read.
static bool names_matter(const Top *t, const Profile *p, int64_t from_ns)
{
    size_t all = 0, unnamed = 0;
    for (size_t i = p->samples.stack.len; i-- > 0 && p->samples.time_ns.at[i] >= from_ns; all++)
        unnamed += has_new_frame(t, p, p->samples.stack.at[i]);
    return unnamed * NAMES_MATTER > all;
}

static void look_up_names(Top *t, Sampling *s, Profile *p, const SamplingState *state)
{
    int64_t start = os_monotonic_ns();
    uint32_t frames = (uint32_t)p->frames.module.len;
    if (frames == t->named_frames || (start < t->names_at_ns && !state->is_last))
        return;
    if (!state->is_last && start - t->named_at_ns < NAMES_LATE_S * NS_PER_S &&
        !names_matter(t, p, state->now_ns - TOP_SPAN_S * NS_PER_S))
        return;
    RecordedFiles recorded = {s, p};
    size_t notes = p->notes.key.len;
    t->symbols.files = recorded_files(&recorded);
    t->symbols.first_frame = t->named_frames;
    if (!symbolise_profile(p, &t->symbols, NULL, NULL))
        return; // nobody stops it
    // Which modules have no symbols is not said again and again.
    p->notes.level.len = p->notes.key.len = p->notes.text.len = notes;
    t->named_frames = (uint32_t)p->frames.module.len;
    t->named_stacks = (uint32_t)p->stacks.frame.len;
    t->named_at_ns = start;
    int64_t end = os_monotonic_ns();
    t->names_at_ns = end + MIN((end - start) * NAMES_SHARE, NAMES_WAIT_MAX_S * NS_PER_S);
}

static SamplingWish print_plain(Top *t, TopView *view)
{
    StrBuf text = {0};
    TopScreen screen = screen_of(t);
    screen.rows = t->options->entries ? (size_t)t->options->entries : PLAIN_ROWS;
    if (t->screens)
        strbuf_add_char(&text, '\n');
    top_screen_add(&text, view, &screen);
    bool ok = cli_print_text(strbuf_str(&text));
    strbuf_deinit(&text);
    top_view_free(view);
    return ok ? SAMPLING_GO_ON : SAMPLING_INTERRUPT;
}

// Gives the view to the thread that draws it.
static void hand_over(Top *t, TopView *view)
{
    pthread_mutex_lock(&t->lock);
    TopView *old = t->view;
    t->view = view;
    pthread_mutex_unlock(&t->lock);
    top_view_free(old);
    (void)!eventfd_write(t->wake_fd, 1);
}

static SamplingWish watch(void *ctx, Sampling *s, Profile *p, const SamplingState *state)
{
    Top *t = ctx;
    const int64_t delay = t->options->delay_ns;
    int64_t start = os_monotonic_ns();
    if (t->screen_at_ns == 0) {
        t->screen_at_ns = start + delay;
        if (t->tty >= 0)
            start_terminal(t);
    }
    TopRequest request = t->request;
    pthread_mutex_lock(&t->lock);
    bool quit = t->keys.quit;
    bool is_due = start >= t->screen_at_ns || t->wants_view || (state->is_last && t->tty < 0);
    t->wants_view = false;
    request.around = arena_str(t->arena, strbuf_str(&t->keys.around));
    pthread_mutex_unlock(&t->lock);
    if (quit)
        return SAMPLING_INTERRUPT;
    if (!is_due)
        return SAMPLING_GO_ON;
    look_up_names(t, s, p, state);
    start = os_monotonic_ns();
    profile_fold_samples(p, state->now_ns - TOP_SPAN_S * NS_PER_S);
    TopView *view = top_view_new(p, state, &request);
    SamplingWish wish = SAMPLING_GO_ON;
    if (t->tty >= 0)
        hand_over(t, view);
    else
        wish = print_plain(t, view);
    t->screens++;
    int64_t end = os_monotonic_ns();
    t->screen_at_ns = MAX(t->screen_at_ns + delay, end + (end - start) * SCREENS_SHARE);
    return t->options->screens && t->screens >= t->options->screens ? SAMPLING_END : wish;
}

// ---- The command's output ------------------------------------------------------------------

static int replace(int fd, int with)
{
    int saved = isatty(fd) ? fcntl(fd, F_DUPFD_CLOEXEC, 10) : -1;
    if (saved >= 0)
        dup2(with, fd);
    return saved;
}

static void restore(int fd, int *saved)
{
    if (*saved < 0)
        return;
    dup2(*saved, fd);
    close(*saved);
    *saved = -1;
}

// A command would write over the screen and read the keys: while the screen is there, what it
// writes to the terminal goes to a file, and it reads nothing from there.
static bool keep_output_away(Top *t, Error *err)
{
    t->output = os_open_unnamed(cli_env("TMPDIR").len ? cli_env("TMPDIR") : STR("/tmp"), err);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (t->output < 0)
        return false;
    t->saved_in = nothing >= 0 ? replace(STDIN_FILENO, nothing) : -1;
    t->saved_out = replace(STDOUT_FILENO, t->output);
    t->saved_err = replace(STDERR_FILENO, t->output);
    if (nothing >= 0)
        close(nothing);
    return true;
}

static void show_output(Top *t)
{
    restore(STDIN_FILENO, &t->saved_in);
    restore(STDOUT_FILENO, &t->saved_out);
    restore(STDERR_FILENO, &t->saved_err);
    if (t->output < 0)
        return;
    off_t size = lseek(t->output, 0, SEEK_END);
    off_t from = size > OUTPUT_SHOWN ? size - OUTPUT_SHOWN : 0;
    if (from)
        cli_say("the last %d of %lld bytes that the command wrote:", (int)OUTPUT_SHOWN,
                (long long)size);
    char bytes[4096];
    for (ssize_t n; (n = pread(t->output, bytes, sizeof(bytes), from)) > 0; from += n)
        if (!cli_print(str_over(bytes, (size_t)n)))
            break;
    close(t->output);
    t->output = -1;
}

// ---- From the options to the end -------------------------------------------------------------

static Str name_target(Top *t)
{
    const SamplingOptions *s = &t->sampling;
    StrBuf b = {0};
    if (s->argv)
        for (size_t i = 0; s->argv[i]; i++) {
            strbuf_add(&b, i ? STR(" ") : STR(""));
            strbuf_add_shell_word(&b, str_from_c(s->argv[i]));
        }
    for (size_t i = 0; i < s->pid_count; i++)
        strbuf_printf(&b, "%sprocess %u (%" STR_FMT ")", b.len ? ", " : "", s->pids[i],
                      STR_ARG(proc_comm(t->arena, s->pids[i], s->pids[i])));
    for (size_t i = 0; i < s->tid_count; i++)
        strbuf_printf(&b, "%sthread %u", b.len ? ", " : "", s->tids[i]);
    if (t->options->cpus.len)
        strbuf_printf(&b, "CPUs %" STR_FMT, STR_ARG(t->options->cpus));
    else if (s->system_wide)
        strbuf_add(&b, STR("the whole machine"));
    Str name = arena_str(t->arena, strbuf_str(&b));
    strbuf_deinit(&b);
    return name;
}

static void choose_rows(Top *t)
{
    Str by = t->options->by;
    if (str_equal(by, STR("line")))
        t->request.by = BY_LINE;
    else if (str_equal(by, STR("module")))
        t->request.by = BY_MODULE;
    else if (str_equal(by, STR("process")))
        t->request.group = GROUP_PROCESS;
}

static bool parse_target(Top *t, const CommandLine *line, Error *err)
{
    const TopOptions *o = t->options;
    SamplingOptions *s = &t->sampling;
    if (!record_parse_ids(&o->pids, "process id", &t->pids, err) ||
        !record_parse_ids(&o->tids, "thread id", &t->tids, err) ||
        (o->cpus.len && !cpu_list_parse(o->cpus, CPUS_MAX, &t->cpus, err)))
        return false;
    bool attach = t->pids.len || t->tids.len;
    bool command = line->operands.len > 0;
    bool wide = o->system_wide || o->cpus.len;
    if (attach + command + wide > 1 && !(command && wide && !attach))
        return error_set(err, ERROR_USAGE, "a command, -p or -t, and -a or -C cannot be combined");
    if (o->user_only && o->kernel_only)
        return error_set(err, ERROR_USAGE, "--all-user and --all-kernel cannot be combined");
    s->pids = t->pids.at;
    s->pid_count = t->pids.len;
    s->tids = t->tids.at;
    s->tid_count = t->tids.len;
    s->cpus = t->cpus.at;
    s->cpu_count = t->cpus.len;
    s->system_wide = wide || (!attach && !command);
    if (!command)
        return true;
    s->argv = line->words;
    s->program = &t->program;
    return program_find(t->arena, str_from_c(line->words[0]), cli_env("PATH"), &t->program, err) &&
           record_check_program(&t->program, err);
}

static bool prepare(Top *t, const CommandLine *line, Error *err)
{
    const TopOptions *o = t->options;
    SamplingOptions *s = &t->sampling;
    if (!parse_target(t, line, err) || !record_parse_rate(o->freq, o->period, s, err) ||
        !record_events_parse(t->arena, &o->events, &o->filters, t->program.path, &t->pids,
                             &o->debug_dirs, &t->events, err))
        return false;
    if (o->delay_ns <= 0)
        return error_set(err, ERROR_USAGE, "-d takes a time above 0");
    if (o->freq.len == 0)
        s->freq_hz = s->system_wide ? WIDE_FREQ_HZ : DEFAULT_FREQ_HZ;
    s->events = &t->events;
    s->user_only = o->user_only;
    s->kernel_only = o->kernel_only;
    s->no_idle = true;
    s->environment = environ;
    s->temp_folder = cli_env("TMPDIR");
    s->tool_version = STR(ASSAY_VERSION);
    s->watch = watch;
    s->watch_ctx = t;
    choose_rows(t);
    t->target = name_target(t);
    t->terminal = terminal_get(o->colour);
    symbols_options(t->arena, &o->debug_dirs, &t->symbols);
    t->symbols.is_live = true;
    // Waiting for a server would hold up the recording.
    t->symbols.debuginfod_urls = STR("");
    t->tty = t->terminal.is_tty ? top_terminal_open() : -1;
    t->wake_fd = eventfd(0, EFD_CLOEXEC);
    if (t->wake_fd < 0)
        return error_os(err, "cannot show a screen");
    return t->tty < 0 || !s->argv || keep_output_away(t, err);
}

static void top_deinit(Top *t)
{
    show_output(t);
    if (t->tty >= 0)
        close(t->tty);
    if (t->wake_fd >= 0)
        close(t->wake_fd);
    top_view_free(t->view);
    top_keys_deinit(&t->keys);
    pthread_mutex_destroy(&t->lock);
    vec_free(&t->pids);
    vec_free(&t->tids);
    vec_free(&t->cpus);
}

static int run_and_end(Top *t)
{
    Profile profile;
    Sampling *sampling = NULL;
    SamplingResult result;
    Error err = {0};
    profile_init(&profile);
    bool ok = sampling_run(&t->sampling, &profile, NULL, &sampling, &result, &err);
    if (!ok && result.killed_by) { // the worker hangs, and may have the lock
        top_terminal_leave();
        record_end_hung(NULL, &err, result.killed_by);
    }
    stop_terminal(t);
    show_output(t);
    int status = STATUS_OK;
    if (!ok) {
        status = cli_fail(&err);
    } else {
        record_say_warnings(&profile, profile.notes.key.len);
        cli_say("%llu sample%s, %llu lost, in %.1f s", (unsigned long long)result.samples,
                plural_s(result.samples), (unsigned long long)result.lost,
                (double)result.wall_ns / 1e9);
        status = record_wait_child(sampling, &result, t->program.path);
        sampling_close(sampling);
    }
    profile_deinit(&profile);
    return status;
}

static int top(CommandLine *line, void *values)
{
    const TopOptions *o = values;
    Top t = {.arena = line->arena,
             .options = o,
             .tty = -1,
             .wake_fd = -1,
             .saved_in = -1,
             .saved_out = -1,
             .saved_err = -1,
             .output = -1};
    Error err = {0};
    pthread_mutex_init(&t.lock, NULL);
    bool ok = prepare(&t, line, &err);
    if (!ok)
        show_output(&t);
    int status = ok ? run_and_end(&t) : cli_fail(&err);
    top_deinit(&t);
    return status;
}

static int run_top(const Command *cmd, int argc, char **argv)
{
    TopOptions o = {.period = RECORD_PERIOD_NONE, .delay_ns = NS_PER_S};
    Arena arena = {0};
    event_filters_note(&arena, argc, argv, &o.filters);
    int status = command_run_parsed(cmd, argc, argv, &o, top);
    arena_deinit(&arena);
    return status;
}

// Spellings that users of perf know.
static const ForeignOption foreign[] = {
    {'g', "call-graph", FOREIGN_IGNORED, NULL},
    {'z', "zero", FOREIGN_IGNORED, NULL},
    {0, "children", FOREIGN_IGNORED, NULL},
    {0, "stdio", FOREIGN_REFUSED, "assay top | cat prints each screen as lines"},
    {'s', "sort", FOREIGN_REFUSED, "--by function, line, module or process"},
    {'u', "uid", FOREIGN_REFUSED, "assay top -p $(pgrep -d, -u USER)"},
    {'r', "realtime", FOREIGN_REFUSED, "sudo chrt -f PRIORITY assay top …"},
    {'m', "mmap-pages", FOREIGN_REFUSED, "leave it out: assay chooses the size of the rings"},
    {'k', "vmlinux", FOREIGN_REFUSED, "leave it out: names of the kernel come from /proc/kallsyms"},
    {'v', "verbose", FOREIGN_REFUSED, "assay record, then assay report --notes"},
};

const Command top_command = {
    .name = "top",
    .group = "see where",
    .summary = "watch where time goes, once a second",
    .first = "  assay top         the whole machine\n"
             "  assay top -p PID  a process\n"
             "  assay top -- CMD  a command\n",
    .usage = "[OPTION ...] [-p PID | -t TID | -a]\n"
             "[OPTION ...] [--] CMD [ARG ...]",
    .options = top_options,
    .option_count = ARRAY_LEN(top_options),
    .foreign = foreign,
    .foreign_count = ARRAY_LEN(foreign),
    .details = top_details,
    .operands_end_options = true,
    .run = run_top,
};
