// SPDX-License-Identifier: Apache-2.0
// Limits on what a program may allocate.

#include "cli/heap/heap_gates.h"

#include <inttypes.h>

#include "analyse/diff/profile_diff.h"
#include "analyse/fit.h"
#include "analyse/heap/heap_view.h"
#include "analyse/keys.h"
#include "cli/cli.h"
#include "cli/recording.h"
#include "cli/terminal.h"

enum { STACK_SHOWN = 12, ROWS_SHOWN = 5 };

typedef struct Judge {
    const HeapGates *g;
    HeapView view;
    size_t missed;
} Judge;

// ---- Words -----------------------------------------------------------------------------------

// Splits at the last '=': operators have one in their name.
bool heap_limit_parse(Str text, HeapLimit *ret)
{
    static const char per_call[] = "/call";
    size_t at = str_find_last_char(text, '=');
    if (at == SIZE_MAX || at == 0)
        return false;
    Str number = str_slice(text, at + 1, text.len);
    ret->function = str_slice(text, 0, at);
    ret->per_call = str_ends_with(number, STR("/call"));
    if (ret->per_call)
        number = str_slice(number, 0, number.len - (sizeof(per_call) - 1));
    return str_parse_u64(number, 10, &ret->blocks);
}

bool heap_gates_check(const HeapGates *g, Error *err)
{
    HeapLimit limit;
    for (size_t i = 0; i < g->max_allocs.len; i++) {
        if (heap_limit_parse(g->max_allocs.at[i], &limit))
            continue;
        error_set(err, ERROR_USAGE,
                  "--max-allocs takes FUNCTION=N or FUNCTION=N/call, not '%" STR_FMT "'",
                  STR_ARG(g->max_allocs.at[i]));
        return error_hint(err, "of the whole run: --max-allocs parse=1000; of each call: "
                               "--max-allocs parse=3/call");
    }
    return true;
}

// ---- Messages ------------------------------------------------------------------------------

static void add_amount(StrBuf *out, uint64_t value, bool is_bytes)
{
    add_value(out, value, is_bytes ? STR("bytes") : STR(""));
    if (!is_bytes)
        strbuf_add(out, value == 1 ? STR(" block") : STR(" blocks"));
}

static void say_stack(const Profile *p, StackId stack)
{
    StrBuf line = {0}, name = {0};
    size_t shown = 0;
    for (uint32_t s = stack.v; s && shown < STACK_SHOWN; s = p->stacks.parent.at[s].v)
        for (uint32_t f = p->stacks.frame.at[s].v; f && shown < STACK_SHOWN;
             f = p->frames.inlined_in.at[f].v, shown++) {
            strbuf_clear(&line);
            strbuf_clear(&name);
            frame_add_function_name(p, (FrameId){f}, &name);
            name_add_fitting(&line, strbuf_str(&name), 48);
            StrId file = p->frames.file.at[f];
            if (file.v) {
                strbuf_add(&line, STR("  "));
                strbuf_add_terminal(&line, str_base_name(profile_text(p, file)));
                strbuf_printf(&line, ":%u", p->frames.line.at[f]);
            }
            cli_say("  %s %" STR_FMT, shown ? "<" : " ", STR_ARG(strbuf_str(&line)));
        }
    strbuf_deinit(&line);
    strbuf_deinit(&name);
}

static void say_missed(Judge *j, const char *what, uint64_t is, uint64_t limit, bool is_bytes)
{
    StrBuf text = {0};
    add_amount(&text, is, is_bytes);
    strbuf_add(&text, STR(", more than "));
    add_amount(&text, limit, is_bytes);
    cli_say("%s: %" STR_FMT, what, STR_ARG(strbuf_str(&text)));
    strbuf_deinit(&text);
    j->missed++;
}

// Says which stack has the most of a metric.
static void say_greatest(const Judge *j, const HeapRow *row, enum HeapMetric metric, bool is_bytes)
{
    StrBuf text = {0};
    if (!row || row->value[metric] == 0)
        return;
    add_amount(&text, row->value[metric], is_bytes);
    cli_say("the most, %" STR_FMT ", by", STR_ARG(strbuf_str(&text)));
    say_stack(j->view.p, row->stack);
    strbuf_deinit(&text);
}

static const HeapRow *greatest(const HeapView *v, enum HeapMetric metric,
                               bool (*takes)(const HeapView *v, const HeapRow *row, Str word),
                               Str word)
{
    const HeapRow *best = NULL;
    for (size_t i = 0; i < v->stacks.len; i++) {
        const HeapRow *row = &v->stacks.at[i];
        if (takes && !takes(v, row, word))
            continue;
        if (!best || row->value[metric] > best->value[metric])
            best = row;
    }
    return best;
}

// ---- The limits --------------------------------------------------------------------------------

static void judge_peak(Judge *j)
{
    if (j->view.peak_bytes <= j->g->max_peak)
        return;
    say_missed(j, "--max-peak", j->view.peak_bytes, j->g->max_peak, true);
    say_greatest(j, greatest(&j->view, HEAP_PEAK_BYTES, NULL, STR("")), HEAP_PEAK_BYTES, true);
}

// What a library keeps for itself, as stdio its buffers, is no leak of the program.
static bool is_programs(const HeapView *v, const HeapRow *row, Str word)
{
    (void)v;
    (void)word;
    return row->place.is_user && !row->place.is_kept_by_library;
}

static void judge_leaks(Judge *j)
{
    uint64_t blocks = 0;
    for (size_t i = 0; i < j->view.stacks.len; i++)
        if (is_programs(&j->view, &j->view.stacks.at[i], STR("")))
            blocks += j->view.stacks.at[i].value[HEAP_END_BLOCKS];
    if (blocks <= j->g->leaks)
        return;
    say_missed(j, "--leaks", blocks, j->g->leaks, false);
    say_greatest(j, greatest(&j->view, HEAP_END_BLOCKS, is_programs, STR("")), HEAP_END_BLOCKS,
                 false);
}

// Whether a function is the one that the user named: in full, in a shorter form, or by the last
// parts of one.
static bool is_named(Str full, Str word, StrBuf *scratch)
{
    if (name_ends_in(full, word))
        return true;
    if (str_find(full, str_slice(word, 0, MIN(word.len, (size_t)1))) == SIZE_MAX)
        return false;
    for (NameLength level = NAME_NO_ARGUMENTS; level <= NAME_LAST; level++) {
        strbuf_clear(scratch);
        name_shorten(text_prefix(full, NAME_SHOWN_MAX), level, scratch);
        if (name_ends_in(strbuf_str(scratch), word))
            return true;
    }
    return false;
}

// The frame of the function in a stack; 0: it has none.
static FrameId frame_of_function(const Profile *p, StackId stack, Str word)
{
    StrBuf scratch = {0};
    FrameId found = {0};
    for (uint32_t s = stack.v; s && !found.v; s = p->stacks.parent.at[s].v)
        for (uint32_t f = p->stacks.frame.at[s].v; f && !found.v; f = p->frames.inlined_in.at[f].v)
            if (is_named(profile_text(p, p->functions.name.at[p->frames.function.at[f].v]), word,
                         &scratch))
                found.v = f;
    strbuf_deinit(&scratch);
    return found;
}

static bool has_function(const HeapView *v, const HeapRow *row, Str word)
{
    return frame_of_function(v->p, row->stack, word).v != 0;
}

static uint64_t blocks_of_function(const Judge *j, Str function)
{
    uint64_t blocks = 0;
    for (size_t i = 0; i < j->view.stacks.len; i++)
        if (has_function(&j->view, &j->view.stacks.at[i], function))
            blocks += j->view.stacks.at[i].value[HEAP_BLOCKS];
    return blocks;
}

static void judge_function(Judge *j, const char *option, Str function, uint64_t limit)
{
    uint64_t blocks = blocks_of_function(j, function);
    if (blocks <= limit)
        return;
    StrBuf what = {0};
    strbuf_printf(&what, "%s %" STR_FMT, option, STR_ARG(text_prefix(function, 200)));
    strbuf_add_char(&what, '\0');
    say_missed(j, what.ptr, blocks, limit, false);
    say_greatest(j, greatest(&j->view, HEAP_BLOCKS, has_function, function), HEAP_BLOCKS, false);
    strbuf_deinit(&what);
}

// Calls that were compiled into a caller run no first instruction of the function, so that they
// are not among those counted.
static bool check_not_inlined(const Judge *j, Str function, Error *err)
{
    const Profile *p = j->view.p;
    for (size_t i = 0; i < j->view.stacks.len; i++) {
        FrameId f = frame_of_function(p, j->view.stacks.at[i].stack, function);
        if (f.v == 0 || !(p->frames.flags.at[f.v] & FRAME_INLINED))
            continue;
        error_set(err, ERROR_UNSUPPORTED,
                  "the calls of '%" STR_FMT "' cannot be counted: some are inlined",
                  STR_ARG(text_prefix(function, 200)));
        return error_hint(err, "name its caller, or mark it noinline");
    }
    return true;
}

static bool judge_calls(Judge *j, const HeapLimit *limit, uint64_t calls, Error *err)
{
    uint64_t blocks = blocks_of_function(j, limit->function);
    Str function = text_prefix(limit->function, 200);
    if (!check_not_inlined(j, limit->function, err))
        return false;
    if (calls == 0)
        cli_say("note: --max-allocs: '%" STR_FMT "' was not called", STR_ARG(function));
    if (calls ? blocks / calls < limit->blocks ||
                    (blocks / calls == limit->blocks && blocks % calls == 0)
              : blocks == 0)
        return true;
    StrBuf text = {0};
    add_amount(&text, blocks, false);
    strbuf_add(&text, STR(" in "));
    add_rounded_count(&text, (double)calls);
    strbuf_add(&text, calls == 1 ? STR(" call, more than ") : STR(" calls, more than "));
    add_amount(&text, limit->blocks, false);
    cli_say("--max-allocs %" STR_FMT ": %" STR_FMT " a call", STR_ARG(function),
            STR_ARG(strbuf_str(&text)));
    strbuf_deinit(&text);
    j->missed++;
    say_greatest(j, greatest(&j->view, HEAP_BLOCKS, has_function, limit->function), HEAP_BLOCKS,
                 false);
    return true;
}

static bool judge_max_allocs(Judge *j, const U64Vec *calls, Error *err)
{
    size_t counted = 0;
    for (size_t i = 0; i < j->g->max_allocs.len; i++) {
        HeapLimit limit;
        if (!heap_limit_parse(j->g->max_allocs.at[i], &limit))
            continue;
        if (!limit.per_call)
            judge_function(j, "--max-allocs", limit.function, limit.blocks);
        else if (!judge_calls(j, &limit, calls->at[counted++], err))
            return false;
    }
    return true;
}

// ---- The baseline ------------------------------------------------------------------------------

static void say_growth(const ProfileDiff *d, const DiffRow *row, size_t metric, bool is_bytes)
{
    StrBuf text = {0};
    name_add_fitting(&text, row->name, 60);
    strbuf_add(&text, STR(": "));
    add_amount(&text, row->value[DIFF_NEW][metric], is_bytes);
    strbuf_add(&text, STR(", before "));
    add_amount(&text, row->value[DIFF_OLD][metric], is_bytes);
    cli_say("--baseline: %" STR_FMT " (%" STR_FMT ")", STR_ARG(strbuf_str(&text)),
            STR_ARG(d->metrics.at[metric].name));
    strbuf_deinit(&text);
}

static const HeapRow *row_of_function(const Judge *j, FrameId frame)
{
    const HeapRow *best = NULL;
    uint32_t function = j->view.p->frames.function.at[frame.v].v;
    for (size_t i = 0; i < j->view.stacks.len; i++) {
        const HeapRow *row = &j->view.stacks.at[i];
        bool same = j->view.p->frames.function.at[row->place.frame.v].v == function;
        if (same && (!best || row->value[HEAP_BLOCKS] > best->value[HEAP_BLOCKS]))
            best = row;
    }
    return best;
}

static void judge_growth(Judge *j, ProfileDiff *d, Str name, bool is_bytes)
{
    size_t metric = profile_diff_metric(d, name), shown = 0;
    if (metric == SIZE_MAX || !d->metrics.at[metric].known[DIFF_OLD])
        return;
    profile_diff_sort(d, metric);
    for (size_t i = 0; i < d->rows.len; i++) {
        const DiffRow *row = &d->rows.at[i];
        if (row->value[DIFF_NEW][metric] <= row->value[DIFF_OLD][metric])
            continue;
        j->missed++;
        if (shown++ >= ROWS_SHOWN)
            continue;
        say_growth(d, row, metric, is_bytes);
        const HeapRow *site = row_of_function(j, row->place[DIFF_NEW].frame);
        if (shown == 1 && site)
            say_stack(j->view.p, site->stack);
    }
    if (shown > ROWS_SHOWN)
        cli_say("--baseline: %zu more places (assay diff shows them)", shown - ROWS_SHOWN);
}

static bool judge_baseline(Judge *j, Error *err)
{
    Profile old;
    ProfileDiff d;
    RecordingFiles files = {0};
    Selection all;
    selection_init(&all);
    if (!load_recording(j->g->baseline, &files, false, &old, NULL, err))
        return false;
    const Profile *was = &old;
    DiffSet old_set = {&was, &all, 1}, new_set = {&j->view.p, &all, 1};
    bool ok = profile_diff_init(&d, &old_set, &new_set, DIFF_BY_FUNCTION, err);
    if (ok) {
        judge_growth(j, &d, STR("blocks allocated"), false);
        judge_growth(j, &d, STR("bytes at peak"), true);
        profile_diff_deinit(&d);
    }
    profile_deinit(&old);
    return ok;
}

static bool has_gates(const HeapGates *g)
{
    return g->max_peak != UINT64_MAX || g->leaks != UINT64_MAX || g->max_allocs.len ||
           g->no_alloc_in.len || g->baseline.len;
}

bool heap_gates_judge(const HeapGates *g, const Profile *p, const U64Vec *calls, size_t *ret_missed,
                      Error *err)
{
    Judge j = {.g = g};
    Selection all;
    *ret_missed = 0;
    if (!has_gates(g))
        return true;
    selection_init(&all);
    if (!heap_view_init(&j.view, p, &all, err))
        return false;
    judge_peak(&j);
    judge_leaks(&j);
    bool ok = judge_max_allocs(&j, calls, err);
    for (size_t i = 0; i < g->no_alloc_in.len; i++)
        judge_function(&j, "--no-alloc-in", g->no_alloc_in.at[i], 0);
    ok = ok && (g->baseline.len == 0 || judge_baseline(&j, err));
    heap_view_deinit(&j.view);
    *ret_missed = j.missed;
    return ok;
}
