// SPDX-License-Identifier: Apache-2.0
// assay annotate: a function or a source file by line, and by instruction.

#include <math.h>
#include <stdlib.h>

#include "analyse/annotate.h"
#include "analyse/prof.h"
#include "analyse/report.h"
#include "analyse/wait/wait_columns.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/look/annotate_code.h"
#include "cli/look/annotate_screen.h"
#include "cli/look/prof_counts.h"
#include "cli/look/view_options.h"
#include "cli/pager.h"
#include "cli/recording.h"
#include "cli/symbols.h"
#include "model/facts.h"
#include "os/file.h"

typedef struct AnnotateOptions {
    SelectionOptions selection;
    RecordingFiles files;
    LiveOptions live;
    StrVec source_paths;
    Str colour, output;
    bool assembly, by_line, by_instruction, json, wide, force, no_pager;
    uint64_t context, limit;
} AnnotateOptions;

static const Option annotate_options[] = {
    OPT_FLAG(0, "asm", AnnotateOptions, assembly, "the instructions under their lines"),
    OPT_FLAG('l', "by-line", AnnotateOptions, by_line, "a flat table of lines, hottest first"),
    OPT_FLAG(0, "by-instruction", AnnotateOptions, by_instruction,
             "a flat table of instructions, hottest first"),
    OPT_U64(0, "context", AnnotateOptions, context, "N",
            "lines shown around those with a value (default 3)"),
    OPT_U64(0, "limit", AnnotateOptions, limit, "N",
            "rows of the flat tables (default 20); 0 for all"),
    OPT_LIST(0, "source-path", AnnotateOptions, source_paths, "OLD=NEW",
             "read sources whose path begins with OLD at NEW"),
    SELECTION_OPTIONS(AnnotateOptions, selection),
    RECORDING_FILE_OPTIONS(AnnotateOptions, files),
    LIVE_OPTIONS(AnnotateOptions, live),
    OPT_FLAG('w', "wide", AnnotateOptions, wide, "do not cut lines to the width of the terminal"),
    OPT_FLAG(0, "json", AnnotateOptions, json, "as JSON, see docs/formats/annotate-json.md"),
    OPT_TEXT('o', "output", AnnotateOptions, output, "FILE", "write to FILE, not to the terminal"),
    OPT_FLAG(0, "force", AnnotateOptions, force, "replace an existing output file"),
    COLOUR_OPTION(AnnotateOptions, colour),
    NO_PAGER_OPTION(AnnotateOptions, no_pager),
};

// ---- Meaning of the operands -----------------------------------------------------------

// "FILE:LINE", the file by any part of its path's end.
static bool split_place(Str target, Str *file, uint32_t *line)
{
    size_t colon = str_find_last_char(target, ':');
    uint64_t number;
    if (colon == SIZE_MAX || colon == 0 ||
        !str_parse_u64(str_slice(target, colon + 1, target.len), 10, &number) ||
        number > UINT32_MAX)
        return false;
    *file = str_slice(target, 0, colon);
    *line = (uint32_t)number;
    return true;
}

static bool is_path_end(Str path, Str end)
{
    if (!str_ends_with(path, end))
        return false;
    return path.len == end.len || path.ptr[path.len - end.len - 1] == '/' ||
           (end.len && end.ptr[0] == '/');
}

// The file that has most lines among the frames, of those the name fits.
static bool find_file(const Profile *p, Str name, StrId *ret)
{
    U32Vec frames_of = {0}; // by string number
    vec_extend(NULL, &frames_of, p->strings.texts.len);
    uint32_t best = 0;
    for (size_t i = 1; i < p->frames.file.len; i++) {
        uint32_t file = p->frames.file.at[i].v;
        if (file == 0 ||
            (frames_of.at[file] == 0 && !is_path_end(profile_text(p, (StrId){file}), name)))
            continue;
        frames_of.at[file]++;
        if (best == 0 || frames_of.at[file] > frames_of.at[best])
            best = file;
    }
    vec_free(&frames_of);
    *ret = (StrId){best};
    return best != 0;
}

static bool find_target(const Report *r, Str target, AnnotateView *view, Error *err)
{
    Str file;
    uint32_t line;
    view->key = ANNOTATE_NO_KEY;
    if (target.len == 0) {
        if (r->rows.len == 0)
            return no_samples(r->profile, "annotate", err);
        view->key = r->rows.at[0].key;
        return true;
    }
    if (split_place(target, &file, &line) && find_file(r->profile, file, &view->file)) {
        view->wanted_line = line;
        return true;
    }
    return report_find_function(r, target, &view->key, &view->others, err) ||
           find_file(r->profile, target, &view->file) ||
           error_hint(err, "name a function of 'assay report', or FILE:LINE");
}

// ---- Doing it ----------------------------------------------------------------

// All metrics of the recording, or the one that was asked for.
static bool add_metrics(AnnotateView *view, const Report *r, bool only_one, Error *err)
{
    Annotation *a = &view->annotation;
    size_t metrics = r->profile->metrics.name.len;
    size_t count = only_one ? 1 : MIN(metrics, (size_t)ANNOTATE_METRICS_MAX);
    annotation_init(a, r->profile, &r->keys, view->key, view->file, MAX(count, (size_t)1));
    view->metric_count = count;
    annotation_add(a, &r->weights, 0);
    view->metrics[0] = r->request.selection.metric;
    size_t column = 1;
    for (uint32_t m = 0; m < metrics && column < count; m++) {
        if (m == view->metrics[0].v)
            continue;
        Selection s = r->request.selection;
        s.metric = (MetricId){m};
        Weights w;
        if (!weights_init(&w, r->profile, &s, GROUP_NONE, err))
            return false;
        view->metrics[column] = s.metric;
        annotation_add(a, &w, column++);
        weights_deinit(&w);
    }
    annotation_finish(a);
    return true;
}

// The classes of waits as further metrics, those of which the target has most first. A wait ends in
// the program's function, not in the C library's.
static bool add_waits(AnnotateView *view, const Report *r, const WaitColumns *c, Error *err)
{
    Annotation *a = &view->annotation;
    WaitCell target = {0};
    if (view->key != ANNOTATE_NO_KEY)
        target = c->cells[view->key];
    annotation_init(a, r->profile, &r->keys, view->key, view->file, ANNOTATE_METRICS_MAX);
    annotation_add(a, &r->weights, 0);
    view->metrics[0] = r->request.selection.metric;
    view->metric_count = 1;
    view->whole = wait_columns_whole(c);
    for (int left = WAIT_CLASS_COUNT; left-- && view->metric_count < ANNOTATE_METRICS_MAX;) {
        WaitClass class = WAIT_RUNNABLE;
        bool some = wait_cell_class(&target, &class);
        if (view->key != ANNOTATE_NO_KEY && !some)
            break;
        if (view->key == ANNOTATE_NO_KEY) // a file: in the order of classes
            class = (WaitClass)(WAIT_CLASS_COUNT - 1 - left);
        target.total[class] = 0;
        uint64_t idle = 0;
        Weights w;
        if (!wait_weights(&w, r->profile, &r->request.selection, GROUP_NONE, class, &idle, err)) {
            if (err->text[0])
                return false;
            continue;
        }
        for (size_t i = 0; i < w.rows.len; i++)
            w.rows.at[i].stack = weights_self_stack(&w, w.rows.at[i].stack);
        annotation_add(a, &w, view->metric_count);
        view->metrics[view->metric_count] = w.selection.metric;
        view->metric_count += a->target_total[view->metric_count] > 0;
        weights_deinit(&w);
    }
    annotation_finish(a);
    return true;
}

static bool write_out(const AnnotateOptions *o, Str text, Error *err)
{
    if (names_file(o->output))
        return os_write_file(o->output, bytes_from_str(text),
                             o->force ? OUTPUT_REPLACE : OUTPUT_KEEP, err);
    return pager_print(text, o->json, o->no_pager) || error_set(err, ERROR_NONE, "%s", "");
}

// When the profile was recorded; for one that does not say, no later than its file
// was written. 0: not known.
static int64_t recorded_at(const Profile *p, Str path, const ImportFormat *format)
{
    uint64_t start;
    FileIdentity file;
    if (profile_fact_u64(p, STR(FACT_START_REALTIME), &start))
        return (int64_t)start;
    return format && os_file_identity(path, &file, NULL) ? file.mtime_ns : 0;
}

// The files and the function or place that the command line names.
typedef struct Request {
    Str path, target;
    StrVec counts; // recordings and coverage inputs
    int64_t recorded_at_ns;
} Request;

// The calls of the function and the executions of lines.
static void join_counts(const Report *r, const ProfCounts *counts, Arena *arena,
                        Executions *executions, AnnotateView *view)
{
    executions_init(executions, counts->all, counts->all_count);
    if (executions->files.len)
        view->executions = executions;
    const ProfRequest request = {0};
    ProfRowVec rows = prof_rows(arena, r, counts->all, counts->all_count, &request, NULL);
    for (size_t i = 0; i < rows.len && view->key != ANNOTATE_NO_KEY; i++) {
        if (rows.at[i].key != view->key)
            continue;
        view->has_calls = rows.at[i].has_calls;
        view->calls = rows.at[i].calls;
    }
    vec_free(&rows);
}

// A function of which only addresses are known.
static bool has_no_lines(const AnnotateView *view)
{
    const Annotation *a = &view->annotation;
    for (size_t i = 0; i < a->lines.len; i++)
        if (a->lines.at[i].file.v)
            return false;
    return view->key != ANNOTATE_NO_KEY && a->lines.len;
}

static bool annotate(const AnnotateOptions *o, const Report *r, const WaitColumns *waits,
                     const Request *request, const ProfCounts *counts, Arena *arena, StrBuf *out,
                     Error *err)
{
    AnnotateView view = {.report = r, .context = (uint32_t)MIN(o->context, (uint64_t)100000)};
    view.limit = o->limit;
    if (!symbols_source_options(arena, &o->source_paths, &view.sources, err) ||
        !find_target(r, request->target, &view, err))
        return false;
    view.sources.recorded_at_ns = request->recorded_at_ns;
    view.terminal = terminal_get(names_file(o->output) ? STR("never") : o->colour);
    view.columns = o->wide || names_file(o->output) ? SIZE_MAX : view.terminal.columns;
    bool with_code = o->assembly || o->by_instruction;
    if (with_code && view.key == ANNOTATE_NO_KEY)
        return error_set(err, ERROR_USAGE,
                         "cannot show the instructions of a file: name a function "
                         "instead");
    RecordingSearch search;
    Code code = {0};
    Executions executions;
    join_counts(r, counts, arena, &executions, &view);
    recording_search(arena, &o->files, &search);
    bool ok = waits ? add_waits(&view, r, waits, err)
                    : add_metrics(&view, r, o->selection.metric.len > 0, err);
    if (ok && !with_code && !o->by_line && !o->json && has_no_lines(&view)) {
        Error no_code; // then the listing is all there is
        with_code = view.is_code_for_lines = code_init(&code, &view.annotation, &search, &no_code);
    } else {
        ok = ok && (!with_code || code_init(&code, &view.annotation, &search, err));
    }
    view.code = with_code ? &code : NULL;
    if (ok && o->json)
        annotate_json(&view, arena, out);
    else if (ok && o->by_instruction)
        annotate_by_instruction(&view, out);
    else if (ok && o->by_line)
        annotate_by_line(&view, arena, out);
    else if (ok)
        annotate_listing(&view, arena, out);
    if (with_code)
        code_deinit(&code);
    annotation_deinit(&view.annotation);
    executions_deinit(&executions);
    return ok;
}

static bool read_operands(const StrVec *operands, Arena *arena, Request *ret)
{
    size_t next = operands->len > 0;
    *ret = (Request){.path = next ? operands->at[0] : DEFAULT_RECORDING};
    // "assay annotate hot": a word that is not a file names the function.
    if (next && !os_file_exists(ret->path) && os_file_exists(DEFAULT_RECORDING)) {
        ret->path = DEFAULT_RECORDING;
        next = 0;
    }
    if (next < operands->len)
        ret->target = operands->at[next++];
    for (; next < operands->len; next++)
        vec_push(arena, &ret->counts, operands->at[next]);
    return ret->counts.len < PROF_COUNTS_MAX;
}

// The words in front of a command: [FUNCTION | FILE:LINE] [COUNTS ...].
static bool read_target(const CommandLine *line, Arena *arena, Request *ret)
{
    *ret = (Request){.path = STR("")};
    size_t count = MIN(line->dashes, line->operands.len);
    for (size_t i = 0; i < count; i++)
        if (i == 0)
            ret->target = line->operands.at[0];
        else
            vec_push(arena, &ret->counts, line->operands.at[i]);
    return ret->counts.len < PROF_COUNTS_MAX;
}

// Where a function is left out, counts follow the recording at once. A word that
// the recording knows is a function, be there a file of that name or not.
static void settle_target(const Report *r, Arena *arena, Request *request)
{
    AnnotateView view = {.report = r};
    Error why;
    if (request->target.len == 0 || !os_file_exists(request->target) ||
        find_target(r, request->target, &view, &why))
        return;
    vec_push(arena, &request->counts, request->target);
    request->target = STR("");
}

static bool annotate_report(const AnnotateOptions *o, Report *r, Request *request, Arena *arena,
                            StrBuf *out, Error *err)
{
    ProfCounts counts;
    WaitColumns waits = {0};
    bool has_waits = o->selection.metric.len == 0 && wait_columns_apply(r);
    if (has_waits && !wait_columns_init(&waits, r, err))
        return false;
    settle_target(r, arena, request);
    bool ok = prof_counts_load(&counts, r->profile, &request->counts, arena, err) &&
              annotate(o, r, has_waits ? &waits : NULL, request, &counts, arena, out, err) &&
              write_out(o, strbuf_str(out), err);
    prof_counts_deinit(&counts);
    wait_columns_deinit(&waits);
    return ok;
}

static int annotate_recording(CommandLine *line, void *values)
{
    AnnotateOptions *o = values;
    Arena *arena = line->arena;
    Request request;
    Profile p;
    Error err = {0};
    const ImportFormat *format = NULL;
    int child_status = STATUS_OK;
    bool is_live = live_is_asked(line, &o->live);
    live_options_settle(line, &o->live, &o->selection, o->force);
    if (is_live ? !read_target(line, arena, &request)
                : !read_operands(&line->operands, arena, &request))
        return usage_error(line->cmd, "more than %d recordings and coverage inputs",
                           PROF_COUNTS_MAX);
    if (is_live ? !live_record(line, &o->live, &p, &child_status, &err)
                : !load_recording(request.path, &o->files, false, &p, &format, &err))
        return err.text[0] ? cli_fail(&err) : child_status;
    request.recorded_at_ns = recorded_at(&p, request.path, format);
    ReportRequest by_function = {.by = BY_FUNCTION, .sort = FLAT_BY_SELF};
    Report r = {0};
    StrBuf out = {0};
    bool ok = selection_from_options(&o->selection, &p, arena, &by_function.selection, &err);
    if (ok && o->selection.metric.len == 0)
        wait_columns_choose(&p, &by_function.selection);
    ok = ok && report_init(&r, &p, &by_function, &err) &&
         annotate_report(o, &r, &request, arena, &out, &err);
    int status = ok ? child_status : err.text[0] ? cli_fail(&err) : STATUS_FAILED;
    strbuf_deinit(&out);
    report_deinit(&r);
    profile_deinit(&p);
    return status;
}

static int run_annotate(const Command *cmd, int argc, char **argv)
{
    AnnotateOptions o = {.live = LIVE_DEFAULTS, .context = 3, .limit = 20};
    return command_run_parsed(cmd, argc, argv, &o, annotate_recording);
}

// Spellings that users of perf know.
static const ForeignOption foreign[] = {
    BUILD_FOREIGN_OPTIONS,
    {'i', "input", FOREIGN_OPERAND, NULL},
    {'s', "symbol", FOREIGN_OPERAND, NULL},
    {0, "stdio", FOREIGN_IGNORED, NULL},
    {0, "stdio2", FOREIGN_IGNORED, NULL},
    {0, "tui", FOREIGN_IGNORED, NULL},
    {0, "source", FOREIGN_IGNORED, NULL},
    {'f', NULL, FOREIGN_IGNORED, NULL},
    {'q', "quiet", FOREIGN_IGNORED, NULL},
    {'P', "full-paths", FOREIGN_IGNORED, NULL},
    {0, "no-source", FOREIGN_REFUSED, "assay annotate FILE FUNCTION --by-instruction"},
    {'d', "dsos", FOREIGN_REFUSED, "assay annotate FILE FUNCTION: the function is enough"},
    {'M', "disassembler-style", FOREIGN_REFUSED, "leave it out: --asm has one syntax"},
    {0, "objdump", FOREIGN_REFUSED, "leave it out: assay decodes instructions itself"},
    {'k', "vmlinux", FOREIGN_REFUSED, "--sysroot DIR has the files of another machine"},
    {'v', "verbose", FOREIGN_REFUSED,
     "ASSAY_DEBUG=symbolise assay annotate … names the files tried"},
};

const Command annotate_command = {
    .name = "annotate",
    .group = "look",
    .summary = "show a function's time at its source lines and instructions",
    .first = "  assay annotate                the lines of the hottest function\n"
             "  assay annotate FILE FUNCTION  of another one\n"
             "  assay annotate --asm          with the instructions below each line\n",
    .usage = "[OPTION ...] [FILE] [FUNCTION | FILE:LINE] [COUNTS ...]\n"
             "[OPTION ...] [FUNCTION | FILE:LINE] -- CMD [ARG ...]",
    .options = annotate_options,
    .option_count = ARRAY_LEN(annotate_options),
    .foreign = foreign,
    .foreign_count = ARRAY_LEN(foreign),
    .details =
        "Shows each source line with its own time, its total time and the functions that it\n"
        "called; \"inlined\" marks callees whose code the compiler put into the line. Shares\n"
        "are of the whole selection. Without a function it shows the hottest one. Sources\n"
        "are read from the disk if they have not changed, else from the recording.\n"
        "Instructions are read from the recorded file, whose build-id must match.\n"
        "\n"
        "COUNTS are recordings with counts, or inputs of 'assay cover', of the same sources.\n"
        "They add how often each line ran, and the time of each execution.\n"
        "\n"
        "Examples:\n"
        "  assay annotate prog.assay parse_row\n"
        "  assay annotate parse_row -- ./prog data.csv     record it and show that\n"
        "  assay annotate prog.assay parse_row --asm\n"
        "  assay annotate prog.assay csv.c:120\n"
        "  assay annotate prog.assay --by-instruction --limit 10\n"
        "  assay annotate prog.assay parse_row .assay/cover\n",
    .run = run_annotate,
};
