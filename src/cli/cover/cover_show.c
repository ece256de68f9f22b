// SPDX-License-Identifier: Apache-2.0
// assay cover show: sources with counts, as lprof listed them.

#include <stdlib.h>

#include "analyse/cover/totals.h"
#include "cli/cli.h"
#include "cli/cover/cover_commands.h"
#include "cli/cover/cover_load.h"
#include "cli/cover/cover_options.h"
#include "cli/cover/cover_views.h"
#include "cli/pager.h"
#include "cli/terminal.h"
#include "coverage/source_text.h"
#include "model/facts.h"

typedef struct CoverShowOptions {
    CoverRequest inputs;
    CoverViewOptions views;
    bool listing, unexecuted, summary, demangled, missing, no_pager;
    StrVec sources, counts, functions;
    StrVec operands; // as the user wrote them
    Str program, colour;
} CoverShowOptions;

static const Option options[] = {
    OPT_FLAG('p', NULL, CoverShowOptions, listing,
             "the listing; needed only beside -s, to get both"),
    OPT_FLAG('s', NULL, CoverShowOptions, summary,
             "the percentage of lines that ran of each function"),
    OPT_FLAG('x', NULL, CoverShowOptions, unexecuted,
             "no counts; [U] before the number of each line that did not run"),
    OPT_LIST('r', NULL, CoverShowOptions, sources, "FILE",
             "only this source file, by its name or the end of its path"),
    OPT_LIST('F', "name", CoverShowOptions, functions, "FUNCTION",
             "only this function's lines, by its name or a pattern (*)"),
    OPT_FLAG('C', NULL, CoverShowOptions, demangled,
             "names as they are in the source; they always are"),
    OPT_TEXT('o', NULL, CoverShowOptions, program, "PROG", "the program; lprof's spelling"),
    OPT_LIST('c', NULL, CoverShowOptions, counts, "FILE", "a profile; lprof's spelling"),
    OPT_FLAG('m', "missing", CoverShowOptions, missing,
             "only lines that did not run, with three lines around each"),
    COVER_VIEW_OPTIONS(CoverShowOptions, views),
    COVER_INPUT_OPTIONS(CoverShowOptions, inputs),
    COLOUR_OPTION(CoverShowOptions, colour),
    NO_PAGER_OPTION(CoverShowOptions, no_pager),
};

// Whether `path` is `end`, or ends in it behind a separator.
static bool is_path_end(Str path, Str end, Str separator)
{
    if (str_equal(path, end))
        return true;
    return str_ends_with(path, end) &&
           str_ends_with(str_slice(path, 0, path.len - end.len), separator);
}

// Whether `path` is what -r names: the same, or ending in it behind a slash.
static bool is_wanted(const StrVec *wanted, Str path)
{
    for (size_t i = 0; i < wanted->len; i++) {
        if (is_path_end(path, wanted->at[i], STR("/")))
            return true;
    }
    return wanted->len == 0;
}

typedef struct Listing {
    const CoverShowOptions *o;
    const Profile *p;
    const CoverFiles *c;
    StrBuf out;
    CoverViews views;
    Terminal terminal;
    // Of the present file, ascending: lines of the functions that -F names, and lines near
    // one that did not run.
    LineRangeVec named, near;
    bool failed;
} Listing;

// -F: the name, with its scope or without, or a pattern; parameters may be left out.
static bool names_function(const StrVec *wanted, Str name)
{
    Str plain = str_slice(name, 0, str_find_char(name, '('));
    for (size_t i = 0; i < wanted->len; i++)
        if (str_glob_match(wanted->at[i], name) || str_glob_match(wanted->at[i], plain) ||
            is_path_end(plain, wanted->at[i], STR("::")))
            return true;
    return wanted->len == 0;
}

// ---- Which lines ---------------------------------------------------------------

// Adds [first, end) to ranges that ascend by their starts.
static void add_range(LineRangeVec *ranges, uint32_t first, uint32_t end)
{
    if (ranges->len && first <= vec_last(ranges).end)
        vec_last(ranges).end = MAX(vec_last(ranges).end, end);
    else
        vec_push(NULL, ranges, (LineRange){first, end});
}

static bool in_ranges(const LineRangeVec *ranges, uint32_t line)
{
    size_t at = PARTITION_POINT(i, ranges->len, ranges->at[i].end <= line);
    return at < ranges->len && ranges->at[at].first <= line;
}

static int compare_ranges(const void *a, const void *b)
{
    const LineRange *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

// The end of the code on the lines [from, to): what stands behind it belongs to the next
// function.
static uint32_t code_end(const Listing *l, const CoverFileRows *f, uint32_t from, uint32_t to)
{
    const U32Vec *lines = &l->p->line_counts.line;
    const uint32_t *rows = l->c->lines.at + f->lines.first;
    size_t count = f->lines.end - f->lines.first;
    size_t behind = PARTITION_POINT(i, count, lines->at[rows[i]] < to);
    return behind ? MAX(lines->at[rows[behind - 1]], from) + 1 : from + 1;
}

static void find_named(Listing *l, const CoverFileRows *f)
{
    const Profile *p = l->p;
    U32Vec starts = {0};
    LineRangeVec found = {0};
    cover_function_starts(p, l->c, f, &starts);
    for (uint32_t i = f->functions.first; i < f->functions.end; i++) {
        FunctionId id = p->function_counts.function.at[l->c->functions.at[i]];
        uint32_t from = p->functions.line.at[id.v];
        if (names_function(&l->o->functions, profile_text(p, p->functions.name.at[id.v])))
            vec_push(NULL, &found,
                     ((LineRange){from, code_end(l, f, from, cover_next_start(&starts, from))}));
    }
    if (found.len)
        qsort(found.at, found.len, sizeof(found.at[0]), compare_ranges);
    for (size_t i = 0; i < found.len; i++)
        add_range(&l->named, found.at[i].first, found.at[i].end);
    vec_free(&found);
    vec_free(&starts);
}

static bool is_of_named(const Listing *l, uint32_t line)
{
    return l->o->functions.len == 0 || in_ranges(&l->named, line);
}

static void find_near(Listing *l, const CoverFileRows *f)
{
    enum { AROUND = 3 };
    for (uint32_t i = f->lines.first; i < f->lines.end; i++) {
        uint32_t row = l->c->lines.at[i], line = l->p->line_counts.line.at[row];
        if (l->p->line_counts.count.at[row] == 0 && is_of_named(l, line))
            add_range(&l->near, line > AROUND ? line - AROUND : 1, line + AROUND + 1);
    }
}

// False when the file has none of the functions that -F names.
static bool find_lines(Listing *l, const CoverFileRows *f)
{
    l->named.len = l->near.len = 0;
    if (l->o->functions.len)
        find_named(l, f);
    if (l->o->missing)
        find_near(l, f);
    return l->o->functions.len == 0 || l->named.len;
}

static bool is_listed(const Listing *l, uint32_t line)
{
    return is_of_named(l, line) && (!l->o->missing || in_ranges(&l->near, line));
}

// ---- The listing ---------------------------------------------------------------

static void add_line(Listing *l, uint32_t number, bool is_mapped, uint64_t count, Str text)
{
    StrBuf *out = &l->out;
    Style style = is_mapped && count == 0 ? STYLE_HOT : STYLE_PLAIN;
    style_begin(out, &l->terminal, style);
    if (!is_mapped)
        strbuf_printf(out, l->o->unexecuted ? "%15s" : "%20s", "");
    else if (l->o->unexecuted)
        strbuf_printf(out, "%4s [%u]", count ? "" : "[U]", number);
    else
        strbuf_printf(out, "%10llu [%u]", (unsigned long long)count, number);
    if (is_mapped) {
        unsigned digits = 1;
        for (uint32_t n = number; n >= 10; n /= 10)
            digits++;
        strbuf_add_repeated(out, ' ', digits < 7 ? 7 - digits + (l->o->unexecuted ? 1 : 0) : 1);
    }
    // Tabs stay: they are the source's.
    for (size_t at = 0; at <= text.len;) {
        Str rest = str_slice(text, at, text.len);
        size_t tab = str_find_char(rest, '\t');
        strbuf_add_terminal(out, str_slice(rest, 0, tab));
        if (tab == SIZE_MAX)
            break;
        strbuf_add_char(out, '\t');
        at += tab + 1;
    }
    style_end(out, &l->terminal, style);
    strbuf_add_char(out, '\n');
}

// Writes the text so far, except for a pager, which gets everything at once from flush_last.
static void flush(Listing *l)
{
    if (pager_is_possible(l->o->no_pager))
        return;
    if (!l->failed)
        l->failed = !cli_print(strbuf_str(&l->out));
    strbuf_clear(&l->out);
}

static void flush_last(Listing *l)
{
    if (!l->failed && l->out.len)
        l->failed = !pager_print(strbuf_str(&l->out), true, l->o->no_pager);
}

static void list_file(Listing *l, const CoverFileRows *f, CoverSources *sources)
{
    Str path = profile_text(l->p, f->file), text = {0}, line;
    strbuf_add(&l->out, STR("SOURCE FILE: "));
    strbuf_add_terminal(&l->out, path);
    strbuf_add(&l->out, STR("\n\n"));
    bool found = cover_source_text(sources, path, &text);
    if (!found && sources->is_outside)
        strbuf_add(&l->out, STR("(the source lies outside the project, so it is not read: name "
                                "its folder with -I, or start in a folder above it)\n"));
    else if (!found)
        strbuf_add(&l->out, STR("(the source is not here; -I names folders to search)\n"));
    uint32_t at = f->lines.first, number = 0, last = 0;
    cover_views_begin(&l->views, f);
    while (found && str_next_line(&text, &line)) {
        number++;
        bool mapped = at < f->lines.end && l->p->line_counts.line.at[l->c->lines.at[at]] == number;
        uint64_t count = mapped ? l->p->line_counts.count.at[l->c->lines.at[at]] : 0;
        if (is_listed(l, number)) {
            if (last && last + 1 != number)
                strbuf_add(&l->out, STR("...\n"));
            last = number;
            add_line(l, number, mapped, count, line);
            cover_views_add(&l->views, number, count, l->o->unexecuted ? 15 : 20, &l->out);
        }
        while (at < f->lines.end && l->p->line_counts.line.at[l->c->lines.at[at]] <= number)
            at++;
        if (l->out.len > 1 << 16)
            flush(l);
    }
    for (; at < f->lines.end; at++)
        if (is_listed(l, l->p->line_counts.line.at[l->c->lines.at[at]]))
            add_line(l, l->p->line_counts.line.at[l->c->lines.at[at]], true,
                     l->p->line_counts.count.at[l->c->lines.at[at]], STR(""));
    strbuf_add_char(&l->out, '\n');
}

// Adds "percentage, lines that ran, lines" of the lines [from, to).
static void add_share(Listing *l, const CoverFileRows *f, uint32_t from, uint32_t to)
{
    CoverTotals t = cover_range_totals(l->p, l->c, f, from, to);
    CoverTally lines = t.of[COVER_LINES];
    strbuf_printf(&l->out, "%6.1f%% %6llu of %-6llu ",
                  lines.count ? 100.0 * (double)lines.covered / (double)lines.count : 0.0,
                  (unsigned long long)lines.covered, (unsigned long long)lines.count);
}

// The end of a function is where the next one of the file starts: profiles state
// only starts.
static void summarise_functions(Listing *l, const CoverFileRows *f)
{
    const Profile *p = l->p;
    strbuf_add(&l->out, STR("SOURCE FILE: "));
    strbuf_add_terminal(&l->out, profile_text(p, f->file));
    strbuf_add(&l->out, STR("\n\n"));
    U32Vec starts = {0};
    cover_function_starts(p, l->c, f, &starts);
    for (uint32_t i = f->functions.first; i < f->functions.end; i++) {
        FunctionId id = p->function_counts.function.at[l->c->functions.at[i]];
        uint32_t from = p->functions.line.at[id.v];
        if (!names_function(&l->o->functions, profile_text(p, p->functions.name.at[id.v])))
            continue;
        add_share(l, f, from, cover_next_start(&starts, from));
        strbuf_add_terminal(&l->out, profile_text(p, p->functions.name.at[id.v]));
        strbuf_add_char(&l->out, '\n');
    }
    vec_free(&starts);
    strbuf_add_char(&l->out, '\n');
}

static void say_changed(const Profile *p, Str path)
{
    FileIdentity identity;
    Error err;
    uint64_t built_ns;
    if (profile_fact_u64(p, STR(FACT_COVER_BUILT), &built_ns) &&
        os_file_identity(path, &identity, &err) && identity.mtime_ns > (int64_t)built_ns)
        cli_say("'%" STR_FMT "' was changed after the program was built: counts may stand beside "
                "other lines",
                STR_ARG(path));
}

// The user may name a source outside the project: "show PROG PROFILE ../lib.c". That file is read.
static void add_named_sources(Arena *arena, const StrVec *operands, SourceRoots *roots)
{
    for (size_t i = 0; i < operands->len; i++)
        if (source_has_suffix(operands->at[i]))
            source_roots_add(arena, roots, operands->at[i]);
}

static int show(Profile *p, const void *values, Arena *arena)
{
    const CoverShowOptions *o = values;
    CoverFiles files = {0};
    cover_files_group(arena, p, &files);
    Arena arena_of_roots = {0};
    SourceRoots roots;
    source_roots_init(&arena_of_roots, &o->inputs.filter.source_folders, &roots);
    add_named_sources(&arena_of_roots, &o->operands, &roots);
    Listing l = {
        .o = o,
        .p = p,
        .c = &files,
        .views = {.o = &o->views,
                  .p = p,
                  .c = &files,
                  .sources = {.folders = o->inputs.filter.source_folders, .roots = &roots}},
        .terminal = terminal_get(o->colour)};
    CoverSources sources = {.folders = o->inputs.filter.source_folders, .roots = &roots};
    bool any = false;
    for (size_t i = 0; i < files.files.len && !l.failed; i++) {
        const CoverFileRows *f = &files.files.at[i];
        if (!is_wanted(&o->sources, profile_text(p, f->file)) || !find_lines(&l, f))
            continue;
        any = true;
        if (o->missing && l.near.len == 0)
            continue;
        say_changed(p, profile_text(p, f->file));
        if (o->listing || !o->summary)
            list_file(&l, f, &sources);
        if (o->summary)
            summarise_functions(&l, f);
        flush(&l);
    }
    flush_last(&l);
    cover_sources_deinit(&sources);
    arena_deinit(&arena_of_roots);
    cover_views_deinit(&l.views);
    vec_free(&l.named);
    vec_free(&l.near);
    strbuf_deinit(&l.out);
    if (!any) {
        cli_say("no %s of that name has counts", o->functions.len ? "function" : "source file");
        return STATUS_FAILED;
    }
    return l.failed ? STATUS_FAILED : STATUS_OK;
}

static int show_inputs(CommandLine *line, void *values)
{
    CoverShowOptions *o = values;
    o->inputs.wants = COVER_WANT_ROWS | COVER_WANT_REGIONS | cover_views_wants(&o->views);
    if (o->program.len)
        vec_push(line->arena, &line->operands, o->program);
    for (size_t i = 0; i < o->counts.len; i++)
        vec_push(line->arena, &line->operands, o->counts.at[i]);
    o->operands = line->operands;
    return cover_show_inputs(&o->inputs, &line->operands, show, values);
}

static int run(const Command *cmd, int argc, char **argv)
{
    CoverShowOptions o = {.inputs.demangle = true};
    return command_run_parsed(cmd, argc, argv, &o, show_inputs);
}

static const ForeignOption foreign[] = {
    COVER_FOREIGN_OPTIONS,
    {0, "show-line-counts", FOREIGN_IGNORED, NULL},
    {0, "show-line-counts-or-regions", FOREIGN_REFUSED, "--show-regions"},
    {0, "name-regex", FOREIGN_REFUSED, "--name FUNCTION names one function"},
    {0, "format", FOREIGN_REFUSED, "assay cover export --format html -o FILE"},
    {0, "output-dir", FOREIGN_REFUSED, "assay cover export --format html -o FILE"},
    {0, "html", FOREIGN_REFUSED, "assay cover export --format html -o FILE"},
};

const Command cover_show_command = {
    .name = "show",
    .summary = "source lines with their counts, as lprof lists them",
    .first = "  assay cover show -F FUNCTION  the lines of a function\n"
             "  assay cover show -r FILE      the lines of a source file\n"
             "  assay cover show --missing    only the lines that did not run\n",
    .usage = "[OPTION ...] OBJECT ... PROFILE ...",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .foreign = foreign,
    .foreign_count = ARRAY_LEN(foreign),
    .run = run,
};
