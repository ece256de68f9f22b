// SPDX-License-Identifier: Apache-2.0
// assay export: a recording in another tool's format.

#include <unistd.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/look/view_options.h"
#include "export/export.h"
#include "os/file.h"

typedef struct ExportOptions {
    SelectionOptions selection;
    RecordingFiles files;
    ShareWords share;
    Str format, output;
    bool force, suffixes;
} ExportOptions;

static const Option export_options[] = {
    OPT_CHOICE('f', "format", ExportOptions, format, "FORMAT",
               "folded|perf-script|pprof|firefox|speedscope|callgrind|chrome|otlp|csv|json|sqlite",
               "the format; folded when not given"),
    OPT_TEXT('o', "output", ExportOptions, output, "FILE",
             "write to FILE; standard output when not given"),
    OPT_FLAG(0, "force", ExportOptions, force, "replace an existing output file"),
    OPT_FLAG(0, "suffixes", ExportOptions, suffixes,
             "folded: end kernel, inlined and JIT names in _[k], _[i], _[j]"),
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
    // Without a kind the sink gave up, and has said why.
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
    // A write that failed is what the commit reports.
    return os_output_commit(&file, &err) ? STATUS_OK : cli_fail(&err);
}

static int export_profile(void *values, const Opened *opened)
{
    const ExportOptions *o = values;
    Profile *p = opened->profile;
    const ExportFormat *format = export_format_find(o->format);
    assert(format); // the parser takes no other
    ExportRequest request = {
        .suffixes = o->suffixes,
        .all_metrics = o->selection.metric.len == 0,
        .tool_version = STR(ASSAY_VERSION),
    };
    Error err;
    if (!selection_from_options(&o->selection, p, opened->scratch, &request.selection, &err))
        return cli_fail(&err);
    if (p->metrics.name.len == 0) {
        (void)no_samples(p, "export", &err);
        return cli_fail(&err);
    }
    if (!share_selected(&o->share, p, &request.selection, &err))
        return cli_fail(&err);
    if (names_file(o->output))
        return export_to_file(format, p, &request, o);
    if (format->binary && isatty(STDOUT_FILENO)) {
        error_set(&err, ERROR_USAGE, "%s is a binary format, not for a terminal", format->name);
        error_hint(&err, "name a file with -o, or send it through a pipe");
        return cli_fail(&err);
    }
    return export_to_stdout(format, p, &request);
}

static int export_recording(CommandLine *line, void *values)
{
    static const RecordingView view = {.show = export_profile,
                                       .files_at = offsetof(ExportOptions, files)};
    return view_recording(line, values, &view);
}

static int run_export(const Command *cmd, int argc, char **argv)
{
    ExportOptions o = {.format = STR("folded")};
    return command_run_parsed(cmd, argc, argv, &o, export_recording);
}

const Command export_command = {
    .name = "export",
    .group = "move",
    .summary = "write a recording in another tool's format",
    .usage = "[OPTION ...] [FILE]",
    .options = export_options,
    .option_count = ARRAY_LEN(export_options),
    .details = "  folded       flamegraph.pl, inferno, speedscope\n"
               "  perf-script  whatever reads the text of 'perf script'\n"
               "  pprof        pprof, Pyroscope, Parca, Grafana (gzip)\n"
               "  firefox      profiler.firefox.com, samply load\n"
               "  speedscope   speedscope.app\n"
               "  callgrind    KCachegrind, callgrind_annotate\n"
               "  chrome       Perfetto, chrome://tracing\n"
               "  otlp         OpenTelemetry collectors (ProfilesData, v1development)\n"
               "  csv          a row for each thread and stack\n"
               "  json         every table of the recording\n"
               "  sqlite       a database with views, see docs/formats/sqlite.md\n"
               "Formats that hold several metrics get all of them, or the one that -e names.\n"
               "Only what the selection uses is written.\n"
               "\n"
               "Examples:\n"
               "  assay export prog.assay --format pprof -o prog.pb.gz\n"
               "  assay export prog.assay | flamegraph.pl > prog.svg\n",
    .run = run_export,
};
