// SPDX-License-Identifier: Apache-2.0
// Prints recorded calls.

#include "cli/calls/calls_screen.h"

#include "analyse/fit.h"
#include "base/json.h"
#include "cli/terminal.h"

enum { BAR_COLUMNS = 40, SCREEN_PER_POWER = 2, DATA_PER_POWER = 36 };

static const struct Percentile {
    const char *name, *key;
    double part;
} percentiles[] = {
    {"p50", "p50_ns", 0.5},      {"p90", "p90_ns", 0.9}, {"p99", "p99_ns", 0.99},
    {"p99.9", "p999_ns", 0.999}, {"max", "max_ns", 1},
};

static void add_time(StrBuf *out, uint64_t ns, size_t width)
{
    StrBuf text = {0};
    add_value(&text, ns, STR("ns"));
    size_t columns = str_columns(strbuf_str(&text));
    strbuf_add_repeated(out, ' ', columns < width ? width - columns : 0);
    strbuf_add(out, strbuf_str(&text));
    strbuf_deinit(&text);
}

static void add_head(StrBuf *out, const Profile *p, const CallSummary *s)
{
    StrBuf name = {0};
    call_name_add(p, s, &name);
    strbuf_add_terminal(out, strbuf_str(&name));
    strbuf_deinit(&name);
    strbuf_printf(out, ": %zu call%s, ", s->rows.len, s->rows.len == 1 ? "" : "s");
    add_time(out, s->total_ns, 0);
    for (size_t i = 0; s->rows.len && i < ARRAY_LEN(percentiles); i++) {
        strbuf_printf(out, " · %s ", percentiles[i].name);
        add_time(out, call_percentile_ns(p, s, percentiles[i].part), 0);
    }
    if (s->open)
        strbuf_printf(out, " · %llu had not ended", (unsigned long long)s->open);
    if (s->late)
        strbuf_printf(out, " · %llu without a return", (unsigned long long)s->late);
}

void calls_add_summary(StrBuf *out, const Profile *p, size_t columns)
{
    enum { LINES_MAX = 3 };
    CallSummaries all = call_summaries(p);
    for (size_t i = 0; i < all.len && i < LINES_MAX; i++) {
        StrBuf line = {0};
        add_head(&line, p, &all.at[i]);
        text_add_wrapped(out, strbuf_str(&line), columns, 2);
        strbuf_deinit(&line);
    }
    if (all.len > LINES_MAX)
        strbuf_printf(out, "%zu more functions with calls (--calls)\n", all.len - LINES_MAX);
    call_summaries_free(&all);
}

static void add_histogram(StrBuf *out, const Profile *p, const CallSummary *s)
{
    CallBuckets buckets = call_histogram(p, s, SCREEN_PER_POWER);
    uint64_t most = 1;
    for (size_t i = 0; i < buckets.len; i++)
        most = MAX(most, buckets.at[i].count);
    for (size_t i = 0; i < buckets.len; i++) {
        const CallBucket *b = &buckets.at[i];
        size_t bar = (size_t)((double)b->count / (double)most * BAR_COLUMNS + 0.5);
        strbuf_add(out, STR("  from "));
        add_time(out, b->from_ns, 9);
        strbuf_printf(out, " %9llu  ", (unsigned long long)b->count);
        strbuf_add_repeated(out, '#', MAX(bar, (size_t)1));
        strbuf_add_char(out, '\n');
    }
    vec_free(&buckets);
}

static void add_call(StrBuf *out, const Profile *p, uint32_t call)
{
    ThreadId thread = p->calls.thread.at[call];
    StrBuf values = {0};
    strbuf_add_char(out, ' ');
    add_time(out, (uint64_t)call_duration_ns(p, call), 9);
    strbuf_printf(out, " %11.6f s  ", (double)p->calls.begin_ns.at[call] / 1e9);
    strbuf_printf(out, "%7u  %5u  ", p->threads.tid.at[thread.v], p->calls.depth.at[call]);
    strbuf_add_terminal(out, profile_text(p, p->threads.name.at[thread.v]));
    call_values_add(p, call, &values);
    if (values.len) {
        strbuf_add(out, STR("  "));
        strbuf_add_terminal(out, strbuf_str(&values));
    }
    if (p->calls.flags.at[call] & CALL_ENDS_LATE)
        strbuf_add(out, STR("  (no return)"));
    strbuf_deinit(&values);
    strbuf_add_char(out, '\n');
}

static void add_slowest(StrBuf *out, const Profile *p, const CallSummary *s, size_t limit)
{
    strbuf_add(out, STR("  slowest       began      thread  depth  name, values\n"));
    for (size_t i = 0; i < s->rows.len && (limit == 0 || i < limit); i++)
        add_call(out, p, s->rows.at[s->rows.len - 1 - i]);
}

void calls_add_table(StrBuf *out, const Profile *p, size_t limit)
{
    CallSummaries all = call_summaries(p);
    if (all.len == 0)
        strbuf_add(out, STR("no calls were recorded: assay record --calls FUNCTION -- CMD\n"));
    for (size_t i = 0; i < all.len; i++) {
        if (i)
            strbuf_add_char(out, '\n');
        add_head(out, p, &all.at[i]);
        strbuf_add_char(out, '\n');
        add_histogram(out, p, &all.at[i]);
        if (all.at[i].rows.len)
            add_slowest(out, p, &all.at[i], limit);
    }
    call_summaries_free(&all);
}

// ---- JSON --------------------------------------------------------------------------------

static void json_call(JsonWriter *w, const Profile *p, uint32_t call)
{
    ThreadId thread = p->calls.thread.at[call];
    json_begin_object(w, NULL);
    json_u64(w, "duration_ns", (uint64_t)call_duration_ns(p, call));
    json_i64(w, "begin_ns", p->calls.begin_ns.at[call]);
    json_u64(w, "tid", p->threads.tid.at[thread.v]);
    json_str(w, "thread", profile_text(p, p->threads.name.at[thread.v]));
    json_u64(w, "depth", p->calls.depth.at[call]);
    json_bool(w, "has_return", !(p->calls.flags.at[call] & CALL_ENDS_LATE));
    json_begin_object(w, "values");
    const CallValues *v = &p->call_values;
    for (size_t i = call_values_first(p, call); i < v->call.len && v->call.at[i] == call; i++) {
        json_key(w, profile_text(p, v->name.at[i]));
        json_i64(w, NULL, v->value.at[i]);
    }
    json_end(w);
    json_end(w);
}

static void json_summary(JsonWriter *w, const Profile *p, const CallSummary *s, size_t limit)
{
    StrBuf name = {0};
    call_name_add(p, s, &name);
    json_begin_object(w, NULL);
    json_str(w, "function", strbuf_str(&name));
    strbuf_deinit(&name);
    json_u64(w, "calls", s->rows.len);
    json_u64(w, "not_ended", s->open);
    json_u64(w, "without_return", s->late);
    json_u64(w, "total_ns", s->total_ns);
    for (size_t i = 0; s->rows.len && i < ARRAY_LEN(percentiles); i++)
        json_u64(w, percentiles[i].key, call_percentile_ns(p, s, percentiles[i].part));
    CallBuckets buckets = call_histogram(p, s, DATA_PER_POWER);
    json_begin_array(w, "histogram");
    for (size_t i = 0; i < buckets.len; i++) {
        json_begin_object(w, NULL);
        json_u64(w, "from_ns", buckets.at[i].from_ns);
        json_u64(w, "count", buckets.at[i].count);
        json_end(w);
    }
    json_end(w);
    vec_free(&buckets);
    json_begin_array(w, "slowest");
    for (size_t i = 0; i < s->rows.len && (limit == 0 || i < limit); i++)
        json_call(w, p, s->rows.at[s->rows.len - 1 - i]);
    json_end(w);
    json_end(w);
}

void calls_add_json(StrBuf *out, const Profile *p, size_t limit)
{
    CallSummaries all = call_summaries(p);
    JsonWriter w = json_writer(out, 1);
    json_begin_object(&w, NULL);
    json_str(&w, "schema", STR("assay-calls"));
    json_u64(&w, "version", 1);
    json_begin_array(&w, "functions");
    for (size_t i = 0; i < all.len; i++)
        json_summary(&w, p, &all.at[i], limit);
    json_end(&w);
    json_end(&w);
    strbuf_add_char(out, '\n');
    call_summaries_free(&all);
}
