// SPDX-License-Identifier: Apache-2.0
// assay cover report: totals of each source file, folder or function.

#include <stdlib.h>

#include "analyse/cover/totals.h"
#include "cli/cli.h"
#include "cli/cover/cover_baseline.h"
#include "cli/cover/cover_commands.h"
#include "cli/cover/cover_load.h"
#include "cli/cover/cover_report_table.h"

// The criteria of thresholds.
typedef enum Gate {
    GATE_LINES,
    GATE_FUNCTIONS,
    GATE_REGIONS,
    GATE_BRANCHES,
    GATE_CONDITIONS,
    GATE_COUNT
} Gate;

static const struct {
    const char *what;
    CoverCriterion criterion;
} gates[GATE_COUNT] = {{"lines", COVER_LINES},
                       {"functions", COVER_FUNCTIONS},
                       {"regions", COVER_REGIONS},
                       {"branches", COVER_BRANCHES},
                       {"conditions (MC/DC)", COVER_CONDITIONS}};

typedef struct CoverReportOptions {
    CoverRequest inputs;
    CoverBaselineOptions baseline;
    bool missing, markdown, json, full_paths, functions, folders, instantiations, per_file;
    Str name; // glob on functions
    // Percentages that rows must be below or above; below zero: no limit.
    double lines_under, lines_over, regions_under, regions_over;
    double fail_under[GATE_COUNT];
    int64_t uncovered[GATE_COUNT]; // more fail; below zero: no limit
    Str sort, colour;
} CoverReportOptions;

static const Option options[] = {
    COVER_INPUT_OPTIONS(CoverReportOptions, inputs),
    COVER_BASELINE_OPTIONS(CoverReportOptions, baseline),
    OPT_FLAG('m', "missing", CoverReportOptions, missing, "list the lines that did not run"),
    OPT_FLAG(0, "functions", CoverReportOptions, functions, "a row for each function"),
    OPT_TEXT(0, "name", CoverReportOptions, name, "GLOB",
             "with --functions: only those whose name matches"),
    OPT_FLAG(0, "folders", CoverReportOptions, folders, "a row for each folder"),
    OPT_FLAG(0, "instantiations", CoverReportOptions, instantiations,
             "a column that counts the instances of a template separately"),
    OPT_CHOICE(0, "sort", CoverReportOptions, sort, "HOW", "path|missed|cover",
               "the order of the rows: by path; by lines that did not run, most first; or by the "
               "percentage of lines that ran, least first"),
    OPT_PERCENT(0, "line-coverage-lt", CoverReportOptions, lines_under, "P",
                "only rows in which less than P percent of the lines ran"),
    OPT_PERCENT(0, "line-coverage-gt", CoverReportOptions, lines_over, "P",
                "only rows in which more than P percent of the lines ran"),
    OPT_PERCENT(0, "region-coverage-lt", CoverReportOptions, regions_under, "P",
                "the same for regions"),
    OPT_PERCENT(0, "region-coverage-gt", CoverReportOptions, regions_over, "P",
                "the same for regions"),
    OPT_FLAG(0, "markdown", CoverReportOptions, markdown, "the table as Markdown"),
    OPT_FLAG(0, "json", CoverReportOptions, json, "as JSON, see docs/formats/cover-report-json.md"),
    OPT_FLAG(0, "full-paths", CoverReportOptions, full_paths,
             "do not leave out the folder that all files share"),
    OPT_PERCENT(0, "fail-under", CoverReportOptions, fail_under[GATE_LINES], "P",
                "end with status 3 when less than P percent of the lines ran"),
    OPT_PERCENT(0, "fail-under-functions", CoverReportOptions, fail_under[GATE_FUNCTIONS], "P",
                "the same for functions"),
    OPT_PERCENT(0, "fail-under-regions", CoverReportOptions, fail_under[GATE_REGIONS], "P",
                "the same for regions"),
    OPT_PERCENT(0, "fail-under-branches", CoverReportOptions, fail_under[GATE_BRANCHES], "P",
                "the same for branches"),
    OPT_PERCENT(0, "fail-under-mcdc", CoverReportOptions, fail_under[GATE_CONDITIONS], "P",
                "the same for conditions (MC/DC)"),
    OPT_I64(0, "fail-uncovered-lines", CoverReportOptions, uncovered[GATE_LINES], "N",
            "end with status 3 when more than N lines did not run"),
    OPT_I64(0, "fail-uncovered-functions", CoverReportOptions, uncovered[GATE_FUNCTIONS], "N",
            "the same for functions"),
    OPT_I64(0, "fail-uncovered-regions", CoverReportOptions, uncovered[GATE_REGIONS], "N",
            "the same for regions"),
    OPT_I64(0, "fail-uncovered-branches", CoverReportOptions, uncovered[GATE_BRANCHES], "N",
            "the same for branches"),
    OPT_FLAG(0, "per-file", CoverReportOptions, per_file,
             "each file must meet --fail-under and the other limits"),
    COLOUR_OPTION(CoverReportOptions, colour),
};

// ---- Rows ----------------------------------------------------------------------

// `changes`: beside a baseline, or NULL. Both lists are by path.
static void add_files(Arena *arena, const CoverSubjectVec *files, const CoverChanges *changes,
                      CoverReportRowVec *ret)
{
    for (size_t i = 0; i < files->len; i++)
        vec_push(arena, ret,
                 ((CoverReportRow){.path = files->at[i].path, .totals = files->at[i].totals}));
    for (size_t i = 0, k = 0; changes && i < changes->files.len; i++) {
        const CoverFileChange *c = &changes->files.at[i];
        while (k < files->len && str_compare(files->at[k].path, c->path) < 0)
            k++;
        bool is_known = c->has_now && k < files->len && str_equal(files->at[k].path, c->path);
        if (!is_known && !c->has_before)
            continue;
        if (!is_known)
            vec_push(arena, ret, ((CoverReportRow){.path = c->path, .is_gone = true}));
        CoverReportRow *row = is_known ? &ret->at[k] : &vec_last(ret);
        row->before = c->before;
        if (c->lines)
            memcpy(row->classes, c->lines->counts, sizeof(row->classes));
    }
}

// Sums files by their folder, in the order of the folders' first files.
static void add_folders(Arena *arena, const CoverReportRowVec *files, CoverReportRowVec *ret)
{
    Intern folders = {0};
    intern_init(&folders, arena);
    for (size_t i = 0; i < files->len; i++) {
        const CoverReportRow *file = &files->at[i];
        Str folder = str_dir_name(file->path);
        // Never the empty text, which has number 0.
        uint32_t id = intern_add(
            &folders, arena_printf(arena, "%" STR_FMT "/",
                                   STR_ARG(str_equal(folder, STR("/")) ? STR("") : folder)));
        if (id > ret->len)
            vec_push(arena, ret,
                     ((CoverReportRow){.path = intern_get(&folders, id), .is_gone = true}));
        CoverReportRow *row = &ret->at[id - 1];
        row->is_gone &= file->is_gone;
        cover_totals_add(&row->totals, &file->totals);
        cover_totals_add(&row->before, &file->before);
        for (int c = 0; c < COVER_CLASS_COUNT; c++)
            row->classes[c] += file->classes[c];
    }
    intern_deinit(&folders);
}

static bool is_named(const CoverReportOptions *o, Str readable, Str linkage_name)
{
    return o->name.len == 0 || str_glob_match(o->name, readable) ||
           str_glob_match(o->name, linkage_name);
}

static void add_functions(Arena *arena, const Profile *p, const CoverReportOptions *o,
                          CoverReportRowVec *ret)
{
    CoverSubjectVec functions = {0};
    cover_totals_by_function(arena, p, &functions);
    for (size_t i = 0; i < functions.len; i++) {
        const CoverSubject *f = &functions.at[i];
        Str name = profile_text(p, p->functions.name.at[f->function.v]);
        Str linkage_name = profile_text(p, p->functions.linkage_name.at[f->function.v]);
        if (is_named(o, name, linkage_name))
            vec_push(arena, ret,
                     ((CoverReportRow){.path = f->path,
                                       .totals = f->totals,
                                       .name = name,
                                       .linkage_name = linkage_name,
                                       .line = p->functions.line.at[f->function.v]}));
    }
}

// ---- Lines that did not run ------------------------------------------------------

// Of the lines [from, to). Lines without code do not break a run of lines.
static void find_missing(Arena *arena, const Profile *p, const CoverFiles *c,
                         const CoverFileRows *f, LineRange within, LineRangeVec *ret)
{
    const LineCounts *l = &p->line_counts;
    bool open = false; // the last line with code did not run
    for (uint32_t k = f->lines.first; k < f->lines.end; k++) {
        uint32_t row = c->lines.at[k], line = l->line.at[row];
        if (line < within.first || line >= within.end)
            continue;
        if (l->count.at[row] == 0 && open)
            vec_last(ret).end = line + 1;
        else if (l->count.at[row] == 0)
            vec_push(arena, ret, (LineRange){line, line + 1});
        open = l->count.at[row] == 0;
    }
}

// Of files, or of functions; `rows` and files are by path.
static void add_missing(Arena *arena, const Profile *p, CoverReportRowVec *rows)
{
    CoverFiles files = {0};
    cover_files_group(arena, p, &files);
    for (size_t i = 0, k = 0; i < files.files.len; i++) {
        const CoverFileRows *f = &files.files.at[i];
        Str path = profile_text(p, f->file);
        U32Vec starts = {0};
        cover_function_starts(p, &files, f, &starts);
        while (k < rows->len && str_compare(rows->at[k].path, path) < 0)
            k++;
        for (; k < rows->len && str_equal(rows->at[k].path, path); k++) {
            CoverReportRow *row = &rows->at[k];
            LineRange within = {0, UINT32_MAX};
            if (row->name.len)
                within = (LineRange){row->line, cover_next_start(&starts, row->line)};
            find_missing(arena, p, &files, f, within, &row->missing);
        }
        vec_free(&starts);
    }
}

// ---- Which rows, and in what order -------------------------------------------------

// Only rows within the limits of --line-coverage-lt and its like stay.
static void keep_within(CoverReportRowVec *rows, const CoverReportOptions *o)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->len; i++) {
        double lines = cover_percent(rows->at[i].totals.of[COVER_LINES]);
        double regions = cover_percent(rows->at[i].totals.of[COVER_REGIONS]);
        if ((o->lines_under < 0 || lines < o->lines_under) &&
            (o->lines_over < 0 || lines > o->lines_over) &&
            (o->regions_under < 0 || regions < o->regions_under) &&
            (o->regions_over < 0 || regions > o->regions_over))
            rows->at[kept++] = rows->at[i];
    }
    rows->len = kept;
}

static int compare_paths(const CoverReportRow *x, const CoverReportRow *y)
{
    int order = str_compare(x->path, y->path);
    if (order == 0)
        order = (x->line > y->line) - (x->line < y->line);
    return order ? order : str_compare(x->linkage_name, y->linkage_name);
}

static int compare_by_path(const void *a, const void *b)
{
    return compare_paths(a, b);
}

static int compare_by_missed(const void *a, const void *b)
{
    const CoverTally *x = &((const CoverReportRow *)a)->totals.of[COVER_LINES];
    const CoverTally *y = &((const CoverReportRow *)b)->totals.of[COVER_LINES];
    uint64_t p = x->count - x->covered, q = y->count - y->covered;
    return p != q ? (p < q) - (p > q) : compare_paths(a, b);
}

static int compare_by_cover(const void *a, const void *b)
{
    double p = cover_percent(((const CoverReportRow *)a)->totals.of[COVER_LINES]);
    double q = cover_percent(((const CoverReportRow *)b)->totals.of[COVER_LINES]);
    return p < q ? -1 : p > q ? 1 : compare_paths(a, b);
}

static void order_rows(CoverReportRowVec *rows, Str how)
{
    if (rows->len && how.len)
        qsort(rows->at, rows->len, sizeof(rows->at[0]),
              str_equal(how, STR("missed"))  ? compare_by_missed
              : str_equal(how, STR("cover")) ? compare_by_cover
                                             : compare_by_path);
}

// ---- Thresholds --------------------------------------------------------------------

static bool has_gate(const CoverReportOptions *o)
{
    for (int i = 0; i < GATE_COUNT; i++)
        if (o->fail_under[i] > 0 || o->uncovered[i] >= 0)
            return true;
    return false;
}

static Str prefix_of(Arena *arena, Str path)
{
    return path.len ? arena_printf(arena, "'%" STR_FMT "': ", STR_ARG(path)) : STR("");
}

// `path` is empty for the whole.
static bool misses_gate(const CoverReportOptions *o, int gate, const CoverTotals *totals, Str path,
                        Arena *arena)
{
    CoverTally t = totals->of[gates[gate].criterion];
    double limit = o->fail_under[gate];
    bool is_under = limit > 0 && cover_percent(t) < limit;
    bool is_over = o->uncovered[gate] >= 0 && t.count - t.covered > (uint64_t)o->uncovered[gate];
    if (is_under)
        cli_say("%" STR_FMT "%.2f%% of the %s ran, less than the %.2f%% asked for",
                STR_ARG(prefix_of(arena, path)), cover_percent(t), gates[gate].what, limit);
    if (is_over)
        cli_say("%" STR_FMT "%llu of the %s did not run, more than the %lld allowed",
                STR_ARG(prefix_of(arena, path)), (unsigned long long)(t.count - t.covered),
                gates[gate].what, (long long)o->uncovered[gate]);
    return is_under || is_over;
}

// Shares of something that was not measured pass no gate.
static bool misses_gates(const CoverReportOptions *o, const Profile *p, const CoverTotals *total,
                         const CoverSubjectVec *files, Arena *arena)
{
    bool missed = has_gate(o) && cover_is_unsound(p, o->inputs.llvm_rules);
    if (has_gate(o) && total->of[COVER_LINES].count == 0) {
        cli_say("the gate fails: there is no line to count");
        missed = true;
    }
    for (int gate = 0; gate < GATE_COUNT; gate++) {
        if (!o->per_file)
            missed |= misses_gate(o, gate, total, STR(""), arena);
        for (size_t i = 0; i < files->len && o->per_file; i++)
            missed |= misses_gate(o, gate, &files->at[i].totals, files->at[i].path, arena);
    }
    return missed;
}

// ---- The report --------------------------------------------------------------------

static bool print(const CoverReportOptions *o, const CoverReportTable *t)
{
    StrBuf out = {0};
    if (o->json)
        cover_report_add_json(&out, t);
    else if (o->markdown)
        cover_report_add_markdown(&out, t);
    else
        cover_report_add_text(&out, t);
    bool ok = cli_print(strbuf_str(&out));
    strbuf_deinit(&out);
    return ok;
}

static int report(Profile *p, const void *values, Arena *arena)
{
    const CoverReportOptions *o = values;
    CoverSubjectVec files = {0};
    CoverReportRowVec file_rows = {0};
    CoverFiles rows = {0};
    CoverBaseline baseline = {0};
    CoverChanges changes;
    Error err;
    CoverReportTable table = {.baseline = o->baseline.inputs.len,
                              .regions = cover_is_of_llvm_alone(p),
                              .instantiations = o->instantiations,
                              .missing = o->missing,
                              .full_paths = o->full_paths,
                              .terminal = terminal_get(o->colour)};
    if (table.baseline) {
        cover_files_group(arena, p, &rows);
        if (!cover_baseline_compare(&o->inputs, &o->baseline, (CoverSide){p, &rows}, STR(""), arena,
                                    &baseline, &changes, &err)) {
            cover_baseline_deinit(&baseline);
            return cli_fail(&err);
        }
        table.before = changes.before;
        memcpy(table.classes, changes.counts, sizeof(table.classes));
    }
    if (!o->functions || o->per_file)
        cover_totals_by_file(arena, p, &files);
    if (o->functions)
        add_functions(arena, p, o, &table.rows);
    else
        add_files(arena, &files, table.baseline ? &changes : NULL, &file_rows);
    if (o->folders)
        add_folders(arena, &file_rows, &table.rows);
    else if (!o->functions)
        table.rows = file_rows;
    for (size_t i = 0; i < table.rows.len; i++)
        cover_totals_add(&table.total, &table.rows.at[i].totals);
    if (o->missing)
        add_missing(arena, p, &table.rows);
    table.conditions = table.total.of[COVER_CONDITIONS].count > 0;
    keep_within(&table.rows, o);
    // Files of the baseline alone stand among the others.
    order_rows(&table.rows, table.baseline && o->sort.len == 0 ? STR("path") : o->sort);
    bool is_printed = print(o, &table);
    cover_baseline_deinit(&baseline);
    if (!is_printed)
        return STATUS_FAILED;
    return misses_gates(o, p, &table.total, &files, arena) ? STATUS_THRESHOLD : STATUS_OK;
}

static int report_inputs(CommandLine *line, void *values)
{
    CoverReportOptions *o = values;
    if (o->name.len && !o->functions)
        return usage_error(line->cmd, "--name chooses among the rows of --functions");
    if (o->functions && o->folders)
        return usage_error(line->cmd, "rows are of functions or of folders");
    if (o->missing && o->folders)
        return usage_error(line->cmd, "--missing lists lines of files or functions");
    if (o->functions && o->baseline.inputs.len)
        return usage_error(line->cmd, "--baseline compares files or folders");
    if (!cover_baseline_check(line->cmd, &o->baseline))
        return STATUS_USAGE;
    // Demangling costs as much as the rest, so it is left out for names that are not shown.
    o->inputs.demangle = o->functions;
    o->inputs.wants = COVER_WANT_REGIONS |
                      (o->missing || o->baseline.inputs.len ? COVER_WANT_ROWS : 0) |
                      (!o->functions || o->per_file ? COVER_WANT_FILE_TOTALS : 0) |
                      (o->functions ? COVER_WANT_FUNCTION_TOTALS : 0);
    return cover_show_inputs(&o->inputs, &line->operands, report, o);
}

static int run(const Command *cmd, int argc, char **argv)
{
    CoverReportOptions o = {.lines_under = -1,
                            .lines_over = -1,
                            .regions_under = -1,
                            .regions_over = -1,
                            .uncovered = {-1, -1, -1, -1, -1}};
    return command_run_parsed(cmd, argc, argv, &o, report_inputs);
}

static const ForeignOption foreign[] = {
    COVER_FOREIGN_OPTIONS,
    {0, "summary-only", FOREIGN_IGNORED, NULL},
    {0, "show-branch-summary", FOREIGN_IGNORED, NULL},
    {0, "show-region-summary", FOREIGN_IGNORED, NULL},
    {0, "txt", FOREIGN_IGNORED, NULL},
    {0, "show-functions", FOREIGN_REFUSED, "--functions"},
    {0, "show-missing-lines", FOREIGN_REFUSED, "--missing"},
    {0, "fail-under-line", FOREIGN_REFUSED, "--fail-under P"},
    {0, "fail-under-lines", FOREIGN_REFUSED, "--fail-under P"},
    {0, "skip-covered", FOREIGN_REFUSED, "--line-coverage-lt 100"},
    {0, "skip-empty", FOREIGN_REFUSED, "--line-coverage-lt 100"},
    {'r', "root", FOREIGN_REFUSED, "name the folder as an input, or --include 'DIR/*'"},
    {0, "html", FOREIGN_REFUSED, "assay cover export --format html -o FILE"},
    {0, "xml", FOREIGN_REFUSED, "assay cover export --format cobertura -o FILE"},
    {0, "cobertura", FOREIGN_REFUSED, "assay cover export --format cobertura -o FILE"},
    {0, "lcov", FOREIGN_REFUSED, "assay cover export --format lcov -o FILE"},
    {0, "json-format", FOREIGN_REFUSED, "assay cover export --format gcov-json -o FILE"},
};

const Command cover_report_command = {
    .name = "report",
    .summary = "lines, functions, regions and branches that ran, by source file",
    .first = "  assay cover report                   the results of assay cover run\n"
             "  assay cover report --missing         the lines that did not run\n"
             "  assay cover report ./prog *.profraw  files of clang or rustc\n",
    .usage = "[OPTION ...] OBJECT ... PROFILE ...",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .foreign = foreign,
    .foreign_count = ARRAY_LEN(foreign),
    .run = run,
};
