// SPDX-License-Identifier: Apache-2.0
// assay cover export: coverage in other tools' formats.

#include "cli/cover/cover_export.h"

#include "analyse/cover/totals.h"
#include "cli/cli.h"
#include "cli/cover/cover_commands.h"
#include "cli/cover/cover_load.h"
#include "cli/cover/cover_root.h"
#include "coverage/source_text.h"
#include "export/cover/formats.h"
#include "export/cover/gcov_json.h"
#include "export/cover/llvm_json.h"
#include "model/facts.h"
#include "os/file.h"

static const Choices formats = {
    CHOICES_WITH_HELP(cover_format_names, cover_format_count, name, holds)};

static const Option options[] = {
    OPT_CHOICE_OF(0, "format", CoverExportOptions, format, "FORMAT", &formats,
                  "the format to write"),
    OPT_TEXT('o', "output", CoverExportOptions, output, "FILE", "write to FILE, not to stdout"),
    OPT_FLAG('f', "force", CoverExportOptions, force, "replace an existing output file"),
    OPT_TEXT(0, "root", CoverExportOptions, root, "DIR", COVER_ROOT_HELP),
    COVER_BASELINE_OPTIONS(CoverExportOptions, baseline),
    COVER_INPUT_OPTIONS(CoverExportOptions, inputs),
};

// Where the text goes: stdout, or a file that appears when it is whole.
typedef struct Sink {
    StrBuf buf;
    OutputFile file;
    bool to_file, failed;
} Sink;

static void flush(Sink *s)
{
    if (s->to_file)
        fwrite(s->buf.ptr, 1, s->buf.len, s->file.stream); // checked by the commit
    else if (!s->failed)
        s->failed = !cli_print_data(strbuf_str(&s->buf));
    strbuf_clear(&s->buf);
}

static void write_files(const CoverFormat *format, CoverWriter *w, Sink *s)
{
    format->begin(w);
    for (size_t i = 0; i < w->c->files.len && !s->failed; i++) {
        format->file(w, &w->c->files.at[i]);
        if (s->buf.len > 1 << 18)
            flush(s);
    }
    format->end(w);
    flush(s);
}

static bool flush_piece(void *ctx, StrBuf *out)
{
    Sink *s = ctx;
    assert(out == &s->buf);
    flush(s);
    return !s->failed;
}

// llvm-cov's tracefiles have branch counts of 32 bits.
static void cut_branch_counts(BranchCounts *b)
{
    for (size_t i = 0; i < b->count.len; i++)
        b->count.at[i] = (uint32_t)b->count.at[i];
}

enum { KEPT_LINES_MAX = 1 << 20 }; // a line's number comes from a file, and asks for memory

// Sources, and how many of those asked for are not here.
typedef struct CountedSources {
    CoverSources sources;
    const Profile *p;
    Arena *arena;     // of kept text
    int64_t built_ns; // of the program; 0: not known
    uint64_t asked, missing, outside, changed;
    Str first_missing, first_outside, first_changed;
} CountedSources;

// The lines of a file that the recording keeps, each at its number, with a sign for each gap.
static bool kept_text(CountedSources *c, Str path, Str *text)
{
    const SourceLines *kept = &c->p->source_lines;
    StrBuf out = {0};
    uint32_t at = 1; // the number of the line that comes next
    for (size_t i = 0; i < kept->file.len; i++) {
        if (kept->line.at[i] < at || kept->line.at[i] > KEPT_LINES_MAX ||
            !str_equal(profile_text(c->p, kept->file.at[i]), path))
            continue;
        if (kept->line.at[i] > at)
            strbuf_add(&out, STR("⋯"));
        for (; at < kept->line.at[i]; at++)
            strbuf_add_char(&out, '\n');
        strbuf_add(&out, profile_text(c->p, kept->text.at[i]));
        strbuf_add_char(&out, '\n');
        at++;
    }
    *text = arena_str(c->arena, strbuf_str(&out));
    strbuf_deinit(&out);
    return text->len > 0;
}

static bool counted_source(void *ctx, Str path, Str *text)
{
    CountedSources *c = ctx;
    c->asked++;
    if (!cover_source_text(&c->sources, path, text)) {
        if (kept_text(c, path, text))
            return true;
        if (c->sources.is_outside && c->outside++ == 0)
            c->first_outside = path;
        else if (!c->sources.is_outside && c->missing++ == 0)
            c->first_missing = path;
        return false;
    }
    bool is_changed = c->built_ns && c->sources.file.identity.mtime_ns > c->built_ns;
    if (is_changed && c->changed++ == 0)
        c->first_changed = path;
    return true;
}

static void say_sources(const CountedSources *c)
{
    if (c->missing)
        cli_say("%llu of %llu sources are not here, '%" STR_FMT
                "' first: their text is left out (-I names folders to search)",
                (unsigned long long)c->missing, (unsigned long long)c->asked,
                STR_ARG(c->first_missing));
    if (c->outside)
        cli_say(
            "%llu of %llu sources lie outside the project, '%" STR_FMT
            "' first: they are not read (name their folder with -I, or start in a folder above)",
            (unsigned long long)c->outside, (unsigned long long)c->asked,
            STR_ARG(c->first_outside));
    if (c->changed)
        cli_say("%llu of %llu sources were changed after the program was built, '%" STR_FMT
                "' first: counts may be shown beside the wrong lines",
                (unsigned long long)c->changed, (unsigned long long)c->asked,
                STR_ARG(c->first_changed));
}

static bool is_format(const CoverExportOptions *o, const char *name)
{
    return str_equal(o->format, str_from_c(name));
}

// Objects that a writer borrows while it writes.
typedef struct WriterInputs {
    SourceRoots roots;
    CountedSources sources;
} WriterInputs;

// A writer of the rows of a profile; `in` must outlive it. Release `in` with
// cover_sources_deinit(&in->sources.sources).
static CoverWriter writer_of(const CoverExportOptions *o, const Profile *p, const CoverFiles *files,
                             Arena *arena, WriterInputs *in)
{
    uint64_t built_ns = 0, counted_ns = 0;
    if (!profile_fact_u64(p, STR(FACT_COVER_BUILT), &built_ns))
        built_ns = 0;
    if (!profile_fact_u64(p, STR(FACT_COVER_COUNTED), &counted_ns))
        counted_ns = 0;
    source_roots_init(arena, &o->inputs.filter.source_folders, &in->roots);
    if (o->root.len)
        source_roots_add(arena, &in->roots, o->root);
    in->sources = (CountedSources){.sources.folders = o->inputs.filter.source_folders,
                                   .sources.roots = &in->roots,
                                   .p = p,
                                   .arena = arena,
                                   .built_ns = (int64_t)built_ns};
    return (CoverWriter){.p = p,
                         .title = profile_fact(p, STR(FACT_COMMAND)),
                         .c = files,
                         .source = counted_source,
                         .source_ctx = &in->sources,
                         .root = cover_root(arena, o->root, p, files),
                         .counted_ns = counted_ns};
}

// `changes`: beside a baseline, or NULL.
static void write_rows(const CoverExportOptions *o, Profile *p, const CoverFiles *files,
                       const CoverChanges *changes, Arena *arena, Sink *s)
{
    WriterInputs in;
    if (o->inputs.llvm_rules && is_format(o, "lcov"))
        cut_branch_counts(&p->branch_counts);
    CoverWriter w = writer_of(o, p, files, arena, &in);
    w.out = &s->buf;
    w.changes = changes;
    if (is_format(o, "html") || is_format(o, "markdown"))
        w.totals = cover_totals_beside(arena, p, files);
    write_files(cover_format_find(o->format), &w, s);
    say_sources(&in.sources);
    cover_sources_deinit(&in.sources.sources);
}

bool cover_export_to_page(const Profile *p, const CoverExportOptions *o, bool with_source,
                          bool base_names, Arena *arena, ViewPage *page, Error *err)
{
    WriterInputs in;
    CoverFiles files = {0};
    CoverBaseline baseline = {0};
    CoverChanges changes;
    cover_files_group(arena, p, &files);
    bool is_compared = o->baseline.inputs.len;
    if (is_compared && !cover_baseline_compare(&o->inputs, &o->baseline, (CoverSide){p, &files},
                                               cover_root(arena, o->root, p, &files), arena,
                                               &baseline, &changes, err)) {
        cover_baseline_deinit(&baseline);
        return false;
    }
    CoverWriter w = writer_of(o, p, &files, arena, &in);
    w.changes = is_compared ? &changes : NULL;
    w.totals = cover_totals_beside(arena, p, &files);
    w.base_names = base_names;
    if (!with_source)
        w.source = NULL;
    bool ok = cover_page_add(&w, page, err);
    say_sources(&in.sources);
    cover_sources_deinit(&in.sources.sources);
    cover_baseline_deinit(&baseline);
    return ok;
}

static bool open_sink(const CoverExportOptions *o, Sink *s, Error *err)
{
    *s = (Sink){.to_file = o->output.len && !str_equal(o->output, STR("-"))};
    return !s->to_file ||
           os_output_open(o->output, o->force ? OUTPUT_REPLACE : OUTPUT_KEEP, &s->file, err);
}

static int close_sink(Sink *s)
{
    Error err;
    strbuf_deinit(&s->buf);
    if (s->to_file && !os_output_commit(&s->file, &err))
        return cli_fail(&err);
    return s->failed ? STATUS_FAILED : STATUS_OK;
}

int cover_export_profile(Profile *p, const CoverExportOptions *o, Arena *arena)
{
    Sink s;
    Error err;
    CoverFiles files = {0};
    CoverBaseline baseline = {0};
    CoverChanges changes;
    cover_files_group(arena, p, &files);
    bool is_compared = o->baseline.inputs.len;
    bool ok =
        !is_compared || cover_baseline_compare(&o->inputs, &o->baseline, (CoverSide){p, &files},
                                               cover_root(arena, o->root, p, &files), arena,
                                               &baseline, &changes, &err);
    ok = ok && open_sink(o, &s, &err);
    int status = STATUS_FAILED;
    if (ok) {
        write_rows(o, p, &files, is_compared ? &changes : NULL, arena, &s);
        status = close_sink(&s);
    } else {
        status = cli_fail(&err);
    }
    cover_baseline_deinit(&baseline);
    return status;
}

// ---- Formats that hold more than the profile ------------------------------------------

// An export with the data that readers pass on while they read.
typedef struct Export {
    const CoverExportOptions *o;
    StrBuf documents; // gcov's JSON of each unit
    bool is_written;  // llvm's JSON is, with this status:
    int status;
} Export;

static void take_unit(void *ctx, const GcovUnit *u, Str data_file)
{
    Export *x = ctx;
    cover_gcov_json_add(&x->documents, u, data_file);
}

static void take_functions(void *ctx, const CoverData *d, const CoverProject *how)
{
    Export *x = ctx;
    Sink s;
    Error err;
    x->is_written = true;
    if (!open_sink(x->o, &s, &err)) {
        x->status = cli_fail(&err);
        return;
    }
    if (!cover_write_llvm_json(d, how, &s.buf, flush_piece, &s))
        s.failed = true;
    x->status = close_sink(&s);
}

static int export(Profile *p, const void *values, Arena *arena)
{
    const Export *x = values;
    Error err;
    if (x->is_written)
        return x->status;
    if (is_format(x->o, "llvm-json")) {
        error_set(&err, ERROR_USAGE, "llvm-json holds regions, which only programs have");
        error_hint(&err, "give the program that was built with coverage and its profiles alone");
        return cli_fail(&err);
    }
    if (x->documents.len == 0 || !str_equal(profile_fact(p, STR(FACT_COVER_ORIGINS)), STR("gcc")))
        return cover_export_profile(p, x->o, arena);
    Sink s;
    if (!open_sink(x->o, &s, &err))
        return cli_fail(&err);
    strbuf_add(&s.buf, strbuf_str(&x->documents));
    flush(&s);
    return close_sink(&s);
}

// What a format shows; regions are among the rows that say which files there are.
static unsigned wants_of(const CoverExportOptions *o)
{
    if (is_format(o, "llvm-json"))
        return 0;
    if (is_format(o, "lcov"))
        return COVER_WANT_ROWS;
    if (is_format(o, "html"))
        return COVER_WANT_ROWS | COVER_WANT_FILE_TOTALS | COVER_WANT_DECISIONS;
    if (is_format(o, "markdown"))
        return COVER_WANT_ROWS | COVER_WANT_REGIONS | COVER_WANT_FILE_TOTALS;
    return COVER_WANT_ROWS | COVER_WANT_REGIONS;
}

int cover_export_inputs(const CoverExportOptions *o, const StrVec *operands)
{
    Export x = {.o = o};
    CoverRequest request = o->inputs;
    bool is_gcov = is_format(o, "gcov-json") && !o->is_sum;
    request.wants = wants_of(o);
    request.take_ctx = &x;
    request.take_unit = is_gcov ? take_unit : NULL;
    request.take_functions = is_format(o, "llvm-json") ? take_functions : NULL;
    // Where people read names.
    request.demangle |= is_gcov || (is_format(o, "html") && !o->is_sum);
    int status = cover_show_inputs(&request, operands, export, &x);
    strbuf_deinit(&x.documents);
    return status;
}

static int export_operands(CommandLine *line, void *values)
{
    const CoverExportOptions *o = values;
    if (o->baseline.inputs.len && !is_format(o, "html"))
        return usage_error(line->cmd, "--baseline is for --format html; 'assay cover report "
                                      "--baseline' has tables, 'assay cover diff' lines");
    if (!cover_baseline_check(line->cmd, &o->baseline))
        return STATUS_USAGE;
    return cover_export_inputs(o, &line->operands);
}

static int run(const Command *cmd, int argc, char **argv)
{
    CoverExportOptions o = {.format = STR("lcov")};
    return command_run_parsed(cmd, argc, argv, &o, export_operands);
}

static const ForeignOption foreign[] = {
    COVER_FOREIGN_OPTIONS,
    {0, "summary-only", FOREIGN_REFUSED, "assay cover report --json"},
    {0, "skip-functions", FOREIGN_REFUSED, "--format json is short"},
    {0, "skip-expansions", FOREIGN_REFUSED, "--format json is short"},
    {'r', NULL, FOREIGN_REFUSED, "--root DIR"},
    {0, "html", FOREIGN_REFUSED, "--format html -o FILE"},
    {0, "xml", FOREIGN_REFUSED, "--format cobertura -o FILE"},
    {0, "cobertura", FOREIGN_REFUSED, "--format cobertura -o FILE"},
    {0, "lcov", FOREIGN_REFUSED, "--format lcov -o FILE"},
};

const Command cover_export_command = {
    .name = "export",
    .summary = "write coverage in another tool's format",
    .first = "  assay cover export --format html -o FILE       one page with all sources\n"
             "  assay cover export --format lcov -o FILE       a tracefile\n"
             "  assay cover export --format cobertura -o FILE  for GitLab and Jenkins\n",
    .usage = "[OPTION ...] OBJECT ... PROFILE ...",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .foreign = foreign,
    .foreign_count = ARRAY_LEN(foreign),
    .list_heading = "formats",
    .list = &formats,
    .run = run,
};
