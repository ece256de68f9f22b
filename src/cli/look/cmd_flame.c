// SPDX-License-Identifier: Apache-2.0
// assay flame: a recording as an interactive flame graph.

#include "analyse/calls/slow_picture.h"
#include "analyse/diff/tree_change.h"
#include "analyse/truth.h"
#include "analyse/wait/wait_columns.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/look/view_options.h"
#include "cli/terminal.h"
#include "export/flame.h"
#include "model/facts.h"
#include "os/file.h"

// The words of --colour, --by and --group; the first of each is the default.
typedef struct FlameColourWord {
    const char *word;
    FlameColour colour;
} FlameColourWord;
static const FlameColourWord colours[] = {
    {"kind", FLAME_BY_KIND}, {"module", FLAME_BY_MODULE}, {"plain", FLAME_PLAIN}};
static const Choices colour_words = CHOICES_OF(colours, word);

typedef struct FlameByWord {
    const char *word;
    By by;
} FlameByWord;
static const FlameByWord frame_kinds[] = {
    {"function", BY_FUNCTION}, {"line", BY_LINE}, {"module", BY_MODULE}};
static const Choices frame_words = CHOICES_OF(frame_kinds, word);

typedef struct FlameGroupWord {
    const char *word;
    Group group;
} FlameGroupWord;
static const FlameGroupWord groups[] = {
    {"auto", GROUP_PROCESS}, // a single process gets no level of its own
    {"none", GROUP_NONE},     {"process", GROUP_PROCESS},
    {"thread", GROUP_THREAD}, {"comm", GROUP_COMM},
};
static const Choices group_words = CHOICES_OF(groups, word);

typedef struct FlameCommandOptions {
    SelectionOptions selection;
    ShareWords share;
    RecordingFiles files;
    LiveOptions live;
    Str output, title, slow;
    const FlameColourWord *colour;
    const FlameByWord *by;
    const FlameGroupWord *group;
    bool icicle, inverted, force, wait;
    uint64_t width, max_frames;
    double min_width;
} FlameCommandOptions;

static const Option flame_options[] = {
    OPT_TEXT('o', "output", FlameCommandOptions, output, "FILE",
             "the picture (default flame.svg); - for standard output"),
    OPT_FLAG(0, "force", FlameCommandOptions, force, "replace an existing output file"),
    OPT_FLAG(0, "icicle", FlameCommandOptions, icicle, "the root at the top"),
    OPT_FLAG('G', "inverted", FlameCommandOptions, inverted,
             "the functions that ran at the top, their callers below"),
    OPT_FLAG(
        0, "wait", FlameCommandOptions, wait,
        "of a recording with --wait: processor time and waits, coloured by what is waited for"),
    OPT_TEXT(
        0, "slow", FlameCommandOptions, slow, "1%|'>5ms'",
        "with a recording of --calls: draw the slowest calls; colours show where they take longer "
        "than the others"),
    OPT_TEXT(0, "title", FlameCommandOptions, title, "TEXT",
             "the title (default: the recorded command)"),
    OPT_ROW(0, "colour", FlameCommandOptions, colour, FlameColourWord, "WHAT", &colour_words,
            "colour by kind of code, by module, or all alike"),
    OPT_ROW(0, "by", FlameCommandOptions, by, FlameByWord, "WHAT", &frame_words, "what a frame is"),
    OPT_ROW(0, "group", FlameCommandOptions, group, FlameGroupWord, "WHAT", &group_words,
            "the first level; auto is processes when there are several"),
    OPT_U64(0, "width", FlameCommandOptions, width, "PX",
            "the width for which labels are shortened; the picture scales"),
    OPT_DOUBLE(0, "min-width", FlameCommandOptions, min_width, "PX",
               "leave out frames narrower than this"),
    OPT_U64(0, "max-frames", FlameCommandOptions, max_frames, "N",
            "draw the N widest frames; 0 for all"),
    SHARE_OPTIONS(FlameCommandOptions, share),
    SELECTION_OPTIONS(FlameCommandOptions, selection),
    LIVE_OPTIONS(FlameCommandOptions, live),
    RECORDING_FILE_OPTIONS(FlameCommandOptions, files),
};

// The title: the user's, else the recorded command, which begins with the name of its program
// without folders; else the name of the only process.
static Str title_of(const FlameCommandOptions *o, const Profile *p)
{
    if (o->title.len)
        return o->title;
    Str command = profile_fact(p, STR(FACT_COMMAND));
    if (command.len) {
        size_t program = str_find_char(command, ' ');
        size_t end = program == SIZE_MAX ? command.len : program, begin = end;
        while (begin && command.ptr[begin - 1] != '/')
            begin--;
        return begin < end ? str_slice(command, begin, command.len) : command;
    }
    Str name = p->processes.name.len == 1 ? profile_text(p, p->processes.name.at[0]) : STR("");
    return name.len ? name : STR("flame graph");
}

static void add_subtitle(StrBuf *out, const Weights *w)
{
    const Profile *p = w->profile;
    Truth truth;
    truth_init(&truth, w);
    add_count(out, truth.kept);
    strbuf_add(out, truth.aggregated ? STR(" sums") : STR(" samples"));
    if (p->metrics.name.len) {
        strbuf_add(out, STR(" of "));
        strbuf_add(out, profile_text(p, p->metrics.name.at[w->selection.metric.v]));
    }
    strbuf_add(out, STR(" · "));
    StrBuf text = {0};
    truth_add_text(&truth, &text);
    strbuf_add(out, strbuf_str(&text));
    strbuf_deinit(&text);
}

static void draw(StrBuf *svg, const FlameCommandOptions *o, const Weights *w, FlameResult *result)
{
    const Profile *p = w->profile;
    Keys keys;
    CallTree upright, inverted = {0};
    keys_init(&keys, p, o->by->by);
    CallTree *tree = &upright;
    uint64_t least = flame_least(o->min_width, (double)o->width, w->value);
    if (o->inverted) {
        call_tree_init(&upright, w, &keys);
        call_tree_invert(&inverted, &upright, least, 1000);
        tree = &inverted;
    } else {
        call_tree_init_wide(&upright, w, &keys, least);
    }
    call_tree_sort(tree);
    StrBuf subtitle = {0};
    add_subtitle(&subtitle, w);
    FlameOptions options = {
        .title = title_of(o, p),
        .subtitle = strbuf_str(&subtitle),
        .colour = o->colour->colour,
        .icicle = o->icicle || o->inverted,
        .width_px = (double)o->width,
        .min_px = o->min_width,
        .frames_max = (size_t)o->max_frames,
        .waits = o->wait,
        .unit = p->metrics.name.len ? profile_text(p, p->metrics.unit.at[w->selection.metric.v])
                                    : STR(""),
    };
    flame_add_svg(svg, tree, &options, result);
    strbuf_deinit(&subtitle);
    call_tree_deinit(&inverted);
    call_tree_deinit(&upright);
    keys_deinit(&keys);
}

// The picture of slow calls: widths are their time, colours how it differs from that of as many
// fast ones.
static void draw_slow(StrBuf *svg, const FlameCommandOptions *o, const Weights *slow,
                      const Weights *fast, const SlowPicture *picture, FlameResult *result)
{
    const Profile *p = slow->profile;
    const Weights *sides[2] = {slow, fast};
    Arena arena = {0};
    Keys keys;
    CallTree trees[2];
    keys_init(&keys, p, o->by->by);
    for (int i = 0; i < 2; i++) {
        call_tree_init(&trees[i], sides[i], &keys);
        call_tree_sort(&trees[i]);
    }
    StrBuf title = {0}, subtitle = {0};
    Str name = profile_text(p, p->functions.name.at[picture->function.v]);
    strbuf_printf(&title, "slow calls of %" STR_FMT " beside fast ones",
                  STR_ARG(name.len ? name : STR("[unknown]")));
    strbuf_printf(&subtitle, "%zu slow calls: ", picture->slow_calls);
    add_value(&subtitle, slow->value, STR("ns"));
    strbuf_printf(&subtitle, "; as many of the %zu fast ones: ", picture->fast_calls);
    add_value(&subtitle, fast->value, STR("ns"));
    strbuf_add(&subtitle, STR("; widths are the time of slow calls"));
    FlameOptions options = {
        .title = o->title.len ? o->title : strbuf_str(&title),
        .subtitle = strbuf_str(&subtitle),
        .colour = FLAME_BY_CHANGE,
        .icicle = o->icicle,
        .width_px = (double)o->width,
        .min_px = o->min_width,
        .frames_max = (size_t)o->max_frames,
        .unit = STR("ns"),
        .before = tree_totals_of_other(&arena, &trees[0], &trees[1]),
        .sample = picture->sample_ns,
        .sample_before = picture->fast_sample_ns,
    };
    flame_add_svg(svg, &trees[0], &options, result);
    strbuf_deinit(&title);
    strbuf_deinit(&subtitle);
    call_tree_deinit(&trees[0]);
    call_tree_deinit(&trees[1]);
    keys_deinit(&keys);
    arena_deinit(&arena);
}

// The name of the picture when none is given. An older picture of that name is kept as perf keeps
// its recordings: as flame.svg.old.
static const char default_output[] = "flame.svg";

static bool is_default(Str output)
{
    return output.ptr == default_output;
}

static int write_picture(const FlameCommandOptions *o, Str svg, const FlameResult *result)
{
    if (str_equal(o->output, STR("-")))
        return cli_print(svg) ? STATUS_OK : STATUS_FAILED;
    Error err;
    if (is_default(o->output) && !o->force && !os_keep_old(default_output, &err))
        return cli_fail(&err);
    if (!os_write_file(o->output, bytes_from_str(svg), o->force ? OUTPUT_REPLACE : OUTPUT_KEEP,
                       &err))
        return cli_fail(&err);
    StrBuf words = {0};
    strbuf_add(&words, o->output);
    strbuf_printf(&words, ": %zu frame%s", result->drawn, plural_s(result->drawn));
    if (result->dropped)
        strbuf_printf(&words, ", %llu branches narrower than %.2g px left out",
                      (unsigned long long)result->dropped, result->cut_px);
    cli_say("%" STR_FMT "; open it in a browser", STR_ARG(strbuf_str(&words)));
    strbuf_deinit(&words);
    return STATUS_OK;
}

static bool choose_waits(const FlameCommandOptions *o, Profile *p, Selection *selection, Error *err)
{
    if (!o->wait || wait_picture_prepare(p, &selection->metric))
        return true;
    error_set(err, ERROR_NOT_FOUND, "this recording has no waits to draw");
    return error_hint(err, "record them: assay record --wait -- CMD");
}

static int make_slow_flame(const FlameCommandOptions *o, const Opened *opened)
{
    Profile *p = opened->profile;
    SlowLimit limit;
    SlowPicture picture;
    Selection selection, other;
    Weights slow, fast;
    Error err;
    if (!slow_limit_parse(o->slow, &limit, &err) ||
        !selection_from_options(&o->selection, p, opened->scratch, &selection, &err))
        return cli_fail(&err);
    if (!slow_picture_prepare(p, &limit, STR(""), &picture)) {
        (void)error_set(&err, ERROR_NOT_FOUND, "this recording has no slow calls beside fast ones");
        error_hint(&err, "record calls: assay record --wait --calls FUNCTION -- CMD");
        return cli_fail(&err);
    }
    selection.metric = picture.slow;
    if (!share_selected(&o->share, p, &selection, &err))
        return cli_fail(&err);
    other = selection;
    other.metric = picture.fast;
    if (!weights_init(&slow, p, &selection, GROUP_NONE, &err))
        return cli_fail(&err);
    if (!weights_init(&fast, p, &other, GROUP_NONE, &err)) {
        weights_deinit(&slow);
        return cli_fail(&err);
    }
    StrBuf svg = {0};
    FlameResult result;
    draw_slow(&svg, o, &slow, &fast, &picture, &result);
    int status = write_picture(o, strbuf_str(&svg), &result);
    strbuf_deinit(&svg);
    weights_deinit(&slow);
    weights_deinit(&fast);
    return status;
}

static int make_flame(void *values, const Opened *opened)
{
    const FlameCommandOptions *o = values;
    if (o->slow.len)
        return make_slow_flame(o, opened);
    Profile *p = opened->profile;
    Selection selection;
    Weights w;
    Error err;
    if (!selection_from_options(&o->selection, p, opened->scratch, &selection, &err) ||
        !choose_waits(o, p, &selection, &err) || !share_selected(&o->share, p, &selection, &err) ||
        !weights_init(&w, p, &selection, o->group->group, &err))
        return cli_fail(&err);
    int status;
    if (w.samples == 0) {
        if (w.samples_outside > 0) {
            error_set(&err, ERROR_NOT_FOUND, "no sample is in the selection");
            error_hint(&err, "widen --focus, --ignore, --time, --pid, --tid or --comm");
        } else {
            (void)no_samples(p, "draw", &err);
        }
        status = cli_fail(&err);
    } else {
        StrBuf svg = {0};
        FlameResult result;
        draw(&svg, o, &w, &result);
        status = write_picture(o, strbuf_str(&svg), &result);
        strbuf_deinit(&svg);
    }
    weights_deinit(&w);
    return status;
}

static bool check_options(const Command *cmd, void *values, const StrVec *further)
{
    (void)further;
    const FlameCommandOptions *o = values;
    SlowLimit limit;
    Error err;
    if (o->slow.len && !slow_limit_parse(o->slow, &limit, &err)) {
        (void)cli_fail(&err);
        return false;
    }
    if (o->slow.len && (o->wait || o->inverted || o->group != &groups[0])) {
        usage_error(cmd, "--slow excludes --wait, --inverted and --group");
        return false;
    }
    if (o->width >= 100 && o->width <= 100000 && o->min_width >= 0 && o->min_width <= 1000)
        return true;
    usage_error(cmd, "--width is 100 to 100000, --min-width 0 to 1000");
    return false;
}

// Before a command runs for minutes: the picture must not exist yet.
static bool picture_is_new(Str output, Error *err)
{
    if (str_equal(output, STR("-")) || is_default(output) || !os_file_exists(output))
        return true;
    error_set(err, ERROR_LIMIT, "'%" STR_FMT "' exists", STR_ARG(output));
    return error_hint(err, "give --force to replace it, or another name with -o");
}

static int flame_recording(CommandLine *line, void *values)
{
    static const RecordingView view = {.check = check_options,
                                       .show = make_flame,
                                       .files_at = offsetof(FlameCommandOptions, files),
                                       .records = true,
                                       .live_at = offsetof(FlameCommandOptions, live)};
    FlameCommandOptions *o = values;
    live_options_settle(line, &o->live, &o->selection, o->force);
    Error err;
    if (live_is_asked(line, &o->live) && !o->force && !picture_is_new(o->output, &err))
        return cli_fail(&err);
    return view_recording(line, values, &view);
}

static int run_flame(const Command *cmd, int argc, char **argv)
{
    FlameCommandOptions o = {.live = LIVE_DEFAULTS,
                             .output = str_from_c(default_output),
                             .colour = &colours[0],
                             .by = &frame_kinds[0],
                             .group = &groups[0],
                             .width = 1200,
                             .min_width = 0.5,
                             .max_frames = 100000};
    return command_run_parsed(cmd, argc, argv, &o, flame_recording);
}

// Spellings that users of cargo flamegraph, inferno and flamegraph.pl know.
static const ForeignOption foreign[] = {
    BUILD_FOREIGN_OPTIONS,
    {'i', "input", FOREIGN_OPERAND, NULL},
    {0, "root", FOREIGN_REFUSED, "sudo assay flame -- CMD"},
    {0, "reverse", FOREIGN_REFUSED, "--inverted"},
    {0, "colors", FOREIGN_REFUSED, "leave it out: colours show inlined, kernel and JIT code"},
    {0, "palette", FOREIGN_REFUSED, "leave it out: colours show inlined, kernel and JIT code"},
    {0, "perfdata", FOREIGN_OPERAND, NULL},
    {0, "min-width", FOREIGN_REFUSED, "leave it out: boxes too narrow to be seen are not drawn"},
    {0, "minwidth", FOREIGN_REFUSED, "leave it out: boxes too narrow to be seen are not drawn"},
};

const Command flame_command = {
    .name = "flame",
    .group = "look",
    .summary = "draw a recording, or a command, as an interactive flame graph",
    .first = "  assay flame                  draw profile.assay as profile.svg\n"
             "  assay flame -- CMD           record a command and draw it\n"
             "  assay flame FILE --inverted  callers of what ran\n",
    .usage = "[OPTION ...] [FILE]\n[OPTION ...] -- CMD [ARG ...]\n[OPTION ...] --cargo "
             "[CARGO-OPTION ...] [-- ARG ...]",
    .options = flame_options,
    .option_count = ARRAY_LEN(flame_options),
    .foreign = foreign,
    .foreign_count = ARRAY_LEN(foreign),
    .details =
        "The picture is one SVG file for any browser. A click zooms, '/' searches by regular\n"
        "expression and shows how much matched, the arrow keys go from frame to frame,\n"
        "Enter zooms to a frame, Escape goes back, 'h' goes to the hottest frame. Recursion of "
        "more\n"
        "than 8 rounds is folded; a click or 'u' unfolds it.\n"
        "\n"
        "Examples:\n"
        "  assay flame -o prog.svg -- ./prog --port 8080     record it and draw it\n"
        "  assay flame --cargo --bench parse                 build a benchmark and draw it\n"
        "  assay flame prog.assay -o prog.svg\n"
        "  assay flame prog.assay --inverted --focus malloc -o malloc.svg\n"
        "  assay flame calls.assay --slow 1% -o slow.svg      slow calls beside fast ones\n",
    .run = run_flame,
};
