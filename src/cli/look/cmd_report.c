// SPDX-License-Identifier: Apache-2.0
// assay report: where a recording's time went, as text, JSON or CSV.

#include <math.h>

#include "analyse/fit.h"
#include "cli/calls/calls_screen.h"
#include "cli/calls/slow_screen.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/look/arguments_screen.h"
#include "cli/look/heap_screen.h"
#include "cli/look/prof_counts.h"
#include "cli/look/prof_screen.h"
#include "cli/look/report_screen.h"
#include "cli/look/view_options.h"
#include "cli/look/wait_table.h"
#include "cli/look/waits_json.h"
#include "cli/look/waits_screen.h"
#include "cli/pager.h"
#include "cli/runs/counts_text.h"
#include "cli/runs/runs_report.h"
#include "cli/survey/survey_show.h"
#include "export/report_json.h"
#include "export/runs.h"
#include "model/facts.h"
#include "os/file.h"

typedef enum ReportKeyKind {
    KEY_ORDER,      // an order of rows
    KEY_PROF_ORDER, // one that only --prof has
    KEY_HEAP_ORDER, // one that only recordings of the heap have: a metric
    KEY_ROWS,       // the rows themselves, also for --by
    KEY_PERF_ROWS,  // the same, as perf's --sort names them
    KEY_WAITS,      // a table of waits, for --by only
    KEY_HEAP_ROWS,  // a table of the heap, for --by only
} ReportKeyKind;

// The words of --sort and --by.
typedef struct ReportKey {
    const char *word;
    ReportKeyKind kind;
    FlatSort order;
    ProfSort prof_order; // PROF_AS_REPORTED: --prof sorts by `order`
    By by;
    Group group;
    WaitBy waits;
    HeapRows heap;
} ReportKey;
static const ReportKey report_keys[] = {
    {"self", KEY_ORDER, .order = FLAT_BY_SELF},
    {"overhead", KEY_ORDER, .order = FLAT_BY_SELF},
    {"total", KEY_ORDER, .order = FLAT_BY_TOTAL},
    {"samples", KEY_ORDER, .order = FLAT_BY_SAMPLES},
    {"name", KEY_ORDER, .order = FLAT_BY_NAME, .prof_order = PROF_BY_NAME},
    {"blocks", KEY_HEAP_ORDER, .order = FLAT_BY_SELF},
    {"peak", KEY_HEAP_ORDER, .order = FLAT_BY_SELF},
    {"end", KEY_HEAP_ORDER, .order = FLAT_BY_SELF},
    {"short-lived", KEY_HEAP_ORDER, .order = FLAT_BY_SELF},
    {"lifetime", KEY_HEAP_ORDER, .order = FLAT_BY_SELF},
    {"malloc-time", KEY_HEAP_ORDER, .order = FLAT_BY_SELF},
    {"copied", KEY_HEAP_ORDER, .order = FLAT_BY_SELF},
    {"calls", KEY_PROF_ORDER, .prof_order = PROF_BY_CALLS},
    {"address", KEY_PROF_ORDER, .prof_order = PROF_BY_ADDRESS},
    {"function", KEY_ROWS, .by = BY_FUNCTION},
    {"line", KEY_ROWS, .by = BY_LINE},
    {"module", KEY_ROWS, .by = BY_MODULE},
    {"thread", KEY_ROWS, .group = GROUP_THREAD},
    {"process", KEY_ROWS, .group = GROUP_PROCESS},
    {"comm", KEY_ROWS, .group = GROUP_COMM},
    {"module,function", KEY_ROWS, .by = BY_MODULE_FUNCTION},
    {"sym", KEY_PERF_ROWS, .by = BY_FUNCTION},
    {"symbol", KEY_PERF_ROWS, .by = BY_FUNCTION},
    {"srcline", KEY_PERF_ROWS, .by = BY_LINE},
    {"dso", KEY_PERF_ROWS, .by = BY_MODULE},
    {"tid", KEY_PERF_ROWS, .group = GROUP_THREAD},
    {"pid", KEY_PERF_ROWS, .group = GROUP_PROCESS},
    {"class", KEY_WAITS, .waits = WAIT_BY_CLASS},
    {"lock", KEY_WAITS, .waits = WAIT_BY_LOCK},
    {"file", KEY_WAITS, .waits = WAIT_BY_FILE},
    {"waker", KEY_WAITS, .waits = WAIT_BY_WAKER},
    {"size", KEY_HEAP_ROWS, .heap = HEAP_BY_SIZE},
    {"time", KEY_HEAP_ROWS, .heap = HEAP_BY_TIME},
};

static bool names_rows(const void *row)
{
    const ReportKey *key = row;
    return key->kind == KEY_ROWS || key->kind == KEY_WAITS || key->kind == KEY_HEAP_ROWS;
}

static bool sorts(const void *row)
{
    ReportKeyKind kind = ((const ReportKey *)row)->kind;
    return kind != KEY_WAITS && kind != KEY_HEAP_ROWS;
}

static const size_t report_key_count = ARRAY_LEN(report_keys);
static const Choices sort_words = {CHOICES_COUNTED(report_keys, report_key_count, word),
                                   .takes = sorts};
static const Choices row_words = {CHOICES_COUNTED(report_keys, report_key_count, word),
                                  .takes = names_rows};

typedef struct ReportOptions {
    SelectionOptions selection;
    RecordingFiles files;
    LiveOptions live;
    const ReportKey *by; // NULL: not given
    Str sort;            // keys of report_keys joined by commas
    Str tree, around, colour, output, slow;
    Str from_mark, to_mark, thread; // of the critical path
    bool lines, locks, critical, calls, children, inverted, kernel, prof, never_called, wide, notes,
        json;
    bool csv, force, no_pager;
    uint64_t limit;
    double percent_limit;
} ReportOptions;

typedef struct ReportCommand {
    ReportOptions options;
    ReportRequest request;
} ReportCommand;

static const Option report_options[] = {
    OPT_ROW(0, "by", ReportOptions, by, ReportKey, "WHAT", &row_words, "what a row is"),
    OPT_FLAG(0, "lines", ReportOptions, lines,
             "the same as --by line: source lines and their text"),
    OPT_TEXT_OF(
        's', "sort", ReportOptions, sort, "KEY", &sort_words,
        "the order of the rows, or several keys with commas between them; calls and address need "
        "--prof; blocks, peak … copied choose the metric of a recording of the heap; "
        "function, line … pid choose what a row is, as --by does"),
    OPT_FLAG(0, "children", ReportOptions, children,
             "sort by total: the time of a function and of all functions that it called"),
    OPT_OPTIONAL(
        'g', "tree", ReportOptions, tree, "ORDER", "caller|callee",
        "the call tree: from callers to callees, or from the function that ran to its callers"),
    OPT_FLAG('G', "inverted", ReportOptions, inverted, "the same as --tree=callee"),
    OPT_FLAG(0, "kernel", ReportOptions, kernel,
             "for page faults, context switches and tracepoints: count self for the kernel's "
             "function, not for the program's function that entered the kernel"),
    OPT_FLAG(0, "locks", ReportOptions, locks,
             "for a recording made with --wait: list locks, how long threads waited for them, and "
             "which function held them; the same as --by lock"),
    OPT_FLAG(0, "critical", ReportOptions, critical,
             "for a recording made with --wait: show the chain of running, waking and waiting that "
             "decided how long the first thread took; --thread chooses another thread, --time a "
             "part"),
    OPT_TEXT(
        0, "from", ReportOptions, from_mark, "MARK",
        "with --critical: start at a probe or a mark of this name; if several spans end at --to, "
        "show the longest"),
    OPT_TEXT(0, "to", ReportOptions, to_mark, "MARK", "with --critical: end at such a mark"),
    OPT_TEXT(0, "thread", ReportOptions, thread, "THREAD",
             "with --critical: the number or the name of the thread at the end of the path"),
    OPT_FLAG(
        0, "calls", ReportOptions, calls,
        "for a recording made with --calls: show the histogram, the percentiles and the slowest "
        "calls of each function"),
    OPT_TEXT(0, "slow", ReportOptions, slow, "1%|'>5ms'",
             "for a recording made with --calls: show what the slowest calls do that the others do "
             "not; best with record --wait"),
    OPT_TEXT(0, "around", ReportOptions, around, "FUNCTION",
             "show the callers and the callees of the function"),
    OPT_FLAG(0, "prof", ReportOptions, prof,
             "the table of prof(1): time, calls and time per call by function; the files after "
             "the recording may add counts of calls"),
    OPT_FLAG(0, "never-called", ReportOptions, never_called,
             "with --prof: also list counted functions that never ran"),
    SELECTION_OPTIONS(ReportOptions, selection),
    RECORDING_FILE_OPTIONS(ReportOptions, files),
    LIVE_OPTIONS(ReportOptions, live),
    OPT_U64(0, "limit", ReportOptions, limit, "N", "show at most N rows; 0 for all"),
    OPT_PERCENT(0, "percent-limit", ReportOptions, percent_limit, "P",
                "leave out rows and branches below P percent"),
    OPT_FLAG('w', "wide", ReportOptions, wide,
             "do not cut names and lines to the width of the terminal"),
    OPT_FLAG(0, "notes", ReportOptions, notes, "show every note of the recording"),
    OPT_FLAG(0, "json", ReportOptions, json, "as JSON, see docs/formats/report-json.md"),
    OPT_FLAG(0, "csv", ReportOptions, csv, "the rows as CSV"),
    OPT_TEXT('o', "output", ReportOptions, output, "FILE", "write to FILE, not to the terminal"),
    OPT_FLAG(0, "force", ReportOptions, force, "replace an existing output file"),
    COLOUR_OPTION(ReportOptions, colour),
    NO_PAGER_OPTION(ReportOptions, no_pager),
};

// Spellings that users of perf know.
static const ForeignOption foreign[] = {
    BUILD_FOREIGN_OPTIONS,
    {'i', "input", FOREIGN_OPERAND, NULL},
    {0, "stdio", FOREIGN_IGNORED, NULL},
    {0, "tui", FOREIGN_IGNORED, NULL},
    {0, "no-children", FOREIGN_IGNORED, NULL},
    {'v', "verbose", FOREIGN_REFUSED, "assay report --notes shows every note of the recording"},
    {0, "header", FOREIGN_REFUSED, "assay report --notes, or assay export -f json for all facts"},
    {'n', "show-nr-samples", FOREIGN_REFUSED, "assay report --json prints the samples of each row"},
    {'c', "comms", FOREIGN_REFUSED, "assay report --comm NAME"},
    {'d', "dsos", FOREIGN_REFUSED, "assay report --by module"},
    {'S', "symbols", FOREIGN_REFUSED, "assay report --focus REGEX, or --around FUNCTION"},
    {'t', "field-separator", FOREIGN_REFUSED, "assay report --csv"},
    {0, "fields", FOREIGN_REFUSED, "assay report --sort KEY chooses rows and order; --csv has all"},
    {'T', "threads", FOREIGN_REFUSED, "assay report --by thread"},
    {0, "tasks", FOREIGN_REFUSED, "assay report --by process"},
    {0, "stats", FOREIGN_REFUSED, "assay report --notes"},
    {0, "header-only", FOREIGN_REFUSED, "assay report --notes"},
    {'I', "show-info", FOREIGN_REFUSED, "assay report --notes"},
    {'D', "dump-raw-trace", FOREIGN_REFUSED, "assay export FILE -f perf-script"},
    {'U', "hide-unresolved", FOREIGN_REFUSED,
     "assay report --ignore '^.unknown' leaves out stacks with unknown functions"},
    {0, "show-total-period", FOREIGN_REFUSED, "assay report --json has the values of each row"},
    {'p', "parent", FOREIGN_REFUSED, "assay report --focus REGEX"},
    {0, "symbol-filter", FOREIGN_REFUSED, "assay report --focus REGEX"},
    {0, "ignore-callees", FOREIGN_REFUSED, "assay report --around FUNCTION shows its callers"},
    {'m', "modules", FOREIGN_REFUSED, "assay report --by module"},
    {'k', "vmlinux", FOREIGN_REFUSED, "--sysroot DIR has the files of another machine"},
    {0, "kallsyms", FOREIGN_REFUSED, "--sysroot DIR has the files of another machine"},
    {0, "no-inline", FOREIGN_REFUSED, "leave it out: inlined functions are marked '(inlined)'"},
    {0, "no-demangle", FOREIGN_REFUSED, "assay export FILE -f json has the names of the linker"},
    {0, "max-stack", FOREIGN_REFUSED, "leave it out: --percent-limit P makes a tree smaller"},
    {0, "itrace", FOREIGN_REFUSED, "leave it out: traces of Intel PT are not read"},
    {'b', "branch-stack", FOREIGN_REFUSED, "branch records are read as stacks: record -g lbr"},
    {0, "branch-history", FOREIGN_REFUSED, "branch records are read as stacks: record -g lbr"},
    {0, "mem-mode", FOREIGN_REFUSED, "addresses of memory accesses are not recorded"},
    {'C', "cpu", FOREIGN_REFUSED, "assay record -a -C CPUS records these CPUs alone"},
    {0, "percentage", FOREIGN_REFUSED, "leave it out: shares are of the selected samples"},
    {0, "stdio-color", FOREIGN_REFUSED, "assay report --color always"},
    {0, "gtk", FOREIGN_REFUSED, "assay view FILE makes a page"},
    {'f', "demangle", FOREIGN_IGNORED, NULL},
    {'q', "quiet", FOREIGN_IGNORED, NULL},
    {'x', "exclude-other", FOREIGN_IGNORED, NULL},
    {0, "group", FOREIGN_IGNORED, NULL},
    {0, "inline", FOREIGN_IGNORED, NULL},
};

static const uint64_t LIMIT_DEFAULT = UINT64_MAX; // the user gave no --limit

// The table of waits that was asked for. False: none was.
static bool wants_waits(const ReportOptions *o, WaitBy *ret)
{
    bool by = o->by && o->by->kind == KEY_WAITS;
    *ret = by ? o->by->waits : WAIT_BY_LOCK;
    return by || o->locks;
}

static void apply_key(const ReportKey *key, ReportRequest *request)
{
    if (key->kind == KEY_WAITS || key->kind == KEY_HEAP_ROWS)
        return;
    if (key->kind == KEY_ORDER) {
        request->sort = key->order;
    } else {
        request->by = key->by;
        request->group = key->group;
    }
}

static const ReportKey *find_key(Str word)
{
    for (size_t i = 0; i < report_key_count; i++)
        if (str_equal(word, str_from_c(report_keys[i].word)))
            return &report_keys[i];
    return NULL;
}

// The order of --prof; its table is sorted as the report when it has none of its own.
static ProfSort prof_order(const ReportOptions *o)
{
    const ReportKey *key = o->prof ? find_key(o->sort) : NULL;
    return key ? key->prof_order : PROF_AS_REPORTED;
}

// Takes the keys of --sort, joined by commas: an order, and what a row is. A module and a function
// make one kind of row; users of perf write dso,sym. Prints the mistake and returns false.
static bool apply_sort(const Command *cmd, const ReportOptions *o, ReportRequest *request)
{
    bool has_module = false, has_function = false;
    Str keys = o->sort, word;
    while (str_next_part(&keys, ',', &word)) {
        const ReportKey *key = find_key(word);
        if (!key || !sorts(key)) {
            StrBuf words = {0};
            for (size_t i = 0; i < report_key_count; i++)
                if (sorts(&report_keys[i]))
                    strbuf_printf(&words, "%s%s", i ? "|" : "", report_keys[i].word);
            usage_error(cmd, "--sort takes keys of %" STR_FMT ", not '%" STR_FMT "'",
                        STR_ARG(strbuf_str(&words)), STR_ARG(word));
            strbuf_deinit(&words);
            return false;
        }
        if (key->kind == KEY_PROF_ORDER && !o->prof) {
            usage_error(cmd, "--sort %s needs --prof", key->word);
            return false;
        }
        if (key->kind == KEY_HEAP_ORDER)
            continue; // chosen by heap_metric_asked, when the recording is known
        if (o->prof && key->prof_order != PROF_AS_REPORTED)
            continue;
        apply_key(key, request);
        bool chooses_rows = key->kind == KEY_ROWS || key->kind == KEY_PERF_ROWS;
        has_module |= chooses_rows && key->by == BY_MODULE;
        has_function |= chooses_rows && key->by == BY_FUNCTION && key->group == GROUP_NONE;
    }
    if (has_module && has_function)
        request->by = BY_MODULE_FUNCTION;
    return true;
}

// Nodes of a tree with a smaller part of the whole are not shown.
static double tree_percent(const ReportOptions *o)
{
    const double usual = 0.5;
    return isnan(o->percent_limit) ? usual : o->percent_limit;
}

// Checks what the parser cannot check. Prints the mistake and returns false.
static bool request_from_options(const Command *cmd, const ReportOptions *o, ReportRequest *request)
{
    if (o->lines && o->by && !(o->by->kind == KEY_ROWS && o->by->by == BY_LINE)) {
        usage_error(cmd, "--lines and --by %s cannot be combined", o->by->word);
        return false;
    }
    if (o->lines)
        request->by = BY_LINE;
    else if (o->by)
        apply_key(o->by, request);
    if (o->never_called && !o->prof) {
        usage_error(cmd, "--never-called needs --prof");
        return false;
    }
    if (!apply_sort(cmd, o, request))
        return false;
    if (o->children)
        request->sort = FLAT_BY_TOTAL;
    if (o->json && o->csv) {
        usage_error(cmd, "--json and --csv cannot be combined");
        return false;
    }
    bool is_tree = o->tree.len || o->inverted;
    WaitBy waits;
    if (!o->critical && (o->from_mark.len || o->to_mark.len || o->thread.len)) {
        usage_error(cmd, "--from, --to and --thread need --critical");
        return false;
    }
    if ((o->from_mark.len || o->to_mark.len) && o->selection.time.len) {
        usage_error(cmd, "--time excludes --from and --to");
        return false;
    }
    SlowLimit slow = {0};
    Error err;
    if ((o->critical || wants_waits(o, &waits)) &&
        (is_tree || o->csv || o->around.len || o->prof)) {
        usage_error(cmd, "a table of waits excludes all other forms of the report but --json");
        return false;
    }
    if (o->slow.len && !slow_limit_parse(o->slow, &slow, &err)) {
        cli_fail(&err);
        return false;
    }
    if (o->calls && o->slow.len) {
        usage_error(cmd, "--calls and --slow cannot be combined");
        return false;
    }
    if ((o->calls || o->slow.len) &&
        (is_tree || o->csv || o->around.len || o->prof || o->critical || wants_waits(o, &waits))) {
        usage_error(cmd, "--calls and --slow exclude all other forms of the report except --json");
        return false;
    }
    if (is_tree && o->csv) {
        usage_error(cmd, "a tree has no CSV form; use --json");
        return false;
    }
    if (o->around.len && (is_tree || o->csv)) {
        usage_error(cmd, "--around excludes --tree and --csv");
        return false;
    }
    if (o->around.len && (request->group != GROUP_NONE || request->by != BY_FUNCTION)) {
        usage_error(cmd, "--around shows one function and excludes --by");
        return false;
    }
    if (o->prof && (is_tree || o->csv || o->around.len || request->group != GROUP_NONE ||
                    request->by != BY_FUNCTION)) {
        usage_error(cmd,
                    "--prof is a table by function and excludes all other forms except --json");
        return false;
    }
    request->want_tree = is_tree || o->around.len > 0;
    request->no_rows = is_tree && !o->json;
    request->kernel_self = o->kernel;
    request->inverted = o->inverted || str_equal(o->tree, STR("callee"));
    // The inverted tree is made of all nodes.
    if (is_tree && !request->inverted)
        request->tree_percent = tree_percent(o);
    if (o->prof)
        return true;
    request->want_lines = o->json || (request->by == BY_FUNCTION && !is_tree && !o->csv);
    return true;
}

typedef struct Shown {
    const ReportOptions *options;
    Report *report;
    Str path;
    const CallTree *tree;        // NULL without --tree
    size_t around;               // SIZE_MAX without --around
    const ReportCounts *counts;  // NULL: none were given
    ArgumentValuesVec arguments; // of a probe
    const WaitColumns *waits;    // NULL: the report has none
} Shown;

static double percent_limit(const Shown *s)
{
    if (s->tree)
        return tree_percent(s->options);
    return isnan(s->options->percent_limit) ? 0 : s->options->percent_limit;
}

static ScreenStyle screen_style(const ReportOptions *o, size_t default_limit)
{
    ScreenStyle style = {
        .terminal = terminal_get(o->colour),
        .limit = o->limit != LIMIT_DEFAULT ? (size_t)o->limit : default_limit,
        .all_notes = o->notes,
    };
    if (names_file(o->output) && !str_equal(o->colour, STR("always")))
        style.terminal.colour = false;
    // In longer lines the eye loses the way from a name to its place.
    style.columns = o->wide ? SIZE_MAX : MIN(style.terminal.columns, (size_t)160);
    return style;
}

// The number of lines left for functions below a head of so many lines.
static size_t first_screen_rows(size_t head)
{
    enum { LEAST = 3, ALL = SCREEN_FUNCTIONS + SCREEN_HEAD };
    size_t left = head < ALL - LEAST ? ALL - head : LEAST;
    return MIN(left, (size_t)SCREEN_FUNCTIONS);
}

enum { SLOWEST = 20 }; // calls of a function that are shown

// The thread with a number or a name; of several with that name the one that ended last.
static bool find_thread(const Profile *p, Str word, ThreadId *ret, Error *err)
{
    uint64_t tid = UINT64_MAX;
    bool is_number = str_parse_u64(word, 10, &tid), found = false;
    for (uint32_t i = 0; i < p->threads.tid.len; i++) {
        if (!(is_number && p->threads.tid.at[i] == tid) &&
            !str_equal(profile_text(p, p->threads.name.at[i]), word))
            continue;
        if (!found || p->threads.end_ns.at[i] >= p->threads.end_ns.at[ret->v])
            *ret = (ThreadId){i};
        found = true;
    }
    return found || error_set(err, ERROR_NOT_FOUND,
                              "no thread '%" STR_FMT "' in this recording: 'assay report --by "
                              "thread' lists them",
                              STR_ARG(text_prefix(word, 100)));
}

// What the critical path is asked of: without a choice, of the first thread until its end.
static bool find_span(const ReportOptions *o, const Report *r, CriticalSpan *ret, Error *err)
{
    const Profile *p = r->profile;
    const Selection *s = &r->request.selection;
    uint64_t wall = 0;
    (void)profile_fact_u64(p, STR(FACT_WALL_NS), &wall);
    *ret = (CriticalSpan){.to_ns = (int64_t)MIN(wall, (uint64_t)INT64_MAX)};
    bool has_marks = o->from_mark.len || o->to_mark.len;
    if (has_marks && !critical_find_marks(p, o->from_mark, o->to_mark, ret->to_ns, ret, err))
        return false;
    for (uint32_t i = 0; s->tids && s->tids->len && i < p->threads.tid.len; i++)
        if (p->threads.tid.at[i] == s->tids->at[0])
            ret->thread = (ThreadId){i};
    if (o->thread.len && !find_thread(p, o->thread, &ret->thread, err))
        return false;
    if (has_marks || ret->thread.v >= p->threads.end_ns.len)
        return true;
    // What is chosen may begin before the thread or end after it.
    int64_t end = p->threads.end_ns.at[ret->thread.v];
    ret->to_ns = MIN(end != TIME_NONE ? end : ret->to_ns, s->to_ns);
    ret->from_ns = MIN(MAX(s->from_ns, INT64_C(0)), ret->to_ns);
    return true;
}

static bool no_waits(Error *err)
{
    error_set(err, ERROR_NOT_FOUND, "no waits were recorded");
    return error_hint(err, "assay record --wait -- CMD");
}

static bool add_critical(StrBuf *out, const ReportOptions *o, const Report *r, size_t limit,
                         Error *err)
{
    CriticalSpan span;
    Critical c;
    if (!find_span(o, r, &span, err))
        return false;
    if (!critical_init(&c, r->profile, span.thread, span.from_ns, span.to_ns)) {
        if (o->json)
            return no_waits(err);
        strbuf_add(out, STR("no waits were recorded: assay record --wait -- CMD\n"));
        return true;
    }
    if (o->json)
        critical_add_json(out, &c, r->profile, limit);
    else if (span.count > 1)
        strbuf_printf(out, "the longest of %zu spans, at %.3f s\n", span.count,
                      (double)span.from_ns * 1e-9);
    if (!o->json)
        waits_add_critical(out, &c, r->profile, limit);
    critical_deinit(&c);
    return true;
}

static bool add_text(StrBuf *out, const Shown *s, Error *err)
{
    const ReportOptions *o = s->options;
    const Report *r = s->report;
    ScreenStyle style = screen_style(o, s->tree ? 0 : TABLE_ROWS);
    style.percent_limit = percent_limit(s);
    style.counts = s->counts;
    size_t head = screen_add_head(out, r, &style);
    WaitBy waits;
    head += waits_add_summary(out, r->profile, style.columns);
    SlowLimit slow = {0};
    if (o->slow.len && slow_limit_parse(o->slow, &slow, NULL)) {
        strbuf_add_char(out, '\n');
        slow_add_table(out, r->profile, &slow, o->limit != LIMIT_DEFAULT ? o->limit : SLOWEST);
        return true;
    }
    if (o->calls) {
        strbuf_add_char(out, '\n');
        calls_add_table(out, r->profile, o->limit != LIMIT_DEFAULT ? o->limit : SLOWEST);
        return true;
    }
    calls_add_summary(out, r->profile, style.columns);
    if (o->critical) {
        strbuf_add_char(out, '\n');
        return add_critical(out, o, r, style.limit, err);
    }
    if (wants_waits(o, &waits)) {
        strbuf_add_char(out, '\n');
        waits_add_table(out, r->profile, waits, style.limit);
        return true;
    }
    bool is_first_screen =
        r->request.by == BY_FUNCTION && r->request.group == GROUP_NONE && s->around == SIZE_MAX;
    if (is_first_screen && !s->tree && o->limit == LIMIT_DEFAULT)
        style.limit = first_screen_rows(head);
    if (s->counts)
        prof_add_doubts(out, r, &s->counts->join);
    if (head < SCREEN_HEAD || s->tree || !is_first_screen)
        strbuf_add_char(out, '\n');
    if (s->tree && r->weights.rows.len) {
        screen_add_tree(out, s->tree, &style);
        return true;
    }
    if (s->around != SIZE_MAX) {
        screen_add_around(out, r, (uint32_t)s->around, &style);
        return true;
    }
    if (s->waits)
        wait_table_add(out, r, s->waits, &style);
    else
        screen_add_table(out, r, &style);
    if (is_first_screen && r->rows.len) {
        if (s->waits)
            wait_table_add_lines(out, r, s->waits, &style);
        else
            screen_add_lines(out, r, &style);
        arguments_add_text(out, r->profile, &s->arguments);
        screen_add_next(out, r, s->path, &style);
    }
    return true;
}

static bool add_data(StrBuf *out, const Shown *s, Error *err)
{
    const ReportOptions *o = s->options;
    WaitBy waits;
    size_t limit = o->limit != LIMIT_DEFAULT ? (size_t)o->limit : 0;
    if (o->critical)
        return add_critical(out, o, s->report, limit, err);
    if (wants_waits(o, &waits)) {
        if (s->report->profile->waits.thread.len == 0)
            return no_waits(err);
        waits_add_json(out, s->report->profile, waits, limit);
        return true;
    }
    ReportExport e = {
        .tool_version = STR(ASSAY_VERSION),
        .limit = limit,
        .percent_limit = percent_limit(s),
        .tree = s->tree,
        .around = s->around,
        .counts = s->counts,
        .arguments = &s->arguments,
        .waits = s->waits,
    };
    if (o->csv)
        report_add_csv(out, s->report, &e);
    else
        report_add_json(out, s->report, &e);
    return true;
}

static int write_text(const ReportOptions *o, Str text)
{
    Error err;
    if (!names_file(o->output))
        return pager_print(text, o->json || o->csv, o->no_pager) ? STATUS_OK : STATUS_FAILED;
    return os_write_file(o->output, bytes_from_str(text), o->force ? OUTPUT_REPLACE : OUTPUT_KEEP,
                         &err)
               ? STATUS_OK
               : cli_fail(&err);
}

static int write_report(const Shown *s)
{
    StrBuf out = {0};
    const ReportOptions *o = s->options;
    Error err;
    bool ok = true;
    SlowLimit slow = {0};
    if (o->slow.len && slow_limit_parse(o->slow, &slow, NULL) && o->json)
        slow_add_json(&out, s->report->profile, &slow, o->limit != LIMIT_DEFAULT ? o->limit : 0);
    else if (o->calls && o->json)
        calls_add_json(&out, s->report->profile, o->limit != LIMIT_DEFAULT ? o->limit : SLOWEST);
    else
        ok = o->json || o->csv ? add_data(&out, s, &err) : add_text(&out, s, &err);
    int status = ok ? write_text(o, strbuf_str(&out)) : cli_fail(&err);
    strbuf_deinit(&out);
    return status;
}

static int show(const ReportOptions *o, Report *r, const Opened *opened, const ReportCounts *counts,
                const WaitColumns *waits)
{
    Shown s = {.options = o,
               .report = r,
               .path = opened->path,
               .around = SIZE_MAX,
               .counts = counts,
               .waits = waits};
    Error failed;
    if (!arguments_of(opened->scratch, r, &s.arguments, &failed))
        return cli_fail(&failed);
    if (o->around.len) {
        uint32_t key;
        size_t others;
        Error err;
        if (!report_find_function(r, o->around, &key, &others, &err))
            return cli_fail(&err);
        if (others) {
            StrBuf name = {0};
            keys_add_name(&r->keys, key, &name);
            cli_say("%zu other functions match; this is '%" STR_FMT "'", others,
                    STR_ARG(text_prefix(strbuf_str(&name), 200)));
            strbuf_deinit(&name);
        }
        s.around = key;
    }
    CallTree inverted = {0};
    if (o->tree.len || o->inverted) {
        bool callee_first = o->inverted || str_equal(o->tree, STR("callee"));
        CallTree *upright = &r->tree;
        uint64_t cutoff = (uint64_t)ceil(tree_percent(o) / 100 * (double)r->weights.value);
        s.tree = upright;
        if (callee_first) {
            call_tree_invert(&inverted, upright, MAX(cutoff, (uint64_t)1), 1000);
            s.tree = &inverted;
        }
        call_tree_sort(callee_first ? &inverted : upright);
    }
    int status = write_report(&s);
    call_tree_deinit(&inverted);
    return status;
}

static void add_prof(StrBuf *out, const ReportOptions *o, const Report *r, const ProfCounts *c,
                     Arena *arena)
{
    ProfJoin join;
    ProfRequest request = {.sort = prof_order(o), .never_called = o->never_called};
    ProfRowVec rows = prof_rows(arena, r, c->all, c->all_count, &request, &join);
    ProfView v = {.report = r, .rows = &rows, .join = &join};
    for (size_t i = 0; i < c->all_count; i++)
        v.any_counts |= c->all[i]->function_counts.count.len > 0;
    if (o->json) {
        prof_add_json(out, &v, o->limit != LIMIT_DEFAULT ? (size_t)o->limit : 0);
    } else {
        ScreenStyle style = screen_style(o, 0);
        (void)screen_add_head(out, r, &style);
        strbuf_add_char(out, '\n');
        prof_add_text(out, &v, &style);
    }
    vec_free(&rows);
}

static int show_prof(const ReportOptions *o, const Report *r, const Opened *opened)
{
    ProfCounts counts;
    Error err;
    int status;
    if (prof_counts_load(&counts, opened->profile, opened->further, opened->scratch, &err)) {
        StrBuf out = {0};
        add_prof(&out, o, r, &counts, opened->scratch);
        status = write_text(o, strbuf_str(&out));
        strbuf_deinit(&out);
    } else {
        status = cli_fail(&err);
    }
    prof_counts_deinit(&counts);
    return status;
}

// Every further recording must hold counts: the report shows the time of the first one alone.
static bool check_counts(const ProfCounts *c, const StrVec *further, Error *err)
{
    for (size_t i = 0; i < c->recording_count; i++) {
        const Profile *p = &c->recordings[i];
        if (p->function_counts.count.len == 0 && p->line_counts.count.len == 0)
            return error_set(err, ERROR_USAGE,
                             "cannot show two recordings of time: from '%" STR_FMT
                             "' on, every file must contain counts, and one has none",
                             STR_ARG(further->at[0]));
    }
    return true;
}

// The report with the counts of further files.
static int show_with_counts(const ReportOptions *o, Report *r, const Opened *opened)
{
    ProfCounts counts;
    Error err;
    int status;
    if (prof_counts_load(&counts, opened->profile, opened->further, opened->scratch, &err) &&
        check_counts(&counts, opened->further, &err)) {
        ReportCounts joined;
        report_counts_init(&joined, opened->scratch, r, counts.all, counts.all_count);
        status = show(o, r, opened, &joined, NULL);
        report_counts_deinit(&joined);
    } else {
        status = cli_fail(&err);
    }
    prof_counts_deinit(&counts);
    return status;
}

// A recording of `assay bench` or `assay stat`: no samples, but runs. Prints the same text as that
// command, or the runs as data.
static int show_runs(const ReportOptions *o, const Opened *opened)
{
    const Profile *p = opened->profile;
    const SelectionOptions *s = &o->selection;
    bool wants_samples = o->tree.len || o->inverted || o->around.len || o->prof || o->by ||
                         o->lines || o->sort.len || s->focus.len || s->ignore.len || s->time.len ||
                         s->pids.len || s->tids.len || s->comms.len || opened->further->len;
    StrBuf out = {0};
    Error err;
    if (wants_samples) {
        (void)no_samples(p, "select or sort", &err);
        return cli_fail(&err);
    }
    Terminal terminal = screen_style(o, 0).terminal;
    RunsForm form = o->json ? RUNS_JSON : o->csv ? RUNS_CSV : RUNS_TEXT;
    int status = runs_report(&out, &terminal, p, form, o->notes, &err)
                     ? write_text(o, strbuf_str(&out))
                     : cli_fail(&err);
    strbuf_deinit(&out);
    return status;
}

// ---- Recordings of the heap --------------------------------------------------------------------

// The metric that --sort names. False: it names none.
static bool heap_metric_asked(const ReportOptions *o, enum HeapMetric *ret)
{
    Str keys = o->sort, word;
    while (str_next_part(&keys, ',', &word)) {
        const HeapSortWord *found = heap_sort_find(word);
        if (found) {
            *ret = found->metric;
            return true;
        }
    }
    return false;
}

// Whether the screen of the heap is asked for, not one of the views that all recordings have.
static bool wants_heap_screen(const ReportOptions *o, const Opened *opened)
{
    Str keys = o->sort, word;
    WaitBy waits;
    if (o->calls || o->slow.len || o->critical || wants_waits(o, &waits))
        return false;
    bool only_heap_words = true;
    while (str_next_part(&keys, ',', &word))
        only_heap_words &= heap_sort_find(word) != NULL;
    return only_heap_words && !o->tree.len && !o->inverted && !o->around.len && !o->prof &&
           (!o->by || o->by->kind == KEY_HEAP_ROWS) && !o->children && !o->selection.metric.len &&
           opened->further->len == 0;
}

enum { TIMELINE_ROWS = 20 };

static int show_heap(const ReportOptions *o, const Report *r, const Opened *opened)
{
    HeapReport h;
    Error err;
    enum HeapMetric by = HEAP_BLOCKS;
    StrBuf out = {0};
    if (!heap_metric_asked(o, &by) && !heap_metric_find(r->profile, by, &(MetricId){0}))
        by = HEAP_PEAK_BYTES; // massif's
    if (!heap_report_init(&h, r, by, opened->path, &err))
        return cli_fail(&err);
    size_t limit = o->limit != LIMIT_DEFAULT ? (size_t)o->limit : 0;
    ScreenStyle style = screen_style(o, SIZE_MAX);
    HeapRows rows = o->by ? o->by->heap : HEAP_BY_PLACE;
    if (o->json)
        heap_add_json(&out, &h, limit);
    else if (rows == HEAP_BY_SIZE)
        heap_add_sizes(&out, &h, o->csv);
    else if (rows == HEAP_BY_TIME)
        heap_add_timeline(&out, &h, o->limit == LIMIT_DEFAULT ? TIMELINE_ROWS : limit, o->csv);
    else if (o->csv)
        heap_add_csv(&out, &h, limit);
    else
        heap_add_screen(&out, &h, &style);
    int status = write_text(o, strbuf_str(&out));
    strbuf_deinit(&out);
    heap_report_deinit(&h);
    return status;
}

// Sizes and the heap over time are rows that only the report of the heap has.
static bool check_heap_rows(const ReportOptions *o, const Opened *opened, Error *err)
{
    if (!o->by || o->by->kind != KEY_HEAP_ROWS)
        return true;
    if (!heap_view_applies(opened->profile)) {
        error_set(err, ERROR_USAGE, "--by %s needs a recording of the heap", o->by->word);
        return error_hint(err, "record one: assay heap -- ./prog");
    }
    return wants_heap_screen(o, opened) ||
           error_set(err, ERROR_USAGE,
                     "--by %s can be combined with --csv only, not with other forms of the report",
                     o->by->word);
}

// --sort chooses the metric of a recording of the heap, in every view of it.
static bool choose_heap_metric(ReportOptions *o, const Profile *p, ReportRequest *request,
                               Error *err)
{
    enum HeapMetric metric;
    if (!heap_metric_asked(o, &metric) || o->selection.metric.len)
        return true;
    bool is_heap = heap_view_applies(p);
    bool is_shared_word = metric == HEAP_BYTES; // "total" orders any recording
    if (is_heap ? heap_metric_find(p, metric, &request->selection.metric) : is_shared_word)
        return true;
    if (!is_heap)
        error_set(err, ERROR_USAGE, "--sort %" STR_FMT " needs a recording of the heap",
                  STR_ARG(o->sort));
    else
        error_set(err, ERROR_USAGE, "this recording of the heap has no metric for --sort %" STR_FMT,
                  STR_ARG(o->sort));
    return error_hint(err, is_heap ? "assay report --json lists its metrics"
                                   : "record one: assay heap -- ./prog");
}

// The report, with waits beside the processor time where the recording has both.
static int show_time(const ReportOptions *o, Report *r, const Opened *opened)
{
    WaitColumns waits = {0};
    Error err;
    bool has_waits = wait_columns_apply(r);
    if (has_waits && !wait_columns_init(&waits, r, &err))
        return cli_fail(&err);
    int status = show(o, r, opened, NULL, has_waits ? &waits : NULL);
    wait_columns_deinit(&waits);
    return status;
}

static bool select_samples(const SelectionOptions *o, const Opened *opened, Selection *ret,
                           Error *err)
{
    if (!selection_from_options(o, opened->profile, opened->scratch, ret, err))
        return false;
    if (o->metric.len == 0)
        wait_columns_choose(opened->profile, ret);
    return true;
}

static int show_report(void *values, const Opened *opened)
{
    ReportCommand *c = values;
    if (runs_report_applies(opened->profile))
        return show_runs(&c->options, opened);
    Report r = {0};
    Error err;
    int status;
    if (!select_samples(&c->options.selection, opened, &c->request.selection, &err) ||
        !check_heap_rows(&c->options, opened, &err) ||
        !choose_heap_metric(&c->options, opened->profile, &c->request, &err) ||
        !report_init(&r, opened->profile, &c->request, &err))
        status = cli_fail(&err);
    else if (heap_view_applies(opened->profile) && wants_heap_screen(&c->options, opened))
        status = show_heap(&c->options, &r, opened);
    else if (c->options.prof)
        status = show_prof(&c->options, &r, opened);
    else if (opened->further->len)
        status = show_with_counts(&c->options, &r, opened);
    else
        status = show_time(&c->options, &r, opened);
    report_deinit(&r);
    return status;
}

static bool check_options(const Command *cmd, void *values, const StrVec *further)
{
    ReportCommand *c = values;
    bool has_columns = !c->options.tree.len && !c->options.inverted && !c->options.around.len;
    if (further->len && !c->options.prof && !has_columns) {
        usage_error(
            cmd, "files with counts are for tables; they exclude --tree, --inverted and --around");
        return false;
    }
    return request_from_options(cmd, &c->options, &c->request);
}

// The folder of a survey: its first screen, or its JSON.
static int show_survey(const ReportOptions *o, Str folder)
{
    Terminal terminal = screen_style(o, 0).terminal;
    return survey_show(folder, &terminal, o->json ? SURVEY_JSON : SURVEY_TEXT);
}

// Whether the name of the recording is a mode of perf's -g: "graph,0.5,caller".
static bool is_perf_tree(Str word)
{
    static const char *const modes[] = {"graph", "fractal", "flat", "folded", "caller", "callee"};
    Str first = word, rest;
    (void)str_split(word, ',', &first, &rest);
    for (size_t i = 0; i < ARRAY_LEN(modes); i++)
        if (str_equal(first, str_from_c(modes[i])))
            return !os_file_exists(word);
    return false;
}

static int report_recording(CommandLine *line, void *values)
{
    // The parser fills `options`; check_options makes `request` out of them.
    static const RecordingView view = {.check = check_options,
                                       .show = show_report,
                                       .further_max = PROF_COUNTS_MAX,
                                       .files_at = offsetof(ReportCommand, options.files),
                                       .records = true,
                                       .live_at = offsetof(ReportCommand, options.live)};
    ReportOptions *o = &((ReportCommand *)values)->options;
    if (!live_is_asked(line, &o->live) && str_find_char(o->live.freq, ',') != SIZE_MAX)
        return usage_error(line->cmd, "-F is the rate of a command; --sort chooses the rows");
    if (line->operands.len && line->dashes == SIZE_MAX && is_perf_tree(line->operands.at[0]))
        return usage_error(line->cmd, "write --tree=caller or --tree=callee, not '%" STR_FMT "'",
                           STR_ARG(line->operands.at[0]));
    if (line->operands.len == 1 && line->dashes == SIZE_MAX &&
        survey_folder_is(line->operands.at[0]))
        return show_survey(o, line->operands.at[0]);
    live_options_settle(line, &o->live, &o->selection, o->force);
    return view_recording(line, values, &view);
}

static int run_report(const Command *cmd, int argc, char **argv)
{
    ReportCommand c = {
        .options = {.live = LIVE_DEFAULTS, .limit = LIMIT_DEFAULT, .percent_limit = NAN}};
    return command_run_parsed(cmd, argc, argv, &c, report_recording);
}

const Command report_command = {
    .name = "report",
    .group = "look",
    .summary = "show where a recording's, or a command's, time went",
    .first = "  assay report              the newest result of record: profile.assay\n"
             "  assay report FILE --tree  the call tree\n"
             "  assay report -- CMD       record a command and report at once\n",
    .usage =
        "[OPTION ...] [FILE [COUNTS ...]]\n[OPTION ...] -- CMD [ARG ...]\n--prof FILE [COUNTS ...]",
    .options = report_options,
    .option_count = ARRAY_LEN(report_options),
    .foreign = foreign,
    .foreign_count = ARRAY_LEN(foreign),
    .details = "The first screen shows what ran, how far the numbers can be trusted, the ten\n"
               "hottest functions and the three hottest source lines. \"self\" is the time of a\n"
               "function alone, \"total\" includes the functions that it called; recursion counts\n"
               "once. Shares out of fewer than 100 samples carry half their 95 % interval.\n"
               "Further files (programs with their coverage profiles, gcc's folders, tracefiles,\n"
               "recordings that counted) give the calls of functions and the executions of lines.\n"
               "\n"
               "Examples:\n"
               "  assay report prog.assay\n"
               "  assay report -- ./prog --fast      record it and report\n"
               "  assay report prog.assay --by line --limit 30\n"
               "  assay report prog.assay --tree --focus '^parse'\n"
               "  assay report prog.assay --time 50%..100% --json\n"
               "  assay report prog.assay ./prog-counted default.profraw\n"
               "  assay report --prof prog.assay ./prog-counted default.profraw\n",
    .run = run_report,
};
