// SPDX-License-Identifier: Apache-2.0
// Runs the steps of a survey.

#include "cli/survey/survey_run.h"

#include <fcntl.h>
#include <math.h>

#include "analyse/run_summary.h"
#include "cli/cli.h"
#include "cli/recording.h"
#include "cli/survey/survey_child.h"
#include "cli/symbols.h"
#include "collect/cover/objects.h"
#include "coverage/inputs.h"
#include "model/facts.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/folder_tree.h"
#include "os/spawn.h"
#include "store/store.h"

// Where counts go that a run writes while it is timed or recorded: a program that is built to count
// would add them to the user's files.
#define DISCARDED "discarded"

typedef struct SurveyRun {
    SurveyPlan *plan;
    Arena *arena;
    SurveyManifest *m;
    unsigned number, count; // of steps
    StrVec environment;
    bool status_known;
    bool ran_counting[SURVEY_SIDES]; // the samples have a module that counts its lines
} SurveyRun;

// ---- Words -------------------------------------------------------------------------------------

Str survey_quote_words(Arena *arena, const StrVec *words)
{
    StrBuf out = {0};
    for (size_t i = 0; i < words->len; i++) {
        if (i)
            strbuf_add_char(&out, ' ');
        strbuf_add_shell_word(&out, words->at[i]);
    }
    Str ret = arena_str(arena, strbuf_str(&out));
    strbuf_deinit(&out);
    return ret;
}

static void add_words(SurveyRun *r, StrVec *words, const char *const *more, size_t count)
{
    for (size_t i = 0; i < count; i++)
        vec_push(r->arena, words, str_from_c(more[i]));
}

static void add_all(SurveyRun *r, StrVec *words, const StrVec *more)
{
    for (size_t i = 0; i < more->len; i++)
        vec_push(r->arena, words, more->at[i]);
}

static void add_source_paths(SurveyRun *r, int side, StrVec *words)
{
    const StrVec *sources = &r->plan->side[side].sources;
    for (size_t i = 0; i < sources->len; i++) {
        vec_push(r->arena, words, STR("--source-path"));
        vec_push(r->arena, words, sources->at[i]);
    }
}

// "old.cpu.assay", "cpu.assay".
static Str file_name(SurveyRun *r, int side, SurveyStep step)
{
    return arena_printf(r->arena, "%s%s.assay", side == SURVEY_OLD ? "old." : "",
                        survey_step_name(step));
}

static Str path_of(SurveyRun *r, Str file)
{
    return arena_printf(r->arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(r->plan->folder),
                        STR_ARG(file));
}

static bool has_old(const SurveyRun *r)
{
    return r->plan->side[SURVEY_OLD].words.len > 0;
}

// "CPU samples", or "CPU samples of the other command".
static const char *step_text(SurveyRun *r, int side, const char *what)
{
    if (side == SURVEY_NEW)
        return what;
    return arena_printf(r->arena, "%s of the other command", what).ptr;
}

// ---- Running -----------------------------------------------------------------------------------

static bool run_child(SurveyRun *r, const StrVec *words, const char *what, bool show,
                      SurveyChildEnd *end, Error *err)
{
    const SurveyChild child = {.words = words,
                               .input = r->plan->input,
                               .environment = &r->environment,
                               .show_output = show,
                               .what = what,
                               .number = ++r->number,
                               .count = r->count};
    if (!survey_child_run(r->arena, &child, end, err))
        return false;
    r->m->interrupted |= end->interrupted;
    return true;
}

static void left_out(SurveyPart *part, Str why, Str cure)
{
    *part = (SurveyPart){.why = why, .cure = cure};
}

// A step without a result: says what its recorder said.
static void failed(SurveyRun *r, SurveyPart *part, const SurveyChildEnd *end)
{
    Str why, cure;
    survey_child_reason(end->said, &why, &cure);
    if (end->interrupted)
        left_out(part, STR("interrupted"), STR(""));
    else if (why.len)
        left_out(part, why, cure);
    else
        left_out(part, arena_printf(r->arena, "it ended with status %d", end->status), STR(""));
}

static void note_status(SurveyRun *r, int side, uint32_t status)
{
    if (side == SURVEY_NEW && !r->status_known) {
        r->m->status = status;
        r->status_known = true;
    }
}

// ---- Files that count their lines -----------------------------------------------------------

static bool counts_lines(Str path)
{
    MappedFile file = {0};
    CoverKind kind = COVER_KIND_UNKNOWN;
    if (os_map_file(path, &file, NULL))
        kind = cover_kind_of(file.bytes);
    os_unmap_file(&file);
    return kind == COVER_KIND_LLVM || kind == COVER_KIND_GCOV;
}

// Whether a program or library that ran is built to count: those that a script started, too.
static bool has_counting_module(const Profile *p)
{
    for (size_t i = 0; i < p->modules.path.len; i++) {
        Str module = profile_text(p, p->modules.path.at[i]);
        bool is_system =
            str_starts_with(module, STR("/usr/")) || str_starts_with(module, STR("/lib"));
        if (p->modules.kind.at[i] == MODULE_FILE && !is_system && counts_lines(module))
            return true;
    }
    return false;
}

// ---- Time --------------------------------------------------------------------------------------

// What the runs say of each command: CPU time and exit status.
static void read_runs(SurveyRun *r, const Profile *p)
{
    RunSummaries s = {0};
    if (!run_summaries_init(&s, p, NULL))
        return;
    for (uint32_t g = 0; g < s.set.count && g < SURVEY_SIDES; g++) {
        // With two commands the reference is the first.
        int side = has_old(r) && g == 0 ? SURVEY_OLD : SURVEY_NEW;
        const RunSummary *summary = &s.set.groups[g].summary;
        r->plan->side[side].cpu_s = summary->user + summary->system;
    }
    run_summaries_deinit(&s);
    const Runs *runs = &p->runs;
    for (size_t i = 0; i < runs->status.len; i++) {
        bool is_new =
            str_equal(profile_text(p, runs->command.at[i]), r->plan->side[SURVEY_NEW].quoted);
        if (is_new && runs->status.at[i] != RUN_STATUS_NONE)
            note_status(r, SURVEY_NEW, runs->status.at[i]);
    }
}

static bool run_time(SurveyRun *r, Error *err)
{
    SurveyPart *part = &r->m->part[SURVEY_NEW][SURVEY_TIME];
    Str file = file_name(r, SURVEY_NEW, SURVEY_TIME), path = path_of(r, file);
    StrVec words = {0};
    SurveyChildEnd end;
    Profile p;
    const char *const options[] = {"bench", "-N", "-i", "--force", "--style", "none"};
    add_words(r, &words, options, ARRAY_LEN(options));
    const Str values[] = {
        STR("--recording"),
        path,
        STR("--input"),
        r->plan->input,
        STR("--until"),
        arena_printf(r->arena, "%g%%", r->plan->precision),
        STR("--max-time"),
        arena_printf(r->arena, "%lldms", (long long)(r->plan->max_time_ns / 1000000))};
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        vec_push(r->arena, &words, values[i]);
    if (has_old(r)) {
        const char *const names[] = {"-n", "old", "-n", "new"};
        add_words(r, &words, names, ARRAY_LEN(names));
        vec_push(r->arena, &words, r->plan->side[SURVEY_OLD].quoted);
    }
    vec_push(r->arena, &words, r->plan->side[SURVEY_NEW].quoted);
    if (!run_child(r, &words, "timing", false, &end, err))
        return false;
    if (load_profile(path, &p, NULL, NULL)) {
        *part = (SurveyPart){.file = file};
        read_runs(r, &p);
        profile_deinit(&p);
    } else {
        failed(r, part, &end);
    }
    return true;
}

// ---- CPU time and waits ------------------------------------------------------------------------

// More samples a second of short runs, so that a thousand are there where the kernel allows it.
static uint64_t rate_for(double cpu_s)
{
    enum { USUAL = 999, MOST = 4999, SAMPLES = 1000 };
    if (!(cpu_s > 0) || cpu_s * USUAL >= SAMPLES)
        return USUAL;
    return (uint64_t)MIN((double)MOST, ceil(SAMPLES / cpu_s));
}

// Why waits are not in a recording, as its recorder noted.
static void find_waits(SurveyRun *r, const Profile *p, SurveyPart *part, Str file)
{
    if (p->waits.thread.len) {
        *part = (SurveyPart){.file = file};
        return;
    }
    Str why = STR("nothing waited, or nothing was recorded"), cure = STR("");
    for (size_t i = 0; i < p->notes.key.len; i++) {
        Str text = profile_text(p, p->notes.text.at[i]);
        if (!str_starts_with(text, STR("waits were not recorded: ")))
            continue;
        why = arena_str(r->arena, str_slice(text, strlen("waits were not recorded: "), text.len));
        size_t at = str_find(why, STR("; run: "));
        if (at != SIZE_MAX) {
            cure = str_slice(why, at + strlen("; "), why.len);
            why = str_slice(why, 0, at);
        }
    }
    left_out(part, why, cure);
}

static StrVec record_words(SurveyRun *r, int side, Str path, bool with_waits)
{
    StrVec words = {0};
    const char *const options[] = {"record", "-q", "--force", "-F"};
    add_words(r, &words, options, ARRAY_LEN(options));
    vec_push(
        r->arena, &words,
        arena_printf(r->arena, "%llu", (unsigned long long)rate_for(r->plan->side[side].cpu_s)));
    if (with_waits)
        vec_push(r->arena, &words, STR("--wait"));
    add_source_paths(r, side, &words);
    const Str rest[] = {STR("-o"), path, STR("--")};
    for (size_t i = 0; i < ARRAY_LEN(rest); i++)
        vec_push(r->arena, &words, rest[i]);
    add_all(r, &words, &r->plan->side[side].words);
    return words;
}

static bool run_cpu(SurveyRun *r, int side, Error *err)
{
    SurveyPart *part = &r->m->part[side][SURVEY_CPU], *waits = &r->m->part[side][SURVEY_WAITS];
    Str file = file_name(r, side, SURVEY_CPU), path = path_of(r, file);
    StrVec words = record_words(r, side, path, r->plan->wanted[SURVEY_WAITS]);
    SurveyChildEnd end;
    Profile p;
    if (!run_child(r, &words, step_text(r, side, "CPU samples"), r->plan->show_output, &end, err))
        return false;
    if (load_profile(path, &p, NULL, NULL)) {
        *part = (SurveyPart){.file = file};
        r->ran_counting[side] = r->plan->wanted[SURVEY_COUNTS] && has_counting_module(&p);
        if (r->plan->wanted[SURVEY_WAITS])
            find_waits(r, &p, waits, file);
        profile_deinit(&p);
        note_status(r, side, (uint32_t)end.status);
    } else {
        failed(r, part, &end);
        if (r->plan->wanted[SURVEY_WAITS])
            left_out(waits, STR("waits are recorded with the CPU samples, and there are none"),
                     STR(""));
    }
    return true;
}

// Further recordings of both commands, in turns: how much they differ from run to run is what the
// changes between the commands are judged by.
static bool repeat_cpu(SurveyRun *r, Error *err)
{
    enum { LONG_RUNS = 3, SHORT_RUNS = 5 };
    const SurveyCommand *commands = r->plan->side;
    double both_s = commands[SURVEY_OLD].cpu_s + commands[SURVEY_NEW].cpu_s;
    uint32_t runs = both_s > 2 ? LONG_RUNS : SHORT_RUNS;
    for (uint32_t k = 2; k <= runs; k++)
        for (int turn = 0; turn < SURVEY_SIDES && !r->m->interrupted; turn++) {
            int side = k % 2 ? turn : SURVEY_SIDES - 1 - turn;
            SurveyPart *part = &r->m->part[side][SURVEY_CPU];
            SurveyChildEnd end;
            if (part->file.len == 0)
                continue;
            Str path = survey_repeat_path(r->arena, path_of(r, part->file), k);
            StrVec words = record_words(r, side, path, false);
            r->number--; // all of them are the step of the first
            if (!run_child(r, &words, "CPU samples, repeated in turns", false, &end, err))
                return false;
            if (MAX(part->repeats, 1u) == k - 1 && os_file_exists(path))
                part->repeats = k;
        }
    return true;
}

// ---- Heap --------------------------------------------------------------------------------------

static bool run_heap(SurveyRun *r, int side, Error *err)
{
    SurveyPart *part = &r->m->part[side][SURVEY_HEAP];
    Str file = file_name(r, side, SURVEY_HEAP), path = path_of(r, file);
    StrVec words = {0};
    SurveyChildEnd end;
    const char *const options[] = {"heap", "-q", "--force", "-o"};
    add_words(r, &words, options, ARRAY_LEN(options));
    vec_push(r->arena, &words, path);
    add_source_paths(r, side, &words);
    vec_push(r->arena, &words, STR("--"));
    add_all(r, &words, &r->plan->side[side].words);
    if (!run_child(r, &words, step_text(r, side, "heap"), false, &end, err))
        return false;
    if (os_file_exists(path))
        *part = (SurveyPart){.file = file};
    else
        failed(r, part, &end);
    return true;
}

// ---- Counts ------------------------------------------------------------------------------------

// Whether the program itself is built to count.
static bool is_instrumented(SurveyRun *r, Str name)
{
    Program program;
    return program_find(r->arena, name, cli_env("PATH"), &program, NULL) && !program.is_script &&
           counts_lines(program.path);
}

// Keeps the text of the lines that are counted: lines of two builds are matched by it.
static void keep_text(Profile *p, const StrVec *source_paths)
{
    Arena arena = {0};
    SourceOptions sources = {0};
    StrVec lines = {0};
    StrId file = {0};
    if (!symbols_source_options(&arena, source_paths, &sources, NULL)) {
        arena_deinit(&arena);
        return;
    }
    for (size_t i = 0; i < p->line_counts.line.len; i++) {
        uint32_t number = p->line_counts.line.at[i];
        if (p->line_counts.file.at[i].v != file.v) { // rows of a file are neighbours
            Str text = STR("");
            bool is_changed = false;
            file = p->line_counts.file.at[i];
            if (!source_read(&arena, &sources, p, file, &text, &is_changed))
                text = STR("");
            lines.len = 0;
            str_add_lines(&arena, text, &lines);
        }
        if (number && number <= lines.len)
            profile_source_line(p, file, number, lines.at[number - 1]);
    }
    arena_deinit(&arena);
}

// Reads the results of the run into a recording of their own, and removes them.
static bool keep_counts(SurveyRun *r, int side, Str results, Str path, Error *err)
{
    const CoverRequest request = {
        .wants = COVER_WANT_ROWS | COVER_WANT_FILE_TOTALS | COVER_WANT_DECISIONS, .demangle = true};
    const StoreOptions store = {.force = true};
    StrVec operands = {0};
    Profile p;
    vec_push(r->arena, &operands, results);
    bool ok = cover_load(&request, &operands, &p, err);
    if (ok && p.line_counts.line.len == 0)
        ok = error_set(err, ERROR_NOT_FOUND, "the program wrote no counts");
    if (ok) {
        const SurveyCommand *command = &r->plan->side[side];
        const StrVec *words = command->counted.len ? &command->counted : &command->words;
        profile_set_fact(&p, STR(FACT_COMMAND), survey_quote_words(r->arena, words));
        keep_text(&p, &command->sources);
    }
    ok = ok && store_write(path, &store, &p, err);
    profile_deinit(&p);
    return ok;
}

static bool run_counts(SurveyRun *r, int side, Error *err)
{
    SurveyPart *part = &r->m->part[side][SURVEY_COUNTS];
    const SurveyCommand *command = &r->plan->side[side];
    const StrVec *counted = command->counted.len ? &command->counted : &command->words;
    if (command->counted.len == 0 && !command->instrumented && !r->ran_counting[side]) {
        r->number++;
        left_out(part,
                 arena_printf(r->arena, "'%" STR_FMT "' is not built to count its lines",
                              STR_ARG(command->words.at[0])),
                 STR("build it with what 'assay cover flags gcc' (clang, rustc) prints, "
                     "and name that build: --counted 'CMD'"));
        return true;
    }
    Str results = path_of(r, arena_printf(r->arena, "%scover", side == SURVEY_OLD ? "old." : ""));
    Str file = file_name(r, side, SURVEY_COUNTS);
    StrVec words = {0};
    SurveyChildEnd end;
    Error trouble;
    const char *const options[] = {"cover", "run", "-q", "--force", "-o"};
    add_words(r, &words, options, ARRAY_LEN(options));
    vec_push(r->arena, &words, results);
    vec_push(r->arena, &words, STR("--"));
    add_all(r, &words, counted);
    StrVec discards = r->environment;
    r->environment = (StrVec){0};
    bool ok = run_child(r, &words, step_text(r, side, "counts of lines"), false, &end, err);
    r->environment = discards;
    if (!ok)
        return false;
    if (keep_counts(r, side, results, path_of(r, file), &trouble))
        *part = (SurveyPart){.file = file};
    else if (end.status >= 126 && end.status <= 128)
        failed(r, part, &end);
    else
        left_out(part, arena_str(r->arena, str_from_c(trouble.text)),
                 arena_str(r->arena, str_from_c(trouble.hint)));
    return true;
}

// ---- All steps ---------------------------------------------------------------------------------

// Says which steps the user left out, and counts the others.
static void prepare_parts(SurveyRun *r)
{
    for (int side = 0; side < SURVEY_SIDES; side++)
        for (int step = 0; step < SURVEY_STEPS; step++) {
            SurveyPart *part = &r->m->part[side][step];
            if (side == SURVEY_OLD && (!has_old(r) || step == SURVEY_TIME))
                continue;
            if (r->plan->wanted[step])
                left_out(part, STR("interrupted before it"), STR(""));
            else
                *part = (SurveyPart){.why = STR("not asked for"), .skipped = true};
            r->count += r->plan->wanted[step] && step != SURVEY_WAITS;
        }
}

// Keeps counts that come while a program is timed or recorded away from the user's files.
static void discard_counts(SurveyRun *r)
{
    Str folder = path_of(r, STR(DISCARDED));
    for (int side = 0; side < SURVEY_SIDES; side++) {
        SurveyCommand *command = &r->plan->side[side];
        if (command->words.len == 0)
            continue;
        command->instrumented = is_instrumented(r, command->words.at[0]);
        r->m->counting[side] = command->instrumented;
    }
    vec_push(r->arena, &r->environment,
             arena_printf(r->arena, "GCOV_PREFIX=%" STR_FMT, STR_ARG(folder)));
    vec_push(r->arena, &r->environment,
             arena_printf(r->arena, "LLVM_PROFILE_FILE=%" STR_FMT "/counts", STR_ARG(folder)));
}

// What steps leave that the recordings hold already.
static void remove_scratch(SurveyRun *r)
{
    static const char *const folders[] = {DISCARDED, "cover", "old.cover"};
    for (size_t i = 0; i < ARRAY_LEN(folders); i++)
        (void)os_tree_remove(AT_FDCWD, arena_c_str(r->arena, path_of(r, str_from_c(folders[i]))));
}

typedef bool StepRun(SurveyRun *r, int side, Error *err);

static bool run_on_sides(SurveyRun *r, SurveyStep step, StepRun *run, Error *err)
{
    for (int side = SURVEY_SIDES - 1; side >= 0; side--)
        if (r->plan->wanted[step] && r->plan->side[side].words.len && !r->m->interrupted &&
            !run(r, side, err))
            return false;
    return true;
}

static bool run_steps(SurveyRun *r, Error *err)
{
    if (r->plan->wanted[SURVEY_TIME] && !run_time(r, err))
        return false;
    return run_on_sides(r, SURVEY_CPU, run_cpu, err) &&
           (!has_old(r) || !r->plan->wanted[SURVEY_CPU] || repeat_cpu(r, err)) &&
           run_on_sides(r, SURVEY_HEAP, run_heap, err) &&
           run_on_sides(r, SURVEY_COUNTS, run_counts, err);
}

bool survey_run(SurveyPlan *plan, SurveyManifest *m, Error *err)
{
    SurveyRun r = {.plan = plan, .arena = plan->arena, .m = m};
    int64_t begin = os_monotonic_ns();
    for (int side = 0; side < SURVEY_SIDES; side++) {
        Program program;
        m->command[side] = plan->side[side].quoted;
        if (plan->side[side].words.len && !program_find(plan->arena, plan->side[side].words.at[0],
                                                        cli_env("PATH"), &program, err))
            return false;
    }
    prepare_parts(&r);
    discard_counts(&r);
    bool ok = run_steps(&r, err);
    remove_scratch(&r);
    m->seconds = (double)(os_monotonic_ns() - begin) / 1e9;
    return ok;
}
