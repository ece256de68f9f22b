// SPDX-License-Identifier: Apache-2.0
// Prints what slow calls do.

#include "cli/calls/slow_screen.h"

#include <math.h>

#include "analyse/calls/slow_line.h"
#include "base/json.h"
#include "cli/terminal.h"

static void add_time(StrBuf *out, double ns, size_t width)
{
    StrBuf text = {0};
    if (ns < 0)
        strbuf_add_char(&text, '-');
    if (isfinite(ns))
        add_value(&text, (uint64_t)fabs(ns), STR("ns"));
    else
        strbuf_add(&text, STR("?"));
    size_t columns = str_columns(strbuf_str(&text));
    strbuf_add_repeated(out, ' ', columns < width ? width - columns : 0);
    strbuf_add(out, strbuf_str(&text));
    strbuf_deinit(&text);
}

static void add_object(StrBuf *out, const Profile *p, WaitClass state, StrId object)
{
    strbuf_printf(out, "waits: %s", wait_class_name(state));
    if (object.v == 0)
        return;
    strbuf_add_char(out, ' ');
    strbuf_add_terminal(out, profile_text(p, object));
}

static void add_what(StrBuf *out, const Profile *p, const SlowCause *c)
{
    switch (c->kind) {
    case SLOW_CPU:
        strbuf_add(out, STR("computes in "));
        wait_place_add(p, c->place, out);
        return;
    case SLOW_WAIT:
        add_object(out, p, c->state, c->object);
        strbuf_add(out, STR(" in "));
        wait_place_add(p, c->place, out);
        return;
    case SLOW_RUN_QUEUE:
        strbuf_add(out, STR("waits for a processor"));
        return;
    case SLOW_OFF_CPU:
        strbuf_add(out, STR("is off the processor (record --wait says why)"));
        return;
    case SLOW_PARKED:
        strbuf_add(out, STR("its goroutine is parked, or unseen on another thread"));
        return;
    }
}

static void add_cause(StrBuf *out, const Profile *p, const SlowCause *c)
{
    strbuf_add(out, STR("  +"));
    add_time(out, c->difference.point, 8);
    strbuf_add(out, STR(" ("));
    add_time(out, c->difference.low, 0);
    strbuf_add(out, STR(" .. "));
    add_time(out, c->difference.high, 0);
    strbuf_printf(out, ")  in %.0f %% of slow calls, %.*f %% of fast: ", 100 * c->in_slow,
                  c->in_fast > 0 && c->in_fast < 0.005 ? 1 : 0, 100 * c->in_fast);
    add_what(out, p, c);
    strbuf_add_char(out, '\n');
}

static void add_head(StrBuf *out, const Profile *p, const CallSummary *s, const SlowCalls *slow)
{
    StrBuf name = {0};
    call_name_add(p, s, &name);
    strbuf_add_terminal(out, strbuf_str(&name));
    strbuf_deinit(&name);
    strbuf_printf(out, ": %zu slow calls, from ", slow->slow);
    add_time(out, (double)slow->limit_ns, 0);
    strbuf_add(out, STR(" on, "));
    add_time(out, slow->slow_ns, 0);
    strbuf_printf(out, " on average; %zu fast ones, ", slow->fast);
    add_time(out, slow->fast_ns, 0);
    strbuf_printf(out, "; %.1f %% of the time of slow calls is accounted for\n",
                  100 * slow->explained);
    if (slow->moved)
        strbuf_printf(out, "  %zu slow call%s ended on another thread: the goroutine moved\n",
                      slow->moved, plural_s(slow->moved));
    if (slow->left_out)
        strbuf_printf(out,
                      "  %zu call%s of goroutines left out: another was open on the same thread\n",
                      slow->left_out, plural_s(slow->left_out));
}

static void add_causes(StrBuf *out, const Profile *p, const SlowCalls *slow, size_t limit)
{
    size_t certain = 0, shown = 0;
    while (certain < slow->causes.len && slow->causes.at[certain].is_certain)
        certain++;
    strbuf_add(out, certain ? STR("  more per slow call, with its interval\n")
                            : STR("  nothing is certain to differ: record more calls\n"));
    for (; shown < certain && (limit == 0 || shown < limit); shown++)
        add_cause(out, p, &slow->causes.at[shown]);
    if (certain > shown)
        strbuf_printf(out, "  %zu more (--limit 0)\n", certain - shown);
}

// ---- The slowest call --------------------------------------------------------------------

static void add_thread(StrBuf *out, const Profile *p, ThreadId thread)
{
    strbuf_printf(out, "thread %u ", p->threads.tid.at[thread.v]);
    strbuf_add_terminal(out, profile_text(p, p->threads.name.at[thread.v]));
}

static void add_step(StrBuf *out, const Profile *p, const CallStep *s)
{
    switch (s->kind) {
    case CALL_STEP_RUNS:
        strbuf_add(out, s->samples ? STR("computes in ") : STR("runs, without a sample"));
        if (s->samples)
            wait_place_add(p, s->place, out);
        return;
    case CALL_STEP_UNSEEN:
        strbuf_add(out, STR("runs or waits: not recorded"));
        return;
    case CALL_STEP_APART:
        strbuf_add(out, STR("the goroutine is parked, or runs unseen"));
        return;
    case CALL_STEP_QUEUES:
        strbuf_add(out, STR("waits for a processor"));
        return;
    case CALL_STEP_WAITS:
        break;
    }
    add_object(out, p, s->state, s->object);
    strbuf_add(out, STR(" in "));
    wait_place_add(p, s->place, out);
    if (s->waker == 0)
        return;
    strbuf_add(out, STR("; ended by "));
    add_thread(out, p, (ThreadId){s->waker - 1});
    if (s->waker_place.frame.v) {
        strbuf_add(out, STR(" in "));
        wait_place_add(p, s->waker_place, out);
    }
}

static void add_step_times(StrBuf *out, int64_t since_ns, int64_t ns)
{
    strbuf_add(out, STR("  "));
    add_time(out, (double)since_ns, 9);
    strbuf_add(out, STR("  +"));
    add_time(out, (double)ns, 8);
    strbuf_add(out, STR("  "));
}

// Steps that are short beside the call, and follow each other.
typedef struct ShortSteps {
    size_t count;
    int64_t begin_ns, end_ns;
} ShortSteps;

static void flush_short(StrBuf *out, int64_t begin_ns, ShortSteps *s)
{
    if (s->count == 0)
        return;
    add_step_times(out, s->begin_ns - begin_ns, s->end_ns - s->begin_ns);
    strbuf_printf(out, "%zu short step%s\n", s->count, s->count == 1 ? "" : "s");
    s->count = 0;
}

static void add_slowest(StrBuf *out, const Profile *p, const CallSummary *s)
{
    enum { LINES_MAX = 24, SHORT_PART = 100 };
    uint32_t call = vec_last(&s->rows);
    int64_t begin = p->calls.begin_ns.at[call], all = call_duration_ns(p, call);
    CallSteps steps = call_steps(p, call);
    ShortSteps brief = {0};
    size_t lines = 0, i = 0;
    StrBuf values = {0};
    strbuf_add(out, STR("  the slowest call, in order: "));
    add_time(out, (double)all, 0);
    strbuf_printf(out, " from %.6f s on, ", (double)begin / 1e9);
    add_thread(out, p, p->calls.thread.at[call]);
    call_values_add(p, call, &values);
    strbuf_add(out, values.len ? STR(", ") : STR(""));
    strbuf_add_terminal(out, strbuf_str(&values));
    strbuf_deinit(&values);
    strbuf_add_char(out, '\n');
    for (; i < steps.len && lines < LINES_MAX; i++) {
        const CallStep *step = &steps.at[i];
        int64_t ns = step->end_ns - step->begin_ns;
        if (ns < all / SHORT_PART) {
            brief.begin_ns = brief.count ? brief.begin_ns : step->begin_ns;
            brief.end_ns = step->end_ns;
            brief.count++;
            continue;
        }
        flush_short(out, begin, &brief);
        add_step_times(out, step->begin_ns - begin, ns);
        add_step(out, p, step);
        strbuf_add_char(out, '\n');
        lines++;
    }
    flush_short(out, begin, &brief);
    if (i < steps.len)
        strbuf_printf(out, "  %zu more steps (--json)\n", steps.len - i);
    vec_free(&steps);
}

void slow_add_table(StrBuf *out, const Profile *p, const SlowLimit *limit, size_t rows)
{
    CallSummaries all = call_summaries(p);
    if (all.len == 0)
        strbuf_add(out, STR("no calls were recorded: assay record --calls FUNCTION -- CMD\n"));
    for (size_t i = 0; i < all.len; i++) {
        SlowCalls slow;
        if (i)
            strbuf_add_char(out, '\n');
        if (slow_calls_compute(p, &all.at[i], limit, &slow)) {
            add_head(out, p, &all.at[i], &slow);
            add_causes(out, p, &slow, rows);
            add_slowest(out, p, &all.at[i]);
        } else {
            call_name_add(p, &all.at[i], out);
            strbuf_printf(out,
                          ": slow calls: %zu, fast calls: %zu; both are needed to compare them\n",
                          slow.slow, slow.fast);
        }
        slow_calls_deinit(&slow);
    }
    call_summaries_free(&all);
}

// ---- JSON --------------------------------------------------------------------------------

static void json_number(JsonWriter *w, const char *key, double v)
{
    if (isfinite(v))
        json_double(w, key, v);
    else
        json_null(w, key);
}

static void json_cause(JsonWriter *w, const Profile *p, const SlowCause *c)
{
    static const char *const kinds[] = {"cpu", "wait", "run queue", "off cpu", "parked"};
    StrBuf place = {0};
    json_begin_object(w, NULL);
    json_str(w, "kind", str_from_c(kinds[c->kind]));
    if (c->kind == SLOW_WAIT) {
        json_str(w, "class", str_from_c(wait_class_name(c->state)));
        json_str(w, "object", profile_text(p, c->object));
    }
    if (c->kind == SLOW_WAIT || c->kind == SLOW_CPU) {
        wait_place_add(p, c->place, &place);
        json_str(w, "place", strbuf_str(&place));
    }
    strbuf_deinit(&place);
    json_number(w, "difference_ns", c->difference.point);
    json_number(w, "low_ns", c->difference.low);
    json_number(w, "high_ns", c->difference.high);
    json_number(w, "slow_ns", c->slow_ns);
    json_number(w, "fast_ns", c->fast_ns);
    json_number(w, "in_slow", c->in_slow);
    json_number(w, "in_fast", c->in_fast);
    json_bool(w, "certain", c->is_certain);
    json_end(w);
}

static void json_step(JsonWriter *w, const Profile *p, const CallStep *s)
{
    static const char *const kinds[] = {"runs", "waits", "queues", "unseen", "apart"};
    StrBuf place = {0};
    json_begin_object(w, NULL);
    json_str(w, "kind", str_from_c(kinds[s->kind]));
    json_i64(w, "begin_ns", s->begin_ns);
    json_i64(w, "end_ns", s->end_ns);
    if (s->kind == CALL_STEP_WAITS) {
        json_str(w, "class", str_from_c(wait_class_name(s->state)));
        json_str(w, "object", profile_text(p, s->object));
    }
    if (s->kind == CALL_STEP_RUNS)
        json_u64(w, "samples", s->samples);
    if (s->kind == CALL_STEP_WAITS || s->samples) {
        wait_place_add(p, s->place, &place);
        json_str(w, "place", strbuf_str(&place));
    }
    if (s->waker)
        json_u64(w, "ended_by_tid", p->threads.tid.at[s->waker - 1]);
    if (s->waker && s->waker_place.frame.v) {
        strbuf_clear(&place);
        wait_place_add(p, s->waker_place, &place);
        json_str(w, "ended_in", strbuf_str(&place));
    }
    strbuf_deinit(&place);
    json_end(w);
}

// The slowest calls, each with its steps.
static void json_slowest(JsonWriter *w, const Profile *p, const CallSummary *s, size_t slow)
{
    enum { CALLS_MAX = 20 };
    json_begin_array(w, "slowest");
    for (size_t i = 0; i < s->rows.len && i < slow && i < CALLS_MAX; i++) {
        uint32_t call = s->rows.at[s->rows.len - 1 - i];
        ThreadId thread = p->calls.thread.at[call];
        CallSteps steps = call_steps(p, call);
        json_begin_object(w, NULL);
        json_u64(w, "duration_ns", (uint64_t)call_duration_ns(p, call));
        json_i64(w, "begin_ns", p->calls.begin_ns.at[call]);
        json_u64(w, "tid", p->threads.tid.at[thread.v]);
        json_begin_array(w, "steps");
        for (size_t k = 0; k < steps.len; k++)
            json_step(w, p, &steps.at[k]);
        json_end(w);
        json_end(w);
        vec_free(&steps);
    }
    json_end(w);
}

static void json_function(JsonWriter *w, const Profile *p, const CallSummary *s,
                          const SlowLimit *limit, size_t rows)
{
    SlowCalls slow;
    StrBuf name = {0};
    bool ok = slow_calls_compute(p, s, limit, &slow);
    call_name_add(p, s, &name);
    json_begin_object(w, NULL);
    json_str(w, "function", strbuf_str(&name));
    strbuf_deinit(&name);
    json_u64(w, "slow", slow.slow);
    json_u64(w, "fast", slow.fast);
    if (ok) {
        json_u64(w, "from_ns", slow.limit_ns);
        json_double(w, "slow_ns", slow.slow_ns);
        json_double(w, "fast_ns", slow.fast_ns);
        json_double(w, "explained", slow.explained);
        json_u64(w, "moved", slow.moved);
        json_u64(w, "left_out", slow.left_out);
    }
    json_begin_array(w, "causes");
    for (size_t i = 0; i < slow.causes.len && (rows == 0 || i < rows); i++)
        json_cause(w, p, &slow.causes.at[i]);
    json_end(w);
    json_slowest(w, p, s, slow.slow);
    json_end(w);
    slow_calls_deinit(&slow);
}

void slow_add_json(StrBuf *out, const Profile *p, const SlowLimit *limit, size_t rows)
{
    CallSummaries all = call_summaries(p);
    JsonWriter w = json_writer(out, 1);
    json_begin_object(&w, NULL);
    json_str(&w, "schema", STR("assay-slow"));
    json_u64(&w, "version", 1);
    json_begin_array(&w, "functions");
    for (size_t i = 0; i < all.len; i++)
        json_function(&w, p, &all.at[i], limit, rows);
    json_end(&w);
    json_end(&w);
    strbuf_add_char(out, '\n');
    call_summaries_free(&all);
}
