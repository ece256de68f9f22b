// SPDX-License-Identifier: Apache-2.0
// assay cover diff: which lines of a change ran, and what it did to the others.

#include "analyse/cover/change.h"

#include "base/json.h"
#include "cli/cli.h"
#include "cli/cover/cover_baseline.h"
#include "cli/cover/cover_commands.h"
#include "cli/cover/cover_load.h"
#include "cli/terminal.h"
#include "os/capture.h"
#include "os/file.h"

typedef struct CoverDiffOptions {
    CoverRequest inputs;
    Str diff_file, root, fail_on;
    StrVec baseline;
    bool markdown, json, all;
    double fail_under;
} CoverDiffOptions;

static const Option options[] = {
    COVER_INPUT_OPTIONS(CoverDiffOptions, inputs),
    OPT_TEXT(0, "diff-file", CoverDiffOptions, diff_file, "FILE",
             "the change as a unified diff, instead of asking git"),
    COVER_BASELINE_OPTION(CoverDiffOptions, baseline),
    OPT_TEXT(0, "root", CoverDiffOptions, root, "DIR",
             "folder to which the paths of the diff are relative (default: the repository)"),
    OPT_FLAG(0, "all", CoverDiffOptions, all,
             "list the lines of all classes, not only those that need a test"),
    OPT_FLAG(0, "markdown", CoverDiffOptions, markdown, "as Markdown, for a comment in a review"),
    OPT_FLAG(0, "json", CoverDiffOptions, json, "as JSON"),
    OPT_PERCENT(0, "fail-under", CoverDiffOptions, fail_under, "P",
                "end with status 3 when less than P percent of the new lines ran"),
    OPT_TEXT(0, "fail-on", CoverDiffOptions, fail_on, "CLASSES",
             "end with status 3 when a line is in one of them: UNC,LBC,UIC"),
};

// ---- The diff ------------------------------------------------------------------

static bool run_git(Arena *arena, char *const argv[], Str *text, Error *err)
{
    Program git;
    Bytes output;
    int status = 0;
    if (!program_find(arena, STR("git"), cli_env("PATH"), &git, err) ||
        !os_capture(arena, &git, argv, false, OS_READ_MAX_BYTES, &output, &status, err))
        return false;
    *text = str_from_bytes(output);
    return status == 0 || error_set(err, ERROR_USAGE, "git %s failed", argv[1]);
}

static char *word(const char *text)
{
    return (char *)(uintptr_t)text; // exec takes what it does not change as char *
}

static bool ask_git(Arena *arena, Str range, Str *text, Str *root, Error *err)
{
    if (range.len == 0 || range.ptr[0] == '-')
        return error_set(err, ERROR_USAGE,
                         "no change is named; give BASE..HEAD, or --diff-file FILE");
    char *diff[] = {word("git"),
                    word("diff"),
                    word("--no-color"),
                    word("--no-ext-diff"),
                    word("--find-renames"),
                    word("-U0"),
                    word("--src-prefix=a/"),
                    word("--dst-prefix=b/"),
                    arena_c_str(arena, range),
                    word("--"),
                    NULL};
    char *top[] = {word("git"), word("rev-parse"), word("--show-toplevel"), NULL};
    Str folder;
    // Outside of a repository 'git diff' is another command, which compares files.
    if (!run_git(arena, top, &folder, err))
        return error_hint(err, "the change can be given without git: --diff-file FILE");
    if (!run_git(arena, diff, text, err))
        return false;
    if (root->len == 0)
        *root = str_trim(folder);
    return true;
}

// ---- Output -------------------------------------------------------------

// Lines that need a test: new lines that did not run, and lines that did before.
static bool wants_test(CoverClass c)
{
    return c == COVER_UNC || c == COVER_LBC || c == COVER_UIC;
}

static double percent_of_new(const uint64_t counts[])
{
    uint64_t all = counts[COVER_GNC] + counts[COVER_UNC];
    return all ? 100.0 * (double)counts[COVER_GNC] / (double)all : 100.0;
}

static Str shown_path(Str path, Str root)
{
    if (root.len && str_starts_with(path, root) && path.len > root.len + 1)
        return str_slice(path, root.len + 1, path.len);
    return path;
}

// "12-14, 20" for the lines of one class. Lines without code do not break a run.
static void add_lines(StrBuf *out, const CoverDiffFile *f, CoverClass c)
{
    bool any = false;
    for (size_t i = 0; i < f->lines.len; i++) {
        if (f->lines.at[i].class != c)
            continue;
        uint32_t first = f->lines.at[i].line, last = first;
        while (i + 1 < f->lines.len && f->lines.at[i + 1].class == c)
            last = f->lines.at[++i].line;
        strbuf_printf(out, any ? ", %u" : "%u", first);
        if (last != first)
            strbuf_printf(out, "-%u", last);
        any = true;
    }
}

static void add_text(StrBuf *out, const CoverDiffOptions *o, const CoverDiff *d)
{
    for (int c = 0; c < COVER_CLASS_COUNT; c++)
        if (d->counts[c])
            strbuf_printf(out, "%8llu %s  %s\n", (unsigned long long)d->counts[c],
                          cover_class_name((CoverClass)c), cover_class_meaning((CoverClass)c));
    uint64_t new_lines = d->counts[COVER_GNC] + d->counts[COVER_UNC];
    if (new_lines)
        strbuf_printf(out, "%.2f%% of %llu new line%s ran\n", percent_of_new(d->counts),
                      (unsigned long long)new_lines, plural_s(new_lines));
    else
        strbuf_add(out, STR("no new line has code that counts\n"));
    for (size_t i = 0; i < d->files.len; i++) {
        const CoverDiffFile *f = &d->files.at[i];
        for (int c = 0; c < COVER_CLASS_COUNT; c++) {
            if (!f->counts[c] || !(o->all || wants_test((CoverClass)c)))
                continue;
            strbuf_add_terminal(out, shown_path(f->path, o->root));
            strbuf_printf(out, ": %s ", cover_class_name((CoverClass)c));
            add_lines(out, f, (CoverClass)c);
            strbuf_add_char(out, '\n');
        }
    }
}

static void add_markdown(StrBuf *out, const CoverDiffOptions *o, const CoverDiff *d)
{
    uint64_t new_lines = d->counts[COVER_GNC] + d->counts[COVER_UNC];
    if (new_lines)
        strbuf_printf(out, "**%.2f%%** of %llu new line%s ran.\n\n", percent_of_new(d->counts),
                      (unsigned long long)new_lines, plural_s(new_lines));
    else
        strbuf_add(out, STR("No new line has code that counts.\n\n"));
    strbuf_add(out, STR("| class | lines | meaning |\n| --- | ---: | --- |\n"));
    for (int c = 0; c < COVER_CLASS_COUNT; c++)
        if (d->counts[c])
            strbuf_printf(out, "| %s | %llu | %s |\n", cover_class_name((CoverClass)c),
                          (unsigned long long)d->counts[c], cover_class_meaning((CoverClass)c));
    strbuf_add(out, STR("\n| file | new lines | ran | without a test |\n"
                        "| --- | ---: | ---: | --- |\n"));
    for (size_t i = 0; i < d->files.len; i++) {
        const CoverDiffFile *f = &d->files.at[i];
        uint64_t fresh = f->counts[COVER_GNC] + f->counts[COVER_UNC];
        if (!fresh && !f->counts[COVER_LBC] && !f->counts[COVER_UIC])
            continue;
        strbuf_add(out, STR("| "));
        strbuf_add_markdown(out, shown_path(f->path, o->root));
        strbuf_printf(out, " | %llu | %llu |", (unsigned long long)fresh,
                      (unsigned long long)f->counts[COVER_GNC]);
        for (int c = 0; c < COVER_CLASS_COUNT; c++) {
            if (!f->counts[c] || !wants_test((CoverClass)c))
                continue;
            strbuf_printf(out, " %s ", cover_class_name((CoverClass)c));
            add_lines(out, f, (CoverClass)c);
        }
        strbuf_add(out, STR(" |\n"));
    }
}

static void add_counts(JsonWriter *w, const uint64_t counts[])
{
    json_begin_object(w, "classes");
    for (int c = 0; c < COVER_CLASS_COUNT; c++)
        json_u64(w, cover_class_name((CoverClass)c), counts[c]);
    json_end(w);
}

static void add_json(StrBuf *out, const CoverDiffOptions *o, const CoverDiff *d)
{
    JsonWriter w = json_writer(out, 1);
    json_begin_object(&w, NULL);
    json_str(&w, "schema", STR("assay-cover-diff-1"));
    json_double(&w, "new_lines_percent", percent_of_new(d->counts));
    add_counts(&w, d->counts);
    json_begin_array(&w, "files");
    for (size_t i = 0; i < d->files.len; i++) {
        const CoverDiffFile *f = &d->files.at[i];
        json_begin_object(&w, NULL);
        json_str(&w, "path", shown_path(f->path, o->root));
        add_counts(&w, f->counts);
        json_begin_object(&w, "lines");
        for (int c = 0; c < COVER_CLASS_COUNT; c++) {
            if (!f->counts[c])
                continue;
            json_begin_array(&w, cover_class_name((CoverClass)c));
            for (size_t k = 0; k < f->lines.len; k++)
                if (f->lines.at[k].class == (CoverClass)c)
                    json_u64(&w, NULL, f->lines.at[k].line);
            json_end(&w);
        }
        json_end(&w);
        json_end(&w);
    }
    json_end(&w);
    json_end(&w);
    strbuf_add_char(out, '\n');
}

// ---- The gate ------------------------------------------------------------------

// `now` are the counts of the changed program.
static int gate(const CoverDiffOptions *o, const CoverDiff *d, const Profile *now)
{
    int status = STATUS_OK;
    Str rest = o->fail_on, name;
    if ((o->fail_under > 0 || o->fail_on.len) && cover_is_unsound(now, o->inputs.llvm_rules))
        status = STATUS_THRESHOLD;
    if (o->fail_under > 0 && percent_of_new(d->counts) < o->fail_under) {
        cli_say("%.2f%% of the new lines ran, less than the %.2f%% asked for",
                percent_of_new(d->counts), o->fail_under);
        status = STATUS_THRESHOLD;
    }
    while (str_next_part(&rest, ',', &name)) {
        CoverClass c;
        if (cover_class_find(name, &c) && d->counts[c]) {
            cli_say("%llu line%s: %s (%s)", (unsigned long long)d->counts[c],
                    plural_s(d->counts[c]), cover_class_meaning(c), cover_class_name(c));
            status = STATUS_THRESHOLD;
        }
    }
    return status;
}

static bool check_classes(Str rest, Error *err)
{
    Str name;
    CoverClass c;
    while (str_next_part(&rest, ',', &name))
        if (!cover_class_find(name, &c))
            return error_set(err, ERROR_USAGE, "--fail-on: '%" STR_FMT "' is not a class",
                             STR_ARG(name));
    return true;
}

// ---- Putting it together ---------------------------------------------------------

static int print(const CoverDiffOptions *o, const CoverDiff *d, const Profile *now)
{
    StrBuf out = {0};
    if (o->json)
        add_json(&out, o, d);
    else if (o->markdown)
        add_markdown(&out, o, d);
    else
        add_text(&out, o, d);
    for (size_t i = 0; i < d->unmatched.len && o->all; i++)
        cli_say("'%" STR_FMT "' changed and has no coverage", STR_ARG(d->unmatched.at[i]));
    bool ok = cli_print(strbuf_str(&out));
    strbuf_deinit(&out);
    return ok ? gate(o, d, now) : STATUS_FAILED;
}

static int compare(CoverDiffOptions *o, Str range, StrVec *inputs, Arena *arena)
{
    Profile now;
    CoverFiles now_files = {0};
    CoverBaseline base = {0};
    CoverSide base_side = {0};
    CoverRequest request = o->inputs;
    DiffFiles diff;
    CoverDiff result;
    Bytes file;
    Str text = {0};
    Error err;
    bool has_now = false;
    if (inputs->len == 0)
        vec_push(arena, inputs, COVER_RUN_FOLDER);
    bool ok = check_classes(o->fail_on, &err);
    if (ok && o->diff_file.len) {
        ok = os_read_file(arena, o->diff_file, OS_READ_MAX_BYTES, &file, &err);
        text = ok ? str_from_bytes(file) : text;
    } else if (ok) {
        ok = ask_git(arena, range, &text, &o->root, &err);
    }
    ok = ok && diff_parse(arena, text, &diff, &err);
    if (ok) {
        has_now = true;
        request.wants = COVER_WANT_ROWS;
        ok = cover_load_printed(&request, inputs, &now, &err);
    }
    if (ok && o->baseline.len) {
        ok = cover_baseline_load(&o->inputs, &o->baseline, &diff, 0, &base, &err);
        base_side = (CoverSide){&base.profile, &base.files};
    }
    int status;
    if (ok) {
        cover_files_group(arena, &now, &now_files);
        cover_diff_classify(arena, &diff, base_side, (CoverSide){&now, &now_files}, o->root,
                            &result);
        status = print(o, &result, &now);
    } else {
        status = cli_fail(&err);
    }
    if (has_now)
        profile_deinit(&now);
    cover_baseline_deinit(&base);
    return status;
}

static int compare_words(CommandLine *line, void *values)
{
    CoverDiffOptions *o = values;
    const StrVec *words = &line->operands;
    StrVec inputs = {0};
    if (o->diff_file.len == 0 && words->len == 0)
        return usage_error(line->cmd, "no change is named; give BASE..HEAD, or --diff-file FILE");
    // The first word is the change, unless a file has it.
    for (size_t i = o->diff_file.len ? 0 : 1; i < words->len; i++)
        vec_push(line->arena, &inputs, words->at[i]);
    return compare(o, words->len ? words->at[0] : STR(""), &inputs, line->arena);
}

static int run(const Command *cmd, int argc, char **argv)
{
    CoverDiffOptions o = {0};
    return command_run_parsed(cmd, argc, argv, &o, compare_words);
}

const Command cover_diff_command = {
    .name = "diff",
    .summary = "which lines of a change ran, and which other lines it affects",
    .first = "  assay cover diff main..HEAD                  which lines of a change ran\n"
             "  assay cover diff main..HEAD --fail-under 80  for continuous integration\n"
             "  assay cover diff --diff-file FILE            a change in a file\n",
    .usage = "[OPTION ...] BASE..HEAD [INPUT ...]\n--diff-file FILE [OPTION ...] [INPUT ...]",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .details =
        "INPUT is coverage of the changed program, as report takes it (.assay/cover). With a\n"
        "--baseline every line falls into one of lcov's twelve classes; without, only new\n"
        "lines do (UNC, GNC).\n"
        "  assay cover diff main..HEAD --fail-under 90 --markdown\n",
    .run = run,
};
