// SPDX-License-Identifier: Apache-2.0
// assay diff: what changed between two recordings, or two sets of them.

#include "analyse/call_tree.h"
#include "analyse/diff/tree_change.h"
#include "analyse/heap/heap_view.h"
#include "analyse/truth.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/look/diff_page.h"
#include "cli/look/diff_survey.h"
#include "cli/look/diff_view.h"
#include "cli/look/heap_screen.h"
#include "cli/look/view_options.h"
#include "cli/look/view_page.h"
#include "cli/pager.h"
#include "cli/survey/survey_folder.h"
#include "export/flame.h"
#include "model/facts.h"
#include "model/merge_profiles.h"
#include "os/file.h"

enum { DIFF_ROWS = 12 };
// Rows of two recordings of one program have nearly everything in common.
#define COMMON_LEAST 0.02

typedef struct DiffByWord {
    const char *word;
    DiffBy by;
} DiffByWord;
static const DiffByWord bys[] = {{"function", DIFF_BY_FUNCTION},
                                 {"stack", DIFF_BY_STACK},
                                 {"line", DIFF_BY_LINE},
                                 {"module", DIFF_BY_MODULE}};
static const Choices by_words = CHOICES_OF(bys, word);

typedef struct DiffOptions {
    SelectionOptions selection;
    RecordingFiles files;
    const DiffByWord *by;
    StrVec old_files, new_files, fail_if;
    Str sort, colour, output, html, flame;
    bool json, markdown, wide, force, no_pager;
    double confidence, margin;
    uint64_t limit;
} DiffOptions;

static const uint64_t LIMIT_DEFAULT = UINT64_MAX; // the user gave no --limit

static const Option diff_options[] = {
    OPT_ROW(0, "by", DiffOptions, by, DiffByWord, "WHAT", &by_words,
            "what identifies a row: the function, all functions of the stack, the line (by its "
            "text, so that it may have moved), or the program or library"),
    OPT_FILES('a', "a", DiffOptions, old_files, "FILE",
              "the old recordings: one, or several of repeated runs"),
    OPT_FILES('b', "b", DiffOptions, new_files, "FILE", "the new recordings"),
    OPT_LIST(0, "fail-if", DiffOptions, fail_if, "LIMIT",
             "exit with 3 when a change is beyond LIMIT, with 4 when that is undecided: "
             "'total > +5%', 'FUNCTION > +2ms', 'any > +10%'"),
    OPT_PERCENT(0, "margin", DiffOptions, margin, "PERCENT",
                "changes below this do not matter (default 1%)"),
    OPT_PERCENT(0, "confidence", DiffOptions, confidence, "PERCENT",
                "confidence level of the intervals, and of all verdicts together (default 95%)"),
    OPT_TEXT('s', "sort", DiffOptions, sort, "KEY",
             "for recordings of the heap, the metric: total, blocks, peak, end, short-lived, "
             "lifetime, malloc-time or copied"),
    SELECTION_OPTIONS(DiffOptions, selection),
    RECORDING_FILE_OPTIONS(DiffOptions, files),
    OPT_U64(0, "limit", DiffOptions, limit, "N", "show at most N rows; 0 for all"),
    OPT_FLAG('w', "wide", DiffOptions, wide, "do not cut names to the width of the terminal"),
    OPT_FLAG(0, "json", DiffOptions, json, "as JSON, see docs/formats/diff-json.md"),
    OPT_FLAG(0, "markdown", DiffOptions, markdown, "as a table in Markdown"),
    OPT_TEXT('o', "output", DiffOptions, output, "FILE", "write to FILE, not to the terminal"),
    OPT_TEXT(
        0, "html", DiffOptions, html, "FILE",
        "also write a page with both recordings, or the means of sets of them: what changed by "
        "function, line and module, in the source, and as a differential flame graph"),
    OPT_TEXT(
        0, "flame", DiffOptions, flame, "FILE",
        "also write a differential flame graph: an SVG picture of the new recordings, coloured "
        "by the change of each call"),
    OPT_FLAG(0, "force", DiffOptions, force,
             "replace an existing output file, and compare recordings that have nothing in common"),
    COLOUR_OPTION(DiffOptions, colour),
    NO_PAGER_OPTION(DiffOptions, no_pager),
};

// The recordings of one side.
typedef Vec(Profile) ProfileVec;
typedef struct Side {
    ProfileVec profiles;
    const Profile **pointers;
    Selection *selections;
    StrVec files;
    SelectionOptions selected;
    Profile sum;      // of several: what is selected of all; empty unless `has_sum`
    bool has_sum;     //
    bool sum_refused; // they cannot be added up: pictures show the first
} Side;

typedef struct Diff {
    const DiffOptions *o;
    Arena *arena;
    Side side[DIFF_SIDES];
    DiffSet set[DIFF_SIDES];
    DiffView view;
    StrBuf *collected; // takes the text instead of the terminal; NULL: it is printed
} Diff;

// ---- Recordings --------------------------------------------------------------------------------

static bool load_side(Diff *d, int side, const StrVec *files, Error *err)
{
    Side *s = &d->side[side];
    for (size_t i = 0; i < files->len; i++) {
        Profile p;
        if (!load_recording(files->at[i], &d->o->files, false, &p, NULL, err))
            return false;
        vec_push(NULL, &s->profiles, p);
    }
    d->view.label[side] = files->len == 1 ? files->at[0]
                                          : arena_printf(d->arena, "%" STR_FMT " and %zu more",
                                                         STR_ARG(files->at[0]), files->len - 1);
    s->pointers = arena_array(d->arena, const Profile *, files->len);
    s->selections = arena_array(d->arena, Selection, files->len);
    s->files = *files;
    for (size_t i = 0; i < files->len; i++) {
        SelectionOptions options = d->o->selection;
        MetricId unused;
        s->pointers[i] = &s->profiles.at[i];
        // A metric that only one of them has is compared with nothing.
        if (options.metric.len && side == DIFF_OLD &&
            !metric_find(s->pointers[i], options.metric, &unused, err))
            options.metric = STR("");
        s->selected = options;
        if (!selection_from_options(&options, s->pointers[i], d->arena, &s->selections[i], err))
            return false;
    }
    return true;
}

static void free_side(Side *s)
{
    for (size_t i = 0; i < s->profiles.len; i++)
        profile_deinit(&s->profiles.at[i]);
    vec_free(&s->profiles);
    if (s->has_sum)
        profile_deinit(&s->sum);
}

// ---- The recordings of a side as one, for pictures ---------------------------------------------

// The recording that was begun first of those that are not taken yet. `taken` has as many bytes.
static size_t next_by_start(const Side *s, const uint8_t *taken)
{
    size_t best = SIZE_MAX;
    uint64_t best_start = 0;
    for (size_t i = 0; i < s->profiles.len; i++) {
        uint64_t start = 0;
        (void)profile_fact_u64(&s->profiles.at[i], STR(FACT_START_REALTIME), &start);
        if (taken[i] || (best != SIZE_MAX && start >= best_start))
            continue;
        best = i;
        best_start = start;
    }
    return best;
}

static bool add_up(Side *s, Arena *arena, Error *err)
{
    uint8_t *taken = arena_alloc(arena, s->profiles.len, 1);
    for (size_t n = 0; n < s->profiles.len; n++) {
        size_t i = next_by_start(s, taken);
        Selection selection = s->selections[i];
        taken[i] = 1;
        if ((selection_is_part(&selection) &&
             !keep_selected(&s->profiles.at[i], &selection, err)) ||
            !profile_merge_runs(&s->sum, &s->profiles.at[i], err))
            return false;
    }
    // What is left is the part that was selected.
    s->selected = (SelectionOptions){.metric = s->selected.metric};
    return true;
}

// What pictures show of a side: its only recording, or the sum of all. Where they cannot be added
// up, it is the first.
static Profile *side_profile(Diff *d, int side)
{
    Side *s = &d->side[side];
    Error err;
    if (s->profiles.len == 1 || s->sum_refused || s->profiles.at[0].line_counts.file.len)
        return &s->profiles.at[0];
    if (!s->has_sum) {
        s->has_sum = true;
        profile_init(&s->sum);
        if (!add_up(s, d->arena, &err)) {
            s->sum_refused = true;
            cli_say("pictures show the first of the %s recordings alone: %s", diff_side_names[side],
                    err.text);
            return &s->profiles.at[0];
        }
    }
    return &s->sum;
}

// How many recordings side_profile is the sum of.
static size_t side_runs(const Side *s)
{
    return s->has_sum && !s->sum_refused ? s->profiles.len : 1;
}

// ---- The command -----------------------------------------------------------------------------

// The metric to show: -e, else --sort, else the first of the new recording.
static bool metric_to_show(Diff *d, Error *err)
{
    const Profile *p = d->side[DIFF_NEW].pointers[0];
    const HeapSortWord *word = heap_sort_find(d->o->sort);
    MetricId id = d->side[DIFF_NEW].selections[0].metric;
    if (d->view.d.metrics.len == 0)
        return error_set(err, ERROR_NOT_FOUND, "the recordings have neither samples nor counts");
    if (d->o->sort.len && (!word || !heap_metric_find(p, word->metric, &id))) {
        (void)error_set(err, ERROR_USAGE,
                        "the new recording has no metric '%" STR_FMT "' for --sort",
                        STR_ARG(d->o->sort));
        return error_hint(err,
                          "recordings of assay heap have: total, blocks, peak, end, short-lived, "
                          "lifetime, malloc-time, copied");
    }
    d->view.metric = 0;
    if (id.v < p->metrics.name.len)
        d->view.metric = profile_diff_metric(&d->view.d, profile_text(p, p->metrics.name.at[id.v]));
    for (int side = 0; side < DIFF_SIDES; side++) { // pictures show the same
        const Profile *shown = d->side[side].pointers[0];
        Str name = d->view.d.metrics.at[d->view.metric].name;
        d->side[side].selected.metric = metric_find(shown, name, &id, &(Error){0}) ? name : STR("");
    }
    return true;
}

// The base name of the program that a side recorded; "" when it is not known.
static Str program_of(const Diff *d, int side)
{
    Str command = profile_fact(d->side[side].pointers[0], STR(FACT_COMMAND)), program = command;
    (void)str_split(command, ' ', &program, &command);
    return str_base_name(program);
}

// Whether both sides may be of one program: they say so, or have rows in common. Old and new builds
// often have different names, and all blocks of a heap may come from other functions than before.
static bool may_be_one_program(const Diff *d)
{
    const DiffMetric *m = &d->view.d.metrics.at[d->view.metric];
    Str program = program_of(d, DIFF_OLD);
    return !m->sampled || d->o->by->by == DIFF_BY_MODULE || m->total[DIFF_OLD] == 0 ||
           m->total[DIFF_NEW] == 0 ||
           (program.len && str_equal(program, program_of(d, DIFF_NEW))) ||
           profile_diff_common(&d->view.d, d->view.metric) >= COMMON_LEAST;
}

static bool check_common(const Diff *d, Error *err)
{
    if (d->o->force || may_be_one_program(d))
        return true;
    error_set(err, ERROR_NOT_FOUND,
              "the recordings have hardly a %" STR_FMT " in common: are they of one program?",
              STR_ARG(d->view.by));
    return error_hint(err, "--force compares them all the same");
}

static int write_text(const DiffOptions *o, Str text)
{
    Error err;
    if (!names_file(o->output))
        return pager_print(text, o->json || o->markdown, o->no_pager) ? STATUS_OK : STATUS_FAILED;
    if (!os_write_file(o->output, bytes_from_str(text), o->force ? OUTPUT_REPLACE : OUTPUT_KEEP,
                       &err))
        return cli_fail(&err);
    return STATUS_OK;
}

static int write_diff(const Diff *d)
{
    StrBuf out = {0};
    int status = STATUS_OK;
    if (d->o->json)
        diff_add_json(&out, &d->view);
    else if (d->o->markdown)
        diff_add_markdown(&out, &d->view);
    else
        diff_add_text(&out, &d->view);
    if (d->collected)
        strbuf_add(d->collected, strbuf_str(&out));
    else
        status = write_text(d->o, strbuf_str(&out));
    strbuf_deinit(&out);
    return status;
}

// ---- The page --------------------------------------------------------------------------------

// Adds the recordings of each side as one, the new ones first; ret[side] becomes its number.
static bool add_recordings(Diff *d, ViewPage *page, uint32_t ret[DIFF_SIDES], Error *err)
{
    static const int order[] = {DIFF_NEW, DIFF_OLD};
    const ShareWords all = {0};
    const StrVec none = {0};
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        Profile *p = side_profile(d, order[i]);
        const ViewRecording r = {.selection = &d->side[order[i]].selected,
                                 .share = &all,
                                 .files = &d->o->files,
                                 .source_paths = &none,
                                 .runs = side_runs(&d->side[order[i]]),
                                 .title = d->view.label[order[i]]};
        ret[order[i]] = UINT32_MAX;
        if (p->samples.stack.len == 0)
            continue;
        ret[order[i]] = page->recordings;
        if (!view_page_add_recording(page, &r, p, d->arena, err))
            return false;
    }
    return true;
}

// Adds the coverage of the new side beside that of the old one, if both recorded coverage. Counts
// of several recordings are added up.
static bool add_counts(Diff *d, ViewPage *page, Error *err)
{
    for (int side = 0; side < DIFF_SIDES; side++) {
        const Profile *p = &d->side[side].profiles.at[0];
        if (p->samples.stack.len || p->line_counts.file.len == 0)
            return true;
    }
    const Side *s = &d->side[DIFF_NEW];
    const StrVec *before = &d->side[DIFF_OLD].files;
    if (s->files.len > 1)
        return view_page_add_coverage(&s->files, before, true, false, d->arena, page, err);
    return view_page_add_counts(&s->profiles.at[0], before, true, false, d->arena, page, err);
}

// Compares the recordings by one thing more, in the metric that is shown.
static bool compare_by(const Diff *d, const DiffByWord *by, DiffView *ret, Error *err)
{
    *ret = d->view;
    ret->by = str_from_c(by->word);
    if (!profile_diff_init(&ret->d, &d->set[DIFF_OLD], &d->set[DIFF_NEW], by->by, err))
        return false;
    ret->changes = diff_judge(&ret->d, ret->metric, d->o->confidence / 100, d->o->margin / 100);
    profile_diff_sort(&ret->d, ret->metric);
    return true;
}

static bool make_page(Diff *d, DiffTables *tables, StrBuf *out, Error *err)
{
    ViewPage recordings = {0}, page = {0};
    uint32_t number[DIFF_SIDES];
    StrBuf title = {0};
    strbuf_printf(&title, "%" STR_FMT " → %" STR_FMT, STR_ARG(d->view.label[DIFF_OLD]),
                  STR_ARG(d->view.label[DIFF_NEW]));
    tables->recording = number;
    // The recordings are numbered from 0; what is compared stands before them.
    bool ok = add_recordings(d, &recordings, number, err) && add_counts(d, &recordings, err);
    for (int side = 0; side < DIFF_SIDES; side++)
        tables->shown[side] = side_runs(&d->side[side]);
    page.recordings = recordings.recordings;
    ok = ok && diff_page_add(&page, tables, err);
    if (ok) {
        strbuf_add(&page.summary, strbuf_str(&recordings.summary));
        strbuf_add(&page.first, strbuf_str(&recordings.first));
        strbuf_add(&page.second, strbuf_str(&recordings.second));
        strbuf_add(&page.bulk, strbuf_str(&recordings.bulk));
        view_page_write(&page, strbuf_str(&title), out);
    }
    strbuf_deinit(&title);
    view_page_deinit(&recordings);
    view_page_deinit(&page);
    return ok;
}

static bool write_page(Diff *d, Error *err)
{
    static const DiffBy wanted[] = {DIFF_BY_FUNCTION, DIFF_BY_LINE, DIFF_BY_MODULE};
    DiffView views[ARRAY_LEN(wanted)];
    DiffTables tables = {.at = views};
    StrBuf page = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < ARRAY_LEN(wanted); i++)
        for (size_t k = 0; ok && k < ARRAY_LEN(bys); k++)
            if (bys[k].by == wanted[i]) {
                ok = compare_by(d, &bys[k], &views[tables.len], err);
                tables.len += ok;
            }
    ok = ok && make_page(d, &tables, &page, err) &&
         os_write_file(d->o->html, bytes_from_str(strbuf_str(&page)),
                       d->o->force ? OUTPUT_REPLACE : OUTPUT_KEEP, err);
    for (size_t i = 0; i < tables.len; i++)
        profile_diff_deinit(&views[i].d);
    strbuf_deinit(&page);
    return ok;
}

// ---- The flame graph -------------------------------------------------------------------------

// The value of one sample; 0 where values are exact. Sums of another tool have a row for many
// samples: where they have no unit, they count samples.
static double sample_value(const Diff *d, const Weights *w)
{
    const DiffMetric *m = &d->view.d.metrics.at[d->view.metric];
    Truth truth;
    truth_init(&truth, w);
    if (!m->sampled || w->samples == 0)
        return 0;
    if (truth.aggregated)
        return m->unit.len == 0 ? 1 : 0;
    return (double)w->value / (double)w->samples;
}

// Scales the values of the old side to as many recordings as the new one has.
static double scale_old(const Diff *d)
{
    return (double)side_runs(&d->side[DIFF_NEW]) / (double)side_runs(&d->side[DIFF_OLD]);
}

// The totals of the old tree for the calls of the new one.
static const uint64_t *totals_before(const Diff *d, const CallTree tree[DIFF_SIDES])
{
    uint64_t *before = tree_totals_of_other(d->arena, &tree[DIFF_NEW], &tree[DIFF_OLD]);
    for (size_t i = 0; scale_old(d) != 1 && i < tree[DIFF_NEW].nodes.len; i++)
        before[i] = (uint64_t)((double)before[i] * scale_old(d) + 0.5);
    return before;
}

static void draw_flame(const Diff *d, const CallTree tree[DIFF_SIDES], const Weights w[DIFF_SIDES],
                       StrBuf *out)
{
    const DiffMetric *m = &d->view.d.metrics.at[d->view.metric];
    StrBuf title = {0}, subtitle = {0};
    FlameResult result;
    strbuf_printf(&title, "%" STR_FMT " \u2192 %" STR_FMT, STR_ARG(d->view.label[DIFF_OLD]),
                  STR_ARG(d->view.label[DIFF_NEW]));
    strbuf_printf(&subtitle, "%" STR_FMT ": ", STR_ARG(m->name));
    diff_add_amount(&subtitle, m->total[DIFF_OLD], m, m->known[DIFF_OLD]);
    strbuf_add(&subtitle, STR(" \u2192 "));
    diff_add_amount(&subtitle, m->total[DIFF_NEW], m, m->known[DIFF_NEW]);
    strbuf_add(
        &subtitle,
        STR("; widths are those of the new recording: calls that only the old one has are not "
            "drawn"));
    if (side_runs(&d->side[DIFF_NEW]) > 1)
        strbuf_printf(&subtitle, "; values are the sum of %zu recordings",
                      side_runs(&d->side[DIFF_NEW]));
    const FlameOptions options = {.title = strbuf_str(&title),
                                  .subtitle = strbuf_str(&subtitle),
                                  .colour = FLAME_BY_CHANGE,
                                  .width_px = 1200,
                                  .min_px = 0.3,
                                  .frames_max = 20000,
                                  .unit = m->unit,
                                  .before = totals_before(d, tree),
                                  .sample = sample_value(d, &w[DIFF_NEW]),
                                  .sample_before = sample_value(d, &w[DIFF_OLD]) * scale_old(d)};
    flame_add_svg(out, &tree[DIFF_NEW], &options, &result);
    strbuf_deinit(&title);
    strbuf_deinit(&subtitle);
}

// Draws the recordings of the new side.
static bool write_flame(Diff *d, Error *err)
{
    Weights w[DIFF_SIDES];
    Keys keys[DIFF_SIDES];
    CallTree tree[DIFF_SIDES];
    StrBuf svg = {0};
    int made = 0;
    bool ok = true;
    for (; ok && made < DIFF_SIDES; made += ok) {
        const Profile *p = side_profile(d, made);
        Selection selection;
        ok = selection_from_options(&d->side[made].selected, p, d->arena, &selection, err) &&
             weights_init(&w[made], p, &selection, GROUP_NONE, err);
        if (!ok)
            break;
        keys_init(&keys[made], p, BY_FUNCTION);
        call_tree_init(&tree[made], &w[made], &keys[made]);
    }
    if (ok && w[DIFF_NEW].samples == 0)
        ok = error_set(err, ERROR_NOT_FOUND, "the new recording has no samples to draw");
    if (ok) {
        call_tree_sort(&tree[DIFF_NEW]);
        draw_flame(d, tree, w, &svg);
        ok = os_write_file(d->o->flame, bytes_from_str(strbuf_str(&svg)),
                           d->o->force ? OUTPUT_REPLACE : OUTPUT_KEEP, err);
    }
    for (int side = 0; side < made; side++) {
        call_tree_deinit(&tree[side]);
        keys_deinit(&keys[side]);
        weights_deinit(&w[side]);
    }
    strbuf_deinit(&svg);
    return ok;
}

static int judge_limits(const Diff *d)
{
    size_t missed, undecided;
    Error err;
    if (!diff_judge_limits(&d->view, &d->o->fail_if, &missed, &undecided, &err))
        return cli_fail(&err);
    if (missed)
        return STATUS_THRESHOLD;
    return undecided ? STATUS_UNDECIDED : STATUS_OK;
}

static int show(Diff *d)
{
    DiffView *v = &d->view;
    Error err;
    if (!metric_to_show(d, &err) || !check_common(d, &err))
        return cli_fail(&err);
    v->changes = diff_judge(&v->d, v->metric, d->o->confidence / 100, d->o->margin / 100);
    profile_diff_sort(&v->d, v->metric);
    int status = write_diff(d);
    if (d->o->flame.len && !write_flame(d, &err))
        return cli_fail(&err);
    if (d->o->html.len && !write_page(d, &err)) // the last that reads the profiles: it changes them
        return cli_fail(&err);
    return status == STATUS_OK ? judge_limits(d) : status;
}

static int compare(Diff *d, const StrVec files[DIFF_SIDES])
{
    const DiffSet *set = d->set;
    Error err;
    for (int side = 0; side < DIFF_SIDES; side++) {
        if (!load_side(d, side, &files[side], &err))
            return cli_fail(&err);
        d->set[side] = (DiffSet){d->side[side].pointers, d->side[side].selections, files[side].len};
    }
    if (!profile_diff_init(&d->view.d, &set[DIFF_OLD], &set[DIFF_NEW], d->o->by->by, &err))
        return cli_fail(&err);
    int status = show(d);
    profile_diff_deinit(&d->view.d);
    return status;
}

// Where the files of both sides stand: two operands, or -a and -b.
static bool find_files(CommandLine *line, const DiffOptions *o, StrVec ret[DIFF_SIDES])
{
    ret[DIFF_OLD] = o->old_files;
    ret[DIFF_NEW] = o->new_files;
    if (o->old_files.len || o->new_files.len)
        return o->old_files.len && o->new_files.len && line->operands.len == 0;
    if (line->operands.len != DIFF_SIDES)
        return false;
    for (int side = 0; side < DIFF_SIDES; side++)
        vec_push(line->arena, &ret[side], line->operands.at[side]);
    return true;
}

static void set_view(Diff *d)
{
    const DiffOptions *o = d->o;
    d->view = (DiffView){.terminal = terminal_get(o->colour),
                         .by = str_from_c(o->by->word),
                         .wide = o->wide,
                         .limit = o->limit == LIMIT_DEFAULT ? (o->json ? 0 : DIFF_ROWS)
                                                            : (size_t)o->limit};
    if (names_file(o->output) && !str_equal(o->colour, STR("always")))
        d->view.terminal.colour = false;
}

static int compare_and_free(Diff *d, const StrVec files[DIFF_SIDES])
{
    set_view(d);
    int status = compare(d, files);
    for (int side = 0; side < DIFF_SIDES; side++)
        free_side(&d->side[side]);
    return status;
}

// Compares each step that two surveys have.
static int diff_surveys(CommandLine *line, const DiffOptions *o)
{
    DiffParts parts = {0};
    StrBuf text = {0};
    Error err;
    int status = STATUS_OK;
    const Str folders[DIFF_SIDES] = {line->operands.at[DIFF_OLD], line->operands.at[DIFF_NEW]};
    if (!diff_survey_parts(line->arena, folders, &parts, &err))
        return cli_fail(&err);
    if (o->json || o->markdown || o->html.len || o->flame.len || o->fail_if.len) {
        error_set(&err, ERROR_USAGE,
                  "--json, --markdown, --html, --flame and --fail-if are for recordings of one "
                  "kind, not for all that surveys hold");
        error_hint(&err, "name recordings of the surveys: %" STR_FMT " %" STR_FMT,
                   STR_ARG(parts.at[0].files[DIFF_OLD].at[0]),
                   STR_ARG(parts.at[0].files[DIFF_NEW].at[0]));
        return cli_fail(&err);
    }
    for (size_t i = 0; i < parts.len && status == STATUS_OK; i++) {
        Diff d = {.o = o, .arena = line->arena, .collected = &text};
        strbuf_printf(&text, "%s%s\n\n", i ? "\n" : "", parts.at[i].title);
        status = compare_and_free(&d, parts.at[i].files);
    }
    if (status == STATUS_OK)
        status = write_text(o, strbuf_str(&text));
    strbuf_deinit(&text);
    return status;
}

static bool names_surveys(const CommandLine *line)
{
    return line->operands.len == DIFF_SIDES && (survey_folder_is(line->operands.at[DIFF_OLD]) ||
                                                survey_folder_is(line->operands.at[DIFF_NEW]));
}

static int diff(CommandLine *line, void *values)
{
    DiffOptions *o = values;
    StrVec files[DIFF_SIDES];
    if (!o->by)
        o->by = &bys[0];
    if (!find_files(line, o, files))
        return usage_error(line->cmd, "give two recordings, the old one first; or sets of them: "
                                      "-a OLD … -b NEW …");
    if (o->json && o->markdown)
        return usage_error(line->cmd, "--json and --markdown cannot be combined");
    if (!(o->confidence > 0 && o->confidence < 100) || !(o->margin >= 0 && o->margin < 100))
        return usage_error(line->cmd, "--confidence and --margin are percentages below 100");
    if (names_surveys(line))
        return diff_surveys(line, o);
    Diff d = {.o = o, .arena = line->arena};
    return compare_and_free(&d, files);
}

static int run_diff(const Command *cmd, int argc, char **argv)
{
    DiffOptions o = {.limit = LIMIT_DEFAULT, .confidence = 95, .margin = 1};
    return command_run_parsed(cmd, argc, argv, &o, diff);
}

// Spellings that users of perf know.
static const ForeignOption foreign[] = {
    {'c', "compute", FOREIGN_REFUSED, "leave it out: each row has its change with an interval"},
    {0, "baseline-only", FOREIGN_REFUSED, "assay diff --json has the rows of both recordings"},
    {0, "order", FOREIGN_REFUSED, "leave it out: the greatest change comes first"},
    {0, "period", FOREIGN_REFUSED, "assay diff --json has the values of each row"},
};

const Command diff_command = {
    .name = "diff",
    .group = "look",
    .summary = "show what changed between two recordings, and how sure that is",
    .first = "  assay diff OLD NEW            two recordings\n"
             "  assay diff -a OLD … -b NEW …  repeated runs, with a verdict\n"
             "  assay diff --by line OLD NEW  by source line\n",
    .usage = "[OPTION ...] OLD NEW\n"
             "[OPTION ...] -a OLD ... -b NEW ...",
    .options = diff_options,
    .option_count = ARRAY_LEN(diff_options),
    .foreign = foreign,
    .foreign_count = ARRAY_LEN(foreign),
    .details =
        "Rows are matched by the names of functions, not by address or line: the recordings\n"
        "may be of two builds. In a recording of the heap a row is the user's function that\n"
        "allocates, with what it was inlined into.\n"
        "\n"
        "Samples are estimates: each row gets the interval of its change and a verdict, and\n"
        "all verdicts together are wrong in at most 5 % of the rows that are called changed.\n"
        "Sets of repeated recordings (assay record --repeat) show how much each row differs\n"
        "from run to run. Counts of the heap and of coverage are exact and need none of it.\n"
        "\n"
        "Examples:\n"
        "  assay diff old.assay new.assay\n"
        "  assay diff -a old.*.assay -b new.*.assay --fail-if 'total > +5%'\n"
        "  assay diff old-heap.assay new-heap.assay --sort peak\n"
        "  assay diff old.assay new.assay --by stack --json\n"
        "\n"
        "Exit status: 0 done, 1 failed, 2 usage; with --fail-if also 3 missed, 4 undecided\n",
    .run = run_diff,
};
