// SPDX-License-Identifier: Apache-2.0
// assay cover report: totals of each source file.

#include "analyse/cover_files.h"
#include "cli/cli.h"
#include "cli/cover_commands.h"
#include "cli/cover_inputs.h"
#include "cli/terminal.h"

typedef struct CoverReportOptions {
    CoverInputOptions inputs;
    bool missing, markdown, full_paths, functions;
    Str name; // glob on functions
    // Percentages that rows must be below or above; below zero: no limit.
    double lines_under, lines_over, regions_under, regions_over;
    double fail_under, fail_under_functions, fail_under_regions, fail_under_branches;
    double fail_under_conditions;
    Str colour;
} CoverReportOptions;

static const Option options[] = {
    COVER_INPUT_OPTIONS(CoverReportOptions, inputs),
    OPT_FLAG('m', "missing", CoverReportOptions, missing, "list the lines that did not run"),
    OPT_FLAG(0, "functions", CoverReportOptions, functions, "a row for each function"),
    OPT_TEXT(0, "name", CoverReportOptions, name, "GLOB",
             "with --functions: only those whose name matches"),
    OPT_PERCENT(0, "line-coverage-lt", CoverReportOptions, lines_under, "P",
                "only rows of which less than P percent of the lines ran"),
    OPT_PERCENT(0, "line-coverage-gt", CoverReportOptions, lines_over, "P",
                "only rows of which more than P percent of the lines ran"),
    OPT_PERCENT(0, "region-coverage-lt", CoverReportOptions, regions_under, "P",
                "the same for regions"),
    OPT_PERCENT(0, "region-coverage-gt", CoverReportOptions, regions_over, "P",
                "the same for regions"),
    OPT_FLAG(0, "markdown", CoverReportOptions, markdown, "the table as Markdown"),
    OPT_FLAG(0, "full-paths", CoverReportOptions, full_paths,
             "do not leave out the folder that all files share"),
    OPT_PERCENT(0, "fail-under", CoverReportOptions, fail_under, "P",
                "end with status 3 when less than P percent of the lines ran"),
    OPT_PERCENT(0, "fail-under-functions", CoverReportOptions, fail_under_functions, "P",
                "the same for functions"),
    OPT_PERCENT(0, "fail-under-regions", CoverReportOptions, fail_under_regions, "P",
                "the same for regions"),
    OPT_PERCENT(0, "fail-under-branches", CoverReportOptions, fail_under_branches, "P",
                "the same for branches"),
    OPT_PERCENT(0, "fail-under-mcdc", CoverReportOptions, fail_under_conditions, "P",
                "the same for conditions (MC/DC)"),
};

static double percent_of(CoverTally t)
{
    return t.count ? 100.0 * (double)t.covered / (double)t.count : 100.0;
}

// "1234  97.51%", or a dash where nothing was to count. Never rounds up to 100.
static void add_cover(StrBuf *out, CoverTally t)
{
    if (t.count == 0) {
        strbuf_add(out, STR("      -"));
        return;
    }
    double percent = percent_of(t);
    if (t.covered < t.count && percent > 99.99)
        percent = 99.99;
    strbuf_printf(out, "%6.2f%%", percent);
}

// Columns that not every kind of input has.
typedef struct Columns {
    bool regions, conditions;
} Columns;

static void add_cells(StrBuf *out, const CoverFile *f, Columns has)
{
    const CoverTally *cells[] = {&f->lines, &f->functions, &f->regions, &f->branches,
                                 &f->conditions};
    for (size_t i = 0; i < ARRAY_LEN(cells); i++) {
        if ((i == 2 && !has.regions) || (i == 4 && !has.conditions))
            continue;
        strbuf_printf(out, " %8llu %7llu ", (unsigned long long)cells[i]->count,
                      (unsigned long long)(cells[i]->count - cells[i]->covered));
        add_cover(out, *cells[i]);
    }
}

// The folder that every path starts with, with its slash.
static Str shared_folder(const CoverFileVec *files)
{
    if (files->len == 0)
        return STR("");
    Str shared = files->at[0].path;
    for (size_t i = 1; i < files->len; i++) {
        size_t n = 0, max = MIN(shared.len, files->at[i].path.len);
        while (n < max && shared.ptr[n] == files->at[i].path.ptr[n])
            n++;
        shared = str_slice(shared, 0, n);
    }
    size_t slash = str_find_last_char(shared, '/');
    return slash == SIZE_MAX ? STR("") : str_slice(shared, 0, slash + 1);
}

static void add_table(StrBuf *out, const CoverFileVec *files, const CoverFile *total, Str shared,
                      Columns has)
{
    size_t width = 5;
    for (size_t i = 0; i < files->len; i++)
        width = MAX(width, str_columns(files->at[i].path) - shared.len);
    width = MIN(width, (size_t)60);
    if (shared.len) {
        strbuf_add(out, STR("in "));
        strbuf_add_terminal(out, shared);
        strbuf_add_char(out, '\n');
    }
    size_t start = out->len;
    strbuf_add(out, STR("file"));
    pad_to(out, start, width);
    strbuf_add(out, STR("    lines  missed   cover"));
    strbuf_add(out, STR("    funcs  missed   cover"));
    if (has.regions)
        strbuf_add(out, STR("  regions  missed   cover"));
    strbuf_add(out, STR(" branches  missed   cover"));
    if (has.conditions)
        strbuf_add(out, STR("    MC/DC  missed   cover"));
    strbuf_add_char(out, '\n');
    for (size_t i = 0; i <= files->len; i++) {
        const CoverFile *f = i < files->len ? &files->at[i] : total;
        start = out->len;
        strbuf_add_terminal(out, i < files->len ? str_slice(f->path, shared.len, f->path.len)
                                                : STR("TOTAL"));
        pad_to(out, start, width);
        add_cells(out, f, has);
        strbuf_add_char(out, '\n');
    }
}

static void add_markdown(StrBuf *out, const CoverFileVec *files, const CoverFile *total, Str shared)
{
    bool conditions = total->conditions.count > 0;
    strbuf_add(out, STR("| file | lines | functions | regions | branches |"));
    strbuf_add(out, conditions ? STR(" MC/DC |\n") : STR("\n"));
    strbuf_add(out, STR("| --- | ---: | ---: | ---: | ---: |"));
    strbuf_add(out, conditions ? STR(" ---: |\n") : STR("\n"));
    for (size_t i = 0; i <= files->len; i++) {
        const CoverFile *f = i < files->len ? &files->at[i] : total;
        strbuf_add(out, STR("| "));
        Str path = i < files->len ? str_slice(f->path, shared.len, f->path.len) : STR("**total**");
        for (size_t k = 0; k < path.len; k++) {
            if (strchr("|<\\`[", path.ptr[k]) && i < files->len)
                strbuf_add_char(out, '\\');
            strbuf_add_char(out, (unsigned char)path.ptr[k] < ' ' ? ' ' : path.ptr[k]);
        }
        const CoverTally *cells[] = {&f->lines, &f->functions, &f->regions, &f->branches,
                                     &f->conditions};
        for (size_t k = 0; k < ARRAY_LEN(cells) - !conditions; k++) {
            strbuf_add(out, STR(" | "));
            StrBuf cell = {0};
            add_cover(&cell, *cells[k]);
            strbuf_add(out, str_trim(strbuf_str(&cell)));
            strbuf_deinit(&cell);
            if (cells[k]->count)
                strbuf_printf(out, " (%llu/%llu)", (unsigned long long)cells[k]->covered,
                              (unsigned long long)cells[k]->count);
        }
        strbuf_add(out, STR(" |\n"));
    }
}

// "12-14, 20, 31" for the lines of a file that did not run. Lines that no code
// stands on do not break a run.
static void add_missing(StrBuf *out, const Profile *p, const CoverFiles *c, Str shared)
{
    for (size_t i = 0; i < c->files.len; i++) {
        const CoverFileRows *f = &c->files.at[i];
        bool any = false;
        for (uint32_t k = f->lines.first; k < f->lines.end; k++) {
            if (p->line_counts.count.at[c->lines.at[k]])
                continue;
            uint32_t first = p->line_counts.line.at[c->lines.at[k]], last = first;
            while (k + 1 < f->lines.end && !p->line_counts.count.at[c->lines.at[k + 1]])
                last = p->line_counts.line.at[c->lines.at[++k]];
            if (!any) {
                Str path = profile_text(p, f->file);
                strbuf_add_char(out, '\n');
                strbuf_add_terminal(out, str_starts_with(path, shared)
                                             ? str_slice(path, shared.len, path.len)
                                             : path);
            }
            strbuf_add(out, any ? STR(", ") : STR(": "));
            any = true;
            strbuf_add_u64(out, first);
            if (last != first) {
                strbuf_add_char(out, '-');
                strbuf_add_u64(out, last);
            }
        }
    }
    strbuf_add_char(out, '\n');
}

static bool under(const char *what, CoverTally t, double limit)
{
    if (limit <= 0 || percent_of(t) >= limit)
        return false;
    cli_say("%.2f%% of the %s ran, less than the %.2f%% asked for", percent_of(t), what, limit);
    return true;
}

// ---- Functions -------------------------------------------------------------------

// A function of counts without regions has the lines up to the next one.
static void functions_of_rows(Arena *arena, const Profile *p, CoverFunctionTotalsVec *ret)
{
    for (size_t i = 0; i < p->function_counts.count.len; i++) {
        uint32_t row = p->function_counts.function.at[i].v;
        uint64_t count = p->function_counts.count.at[i];
        vec_push(arena, ret,
                 (CoverFunctionTotals){profile_text(p, p->functions.linkage_name.at[row]),
                                       profile_text(p, p->functions.file.at[row]),
                                       p->functions.line.at[row],
                                       count,
                                       {.functions = {count > 0, 1}}});
    }
}

// Gives functions the form of files, so that one table serves both.
static void name_functions(Arena *arena, CoverResult *r, const CoverFunctionTotalsVec *functions,
                           const CoverReportOptions *o, CoverFileVec *ret)
{
    StrBuf name = {0};
    for (size_t i = 0; i < functions->len; i++) {
        const CoverFunctionTotals *f = &functions->at[i];
        strbuf_clear(&name);
        r->project.demangle(r->project.demangle_ctx, f->name, &name);
        Str shown = name.len ? strbuf_str(&name) : f->name;
        if (o->name.len && !str_glob_match(o->name, shown) && !str_glob_match(o->name, f->name))
            continue;
        CoverFile row = f->totals;
        row.path = arena_printf(arena, "%" STR_FMT ":%u %" STR_FMT, STR_ARG(f->file), f->line,
                                STR_ARG(shown));
        vec_push(arena, ret, row);
    }
    strbuf_deinit(&name);
}

// ---- Thresholds --------------------------------------------------------------------

// Only rows within the limits of --line-coverage-lt and its like stay.
static void keep_within(CoverFileVec *files, const CoverReportOptions *o)
{
    size_t kept = 0;
    for (size_t i = 0; i < files->len; i++) {
        double lines = percent_of(files->at[i].lines), regions = percent_of(files->at[i].regions);
        if ((o->lines_under < 0 || lines < o->lines_under) &&
            (o->lines_over < 0 || lines > o->lines_over) &&
            (o->regions_under < 0 || regions < o->regions_under) &&
            (o->regions_over < 0 || regions > o->regions_over))
            files->at[kept++] = files->at[i];
    }
    files->len = kept;
}

static bool has_gate(const CoverReportOptions *o)
{
    return o->fail_under > 0 || o->fail_under_functions > 0 || o->fail_under_regions > 0 ||
           o->fail_under_branches > 0 || o->fail_under_conditions > 0;
}

static bool misses_threshold(const CoverReportOptions *o, const CoverFile *total)
{
    bool missed = under("lines", total->lines, o->fail_under);
    missed |= under("functions", total->functions, o->fail_under_functions);
    missed |= under("regions", total->regions, o->fail_under_regions);
    missed |= under("branches", total->branches, o->fail_under_branches);
    missed |= under("conditions (MC/DC)", total->conditions, o->fail_under_conditions);
    return missed;
}

// ---- The report --------------------------------------------------------------------

static void add_report(Arena *arena, const CoverReportOptions *o, CoverResult *r,
                       const CoverFileVec *files, const CoverFile *total, bool by_rows, StrBuf *out)
{
    Str shared = o->full_paths ? STR("") : shared_folder(files);
    if (o->markdown)
        add_markdown(out, files, total, shared);
    else
        add_table(out, files, total, shared,
                  (Columns){r->has_regions && !by_rows, total->conditions.count > 0});
    if (!o->missing)
        return;
    CoverFiles rows = {0};
    cover_files_group(arena, &r->profile, &rows);
    add_missing(out, &r->profile, &rows, shared);
}

static int report(CoverResult *r, const void *values)
{
    const CoverReportOptions *o = values;
    Arena *arena = &r->arena;
    CoverFileVec files = {0};
    CoverFunctionTotalsVec functions = {0};
    CoverFile total = {0};
    // Totals by llvm-cov's rules need functions with their regions.
    bool by_rows = r->has_gcov || r->has_set;
    if (o->missing || by_rows)
        cover_project(r);
    else
        cover_settle(r);
    if (o->functions && by_rows)
        functions_of_rows(arena, &r->profile, &functions);
    else if (o->functions)
        cover_functions_summarise(arena, &r->data, &r->project, &functions);
    if (o->functions)
        name_functions(arena, r, &functions, o, &files);
    else if (by_rows)
        cover_profile_summarise(arena, &r->profile, &files);
    else
        cover_files_summarise(arena, &r->data, &r->project, &files);
    keep_within(&files, o);
    for (size_t i = 0; i < files.len; i++)
        cover_file_add(&total, &files.at[i]);
    StrBuf out = {0};
    add_report(arena, o, r, &files, &total, by_rows, &out);
    int status = cli_print(strbuf_str(&out)) ? STATUS_OK : STATUS_FAILED;
    strbuf_deinit(&out);
    // Shares of something that was not measured pass no gate.
    bool missed = has_gate(o) && cover_is_unsound(r, o->inputs.llvm_rules);
    missed |= misses_threshold(o, &total);
    if (missed && status == STATUS_OK)
        status = STATUS_THRESHOLD;
    return status;
}

static int report_inputs(CommandLine *line, void *values)
{
    CoverReportOptions *o = values;
    // Readable names cost as much as the rest where nobody sees them.
    o->inputs.demangle = o->functions;
    return cover_show_inputs(&o->inputs, &line->operands, report, o);
}

static int run(const Command *cmd, int argc, char **argv)
{
    CoverReportOptions o = {
        .lines_under = -1, .lines_over = -1, .regions_under = -1, .regions_over = -1};
    return command_run_parsed(cmd, argc, argv, &o, report_inputs);
}

const Command cover_report_command = {
    .name = "report",
    .summary = "lines, functions, regions and branches that ran, by source file",
    .usage = "[OPTION ...] OBJECT ... PROFILE ...",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .run = run,
};
