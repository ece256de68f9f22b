// SPDX-License-Identifier: Apache-2.0
// assay cover export: coverage in other tools' formats.

#include "cli/cover/cover_export.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "analyse/cover/file_rows.h"
#include "cli/cli.h"
#include "cli/cover/cover_commands.h"
#include "cli/cover/cover_decisions.h"
#include "cli/cover/cover_source.h"
#include "coverage/llvm/llvm_json.h"
#include "export/cover/formats.h"
#include "os/file.h"

static const Choices formats = {
    CHOICES_WITH_HELP(cover_format_names, cover_format_count, name, holds)};

static const Option options[] = {
    OPT_CHOICE_OF(0, "format", CoverExportOptions, format, "FORMAT", &formats,
                  "the format to write"),
    OPT_TEXT('o', "output", CoverExportOptions, output, "FILE", "write to FILE, not to stdout"),
    OPT_FLAG('f', "force", CoverExportOptions, force, "replace an existing output file"),
    OPT_TEXT(0, "root", CoverExportOptions, root, "DIR", COVER_ROOT_HELP),
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
        s->failed = !cli_print(strbuf_str(&s->buf));
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

// Units of gcc, each as gcov itself lists it.
static void flush_documents(Sink *s, CoverResult *r)
{
    strbuf_add(&s->buf, strbuf_str(&r->documents));
    flush(s);
}

// llvm-cov's tracefiles have branch counts of 32 bits.
static void cut_branch_counts(BranchCounts *b)
{
    for (size_t i = 0; i < b->count.len; i++)
        b->count.at[i] = (uint32_t)b->count.at[i];
}

// Sources, and how many of those asked for are not here.
typedef struct CountedSources {
    CoverSources sources;
    int64_t built_ns; // of the program; 0: not known
    uint64_t asked, missing, changed;
    Str first_missing, first_changed;
} CountedSources;

static bool counted_source(void *ctx, Str path, Str *text)
{
    CountedSources *c = ctx;
    c->asked++;
    if (!cover_source_text(&c->sources, path, text)) {
        if (c->missing++ == 0)
            c->first_missing = path;
        return false;
    }
    bool is_changed = c->built_ns && c->sources.identity.mtime_ns > c->built_ns;
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
    if (c->changed)
        cli_say("%llu of %llu sources were changed after the program was built, '%" STR_FMT
                "' first: counts may stand beside other lines",
                (unsigned long long)c->changed, (unsigned long long)c->asked,
                STR_ARG(c->first_changed));
}

// The folder of the repository that the working folder lies in, or that itself.
static Str find_root(Arena *arena)
{
    char folder[PATH_MAX];
    if (!getcwd(folder, sizeof(folder)))
        return STR("");
    Str here = arena_str(arena, str_from_c(folder));
    for (Str at = here; at.len > 1; at = str_dir_name(at))
        if (os_file_exists(arena_printf(arena, "%" STR_FMT "/.git", STR_ARG(at))))
            return at;
    return here.len > 1 ? here : STR("");
}

// As it stands in the sources' paths: absolute, without a slash at its end.
static Str root_of(const CoverExportOptions *o, Arena *arena)
{
    char real[PATH_MAX];
    Str root = o->root;
    if (root.len == 0)
        return find_root(arena);
    if (root.ptr[0] != '/' && realpath(arena_c_str(arena, root), real))
        root = arena_str(arena, str_from_c(real));
    while (root.len && root.ptr[root.len - 1] == '/')
        root.len--;
    return root;
}

// What a report says of each of the files, which are by path in both.
static const CoverTotals *report_totals(CoverResult *r, const CoverFiles *files)
{
    CoverFileVec all = {0};
    if (cover_is_of_llvm_alone(r))
        cover_files_summarise(&r->arena, &r->data, &r->project, &all);
    else
        cover_profile_summarise(&r->arena, &r->profile, &all);
    CoverTotals *totals = arena_array(&r->arena, CoverTotals, files->files.len);
    for (size_t i = 0, k = 0; i < files->files.len; i++) {
        Str path = profile_text(&r->profile, files->files.at[i].file);
        while (k < all.len && str_compare(all.at[k].path, path) < 0)
            k++;
        if (k == all.len || !str_equal(all.at[k].path, path))
            continue;
        const CoverFile *f = &all.at[k];
        totals[i] = (CoverTotals){.lines = f->lines.count,
                                  .lines_hit = f->lines.covered,
                                  .functions = f->functions.count,
                                  .functions_hit = f->functions.covered,
                                  .branches = f->branches.count,
                                  .branches_hit = f->branches.covered,
                                  .conditions = f->conditions.count,
                                  .conditions_hit = f->conditions.covered};
    }
    return totals;
}

static void write_rows(const CoverExportOptions *o, CoverResult *r, Sink *s)
{
    CoverFiles files = {0};
    // Lines, functions and branches are all that these show.
    r->project.without_regions =
        str_equal(o->format, STR("lcov")) || str_equal(o->format, STR("html"));
    cover_project(r);
    if (o->inputs.llvm_rules && str_equal(o->format, STR("lcov")))
        cut_branch_counts(&r->profile.branch_counts);
    cover_files_group(&r->arena, &r->profile, &files);
    CountedSources sources = {.sources.folders = o->inputs.filter.source_folders,
                              .built_ns = r->built_ns};
    CoverWriter w = {.p = &r->profile,
                     .c = &files,
                     .out = &s->buf,
                     .source = counted_source,
                     .source_ctx = &sources,
                     .root = root_of(o, &r->arena)};
    CoverDecisionFinder finder = {.r = r};
    if (cover_is_of_llvm_alone(r)) {
        w.decisions = cover_find_decisions;
        w.decisions_ctx = &finder;
    }
    if (str_equal(o->format, STR("html")) || str_equal(o->format, STR("markdown")))
        w.totals = report_totals(r, &files);
    write_files(cover_format_find(o->format), &w, s);
    say_sources(&sources);
    cover_decision_finder_deinit(&finder);
    cover_sources_deinit(&sources.sources);
}

int cover_export_result(CoverResult *r, const void *values)
{
    const CoverExportOptions *o = values;
    Error err;
    bool is_llvm = str_equal(o->format, STR("llvm-json"));
    if (is_llvm && !cover_is_of_llvm_alone(r)) {
        error_set(&err, ERROR_USAGE, "llvm-json holds regions, which only programs have");
        error_hint(&err, "give the program that was built with coverage and its profiles alone");
        return cli_fail(&err);
    }
    if (is_llvm)
        cover_settle(r);
    Sink s = {.to_file = o->output.len && !str_equal(o->output, STR("-"))};
    if (s.to_file &&
        !os_output_open(o->output, o->force ? OUTPUT_REPLACE : OUTPUT_KEEP, &s.file, &err))
        return cli_fail(&err);
    if (r->documents.len && !r->has_regions && !r->has_set)
        flush_documents(&s, r);
    else if (!is_llvm)
        write_rows(o, r, &s);
    else if (!cover_write_llvm_json(&r->data, &r->project, &s.buf, flush_piece, &s))
        s.failed = true;
    strbuf_deinit(&s.buf);
    if (s.to_file && !os_output_commit(&s.file, &err))
        return cli_fail(&err);
    return s.failed ? STATUS_FAILED : STATUS_OK;
}

static int export_inputs(CommandLine *line, void *values)
{
    CoverExportOptions *o = values;
    o->inputs.gcov_documents = str_equal(o->format, STR("gcov-json"));
    // Where people read names.
    o->inputs.demangle |= o->inputs.gcov_documents || str_equal(o->format, STR("html"));
    return cover_show_inputs(&o->inputs, &line->operands, cover_export_result, o);
}

static int run(const Command *cmd, int argc, char **argv)
{
    CoverExportOptions o = {.format = STR("lcov")};
    return command_run_parsed(cmd, argc, argv, &o, export_inputs);
}

const Command cover_export_command = {
    .name = "export",
    .summary = "write coverage in another tool's format",
    .usage = "[OPTION ...] OBJECT ... PROFILE ...",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .list_heading = "formats",
    .list = &formats,
    .run = run,
};
