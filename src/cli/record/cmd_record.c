// SPDX-License-Identifier: Apache-2.0
// assay record: samples a running program into a recording.

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/build_options.h"
#include "cli/calls/slow_screen.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/event_filters.h"
#include "cli/record/confinement.h"
#include "cli/record/flight.h"
#include "cli/record/hooked_entries.h"
#include "cli/record/record_events.h"
#include "cli/record/record_parts.h"
#include "cli/record/record_repeat.h"
#include "cli/record/recorded_symbols.h"
#include "cli/recording.h"
#include "cli/symbols.h"
#include "collect/sampling/sampling.h"
#include "model/facts.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/privilege.h"
#include "os/proc.h"

enum { CPUS_MAX = 65536, MIN_WAIT_NS = 100000, FLIGHT_BYTES = 16 << 20 };

// Values of options that were not given.
#define NO_REPEAT UINT64_MAX
#define NOT_GIVEN INT64_MIN

typedef struct RecordOptions {
    Str freq;
    uint64_t period;
    StrVec events;
    EventFilters filters;
    Str call_graph;
    Str engine;
    StrVec pids;
    StrVec tids;
    bool system_wide;
    Str cpus;
    int64_t duration_ns;
    int64_t delay_ns;
    Str pages;
    Str output;
    bool force;
    bool user_only;
    bool kernel_only;
    bool no_inherit;
    bool heap;
    bool no_runtimes;
    bool copy_stacks;
    bool no_args;
    uint64_t max_bytes;
    uint64_t repeat; // NO_REPEAT: not given
    Str against;
    bool wait;
    int64_t min_wait_ns; // NOT_GIVEN: not given
    StrVec calls;
    Str key;
    Str slow;
    bool flight;
    uint64_t memory_bytes;
    Str when;
    bool quiet;
    bool self_stats;
    StrVec debug_dirs;
    StrVec source_paths;
    BuildOptions build;
} RecordOptions;

// The words of --call-graph.
static const struct StackModeWord {
    const char *word;
    StackMode mode;
    const char *help;
} stack_modes[] = {
    {"auto", STACKS_AUTO, "complete stacks by unwind tables (the default)"},
    {"dwarf", STACKS_TABLES, "the same, with BYTES of stack copied for each sample: dwarf[,BYTES]"},
    {"fp", STACKS_FP, "by frame pointers, as the kernel follows them"},
    {"lbr", STACKS_LBR, "by the processor's records of calls"},
    {"none", STACKS_NONE, "no stacks"},
};
static const size_t stack_mode_count = ARRAY_LEN(stack_modes);
static const Choices stack_mode_words = {
    CHOICES_WITH_HELP(stack_modes, stack_mode_count, word, help)};

// The words of --engine.
static const struct EngineWord {
    const char *word;
    SamplingEngine engine;
    const char *help;
} engines[] = {
    {"auto", ENGINE_AUTO, "the first of these that is allowed (the default)"},
    {"perf", ENGINE_PERF, "perf events of the kernel"},
    {"ptrace", ENGINE_PTRACE, "stops the threads of the command, 1000 times a second at most"},
    {"timer", ENGINE_TIMER, "a library in the command, about 250 times a second"},
};
static const size_t engine_count = ARRAY_LEN(engines);
static const Choices engine_words = {CHOICES_WITH_HELP(engines, engine_count, word, help)};

static const Option record_options[] = {
    OPT_TEXT('F', "freq", RecordOptions, freq, "HZ",
             "samples per second on each CPU, or 'max' (default 999)"),
    OPT_U64('c', "count", RecordOptions, period, "N", "take a sample every N events, not by time"),
    OPT_LIST('e', "event", RecordOptions, events, "EVENT",
             "the event to sample on; may be repeated; lists and {groups}:S as in perf"),
    OPT_LIST(0, "filter", RecordOptions, filters.texts, "FILTER",
             "sample only occurrences that match FILTER, of the tracepoints of the preceding -e"),
    OPT_WORD_OF('g', "call-graph", RecordOptions, call_graph, "MODE", &stack_mode_words,
                "how stacks are taken; one of the modes below"),
    OPT_TEXT_OF(0, "engine", RecordOptions, engine, "ENGINE", &engine_words,
                "the mechanism that takes the samples"),
    OPT_FLAG(0, "heap", RecordOptions, heap,
             "also record the blocks that the command allocates, as assay heap does; implies "
             "--engine timer"),
    OPT_LIST('p', "pid", RecordOptions, pids, "PID", "a running process with all its threads"),
    OPT_LIST('t', "tid", RecordOptions, tids, "TID", "one running thread"),
    OPT_FLAG('a', "all-cpus", RecordOptions, system_wide, "the whole machine"),
    OPT_TEXT('C', "cpu", RecordOptions, cpus, "CPUS", "all programs on these CPUs: 0-3,8"),
    OPT_DURATION(0, "duration", RecordOptions, duration_ns, "S", "end after this time"),
    OPT_SIZE(0, "max-size", RecordOptions, max_bytes, "SIZE",
             "end when the samples have this size; the file is larger, because names are added"),
    OPT_U64(0, "repeat", RecordOptions, repeat, "N",
            "make N recordings, NAME.1.assay and so on, for assay diff"),
    OPT_TEXT(0, "against", RecordOptions, against, "'CMD'",
             "with --repeat: also record CMD, the old command; both are run in turns"),
    OPT_FLAG(0, "no-args", RecordOptions, no_args,
             "keep the arguments of programs, which may be secret, out of the recording"),
    OPT_MILLIS('D', "delay", RecordOptions, delay_ns, "MS",
               "start sampling this long after the program"),
    OPT_TEXT('m', "mmap-pages", RecordOptions, pages, "PAGES",
             "size of each CPU's ring buffer: pages, or bytes with k, M (default: as large as the "
             "kernel's limits allow)"),
    OPT_TEXT('o', "output", RecordOptions, output, "FILE",
             "write the recording to FILE (default profile.assay)"),
    OPT_FLAG('f', "force", RecordOptions, force, "replace an existing recording"),
    OPT_FLAG(0, "all-user", RecordOptions, user_only, "leave the kernel out"),
    OPT_FLAG(0, "all-kernel", RecordOptions, kernel_only, "leave the programs out"),
    OPT_FLAG('i', "no-inherit", RecordOptions, no_inherit, "leave new threads and children out"),
    OPT_FLAG(
        0, "copy-stacks", RecordOptions, copy_stacks,
        "let perf copy every stack in full; by default a BPF program copies only the used part "
        "at probes, and does not copy a stack that it knows"),
    OPT_FLAG(0, "no-runtimes", RecordOptions, no_runtimes,
             "do not read the names of functions of Java, Node.js and Python"),
    OPT_FLAG(0, "wait", RecordOptions, wait,
             "also record what threads wait for, such as locks, disks, networks and processors; "
             "without root, assay looks at each thread 100 times a second"),
    OPT_MILLIS(0, "min-wait", RecordOptions, min_wait_ns, "MS",
               "with --wait: keep each wait of at least this length; shorter ones are in sums only "
               "(default 0.1)"),
    OPT_LIST(0, "calls", RecordOptions, calls, "FUNCTION",
             "also record each call of these functions: 'handle_*', './prog:handle id=$arg1 "
             "$retval'; may be repeated"),
    OPT_TEXT(0, "key", RecordOptions, key, "ARG",
             "with --calls 'BEGIN..END': join entries of both functions by this argument, $arg1"),
    OPT_TEXT(0, "slow", RecordOptions, slow, "1%|'>5ms'",
             "with --calls: at the end, print what the slowest calls do that the others do not"),
    OPT_FLAG(0, "flight", RecordOptions, flight,
             "keep the newest part in memory and write it on SIGUSR2 (assay dump), on --when, and "
             "when the command fails"),
    OPT_SIZE(0, "memory", RecordOptions, memory_bytes, "SIZE",
             "with --flight: how much memory the recording may use (default 16M)"),
    OPT_TEXT(0, "when", RecordOptions, when, "CONDITION",
             "with --flight: also write when 'p99(FUNCTION) > 20ms' of --calls, 'cpu > 90%', or "
             "'lock > 50%' of --wait"),
    OPT_LIST(0, "debug-dir", RecordOptions, debug_dirs, "DIR",
             "also search DIR for separate debug files"),
    OPT_LIST(0, "source-path", RecordOptions, source_paths, "OLD=NEW",
             "read source files whose path begins with OLD at NEW"),
    BUILD_OPTIONS(RecordOptions, build),
    OPT_FLAG('q', "quiet", RecordOptions, quiet, "print nothing if there is no error"),
    OPT_FLAG(0, "self-stats", RecordOptions, self_stats, "print the CPU time of the recorder"),
};

static const char record_details[] =
    "Samples the CPU time (or any event) of a command, of running processes or of\n"
    "the whole machine, with complete stacks: no frame pointers, debug information\n"
    "or preparation needed. The command keeps its input, output, signals and exit\n"
    "status; Ctrl-C goes to it and ends the recording.\n"
    "\n"
    "  assay record -- ./server --port 8080     run it and record it\n"
    "  assay record --cargo --bench parse       build a benchmark and record it\n"
    "  assay record -p 1234 --duration 10       ten seconds of a running process\n"
    "  assay record -e page-faults -c 1 -- CMD  the stack of every page fault\n"
    "  assay record --calls 'handle_*' -- CMD    each call; then: assay report --calls\n"
    "  assay record --repeat 5 --against './old' -- ./new   for assay diff\n"
    "  assay report                             look at what was recorded\n"
    "\n"
    "'assay doctor' shows what this machine lacks for recording, and how to fix it.\n";

// Spellings that users of perf know.
static const ForeignOption foreign[] = {
    BUILD_FOREIGN_OPTIONS,
    {'v', "verbose", FOREIGN_REFUSED,
     "ASSAY_DEBUG=record assay record … shows what it does, --self-stats what that cost"},
    {'u', "uid", FOREIGN_REFUSED, "assay record -p $(pgrep -d, -u USER)"},
    {'G', "cgroup", FOREIGN_REFUSED,
     "assay record -p $(paste -sd, /sys/fs/cgroup/GROUP/cgroup.procs)"},
    {'r', "realtime", FOREIGN_REFUSED,
     "sudo chrt -f PRIORITY assay record …; for a rate of samples: -F HZ"},
    {'b', "branch-any", FOREIGN_REFUSED, "assay record -g lbr takes stacks from branch records"},
    {'j', "branch-filter", FOREIGN_REFUSED, "assay record -g lbr takes stacks from branch records"},
    {'d', "data", FOREIGN_REFUSED, "addresses of memory accesses are not recorded"},
    {0, "phys-data", FOREIGN_REFUSED, "addresses of memory accesses are not recorded"},
    {'W', "weight", FOREIGN_REFUSED, "costs of memory accesses are not recorded"},
    {0, "intr-regs", FOREIGN_REFUSED, "registers at a probe: -e 'FILE:FUNCTION $arg1 %di'"},
    {0, "user-regs", FOREIGN_REFUSED, "registers at a probe: -e 'FILE:FUNCTION $arg1 %di'"},
    {0, "switch-events", FOREIGN_REFUSED, "--wait records when threads wait, and for what"},
    {0, "off-cpu", FOREIGN_REFUSED, "--wait records when threads wait, and for what"},
    {0, "overwrite", FOREIGN_REFUSED, "--flight keeps the newest part in memory"},
    {'S', "snapshot", FOREIGN_REFUSED, "--flight writes a file when 'assay dump PID' asks for it"},
    {0, "switch-output", FOREIGN_REFUSED,
     "--flight writes a file when 'assay dump PID' asks for it, or --when a condition holds"},
    {'A', "append", FOREIGN_REFUSED, "assay merge joins recordings"},
    {'n', "no-samples", FOREIGN_REFUSED, "assay stat CMD only counts"},
    {'k', "clockid", FOREIGN_REFUSED, "leave it out: times are those of CLOCK_MONOTONIC"},
    {0, "control", FOREIGN_REFUSED, "--delay MS and --duration S choose a part of the run"},
    {0, "per-thread", FOREIGN_REFUSED, "leave it out: -p and -t record single threads"},
    {0, "strict-freq", FOREIGN_REFUSED, "leave it out: the report says which rate was obtained"},
    {0, "vmlinux", FOREIGN_REFUSED, "leave it out: names of the kernel come from /proc/kallsyms"},
    {0, "timestamp-filename", FOREIGN_REFUSED, "-o prog-$(date +%s).assay"},
    {0, "user-callchains", FOREIGN_REFUSED, "--all-user leaves the kernel out"},
    {0, "max-stack", FOREIGN_REFUSED, "leave it out: stacks are complete"},
    {0, "rate", FOREIGN_REFUSED, "-F HZ"},
    {0, "frequency", FOREIGN_REFUSED, "-F HZ"},
    {0, "time", FOREIGN_REFUSED, "--duration S"},
    {0, "output-file", FOREIGN_REFUSED, "-o FILE"},
    {0, "iteration-count", FOREIGN_REFUSED, "--repeat N"},
    {'R', "raw-samples", FOREIGN_IGNORED, NULL},
    {'z', "compression-level", FOREIGN_IGNORED, NULL},
    {0, "aio", FOREIGN_IGNORED, NULL},
    {0, "buildid-all", FOREIGN_IGNORED, NULL},
    {0, "exclude-perf", FOREIGN_IGNORED, NULL},
    {0, "kcore", FOREIGN_IGNORED, NULL},
    {0, "namespaces", FOREIGN_IGNORED, NULL},
    {0, "no-open", FOREIGN_IGNORED, NULL},
    {0, "running-time", FOREIGN_IGNORED, NULL},
    {0, "save-only", FOREIGN_IGNORED, NULL},
    {0, "tail-synthesize", FOREIGN_IGNORED, NULL},
    {0, "threads", FOREIGN_IGNORED, NULL},
    {'T', "timestamp", FOREIGN_IGNORED, NULL},
    {'P', "period", FOREIGN_IGNORED, NULL},
    {'s', "stat", FOREIGN_IGNORED, NULL},
    {'N', "no-buildid-cache", FOREIGN_IGNORED, NULL},
    {'B', "no-buildid", FOREIGN_IGNORED, NULL},
    {0, "sample-cpu", FOREIGN_IGNORED, NULL},
    {0, "inherit", FOREIGN_IGNORED, NULL},
};

// ---- Options --------------------------------------------------------------------

typedef struct RecordSetup {
    Arena *arena;
    SourceOptions sources;
    SamplingOptions sampling;
    EventSpecVec events;
    CallPlan calls;
    Flight flight;
    Program program;
    HeapEntries entries; // with --heap
    U32Vec pids, tids, cpus;
    Str output;
    Confinement confinement; // with sampling.confine, and for the names of a flight recorder
    bool is_written;         // the recording is complete
} RecordSetup;

static bool parse_stacks(Str text, SamplingOptions *s, Error *err)
{
    Str mode = text, bytes = {0};
    if (text.len == 0)
        return true;
    (void)str_split(text, ',', &mode, &bytes);
    for (size_t i = 0; i < stack_mode_count; i++) {
        if (!str_equal(mode, str_from_c(stack_modes[i].word)))
            continue;
        s->stacks = stack_modes[i].mode;
        uint64_t n;
        if (bytes.len == 0)
            return true;
        if (s->stacks != STACKS_TABLES || !str_parse_u64(bytes, 0, &n) || n < 512 || n > 65528)
            return error_set(err, ERROR_USAGE,
                             "'%" STR_FMT "': only dwarf takes a size, 512 to 65528 bytes",
                             STR_ARG(text));
        s->stack_bytes = (uint32_t)align_down(n, 8);
        return true;
    }
    (void)error_set(err, ERROR_USAGE, "-g does not take '%" STR_FMT "'", STR_ARG(text));
    StrBuf words = {0};
    for (size_t i = 0; i < stack_mode_count; i++)
        strbuf_printf(&words, "%s%s", i ? ", " : "", stack_modes[i].word);
    error_hint(err, "use one of %" STR_FMT "; complete stacks are the default",
               STR_ARG(strbuf_str(&words)));
    strbuf_deinit(&words);
    return false;
}

static bool parse_engine(Str text, SamplingOptions *s, Error *err)
{
    for (size_t i = 0; i < engine_count; i++)
        if (text.len == 0 || str_equal(text, str_from_c(engines[i].word))) {
            s->engine = engines[i].engine;
            return true;
        }
    (void)error_set(err, ERROR_USAGE, "--engine does not take '%" STR_FMT "'", STR_ARG(text));
    return error_hint(err, "use one of auto, perf, ptrace, timer");
}

static bool parse_pages(Str text, SamplingOptions *s, Error *err)
{
    if (text.len == 0)
        return true;
    uint64_t n, unit = 0;
    char last = text.ptr[text.len - 1];
    if (last == 'k' || last == 'K')
        unit = 1024;
    else if (last == 'M')
        unit = 1024 * 1024;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    Str number = unit ? str_slice(text, 0, text.len - 1) : text;
    if (!str_parse_u64(number, 10, &n) || n == 0 || n > 1u << 24)
        return error_set(err, ERROR_USAGE,
                         "-m takes a number of pages or a size such as 512k, not '%" STR_FMT "'",
                         STR_ARG(text));
    uint64_t pages = unit ? (n * unit + page - 1) / page : n;
    s->ring_pages = round_up_pow2(MAX(pages, (uint64_t)1));
    return true;
}

static bool check_combination(const RecordSetup *r, const RecordOptions *o, bool command,
                              Error *err)
{
    bool attach = r->pids.len || r->tids.len;
    bool wide = o->system_wide || o->cpus.len;
    if (!attach && !wide && !command) {
        (void)error_set(err, ERROR_USAGE, "nothing to record: no command, process or CPU is given");
        return error_hint(
            err, "write assay record -- CMD; or -p PID for a process, -a for the whole machine");
    }
    if (attach && command)
        return error_set(err, ERROR_USAGE, "a command and -p or -t cannot be combined");
    if (attach && wide)
        return error_set(err, ERROR_USAGE, "-a and -C exclude -p and -t");
    if (o->user_only && o->kernel_only)
        return error_set(err, ERROR_USAGE, "--all-user and --all-kernel cannot be combined");
    if (o->heap &&
        (attach || wide || o->events.len || o->period != RECORD_PERIOD_NONE || o->kernel_only))
        return error_set(err, ERROR_USAGE,
                         "--heap records a command by timers: not with -p, -t, -a, -C, -e, -c or "
                         "--all-kernel");
    if (o->heap && r->sampling.engine != ENGINE_AUTO && r->sampling.engine != ENGINE_TIMER)
        return error_set(err, ERROR_USAGE, "--heap needs --engine timer");
    if ((o->when.len || o->memory_bytes) && !o->flight)
        return error_set(err, ERROR_USAGE, "--memory and --when need --flight");
    if (o->flight && (o->heap || o->repeat != NO_REPEAT))
        return error_set(err, ERROR_USAGE, "--flight cannot be combined with --heap or --repeat");
    if (o->repeat == 0)
        return error_set(err, ERROR_USAGE, "--repeat takes a number of recordings from 1, not 0");
    if (o->min_wait_ns != NOT_GIVEN && !o->wait)
        return error_set(err, ERROR_USAGE, "--min-wait needs --wait");
    if (o->key.len && !o->calls.len)
        return error_set(err, ERROR_USAGE, "--key needs --calls 'BEGIN..END'");
    SlowLimit limit;
    if (o->slow.len && !o->calls.len)
        return error_set(err, ERROR_USAGE, "--slow needs --calls FUNCTION");
    if (o->slow.len && !slow_limit_parse(o->slow, &limit, err))
        return false;
    if (o->heap && o->calls.len)
        return error_set(err, ERROR_USAGE, "--heap cannot be combined with --calls");
    return true;
}

// Refuses conditions on calls or waits that are not recorded: these could never hold.
static bool check_when(const When *when, const RecordOptions *o, Error *err)
{
    if (when->measure == WHEN_WAITS && !o->wait)
        return error_set(err, ERROR_USAGE, "--when '%" STR_FMT "' needs --wait",
                         STR_ARG(when->text));
    if (when->measure == WHEN_CALLS && !o->calls.len)
        return error_set(err, ERROR_USAGE, "--when '%" STR_FMT "' needs --calls %" STR_FMT,
                         STR_ARG(when->text), STR_ARG(when->function));
    return true;
}

// The command, or what is built in front of it. `*status` becomes that of a build that failed;
// `err` has no text then.
static bool find_program(RecordSetup *r, const RecordOptions *o, char **argv, int *status,
                         Error *err)
{
    SamplingOptions *s = &r->sampling;
    BuiltCommand built;
    s->argv = argv;
    s->program = &r->program;
    if (!build_options_given(&o->build))
        return program_find(r->arena, str_from_c(argv[0]), cli_env("PATH"), &r->program, err) &&
               record_check_program(&r->program, err);
    if (!build_command(r->arena, &o->build, argv, &built, status, err))
        return false;
    r->program = built.program;
    s->argv = built.argv;
    return record_check_program(&r->program, err);
}

// With --heap: finds an allocator of the command's own.
static bool find_entries(RecordSetup *r, const RecordOptions *o, Error *err)
{
    static const StrVec none = {0};
    if (!o->heap)
        return true;
    if (!heap_entries_find(r->arena, hooked_program_file(&r->program), &none, &none, &r->entries,
                           err))
        return false;
    hooked_entries_set(&r->entries, &r->sampling);
    return true;
}

static bool parse_setup(RecordSetup *r, const RecordOptions *o, bool command, Error *err)
{
    SamplingOptions *s = &r->sampling;
    r->output = o->output.len ? o->output : STR("profile.assay");
    if (!record_parse_rate(o->freq, o->period, s, err) || !parse_stacks(o->call_graph, s, err) ||
        !parse_engine(o->engine, s, err) || !parse_pages(o->pages, s, err) ||
        !record_parse_ids(&o->pids, "process id", &r->pids, err) ||
        !record_parse_ids(&o->tids, "thread id", &r->tids, err) ||
        (o->cpus.len && !cpu_list_parse(o->cpus, CPUS_MAX, &r->cpus, err)) ||
        !check_combination(r, o, command, err) ||
        !symbols_source_options(r->arena, &o->source_paths, &r->sources, err))
        return false;
    s->pids = r->pids.at;
    s->pid_count = r->pids.len;
    s->tids = r->tids.at;
    s->tid_count = r->tids.len;
    s->system_wide = o->system_wide || o->cpus.len;
    s->cpus = r->cpus.at;
    s->cpu_count = r->cpus.len;
    s->events = &r->events;
    s->user_only = o->user_only;
    s->kernel_only = o->kernel_only;
    s->no_inherit = o->no_inherit;
    s->no_args = o->no_args;
    s->max_bytes = o->max_bytes;
    s->duration_ns = o->duration_ns;
    s->delay_ns = o->delay_ns;
    if (o->flight) {
        r->flight = (Flight){.arena = r->arena,
                             .output = r->output,
                             .memory_bytes = o->memory_bytes ? o->memory_bytes : FLIGHT_BYTES,
                             .debug_dirs = &o->debug_dirs,
                             .sources = &r->sources,
                             .calls = &r->calls,
                             .has_when = o->when.len > 0};
        if (o->when.len &&
            !(when_parse(o->when, &r->flight.when, err) && check_when(&r->flight.when, o, err)))
            return false;
        s->watch = flight_watch;
        s->watch_ctx = &r->flight;
        s->takes_dumps = true;
    }
    s->waits = o->wait;
    s->calls = &r->calls;
    s->min_wait_ns = o->min_wait_ns == NOT_GIVEN ? MIN_WAIT_NS : o->min_wait_ns;
    s->environment = environ;
    s->no_runtimes = o->no_runtimes;
    s->copy_stacks = o->copy_stacks;
    s->temp_folder = cli_env("TMPDIR");
    s->drop_written = !o->heap && !o->flight; // the values of sites are known at the end
    s->heap = s->heap_with_time = o->heap;
    s->short_lived = 1000;
    if (o->heap)
        s->engine = ENGINE_TIMER;
    s->tool_version = STR(ASSAY_VERSION);
    return true;
}

static void setup_deinit(RecordSetup *r)
{
    vec_free(&r->pids);
    vec_free(&r->tids);
    vec_free(&r->cpus);
}

// ---- The end -------------------------------------------------------------------------

// One line: samples kept and lost, the size and name of the file, the next command.
static void say_result(const Profile *p, const SamplingResult *r, Str path, uint64_t bytes)
{
    StrBuf b = {0};
    if (str_equal(profile_fact(p, STR(FACT_COLLECTOR)), STR(COLLECTOR_HEAP)))
        strbuf_printf(&b, "samples and stacks that allocate: %zu", p->samples.stack.len);
    else
        record_add_counts(p, r, &b);
    strbuf_printf(&b, ", %" PRIu64 " lost", r->lost);
    if (r->with_stack && str_equal(profile_fact(p, STR(FACT_STACK_MODE)), STR("tables")))
        strbuf_printf(&b, ", %.1f %% complete stacks",
                      100.0 * (double)r->complete / (double)r->with_stack);
    if (r->with_gap)
        strbuf_printf(&b, ", %.1f %% with those over a marked gap",
                      100.0 * (double)(r->complete + r->with_gap) / (double)r->with_stack);
    strbuf_printf(&b, ", ");
    cli_add_size(&b, bytes);
    strbuf_printf(&b, " in %" STR_FMT "; next: assay report %" STR_FMT, STR_ARG(path),
                  STR_ARG(path));
    cli_say("%" STR_FMT, STR_ARG(strbuf_str(&b)));
    strbuf_deinit(&b);
}

static void say_self_stats(const SamplingResult *r, int64_t symbolise_ns)
{
    double samples = r->samples ? (double)r->samples : 1;
    cli_say("recorder %.1f ms CPU, %.1f us a sample; symbols and file %.1f ms",
            (double)r->recorder_cpu_ns / 1e6, (double)r->recorder_cpu_ns / 1e3 / samples,
            (double)symbolise_ns / 1e6);
}

static int finish_recording(RecordSetup *r, const RecordOptions *o, StoreWriter *writer,
                            Profile *profile, Sampling *sampling, const SamplingResult *result)
{
    Error err = {0};
    FileIdentity file = {0};
    if (result->write_failed) {
        int status = record_fail_with_part(store_writer_part_path(writer), &result->write_error);
        store_writer_leave(writer);
        return status;
    }
    bool is_confined = r->sampling.confine && !o->flight;
    // A flight recorder has made files until now.
    if (o->flight && (!sampling || sampling_needs_no_rights(sampling)))
        is_confined = confinement_start(r->arena, writer, &r->confinement);
    if (o->flight && is_confined)
        confinement_enter(result->has_child);
    const SymboliseHelp *help = is_confined ? &r->confinement.help : NULL;
    int64_t before = os_process_cpu_ns();
    if (o->heap)
        hooked_entries_note(profile, &r->program, &r->entries, true);
    size_t own_notes = profile->notes.key.len;
    symbols_resolve_recorded(r->arena, profile, sampling, &o->debug_dirs, &r->sources, help);
    Str part = arena_str(r->arena, store_writer_part_path(writer));
    if (!store_writer_finish(writer, profile, &err))
        return record_fail_with_part(part, &err);
    // The writer does not count the index and the trailer: ask the file system.
    (void)!os_file_identity(r->output, &file, NULL);
    if (!o->quiet)
        record_say_warnings(profile, own_notes);
    if (!o->quiet)
        say_result(profile, result, r->output, file.size_bytes);
    if (o->self_stats)
        say_self_stats(result, os_process_cpu_ns() - before);
    r->is_written = true;
    return STATUS_OK;
}

static int record_into(RecordSetup *r, const RecordOptions *o, StoreWriter *writer)
{
    Profile profile;
    profile_init(&profile);
    Sampling *sampling = NULL;
    SamplingResult result;
    Error err = {0};
    // A flight recorder keeps the rights that a dump needs in one thread.
    r->sampling.confine =
        o->flight ? privilege_is_special() : confinement_start(r->arena, writer, &r->confinement);
    // With the heap, rows get their values at the end: nothing is written before.
    StoreWriter *early = o->heap || o->flight ? NULL : writer;
    bool ok = o->flight ? flight_run(&r->flight, &r->sampling, &profile, &sampling, &result, &err)
                        : sampling_run(&r->sampling, &profile, early, &sampling, &result, &err);
    if (!ok) {
        if (result.killed_by)
            record_end_hung(writer, &err, result.killed_by);
        store_writer_abandon(writer);
        profile_deinit(&profile);
        return cli_fail(&err);
    }
    flight_end(&r->flight);
    int status = STATUS_OK;
    if (o->flight && result.has_child && !result.child_runs && result.child_status == 0) {
        cli_say("the command did not fail, so no recording was written");
        store_writer_abandon(writer);
    } else {
        status = finish_recording(r, o, writer, &profile, sampling, &result);
    }
    int child = record_wait_child(sampling, &result, r->program.path);
    if (result.has_child && (status == STATUS_OK || child != 0))
        status = child;
    sampling_close(sampling);
    profile_deinit(&profile);
    return status;
}

// Prints what slow calls do. The recording is read back, because its samples are in the file only.
static void say_slow(const RecordOptions *o, Str path)
{
    enum { CAUSES = 10 };
    RecordingFiles files = {.debug_dirs = o->debug_dirs};
    SlowLimit limit;
    Profile p;
    Error err;
    if (!slow_limit_parse(o->slow, &limit, &err) ||
        !load_recording(path, &files, false, &p, NULL, &err)) {
        (void)cli_fail(&err);
        return;
    }
    StrBuf table = {0};
    slow_add_table(&table, &p, &limit, CAUSES);
    cli_print_aside(strbuf_str(&table));
    strbuf_deinit(&table);
    profile_deinit(&p);
}

static int record_and_free(RecordSetup *r, const RecordOptions *o, StoreWriter *writer)
{
    int status = record_into(r, o, writer);
    confinement_end(&r->confinement);
    if (r->is_written && o->slow.len && !o->quiet)
        say_slow(o, r->output);
    setup_deinit(r);
    return status;
}

// Makes one recording of `words`, which is NULL-terminated and may be empty.
static int record_once(Arena *arena, const RecordOptions *o, char **words, bool command)
{
    RecordSetup r = {.arena = arena};
    Error err = {0};
    int status = STATUS_FAILED;
    StoreWriter *writer = NULL;
    StoreOptions store = {.force = o->force, .keeps_old = o->output.len == 0 || o->flight};
    if (!parse_setup(&r, o, command, &err))
        status = cli_fail(&err);
    else if (!store_writer_open(r.output, &store, &writer, &err))
        status = cli_fail(&err);
    else if ((command &&
              !(find_program(&r, o, words, &status, &err) && find_entries(&r, o, &err))) ||
             !record_events_parse(r.arena, &o->events, &o->filters, r.program.path, &r.pids,
                                  &o->debug_dirs, &r.events, &err) ||
             !record_calls_parse(r.arena, &o->calls, o->key, r.program.path, &r.pids,
                                 &o->debug_dirs, &r.calls, &err))
        status = err.text[0] ? cli_fail(&err) : status;
    else
        return record_and_free(&r, o, writer);
    store_writer_abandon(writer);
    setup_deinit(&r);
    return status;
}

typedef struct RepeatContext {
    Arena *arena;
    const RecordOptions *o;
} RepeatContext;

static int record_into_output(void *ctx, char **words, Str output)
{
    const RepeatContext *r = ctx;
    RecordOptions o = *r->o;
    o.output = output;
    return record_once(r->arena, &o, words, true);
}

static int record(CommandLine *line, void *values)
{
    const RecordOptions *o = values;
    bool command = line->operands.len > 0 || build_options_given(&o->build);
    if (o->repeat == 0 || (o->repeat == NO_REPEAT && !o->against.len))
        return record_once(line->arena, o, line->words, command);
    if (o->repeat == NO_REPEAT)
        return usage_error(line->cmd, "--against records in turns: say how many with --repeat N");
    if (!command)
        return usage_error(line->cmd, "--repeat records a command: assay record --repeat 5 -- CMD");
    RepeatContext ctx = {line->arena, o};
    RecordRepeat repeat = {.count = o->repeat,
                           .output = o->output.len ? o->output : STR("profile"),
                           .against = o->against,
                           .words = line->words,
                           .quiet = o->quiet,
                           .once = record_into_output,
                           .ctx = &ctx};
    return record_repeatedly(line->arena, &repeat);
}

static int run_record(const Command *cmd, int argc, char **argv)
{
    RecordOptions o = {.period = RECORD_PERIOD_NONE, .repeat = NO_REPEAT, .min_wait_ns = NOT_GIVEN};
    Arena arena = {0};
    event_filters_note(&arena, argc, argv, &o.filters);
    int status = command_run_parsed(cmd, argc, argv, &o, record);
    arena_deinit(&arena);
    return status;
}

const Command record_command = {
    .name = "record",
    .group = "see where",
    .summary = "sample a program: where its time goes, with complete stacks",
    .first = "  assay record -- CMD              record a command, then: assay report\n"
             "  assay record -p PID              a running process, until Ctrl-C\n"
             "  assay record -e ./prog:f -- CMD  each call of a function\n",
    .usage = "[OPTION ...] [--] CMD [ARG ...]\n"
             "[OPTION ...] --cargo [CARGO-OPTION ...] [-- ARG ...]\n"
             "[OPTION ...] -p PID | -t TID | -a",
    .options = record_options,
    .option_count = ARRAY_LEN(record_options),
    .list_heading = "modes of --call-graph",
    .list = &stack_mode_words,
    .details = record_details,
    .foreign = foreign,
    .foreign_count = ARRAY_LEN(foreign),
    .operands_end_options = true,
    .run = run_record,
};
