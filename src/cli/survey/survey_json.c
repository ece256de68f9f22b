// SPDX-License-Identifier: Apache-2.0
// A survey as JSON.

#include <math.h>

#include "base/json.h"
#include "cli/survey/survey_screen.h"
#include "stats/compare.h"

enum { VERSION = 1, LINES_MAX = 100, PLACES_MAX = 20 };

static void add_interval(JsonWriter *w, const char *key, const Interval *in)
{
    json_begin_object(w, key);
    json_double(w, "low", in->low);
    json_double(w, "point", in->point);
    json_double(w, "high", in->high);
    json_end(w);
}

static void add_run_group(JsonWriter *w, const SurveyData *d, uint32_t group)
{
    const RunGroup *g = &d->runs.set.groups[group];
    const RunSummary *r = &g->summary;
    json_begin_object(w, NULL);
    json_str(w, "command", d->runs.commands[group].command);
    json_u64(w, "runs", g->runs.len);
    add_interval(w, "median_s", &r->median_interval);
    json_double(w, "user_s", r->user);
    json_double(w, "system_s", r->system);
    json_double(w, "waiting_for_cpu_s", r->run_delay_s);
    json_double(w, "context_switches", r->switches);
    json_u64(w, "peak_rss_bytes", r->peak_rss_bytes);
    json_begin_object(w, "counters");
    for (uint32_t i = 0; i < d->runs.set.counters; i++) {
        json_key(w, d->runs.counters[i].name);
        json_double(w, NULL, r->counts[i]);
    }
    json_end(w);
    if (group != d->runs.set.plan.reference) {
        json_str(w, "verdict", str_from_c(verdict_name(g->comparison.verdict)));
        add_interval(w, "ratio", &g->comparison.ratio);
    }
    json_end(w);
}

static void add_line(JsonWriter *w, const char *key, const SurveyData *d, const LineCost *row)
{
    json_begin_object(w, key);
    json_str(w, "file", row->file);
    json_u64(w, "line", row->line);
    json_str(w, "function", row->function);
    json_str(w, "text", row->text);
    json_u64(w, "cpu_ns", row->cpu);
    json_double(w, "cpu_share", d->costs.cpu ? (double)row->cpu / (double)d->costs.cpu : 0);
    json_u64(w, "samples", row->cpu_samples);
    json_u64(w, "cpu_in_line_ns", row->cpu_below[BELOW_NOTHING]);
    json_u64(w, "cpu_in_allocator_ns", row->cpu_below[BELOW_ALLOCATOR]);
    json_u64(w, "cpu_in_libraries_ns", row->cpu_below[BELOW_LIBRARY]);
    json_u64(w, "cpu_in_kernel_ns", row->cpu_below[BELOW_KERNEL]);
    if (d->has[SURVEY_WAITS])
        json_u64(w, "waiting_ns", row->wait_ns);
    if (d->has[SURVEY_HEAP]) {
        json_u64(w, "blocks", row->blocks);
        json_u64(w, "bytes", row->bytes);
    }
    if (row->is_counted)
        json_u64(w, "executions", row->executions);
    json_end(w);
}

static void add_first(JsonWriter *w, const SurveyData *d)
{
    static const char *const reasons[] = {"nothing", "cpu", "wait", "allocator"};
    const FirstLine *first = &d->first;
    StrBuf why = {0};
    survey_reason_add(&why, d);
    json_begin_object(w, "first");
    json_str(w, "reason", str_from_c(reasons[first->reason]));
    json_str(w, "why", strbuf_str(&why));
    json_double(w, "share", first->share);
    json_double(w, "function_share", first->function_share);
    json_bool(w, "stands_out", first->stands_out);
    if (first->reason != FIRST_NOTHING)
        add_line(w, "line", d, &first->line);
    else
        json_str(w, "function", d->costs.top_functions[0].name);
    json_end(w);
    strbuf_deinit(&why);
}

static void add_waits(JsonWriter *w, const SurveyData *d)
{
    WaitTotals t = wait_totals(&d->profile[SURVEY_CPU]);
    json_begin_object(w, "waits");
    json_u64(w, "threads", t.threads);
    json_u64(w, "all_ns", t.all);
    json_u64(w, "idle_ns", t.idle);
    for (int i = 0; i < WAIT_CLASS_COUNT; i++) {
        json_key(w, str_from_c(wait_class_name((WaitClass)i)));
        json_u64(w, NULL, t.of[i]);
    }
    json_end(w);
}

static void add_heap(JsonWriter *w, const SurveyData *d)
{
    const HeapView *v = &d->heap;
    json_begin_object(w, "heap");
    json_u64(w, "blocks", v->total[HEAP_BLOCKS]);
    json_u64(w, "bytes", v->total[HEAP_BYTES]);
    json_u64(w, "peak_bytes", v->peak_bytes);
    json_u64(w, "end_bytes", v->total[HEAP_END_BYTES]);
    json_begin_array(w, "places");
    for (size_t i = 0; i < v->places.len && i < PLACES_MAX; i++) {
        const HeapRow *place = &v->places.at[i];
        const Frames *f = &v->p->frames;
        StrBuf name = {0};
        heap_row_add_name(v, place, &name);
        json_begin_object(w, NULL);
        json_str(w, "function", strbuf_str(&name));
        json_str(w, "file", profile_text(v->p, f->file.at[place->place.frame.v]));
        json_u64(w, "line", f->line.at[place->place.frame.v]);
        json_u64(w, "blocks", place->value[HEAP_BLOCKS]);
        json_u64(w, "bytes", place->value[HEAP_BYTES]);
        json_u64(w, "peak_bytes", place->value[HEAP_PEAK_BYTES]);
        json_end(w);
        strbuf_deinit(&name);
    }
    json_end(w);
    json_end(w);
}

static void add_steps(JsonWriter *w, const SurveyManifest *m)
{
    json_begin_array(w, "steps");
    for (int side = 0; side < SURVEY_SIDES; side++)
        for (int step = 0; step < SURVEY_STEPS; step++) {
            const SurveyPart *part = &m->part[side][step];
            if (part->file.len == 0 && part->why.len == 0)
                continue;
            json_begin_object(w, NULL);
            json_str(w, "step", str_from_c(survey_step_name((SurveyStep)step)));
            json_str(w, "side", side == SURVEY_OLD ? STR("old") : STR("new"));
            if (part->file.len)
                json_str(w, "file", part->file);
            if (part->why.len)
                json_str(w, "why", part->why);
            if (part->cure.len)
                json_str(w, "cure", part->cure);
            json_bool(w, "skipped", part->skipped);
            json_end(w);
        }
    json_end(w);
}

void survey_json_add(StrBuf *out, SurveyData *d)
{
    const SurveyManifest *m = &d->manifest;
    JsonWriter w = json_writer(out, 2);
    json_begin_object(&w, NULL);
    json_str(&w, "schema", STR("assay-survey"));
    json_u64(&w, "version", VERSION);
    json_str(&w, "folder", d->folder);
    json_str(&w, "page", m->page);
    json_str(&w, "command", m->command[SURVEY_NEW]);
    if (m->command[SURVEY_OLD].len)
        json_str(&w, "against", m->command[SURVEY_OLD]);
    json_u64(&w, "status", m->status);
    json_bool(&w, "interrupted", m->interrupted);
    json_bool(&w, "built_to_count", m->counting[SURVEY_NEW]);
    add_steps(&w, m);
    add_first(&w, d);
    if (d->has[SURVEY_TIME]) {
        json_begin_array(&w, "time");
        for (uint32_t i = 0; i < d->runs.set.count; i++)
            add_run_group(&w, d, i);
        json_end(&w);
    }
    if (d->has[SURVEY_CPU]) {
        json_begin_object(&w, "cpu");
        json_u64(&w, "samples", d->costs.cpu_samples);
        json_u64(&w, "cpu_ns", d->costs.cpu);
        json_u64(&w, "in_allocator_ns", d->costs.cpu_in_allocator);
        json_u64(&w, "without_line_ns", d->costs.cpu_without_line);
        json_end(&w);
    }
    if (d->has[SURVEY_WAITS])
        add_waits(&w, d);
    if (d->has[SURVEY_HEAP])
        add_heap(&w, d);
    if (d->has[SURVEY_COUNTS]) {
        json_begin_object(&w, "counts");
        json_u64(&w, "lines", d->lines_counted);
        json_u64(&w, "ran", d->lines_ran);
        json_end(&w);
    }
    json_begin_array(&w, "lines");
    for (size_t i = 0; i < d->costs.rows.len && i < LINES_MAX; i++)
        add_line(&w, NULL, d, &d->costs.rows.at[i]);
    json_end(&w);
    json_end(&w);
    strbuf_add_char(out, '\n');
}
