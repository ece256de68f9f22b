// SPDX-License-Identifier: Apache-2.0
// assay export: writes a recording in another tool's format.

#include <unistd.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/look/view_options.h"
#include "cli/move/export_to.h"
#include "export/export.h"
#include "os/file.h"

typedef struct ExportOptions {
    SelectionOptions selection;
    RecordingFiles files;
    ShareWords share;
    const ExportFormat *format;
    SendOptions send;
    Str output, service;
    bool force, suffixes;
} ExportOptions;

static const Choices formats = {
    CHOICES_WITH_HELP(export_formats, export_format_count, name, summary)};

static const Option export_options[] = {
    OPT_ROW('f', "format", ExportOptions, format, ExportFormat, "FORMAT", &formats,
            "the format (default: the first of the list)"),
    OPT_TEXT('o', "output", ExportOptions, output, "FILE",
             "write to FILE (parquet: to a folder); without it to standard output"),
    OPT_FLAG(0, "force", ExportOptions, force, "replace an existing output file"),
    OPT_FLAG(0, "suffixes", ExportOptions, suffixes,
             "folded: end kernel, inlined and JIT names in _[k], _[i], _[j]"),
    SEND_OPTIONS(ExportOptions, send),
    OPT_TEXT(0, "service", ExportOptions, service, "NAME",
             "otlp, --to: the name of the service (default: the name of the program)"),
    SHARE_OPTIONS(ExportOptions, share),
    SELECTION_OPTIONS(ExportOptions, selection),
    RECORDING_FILE_OPTIONS(ExportOptions, files),
};

static bool write_stdout(void *ctx, Str text)
{
    (void)ctx;
    return cli_print(text);
}

static bool write_stream(void *ctx, Str text)
{
    OutputFile *file = ctx;
    return fwrite(text.ptr, 1, text.len, file->stream) == text.len;
}

static int export_to_stdout(const ExportFormat *format, const Profile *p,
                            const ExportRequest *request)
{
    Error err = {0};
    ExportSink sink = {.write = write_stdout};
    if (format->write(p, request, &sink, &err))
        return STATUS_OK;
    // An error without a kind: cli_print failed and has printed the reason.
    return err.kind == ERROR_NONE ? STATUS_FAILED : cli_fail(&err);
}

static int export_to_file(const ExportFormat *format, const Profile *p,
                          const ExportRequest *request, const ExportOptions *o)
{
    Error err;
    OutputFile file;
    if (!os_output_open(o->output, o->force ? OUTPUT_REPLACE : OUTPUT_KEEP, &file, &err))
        return cli_fail(&err);
    ExportSink sink = {.write = write_stream, .ctx = &file};
    err = (Error){0};
    bool written = format->write(p, request, &sink, &err);
    if (!written && err.kind != ERROR_NONE) {
        os_output_abort(&file);
        return cli_fail(&err);
    }
    // The commit reports a write that failed.
    return os_output_commit(&file, &err) ? STATUS_OK : cli_fail(&err);
}

// ---- Folders -----------------------------------------------------------------------

// The files of a folder, all of which get their names when all are whole.
typedef struct OutputFolder {
    const ExportOptions *o;
    Arena arena;
    Vec(OutputFile *) files;
    Error err;
} OutputFolder;

static bool begin_file(void *ctx, Str name)
{
    OutputFolder *folder = ctx;
    const ExportOptions *o = folder->o;
    OutputFile *file = arena_new(&folder->arena, OutputFile);
    Str path =
        arena_printf(&folder->arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(o->output), STR_ARG(name));
    if (!os_output_open(path, o->force ? OUTPUT_REPLACE : OUTPUT_KEEP, file, &folder->err))
        return false;
    vec_push(&folder->arena, &folder->files, file);
    return true;
}

static bool write_file(void *ctx, Str text)
{
    OutputFolder *folder = ctx;
    return folder->files.len && write_stream(vec_last(&folder->files), text);
}

static int export_to_folder(const ExportFormat *format, const Profile *p,
                            const ExportRequest *request, const ExportOptions *o)
{
    OutputFolder folder = {.o = o};
    Error err = {0};
    ExportSink sink = {.write = write_file, .begin_file = begin_file, .ctx = &folder};
    if (!names_file(o->output)) {
        error_set(&err, ERROR_USAGE, "%s is a folder of several files", format->name);
        error_hint(&err, "name the folder with -o");
        return cli_fail(&err);
    }
    bool ok = os_make_folders(o->output, &err) && format->write(p, request, &sink, &err);
    // A write that failed has no error yet: the commit of that file reports it.
    if (!ok && err.kind == ERROR_NONE)
        err = folder.err;
    if (!ok && err.kind == ERROR_NONE && folder.files.len)
        (void)!os_output_commit(vec_last(&folder.files), &err);
    for (size_t i = 0; i < folder.files.len && ok; i++)
        ok = os_output_commit(folder.files.at[i], &err);
    for (size_t i = 0; i < folder.files.len && !ok; i++)
        os_output_abort(folder.files.at[i]);
    int status = ok ? STATUS_OK : cli_fail(&err);
    arena_deinit(&folder.arena);
    return status;
}

// Whether the options choose samples.
static bool selects_samples(const SelectionOptions *o)
{
    return o->focus.len || o->ignore.len || o->time.len || o->pids.len || o->tids.len ||
           o->comms.len;
}

static bool has_texts(const Profile *p)
{
    bool found = false;
    for (size_t m = 0; m < p->metrics.name.len; m++)
        found |= metric_is_text(p, (MetricId){(uint32_t)m});
    return found;
}

// A part of recordings that not every format has a place for.
typedef struct PartHeld {
    const char *name;
    size_t held_at; // in ExportFormat
    size_t rows;    // that the recording has
    bool is_counted;
} PartHeld;

static bool holds(const ExportFormat *f, const PartHeld *part)
{
    return *(const bool *)((const char *)f + part->held_at);
}

// "json, sqlite and parquet": the formats of tables that hold all the parts that `format` leaves
// out.
static void add_holders(const ExportFormat *format, const PartHeld *parts, size_t count,
                        StrBuf *out)
{
    size_t left = 0, before = 0;
    for (int is_written = 0; is_written < 2; is_written++)
        for (size_t i = 0; i < export_format_count; i++) {
            const ExportFormat *f = &export_formats[i];
            bool all = f->holds_lines;
            for (size_t k = 0; k < count; k++)
                all &= !parts[k].rows || holds(format, &parts[k]) || holds(f, &parts[k]);
            if (!all)
                continue;
            if (!is_written)
                left++;
            else
                strbuf_printf(out, "%s%s",
                              before == 0         ? ""
                              : before + 1 < left ? ", "
                                                  : " and ",
                              f->name);
            before += (size_t)is_written;
        }
    strbuf_printf(out, left == 1 ? " has them" : " have them");
}

// Names the tables of the recording for which the format has no place.
static void say_left_out(const Profile *p, const ExportFormat *format)
{
#define AT(field) offsetof(ExportFormat, field)
    const PartHeld parts[] = {
        {"single calls", AT(holds_calls), p->calls.thread.len, true},
        {"the objects of waits", AT(holds_waits), p->waits.thread.len, false},
        {"the texts of probes", AT(holds_texts), has_texts(p), false},
        {"executions of lines", AT(holds_lines), p->line_counts.line.len, true},
        {"calls of functions", AT(holds_counts), p->function_counts.count.len, true},
        {"branches", AT(holds_cover), p->branch_counts.line.len, true},
        {"regions", AT(holds_cover), p->region_counts.count.len, true},
        {"decisions", AT(holds_cover), p->decisions.line.len, true},
    };
#undef AT
    StrBuf what = {0};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (!parts[i].rows || holds(format, &parts[i]))
            continue;
        strbuf_printf(&what, "%s%s", what.len ? ", " : "", parts[i].name);
        if (parts[i].is_counted)
            strbuf_printf(&what, " (%zu)", parts[i].rows);
    }
    if (what.len) {
        strbuf_add(&what, STR("; "));
        add_holders(format, parts, ARRAY_LEN(parts), &what);
        cli_say("%s has no place for %" STR_FMT, format->name, STR_ARG(strbuf_str(&what)));
    }
    strbuf_deinit(&what);
}

static int write_export(const ExportFormat *format, const Profile *p, const ExportRequest *request,
                        const ExportOptions *o)
{
    Error err;
    if (o->send.url.len)
        return export_send(&o->send, format, p, request);
    if (format->is_folder)
        return export_to_folder(format, p, request, o);
    if (names_file(o->output))
        return export_to_file(format, p, request, o);
    if (format->binary && isatty(STDOUT_FILENO)) {
        error_set(&err, ERROR_USAGE, "%s is a binary format, not for a terminal", format->name);
        error_hint(&err, "name a file with -o, or send it through a pipe");
        return cli_fail(&err);
    }
    return export_to_stdout(format, p, request);
}

static int export_profile(void *values, const Opened *opened)
{
    const ExportOptions *o = values;
    Profile *p = opened->profile;
    const ExportFormat *format = o->format         ? o->format
                                 : o->send.url.len ? send_default_format()
                                                   : &export_formats[0];
    ExportRequest request = {
        .suffixes = o->suffixes,
        .all_metrics = o->selection.metric.len == 0,
        .tool_version = STR(ASSAY_VERSION),
        .service = o->service,
    };
    Error err;
    if (!selection_from_options(&o->selection, p, opened->scratch, &request.selection, &err))
        return cli_fail(&err);
    if (holds_only_runs(p) && selects_samples(&o->selection)) {
        (void)no_samples(p, "select from", &err);
        return cli_fail(&err);
    }
    // Sums of waits have no place on a time line, which has the single waits.
    if (format->is_timed && request.all_metrics && p->states.thread.len)
        request.selection.metric = (MetricId){0};
    bool has_lines = format->holds_lines && p->line_counts.line.len;
    if (holds_only_runs(p) ? !format->holds_runs : p->metrics.name.len == 0 && !has_lines) {
        (void)no_samples(p, "export", &err);
        return cli_fail(&err);
    }
    if (!share_selected(&o->share, p, &request.selection, &err))
        return cli_fail(&err);
    if (o->send.url.len && names_file(o->output)) {
        error_set(&err, ERROR_USAGE, "-o and --to cannot be combined");
        return cli_fail(&err);
    }
    int status = write_export(format, p, &request, o);
    if (status == STATUS_OK)
        say_left_out(p, format);
    return status;
}

static int export_recording(CommandLine *line, void *values)
{
    static const RecordingView view = {.show = export_profile,
                                       .files_at = offsetof(ExportOptions, files)};
    return view_recording(line, values, &view);
}

static int run_export(const Command *cmd, int argc, char **argv)
{
    ExportOptions o = {
        .send = {.spool_bytes = SPOOL_DEFAULT_BYTES, .retry_for_ns = RETRY_FOR_DEFAULT_NS}};
    return command_run_parsed(cmd, argc, argv, &o, export_recording);
}

const Command export_command = {
    .name = "export",
    .group = "move",
    .summary = "write a recording in another tool's format",
    .first = "  assay export FILE -f pprof -o x.pb.gz   for pprof\n"
             "  assay export FILE -f firefox -o x.json  for the Firefox Profiler\n"
             "  assay export FILE                       folded stacks\n",
    .usage = "[OPTION ...] [FILE]",
    .options = export_options,
    .option_count = ARRAY_LEN(export_options),
    .list_heading = "formats",
    .list = &formats,
    .details = "Formats that hold several metrics get all of them, or the one that -e names.\n"
               "Rows that no selected sample uses are not written.\n"
               "\n"
               "Examples:\n"
               "  assay export prog.assay --format pprof -o prog.pb.gz\n"
               "  assay export prog.assay | flamegraph.pl > prog.svg\n"
               "  assay export prog.assay --to https://collector:4318 --spool ~/.cache/spool\n",
    .run = run_export,
};
