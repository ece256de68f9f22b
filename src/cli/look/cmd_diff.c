// SPDX-License-Identifier: Apache-2.0
// assay diff: what changed between two recordings.

#include <math.h>

#include "analyse/diff/profile_diff.h"
#include "analyse/fit.h"
#include "analyse/heap/heap_view.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/look/heap_screen.h"
#include "cli/look/view_options.h"
#include "cli/pager.h"
#include "export/report_json.h"
#include "model/facts.h"
#include "os/file.h"

enum { DIFF_JSON_VERSION = 1, DIFF_ROWS = 12 };

typedef struct DiffByWord {
    const char *word;
    DiffBy by;
} DiffByWord;
static const DiffByWord bys[] = {
    {"function", DIFF_BY_FUNCTION}, {"stack", DIFF_BY_STACK}, {"line", DIFF_BY_LINE}};
static const Choices by_words = CHOICES_OF(bys, word);

typedef struct DiffOptions {
    SelectionOptions selection;
    RecordingFiles files;
    const DiffByWord *by;
    Str sort, colour, output;
    bool json, wide, force, no_pager;
    uint64_t limit;
} DiffOptions;

static const uint64_t LIMIT_DEFAULT = UINT64_MAX; // the user gave no --limit

static const Option diff_options[] = {
    OPT_ROW(0, "by", DiffOptions, by, DiffByWord, "WHAT", &by_words,
            "what makes two rows one: the function and what it was inlined into, all functions of "
            "the stack, or file and line"),
    OPT_TEXT(
        's', "sort", DiffOptions, sort, "KEY",
        "recordings of the heap: the metric, by its word of assay report: total, blocks, peak, "
        "end, short-lived, lifetime, malloc-time, copied"),
    SELECTION_OPTIONS(DiffOptions, selection),
    RECORDING_FILE_OPTIONS(DiffOptions, files),
    OPT_U64(0, "limit", DiffOptions, limit, "N", "show at most N rows; 0 for all"),
    OPT_FLAG('w', "wide", DiffOptions, wide, "do not cut names to the terminal"),
    OPT_FLAG(0, "json", DiffOptions, json, "as JSON, see docs/formats/diff-json.md"),
    OPT_TEXT('o', "output", DiffOptions, output, "FILE", "write to FILE, not to the terminal"),
    OPT_FLAG(0, "force", DiffOptions, force, "replace an existing output file"),
    COLOUR_OPTION(DiffOptions, colour),
    NO_PAGER_OPTION(DiffOptions, no_pager),
};

typedef struct Diff {
    const DiffOptions *o;
    Str path[DIFF_SIDES];
    ProfileDiff d;
    size_t metric;
    Terminal terminal;
} Diff;

static const char *const side_names[DIFF_SIDES] = {"old", "new"};

// ---- Text ------------------------------------------------------------------------------------

static void add_right(StrBuf *out, Str text, size_t columns)
{
    size_t taken = str_columns(text);
    strbuf_add_repeated(out, ' ', columns > taken ? columns - taken : 0);
    strbuf_add(out, text);
}

// A value in ten columns: "-" where it is 0, "?" where the recording does not have the metric.
static void add_amount(StrBuf *out, uint64_t value, const DiffMetric *m, bool known)
{
    StrBuf text = {0};
    if (!known)
        strbuf_add(&text, STR("?"));
    else if (value == 0)
        strbuf_add(&text, STR("-"));
    else if (m->unit.len == 0)
        add_rounded_count(&text, (double)value);
    else
        add_value(&text, value, m->unit);
    add_right(out, strbuf_str(&text), 10);
    strbuf_deinit(&text);
}

static void add_change(StrBuf *out, uint64_t was, uint64_t is, const DiffMetric *m)
{
    StrBuf text = {0};
    uint64_t by = was > is ? was - is : is - was;
    if (by == 0) {
        strbuf_add(&text, STR("="));
    } else {
        strbuf_add_char(&text, was > is ? '-' : '+');
        if (m->unit.len == 0)
            add_rounded_count(&text, (double)by);
        else
            add_value(&text, by, m->unit);
    }
    add_right(out, strbuf_str(&text), 11);
    strbuf_clear(&text);
    if (was == 0 && is)
        strbuf_add(&text, STR("new"));
    else if (is == 0 && was)
        strbuf_add(&text, STR("gone"));
    else if (by)
        strbuf_printf(&text, "%+.1f%%", ((double)is / (double)was - 1) * 100);
    add_right(out, strbuf_str(&text), 9);
    strbuf_deinit(&text);
}

static void add_side(StrBuf *out, const Diff *d, int side, size_t columns)
{
    const Profile *p = d->d.profile[side];
    StrBuf line = {0};
    Str command = profile_fact(p, STR(FACT_COMMAND));
    strbuf_printf(&line, "%s  ", side_names[side]);
    strbuf_add(&line, d->path[side]);
    if (command.len) {
        strbuf_add(&line, STR("  "));
        strbuf_add(&line, command);
    }
    text_add_fitting(out, strbuf_str(&line), columns, false);
    strbuf_add_char(out, '\n');
    strbuf_deinit(&line);
}

static void add_totals_row(StrBuf *out, const Diff *d, size_t metric)
{
    const DiffMetric *m = &d->d.metrics.at[metric];
    bool both = m->known[DIFF_OLD] && m->known[DIFF_NEW];
    add_amount(out, m->total[DIFF_OLD], m, m->known[DIFF_OLD]);
    add_amount(out, m->total[DIFF_NEW], m, m->known[DIFF_NEW]);
    if (both)
        add_change(out, m->total[DIFF_OLD], m->total[DIFF_NEW], m);
    else
        strbuf_add_repeated(out, ' ', 20);
    strbuf_add(out, STR("  "));
    text_add_fitting(out, m->name, 36, false);
    strbuf_add_char(out, '\n');
}

// The sums that matter: of recordings of the heap four metrics, else the one that is shown.
static void add_totals(StrBuf *out, const Diff *d)
{
    static const char *const heap[] = {"blocks allocated", "bytes allocated", "bytes at peak",
                                       "bytes at end"};
    bool shown = false;
    for (size_t i = 0; i < ARRAY_LEN(heap); i++) {
        size_t metric = profile_diff_metric(&d->d, str_from_c(heap[i]));
        if (metric == SIZE_MAX)
            continue;
        add_totals_row(out, d, metric);
        shown |= metric == d->metric;
    }
    if (!shown)
        add_totals_row(out, d, d->metric);
}

static void add_row_name(StrBuf *out, const Diff *d, const DiffRow *row, size_t columns)
{
    int side = row->frame[DIFF_NEW].v ? DIFF_NEW : DIFF_OLD;
    const Profile *p = d->d.profile[side];
    uint32_t frame = row->frame[side].v;
    StrBuf place = {0};
    if (frame && p->frames.file.at[frame].v && d->o->by != &bys[DIFF_BY_LINE]) {
        strbuf_add(&place, str_base_name(profile_text(p, p->frames.file.at[frame])));
        if (p->frames.line.at[frame])
            strbuf_printf(&place, ":%u", p->frames.line.at[frame]);
    }
    size_t place_columns = place.len ? MIN(str_columns(strbuf_str(&place)) + 1, columns / 2) : 0;
    name_add_fitting(out, row->name, columns == SIZE_MAX ? SIZE_MAX : columns - place_columns);
    if (place.len) {
        strbuf_add_char(out, ' ');
        text_add_fitting(out, strbuf_str(&place), place_columns - 1, true);
    }
    if (columns == SIZE_MAX && row->path.len) {
        strbuf_add(out, STR(" < "));
        strbuf_add_terminal(out, row->path);
    }
    strbuf_deinit(&place);
}

static void add_rows(StrBuf *out, const Diff *d, size_t limit)
{
    const DiffMetric *m = &d->d.metrics.at[d->metric];
    size_t columns = d->o->wide ? SIZE_MAX : MIN(d->terminal.columns, (size_t)160);
    size_t shown = 0, equal = 0, changed = 0;
    for (size_t i = 0; i < d->d.rows.len; i++) {
        const DiffRow *row = &d->d.rows.at[i];
        uint64_t was = row->value[DIFF_OLD][d->metric], is = row->value[DIFF_NEW][d->metric];
        equal += was == is && was;
        if (was == is)
            continue;
        changed++;
        if (limit && shown == limit)
            continue;
        if (shown++ == 0) {
            style_begin(out, &d->terminal, STYLE_DIM);
            strbuf_printf(out, "%10s%10s%11s%9s  %" STR_FMT " by\n", "old", "new", "change", "",
                          STR_ARG(text_prefix(m->name, 28)));
            style_end(out, &d->terminal, STYLE_DIM);
        }
        add_amount(out, was, m, true);
        add_amount(out, is, m, true);
        add_change(out, was, is, m);
        strbuf_add(out, STR("  "));
        add_row_name(out, d, row, columns == SIZE_MAX ? SIZE_MAX : MAX(columns, (size_t)66) - 42);
        strbuf_add_char(out, '\n');
    }
    if (changed == 0)
        strbuf_add(out, STR("nothing changed\n"));
    if (shown < changed)
        strbuf_printf(out, "%zu more rows changed (--limit 0)\n", changed - shown);
    if (equal)
        strbuf_printf(out, "%zu row%s as before\n", equal, equal == 1 ? " is" : "s are");
}

static void add_text(StrBuf *out, const Diff *d)
{
    size_t columns = d->o->wide ? SIZE_MAX : d->terminal.columns;
    for (int side = 0; side < DIFF_SIDES; side++)
        add_side(out, d, side, columns);
    strbuf_add_char(out, '\n');
    style_begin(out, &d->terminal, STYLE_DIM);
    strbuf_printf(out, "%10s%10s%11s\n", "old", "new", "change");
    style_end(out, &d->terminal, STYLE_DIM);
    add_totals(out, d);
    strbuf_add_char(out, '\n');
    add_rows(out, d, d->o->limit == LIMIT_DEFAULT ? DIFF_ROWS : (size_t)d->o->limit);
}

// ---- JSON ------------------------------------------------------------------------------------

static void add_json_pair(JsonWriter *w, const DiffMetric *m, const uint64_t value[DIFF_SIDES])
{
    json_begin_object(w, NULL);
    for (int side = 0; side < DIFF_SIDES; side++) {
        if (m->known[side])
            json_u64(w, side_names[side], value[side]);
        else
            json_null(w, side_names[side]);
    }
    json_end(w);
}

static void add_json_row(JsonWriter *w, const Diff *d, const DiffRow *row)
{
    json_begin_object(w, NULL);
    json_str(w, "name", row->name);
    if (row->path.len)
        json_str(w, "path", row->path);
    for (int side = 0; side < DIFF_SIDES; side++) {
        const Profile *p = d->d.profile[side];
        uint32_t frame = row->frame[side].v;
        if (!frame || p->frames.file.at[frame].v == 0)
            continue;
        json_begin_object(w, side == DIFF_OLD ? "old_place" : "new_place");
        json_str(w, "file", profile_text(p, p->frames.file.at[frame]));
        json_u64(w, "line", p->frames.line.at[frame]);
        json_end(w);
    }
    json_begin_object(w, "values");
    for (size_t m = 0; m < d->d.metrics.len; m++) {
        uint64_t value[DIFF_SIDES] = {row->value[DIFF_OLD][m], row->value[DIFF_NEW][m]};
        if (value[DIFF_OLD] == 0 && value[DIFF_NEW] == 0)
            continue;
        json_key(w, d->d.metrics.at[m].name);
        add_json_pair(w, &d->d.metrics.at[m], value);
    }
    json_end(w);
    json_end(w);
}

static void add_json(StrBuf *out, const Diff *d)
{
    JsonWriter w = json_writer(out, 2);
    json_begin_object(&w, NULL);
    json_str(&w, "schema", STR("assay-diff"));
    json_u64(&w, "version", DIFF_JSON_VERSION);
    for (int side = 0; side < DIFF_SIDES; side++) {
        json_begin_object(&w, side_names[side]);
        json_str(&w, "path", d->path[side]);
        report_json_add_facts(&w, d->d.profile[side]);
        report_json_add_notes(&w, d->d.profile[side]);
        json_end(&w);
    }
    json_str(&w, "by", str_from_c(d->o->by->word));
    json_str(&w, "sorted_by", d->d.metrics.at[d->metric].name);
    json_begin_array(&w, "metrics");
    for (size_t m = 0; m < d->d.metrics.len; m++) {
        const DiffMetric *metric = &d->d.metrics.at[m];
        json_begin_object(&w, NULL);
        json_str(&w, "name", metric->name);
        json_str(&w, "unit", metric->unit);
        for (int side = 0; side < DIFF_SIDES; side++) {
            if (metric->known[side])
                json_u64(&w, side_names[side], metric->total[side]);
            else
                json_null(&w, side_names[side]);
        }
        json_end(&w);
    }
    json_end(&w);
    json_begin_array(&w, "rows");
    size_t limit =
        d->o->limit == LIMIT_DEFAULT || d->o->limit == 0 ? d->d.rows.len : (size_t)d->o->limit;
    for (size_t i = 0; i < MIN(limit, d->d.rows.len); i++)
        add_json_row(&w, d, &d->d.rows.at[i]);
    json_end(&w);
    json_end(&w);
    strbuf_add_char(out, '\n');
}

// ---- The command -----------------------------------------------------------------------------

// The name of the metric to sort by: -e, else --sort, else the first of the new recording.
static bool metric_to_show(Diff *d, const Selection *s, Error *err)
{
    const Profile *p = d->d.profile[DIFF_NEW];
    const HeapSortWord *word = heap_sort_find(d->o->sort);
    MetricId id = s->metric;
    if (d->d.metrics.len == 0)
        return error_set(err, ERROR_NOT_FOUND, "the recordings have neither samples nor counts");
    if (d->o->sort.len && (!word || !heap_metric_find(p, word->metric, &id)))
        return error_set(err, ERROR_USAGE,
                         "--sort %" STR_FMT " is no metric of recordings of the heap",
                         STR_ARG(d->o->sort));
    d->metric = 0;
    if (id.v < p->metrics.name.len)
        d->metric = profile_diff_metric(&d->d, profile_text(p, p->metrics.name.at[id.v]));
    return true;
}

static int write_diff(const Diff *d)
{
    StrBuf out = {0};
    Error err;
    int status = STATUS_OK;
    if (d->o->json)
        add_json(&out, d);
    else
        add_text(&out, d);
    if (!names_file(d->o->output))
        status =
            pager_print(strbuf_str(&out), d->o->json, d->o->no_pager) ? STATUS_OK : STATUS_FAILED;
    else if (!os_write_file(d->o->output, bytes_from_str(strbuf_str(&out)),
                            d->o->force ? OUTPUT_REPLACE : OUTPUT_KEEP, &err))
        status = cli_fail(&err);
    strbuf_deinit(&out);
    return status;
}

static int compare(Diff *d, const Profile *p, Arena *arena)
{
    Selection selection[DIFF_SIDES];
    Error err;
    for (int side = 0; side < DIFF_SIDES; side++) {
        SelectionOptions options = d->o->selection;
        MetricId unused;
        // A metric that only one of them has is compared with nothing.
        if (options.metric.len && side == DIFF_OLD &&
            !metric_find(&p[side], options.metric, &unused, &err))
            options.metric = STR("");
        if (!selection_from_options(&options, &p[side], arena, &selection[side], &err))
            return cli_fail(&err);
    }
    if (!profile_diff_init(&d->d, &p[DIFF_OLD], &selection[DIFF_OLD], &p[DIFF_NEW],
                           &selection[DIFF_NEW], d->o->by->by, &err))
        return cli_fail(&err);
    int status;
    if (metric_to_show(d, &selection[DIFF_NEW], &err)) {
        profile_diff_sort(&d->d, d->metric);
        status = write_diff(d);
    } else {
        status = cli_fail(&err);
    }
    profile_diff_deinit(&d->d);
    return status;
}

static int diff(CommandLine *line, void *values)
{
    DiffOptions *o = values;
    Diff d = {.o = o, .terminal = terminal_get(o->colour)};
    Profile p[DIFF_SIDES];
    Error err;
    int status = STATUS_OK, loaded = 0;
    if (line->operands.len != DIFF_SIDES)
        return usage_error(line->cmd, "diff compares two recordings, the old one first");
    if (!o->by)
        o->by = &bys[0];
    if (names_file(o->output) && !str_equal(o->colour, STR("always")))
        d.terminal.colour = false;
    for (; loaded < DIFF_SIDES && status == STATUS_OK; loaded++) {
        d.path[loaded] = line->operands.at[loaded];
        if (!load_recording(d.path[loaded], &o->files, false, &p[loaded], NULL, &err)) {
            status = cli_fail(&err);
            break;
        }
    }
    if (status == STATUS_OK)
        status = compare(&d, p, line->arena);
    while (loaded > 0)
        profile_deinit(&p[--loaded]);
    return status;
}

static int run_diff(const Command *cmd, int argc, char **argv)
{
    DiffOptions o = {.limit = LIMIT_DEFAULT};
    return command_run_parsed(cmd, argc, argv, &o, diff);
}

const Command diff_command = {
    .name = "diff",
    .group = "look",
    .summary = "show what changed between two recordings",
    .usage = "[OPTION ...] OLD NEW",
    .options = diff_options,
    .option_count = ARRAY_LEN(diff_options),
    .details =
        "Rows are matched by the names of functions and of what they were inlined into, not\n"
        "by address or line: the recordings may be of two builds.\n"
        "\n"
        "Examples:\n"
        "  assay diff old.assay new.assay\n"
        "  assay diff old-heap.assay new-heap.assay --sort peak\n"
        "  assay diff old.assay new.assay --by stack --json\n",
    .run = run_diff,
};
