// SPDX-License-Identifier: Apache-2.0
// The search: the choice of the next commit, the results so far, and the report.

#include "cli/bench/bench_bisect.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/bench/bench_revisions.h"
#include "cli/bench/bench_session.h"
#include "cli/cli.h"
#include "cli/runs/run_text.h"
#include "collect/bench/bisect.h"
#include "os/clock.h"
#include "os/file.h"

// The results of a commit.
typedef enum Finding { FOUND_GOOD, FOUND_SLOW, FOUND_SKIP } Finding;
static const char *const finding_names[] = {"good", "slow", "skip"};

typedef struct Tested {
    Str commit;
    Finding finding;
    Interval ratio; // to the good end
    size_t pairs;
    bool decided;
} Tested;

typedef struct Search {
    Arena *arena;
    const BenchArgs *args;
    Str command;
    BenchOptions *options;
    SpawnServer *server;
    RevisionBuilds builds;
    Revision good, bad;
    BenchCommandVec good_command; // one
    BisectQuantity quantity;
    uint32_t counter;
    Vec(Tested) tested; // the bad end first
    Str state;          // file that keeps them
    uint64_t commits;   // between the ends, the bad end included
    uint32_t steps;     // over which the error is spent
    double limit;       // ratio that separates good from slow
    uint32_t built, reused;
    bool shows_progress;
} Search;

// ---- Results of an earlier call -----------------------------------------------------

static bool parse_tested(Search *s, Str line, Tested *ret)
{
    Str words[6] = {{0}}, word;
    double values[3];
    uint64_t pairs;
    size_t n = 0;
    while (n < ARRAY_LEN(words) && str_next_part(&line, ' ', &word))
        words[n++] = word;
    Tested t = {.commit = words[0], .decided = true};
    while (t.finding < FOUND_SKIP && !str_equal(words[1], str_from_c(finding_names[t.finding])))
        t.finding++;
    if (n != ARRAY_LEN(words) || words[0].len < 40 || !str_parse_u64(words[5], 10, &pairs))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        if (!str_parse_double(words[2 + i], &values[i]))
            return false;
    t.commit = arena_str(s->arena, words[0]);
    t.ratio = (Interval){values[0], values[1], values[2]};
    t.pairs = (size_t)pairs;
    *ret = t;
    return true;
}

// Ctrl-C loses nothing but the step under way.
static void load_state(Search *s)
{
    StrBuf key = {0};
    Bytes text;
    const Str parts[] = {s->good.commit, s->bad.commit, s->args->build, s->command, s->args->judge};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        strbuf_add(&key, parts[i]);
        strbuf_add_char(&key, '\0');
    }
    s->state = arena_printf(s->arena, "%" STR_FMT "/bisect-%016llx", STR_ARG(s->builds.cache),
                            (unsigned long long)str_hash(strbuf_str(&key)));
    strbuf_deinit(&key);
    if (!os_file_exists(s->state) || !os_read_file(s->arena, s->state, 1 << 20, &text, NULL))
        return;
    Str rest = str_from_bytes(text), line;
    for (Tested t; str_next_line(&rest, &line) && parse_tested(s, line, &t);)
        vec_push(s->arena, &s->tested, t);
    if (s->tested.len)
        cli_say("going on after %zu commits that were tested before", s->tested.len);
}

static void save_state(const Search *s)
{
    StrBuf text = {0};
    Error err;
    for (size_t i = 0; i < s->tested.len; i++) {
        const Tested *t = &s->tested.at[i];
        if (t->decided)
            strbuf_printf(&text, "%" STR_FMT " %s %.9g %.9g %.9g %zu\n", STR_ARG(t->commit),
                          finding_names[t->finding], t->ratio.low, t->ratio.point, t->ratio.high,
                          t->pairs);
    }
    if (!os_write_file(s->state, bytes_from_str(strbuf_str(&text)), OUTPUT_REPLACE, &err))
        cli_say("the result so far cannot be saved: %s", err.text);
    strbuf_deinit(&text);
}

// ---- A step --------------------------------------------------------------------

static void show_progress(void *ctx, const Interval *ratio, size_t pairs)
{
    const Search *s = ctx;
    char line[128];
    if (!s->shows_progress)
        return;
    int n = snprintf(line, sizeof(line), "\r  %zu pairs: %+.2f %% [%+.2f .. %+.2f]\033[K", pairs,
                     (ratio->point - 1) * 100, (ratio->low - 1) * 100, (ratio->high - 1) * 100);
    if (write(STDERR_FILENO, line, (size_t)n) < 0)
        return; // nobody looks
}

static const Tested *find_tested(const Search *s, Str commit)
{
    for (size_t i = 0; i < s->tested.len; i++)
        if (str_equal(s->tested.at[i].commit, commit))
            return &s->tested.at[i];
    return NULL;
}

static void say_step(const Search *s, const Revision *r, const Tested *t)
{
    if (s->shows_progress && write(STDERR_FILENO, "\r\033[K", 4) < 0)
        return;
    if (t->finding == FOUND_SKIP)
        cli_say("%.10s %" STR_FMT ": cannot be tested, left out", r->commit.ptr,
                STR_ARG(r->subject));
    else
        cli_say("%.10s %" STR_FMT ": %s%s, %+.2f %% [%+.2f .. %+.2f], %zu pair%s", r->commit.ptr,
                STR_ARG(r->subject), t->decided ? "" : "perhaps ", finding_names[t->finding],
                (t->ratio.point - 1) * 100, (t->ratio.low - 1) * 100, (t->ratio.high - 1) * 100,
                t->pairs, plural_s(t->pairs));
}

static bool build(Search *s, Revision *r, BenchCommandVec *command, bool *failed, Error *err)
{
    if (!bench_build_revision(&s->builds, r, failed, err) ||
        !bench_revision_command(s->arena, s->args, s->command, r, s->options, command, err))
        return false;
    s->built += !r->reused;
    s->reused += r->reused;
    return true;
}

// Measures a commit against the good end and keeps the result. Without `s->limit` it is the bad
// end. A commit that cannot be built or run is skipped, unless it is an end.
static bool test(Search *s, Revision *r, Error *err)
{
    enum { MAX_S = 300 };
    BenchCommandVec command = {0};
    BisectResult result = {0};
    bool failed = false, is_end = s->limit == 0;
    double error = 1 - s->args->confidence / 100;
    double fail_if_slower = s->args->fail_if_slower > 0 ? s->args->fail_if_slower / 100 : 0;
    bool ok = build(s, r, &command, &failed, err);
    if (ok) {
        // Behind the ends a verdict can be wrong on one side only.
        BisectStep step = {.good = &s->good_command.at[0],
                           .other = &command.at[0],
                           .options = s->options,
                           .server = s->server,
                           .quantity = s->quantity,
                           .counter = s->counter,
                           .level = 1 - (is_end ? 1 : 2) * error / s->steps,
                           .max_ns =
                               s->args->max_time ? s->args->max_time : (int64_t)MAX_S * 1000000000,
                           .max_pairs = s->args->max_runs,
                           .limit = s->limit,
                           .least = 1 + MAX(fail_if_slower, s->args->margin / 100),
                           .progress = show_progress,
                           .ctx = s};
        ok = bisect_measure(&step, &result, err);
        failed = !ok;
    }
    if (!ok && (is_end || !failed))
        return false;
    if (bench_interrupted || result.interrupted)
        return true;
    Tested t = {.commit = r->commit, .finding = FOUND_SKIP, .decided = true};
    if (ok) {
        t.finding = result.is_slow ? FOUND_SLOW : FOUND_GOOD;
        t.ratio = result.ratio;
        t.pairs = result.pairs;
        t.decided = result.decided;
    } else {
        cli_say("%s", err->text);
    }
    vec_push(s->arena, &s->tested, t);
    save_state(s);
    say_step(s, r, &t);
    return true;
}

// ---- The search ----------------------------------------------------------------

// The slow commit that is the nearest to the good end so far.
static Str slow_end(const Search *s)
{
    Str commit = s->bad.commit;
    for (size_t i = 0; i < s->tested.len; i++)
        if (s->tested.at[i].finding == FOUND_SLOW)
            commit = s->tested.at[i].commit;
    return commit;
}

// The commits between, with the best one to test first; `*skipped` of them cannot be tested.
static bool candidates(Search *s, StrVec *ret, uint32_t *skipped, Error *err)
{
    enum { ARGS = 12 };
    Str bad = slow_end(s), text, line, commit, rest;
    StrBuf goods = {0};
    const char *args[ARGS] = {"rev-list", "--bisect-all", arena_c_str(s->arena, bad), "--not",
                              arena_c_str(s->arena, s->good.commit)};
    size_t n = 5;
    // The last good ones bound the search; earlier ones are their ancestors.
    for (size_t i = s->tested.len; i-- > 0 && n < ARGS - 1;)
        if (s->tested.at[i].finding == FOUND_GOOD)
            args[n++] = arena_c_str(s->arena, s->tested.at[i].commit);
    bool ok = revisions_git(&s->builds, args, &text, err);
    *skipped = 0;
    while (ok && str_next_line(&text, &line)) {
        if (!str_split(line, ' ', &commit, &rest))
            commit = line;
        const Tested *known = find_tested(s, commit);
        if (known && known->finding == FOUND_SKIP)
            ++*skipped;
        else if (!known && !str_equal(commit, bad))
            vec_push(s->arena, ret, commit);
    }
    strbuf_deinit(&goods);
    return ok;
}

static void add_change_of(StrBuf *out, const Tested *t, const char *what)
{
    strbuf_printf(out, "  %s: ", what);
    run_add_interval(out, &t->ratio);
    strbuf_printf(out, ", %zu pair%s\n", t->pairs, plural_s(t->pairs));
}

static bool report(Search *s, uint32_t skipped, int64_t begin_ns, Error *err)
{
    Str commit = slow_end(s), parent = STR(""), shown;
    const char *const show[] = {"log",
                                "-1",
                                "--format=%h %s%n  %an, %ad%n%P",
                                "--date=short",
                                arena_c_str(s->arena, commit),
                                NULL};
    StrBuf out = {0};
    uint32_t tests = 0, undecided = 0;
    size_t pairs = 0;
    if (!revisions_git(&s->builds, show, &shown, err))
        return false;
    for (size_t i = 0; i < s->tested.len; i++) {
        tests += s->tested.at[i].finding != FOUND_SKIP;
        undecided += !s->tested.at[i].decided;
        pairs += s->tested.at[i].pairs;
    }
    double sure = 1 - (1 - s->args->confidence / 100) * tests / s->steps;
    Str line, lines[3] = {{0}};
    for (size_t i = 0; i < ARRAY_LEN(lines) && str_next_line(&shown, &line); i++)
        lines[i] = line;
    if (!str_split(lines[2], ' ', &parent, &line))
        parent = lines[2];
    strbuf_add_terminal(&out, lines[0]);
    if (skipped)
        strbuf_printf(&out,
                      "\n  is the first slow commit, or one of %u before it that cannot be tested",
                      skipped);
    else
        strbuf_add(&out, STR("\n  is the first slow commit"));
    if (undecided)
        strbuf_printf(&out,
                      "; %u of the steps were not decided in time, so the result is not sure\n",
                      undecided);
    else
        strbuf_printf(&out, ", at least %.3g %% sure\n", sure * 100);
    strbuf_add_terminal(&out, lines[1]);
    strbuf_add_char(&out, '\n');
    const Tested *slow = find_tested(s, commit), *before = find_tested(s, parent);
    if (slow)
        add_change_of(&out, slow, "against the good end");
    if (before && before->finding == FOUND_GOOD)
        add_change_of(&out, before, "the commit before it");
    strbuf_printf(&out, "  %u of %llu commit%s tested, %u build%s, %u reused, %zu pair%s, %.0f s\n",
                  tests, (unsigned long long)s->commits, plural_s(s->commits), s->built,
                  plural_s(s->built), s->reused, pairs, plural_s(pairs),
                  (double)(os_monotonic_ns() - begin_ns) * 1e-9);
    bool ok = cli_print_text(strbuf_str(&out));
    strbuf_deinit(&out);
    return ok || error_set(err, ERROR_OS, "cannot write the result");
}

// The bad end must be slower, and by how much decides what the commits are judged by.
static bool judge_ends(Search *s, Error *err)
{
    const Tested *bad = find_tested(s, s->bad.commit);
    bool failed;
    if (!build(s, &s->good, &s->good_command, &failed, err))
        return false;
    if (!bad && !test(s, &s->bad, err))
        return false;
    bad = find_tested(s, s->bad.commit);
    if (!bad)
        return true; // interrupted
    double least = 1 + MAX(0.0, s->args->fail_if_slower) / 100;
    if (bad->finding != FOUND_SLOW || bad->ratio.low <= 1 || bad->ratio.high < least) {
        unlink(arena_c_str(s->arena, s->state));
        error_set(err, ERROR_NOT_FOUND,
                  "'%" STR_FMT "' is not slower than '%" STR_FMT "' by so much: %+.2f %% [%+.2f .. "
                  "%+.2f]",
                  STR_ARG(s->bad.name), STR_ARG(s->good.name), (bad->ratio.point - 1) * 100,
                  (bad->ratio.low - 1) * 100, (bad->ratio.high - 1) * 100);
        return error_hint(err,
                          "so there is no commit to find; a greater --max-time measures longer");
    }
    s->limit = sqrt(bad->ratio.point);
    return true;
}

static bool search(Search *s, Error *err)
{
    int64_t begin = os_monotonic_ns();
    if (!judge_ends(s, err))
        return false;
    for (uint32_t skipped = 0; !bench_interrupted;) {
        StrVec left = {0};
        Revision r;
        if (!candidates(s, &left, &skipped, err))
            return false;
        if (left.len == 0) {
            unlink(arena_c_str(s->arena, s->state));
            return report(s, skipped, begin, err);
        }
        if (!revision_find(&s->builds, left.at[0], &r, err) || !test(s, &r, err))
            return false;
    }
    cli_say("interrupted; the same command goes on from here");
    return true;
}

// ---- Preparing -----------------------------------------------------------------

static bool find_ends(Search *s, Error *err)
{
    Str text = s->args->bisect;
    size_t dots = str_find(text, STR(".."));
    if (dots == SIZE_MAX || dots == 0 || dots + 2 >= text.len)
        return error_set(err, ERROR_USAGE, "--bisect takes GOOD..BAD, not '%" STR_FMT "'",
                         STR_ARG(text));
    if (!bench_open_builds(s->arena, s->args, &s->builds, err) ||
        !revision_find(&s->builds, str_slice(text, 0, dots), &s->good, err) ||
        !revision_find(&s->builds, str_slice(text, dots + 2, text.len), &s->bad, err))
        return false;
    const char *const count[] = {"rev-list",
                                 "--count",
                                 arena_c_str(s->arena, s->bad.commit),
                                 "--not",
                                 arena_c_str(s->arena, s->good.commit),
                                 NULL};
    Str number;
    if (!revisions_git(&s->builds, count, &number, err))
        return false;
    if (!str_parse_u64(number, 10, &s->commits) || s->commits == 0)
        return error_set(err, ERROR_USAGE, "there is no commit in '%" STR_FMT "'", STR_ARG(text));
    // The ends' own test, one for each halving, and one more because merges halve unevenly.
    s->steps = 2;
    for (uint64_t left = s->commits; left > 1; left = (left + 1) / 2)
        s->steps++;
    return true;
}

static bool choose_quantity(Search *s, Error *err)
{
    Str judge = s->args->judge;
    if (judge.len == 0 || str_equal(judge, STR("time")))
        return true;
    if (str_equal(judge, STR("memory"))) {
        s->quantity = BISECT_MEMORY;
        return true;
    }
    EventSources sources = event_sources_default();
    EventSpecVec *events = arena_array(s->arena, EventSpecVec, 1);
    if (!events_parse(s->arena, &sources, judge, events, err))
        return false;
    if (events->len != 1)
        return error_set(err, ERROR_USAGE, "--judge takes one event");
    s->options->events = events;
    s->quantity = BISECT_COUNTER;
    return true;
}

static bool check(const BenchArgs *a, const StrVec *operands, Error *err)
{
    if (operands->len != 1) {
        error_set(err, ERROR_USAGE, "--bisect takes one command");
        return error_hint(err, "quote a command of several words: -- './prog input'");
    }
    if (a->json.len || a->csv.len || a->markdown.len || a->asciidoc.len || a->orgmode.len ||
        a->junit.len || a->github.len || a->bencher.len || a->svg.len || a->html.len ||
        a->recording.len || a->save.len || a->baseline.len || a->until > 0 ||
        a->profile.ptr != bench_not_given)
        return error_set(err, ERROR_USAGE,
                         "--bisect prints a commit: it has no exports, pictures, "
                         "recording, baseline, profile or --until");
    if (a->reference.len || a->scans.len || a->lists.len || a->names.len)
        return error_set(err, ERROR_USAGE,
                         "--bisect excludes --reference, parameters and --command-name");
    return true;
}

int bench_bisect(Arena *arena, const BenchArgs *args, const StrVec *operands, BenchOptions *options,
                 SpawnServer *server)
{
    Error err;
    Search s = {.arena = arena,
                .args = args,
                .options = options,
                .server = server,
                .shows_progress = isatty(STDERR_FILENO) == 1};
    options->interrupted = &bench_interrupted;
    if (!check(args, operands, &err) || !choose_quantity(&s, &err) || !find_ends(&s, &err))
        return cli_fail(&err);
    s.command = operands->at[0];
    load_state(&s);
    bench_catch_signals(server);
    bool ok = search(&s, &err);
    return ok ? bench_interrupted ? 130 : STATUS_OK : cli_fail(&err);
}
