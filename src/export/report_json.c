// SPDX-License-Identifier: Apache-2.0
// A report as JSON and CSV. Format: docs/formats/report-json.md.

#include "export/report_json.h"

#include <math.h>

#include "model/facts.h"

static const char *by_name(const ReportRequest *request)
{
    static const char *const groups[] = {"", "thread", "process", "comm"};
    static const char *const bys[] = {"function", "line", "module", "module,function"};
    return request->group != GROUP_NONE ? groups[request->group] : bys[request->by];
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : NAN; // NaN is written as null
}

void report_json_add_facts(JsonWriter *w, const Profile *p)
{
    json_begin_object(w, "facts");
    for (size_t i = 0; i < p->facts.key.len; i++) {
        json_key(w, profile_text(p, p->facts.key.at[i]));
        json_str(w, NULL, profile_text(p, p->facts.value.at[i]));
    }
    json_end(w);
}

static void add_metrics(JsonWriter *w, const Report *r)
{
    const Profile *p = r->profile;
    json_begin_object(w, "metric");
    json_u64(w, "number", r->request.selection.metric.v);
    json_str(w, "name", report_metric_name(r));
    json_str(w, "unit", report_metric_unit(r));
    json_u64(w, "total", r->weights.value);
    if (r->weights.self_stacks)
        json_bool(w, "self_in_program", true);
    json_end(w);
    json_begin_array(w, "metrics");
    for (size_t i = 0; i < p->metrics.name.len; i++) {
        json_begin_object(w, NULL);
        json_str(w, "name", profile_text(p, p->metrics.name.at[i]));
        json_str(w, "unit", profile_text(p, p->metrics.unit.at[i]));
        json_str(w, "event", profile_text(p, p->metrics.event.at[i]));
        json_end(w);
    }
    json_end(w);
}

static void add_selection(JsonWriter *w, const Report *r)
{
    const Selection *s = &r->request.selection;
    json_begin_object(w, "selection");
    if (s->from_ns != INT64_MIN)
        json_i64(w, "from_ns", s->from_ns);
    if (s->to_ns != INT64_MAX)
        json_i64(w, "to_ns", s->to_ns);
    if (s->focus)
        json_str(w, "focus", str_from_c(s->focus));
    if (s->ignore)
        json_str(w, "ignore", str_from_c(s->ignore));
    json_str(w, "by", str_from_c(by_name(&r->request)));
    json_end(w);
}

static void add_truth(JsonWriter *w, const Truth *t)
{
    json_begin_object(w, "truth");
    json_u64(w, "samples", t->kept);
    json_u64(w, "samples_outside_selection", t->outside);
    if (t->lost_known)
        json_u64(w, "samples_lost", t->lost);
    else
        json_null(w, "samples_lost");
    if (t->throttled_known)
        json_u64(w, "throttled", t->throttled);
    else
        json_null(w, "throttled");
    json_bool(w, "sampled", t->sampled);
    json_bool(w, "aggregated", t->aggregated);
    json_double(w, "complete_stacks", t->complete_percent / 100);
    json_begin_object(w, "stacks");
    for (int i = 0; i < STACK_CUT_COUNT; i++)
        json_u64(w, stack_cut_name((StackCut)i), t->cut[i]);
    json_u64(w, "none recorded", t->without_stack);
    json_end(w);
    json_double(w, "kernel_share", t->kernel_percent / 100);
    json_double(w, "unnamed_share", t->unnamed_percent / 100);
    json_bool(w, "user_only", t->user_only);
    json_double(w, "rate_asked_hz", t->asked_hz > 0 ? t->asked_hz : NAN);
    json_double(w, "rate_obtained_hz", t->obtained_hz > 0 ? t->obtained_hz : NAN);
    json_str(w, "event", t->event);
    json_str(w, "event_fallback", t->fallback);
    json_str(w, "stack_mode", t->stack_mode);
    json_str(w, "recording_incomplete", t->incomplete);
    json_end(w);
}

void report_json_add_notes(JsonWriter *w, const Profile *p)
{
    json_begin_array(w, "notes");
    for (size_t i = 0; i < p->notes.text.len; i++) {
        json_begin_object(w, NULL);
        json_str(w, "level", p->notes.level.at[i] == NOTE_WARNING ? STR("warning") : STR("info"));
        json_str(w, "key", profile_text(p, p->notes.key.at[i]));
        json_str(w, "text", profile_text(p, p->notes.text.at[i]));
        json_end(w);
    }
    json_end(w);
}

static Str row_module(const Report *r, const FlatRow *row)
{
    const Profile *p = r->profile;
    if (r->request.group != GROUP_NONE)
        return STR("");
    return profile_text(p, p->modules.path.at[p->frames.module.at[row->frame].v]);
}

// What a row waits for; the member is absent when it does not wait.
static void add_cell(JsonWriter *w, const WaitCell *cell)
{
    if (wait_cell_total(cell) == 0)
        return;
    json_begin_object(w, "waits");
    json_u64(w, "self_ns", wait_cell_self(cell));
    json_u64(w, "total_ns", wait_cell_total(cell));
    json_begin_object(w, "classes");
    for (int i = 0; i < WAIT_CLASS_COUNT; i++) {
        if (cell->total[i] == 0)
            continue;
        json_begin_object(w, wait_class_name((WaitClass)i));
        json_u64(w, "self_ns", cell->self[i]);
        json_u64(w, "total_ns", cell->total[i]);
        json_end(w);
    }
    json_end(w);
    json_end(w);
}

// What all threads did with their time.
static void add_waits(JsonWriter *w, const Report *r, const WaitColumns *c)
{
    WaitTotals t = wait_totals(r->profile);
    json_begin_object(w, "waits");
    json_u64(w, "threads", t.threads);
    json_u64(w, "all_ns", t.all);
    json_u64(w, "idle_ns", t.idle);
    json_begin_object(w, "classes");
    for (int i = 0; i < WAIT_CLASS_COUNT; i++)
        json_u64(w, wait_class_name((WaitClass)i), t.of[i]);
    json_end(w);
    json_u64(w, "selected_cpu_ns", c->cpu_ns);
    json_u64(w, "selected_waiting_ns", c->waiting_ns);
    json_u64(w, "selected_idle_ns", c->idle_ns);
    json_end(w);
}

static void add_row(JsonWriter *w, const Report *r, const FlatRow *row, const StrBuf *name,
                    const ReportExport *options)
{
    uint64_t whole = r->weights.value;
    json_begin_object(w, NULL);
    json_str(w, "name", strbuf_str(name));
    json_u64(w, "self", row->self);
    json_u64(w, "total", row->total);
    json_double(w, "self_share", ratio(row->self, whole));
    json_double(w, "total_share", ratio(row->total, whole));
    json_u64(w, "self_samples", row->self_samples);
    json_u64(w, "total_samples", row->total_samples);
    if (r->truth.sampled && !r->truth.aggregated) {
        ShareInterval i = share_interval(row->self_samples, r->weights.samples);
        json_begin_array(w, "self_share_95");
        json_double(w, NULL, i.low);
        json_double(w, NULL, i.high);
        json_end(w);
    }
    StrId file;
    uint32_t line;
    if (report_row_place(r, row, &file, &line)) {
        json_str(w, "file", profile_text(r->profile, file));
        if (line)
            json_u64(w, "line", line);
    }
    if (r->request.group != GROUP_NONE) {
        const WeightGroup *g = &r->weights.groups.at[row->key];
        if (g->pid)
            json_u64(w, "pid", g->pid);
        if (g->tid)
            json_u64(w, "tid", g->tid);
    } else {
        json_str(w, "module", row_module(r, row));
        json_bool(w, "inlined", row->inlined);
        json_bool(w, "kernel", row->kernel);
    }
    uint64_t count;
    if (report_counts_of_row(options->counts, r, row, &count))
        json_u64(w, r->request.by == BY_LINE ? "executions" : "calls", count);
    if (options->waits)
        add_cell(w, wait_columns_row(options->waits, row));
    json_end(w);
}

// The part of a report that a row has; with waits it is of both kinds of time.
static double row_percent(const Report *r, const FlatRow *row, const ReportExport *options)
{
    uint64_t most = MAX(row->self, row->total);
    if (!options->waits)
        return percent_of(most, r->weights.value);
    return percent_of(most + wait_cell_total(wait_columns_row(options->waits, row)),
                      wait_columns_whole(options->waits));
}

static void add_rows(JsonWriter *w, const Report *r, const FlatRowVec *rows, const char *key,
                     const ReportExport *options)
{
    StrBuf name = {0};
    size_t shown = 0;
    json_begin_array(w, key);
    for (size_t i = 0; i < rows->len; i++) {
        const FlatRow *row = &rows->at[i];
        if (options->limit && shown == options->limit)
            break;
        if (row_percent(r, row, options) < options->percent_limit)
            continue;
        strbuf_clear(&name);
        report_add_row_name(r, row, &name);
        add_row(w, r, row, &name, options);
        shown++;
    }
    json_end(w);
    strbuf_deinit(&name);
}

static void add_texts(JsonWriter *w, const Profile *p, const ArgumentValues *v)
{
    json_begin_array(w, "texts");
    for (size_t i = 0; i < v->buckets.len; i++) {
        json_begin_object(w, NULL);
        json_str(w, "text", profile_text(p, (StrId){(uint32_t)v->buckets.at[i].low}));
        json_u64(w, "count", v->buckets.at[i].count);
        json_end(w);
    }
    json_end(w);
    json_u64(w, "other_texts", v->other_texts);
    json_u64(w, "other_count", v->other_count);
}

// Values of a probe's arguments; the member is absent where there are none.
static void add_arguments(JsonWriter *w, const Report *r, const ArgumentValuesVec *arguments)
{
    if (!arguments || arguments->len == 0)
        return;
    json_begin_array(w, "arguments");
    for (size_t i = 0; i < arguments->len; i++) {
        const ArgumentValues *v = &arguments->at[i];
        json_begin_object(w, NULL);
        json_str(w, "name", profile_text(r->profile, r->profile->metrics.name.at[v->metric.v]));
        json_u64(w, "count", v->count);
        json_u64(w, "samples", v->samples);
        if (v->is_text) {
            add_texts(w, r->profile, v);
            json_end(w);
            continue;
        }
        json_i64(w, "least", v->least);
        json_i64(w, "most", v->most);
        json_double(w, "mean", v->mean);
        json_begin_array(w, "histogram");
        for (size_t k = 0; k < v->buckets.len; k++) {
            json_begin_object(w, NULL);
            json_i64(w, "low", v->buckets.at[k].low);
            json_i64(w, "high", v->buckets.at[k].high);
            json_u64(w, "count", v->buckets.at[k].count);
            json_end(w);
        }
        json_end(w);
        json_end(w);
    }
    json_end(w);
}

static void add_lines(JsonWriter *w, const Report *r, const ReportExport *options)
{
    const Profile *p = r->profile;
    json_begin_array(w, "lines");
    for (size_t i = 0; i < r->lines.len; i++) {
        const LineRow *row = &r->lines.at[i];
        if (options->limit && i == options->limit)
            break;
        json_begin_object(w, NULL);
        json_str(w, "file", profile_text(p, row->file));
        json_u64(w, "line", row->line);
        json_u64(w, "self", row->self);
        json_double(w, "self_share", ratio(row->self, r->weights.value));
        json_u64(w, "self_samples", row->samples);
        Str text;
        // Each look-up is a scan: for the lines that people read.
        if (i < 20 && line_text_find(p, row->file, row->line, &text))
            json_str(w, "text", text);
        uint64_t count;
        if (report_counts_of_line(options->counts, r, row, &count))
            json_u64(w, "executions", count);
        if (options->waits && options->waits->line_cells)
            add_cell(w, wait_columns_line(options->waits, row));
        json_end(w);
    }
    json_end(w);
}

// Nodes in depth-first order, each with its depth: a list needs no nesting, which
// parsers limit.
static void add_tree(JsonWriter *w, const CallTree *t, const ReportExport *options)
{
    const CallNode *nodes = t->nodes.at;
    StrBuf name = {0};
    uint64_t cut = t->dropped_nodes;
    json_begin_object(w, "tree");
    json_bool(w, "inverted", t->inverted);
    json_begin_array(w, "nodes");
    uint32_t at = 0;
    uint32_t depth = 0;
    for (;;) {
        const CallNode *n = &nodes[at];
        bool shown = at == 0 || percent_of(n->total, nodes[0].total) >= options->percent_limit;
        if (shown) {
            strbuf_clear(&name);
            call_tree_add_name(t, at, &name);
            json_begin_object(w, NULL);
            json_u64(w, "depth", depth);
            json_str(w, "name", strbuf_str(&name));
            json_u64(w, "self", n->self);
            json_u64(w, "total", n->total);
            json_u64(w, "samples", n->total_samples);
            if (n->flags & NODE_INLINED)
                json_bool(w, "inlined", true);
            if (n->flags & NODE_KERNEL)
                json_bool(w, "kernel", true);
            json_end(w);
        } else {
            cut++;
        }
        if (shown && n->first_child != NODE_NONE) {
            at = n->first_child;
            depth++;
            continue;
        }
        while (at != 0 && nodes[at].next == NODE_NONE) {
            at = nodes[at].parent;
            depth--;
        }
        if (at == 0)
            break;
        at = nodes[at].next;
    }
    json_end(w);
    json_u64(w, "branches_cut", cut);
    json_end(w);
    strbuf_deinit(&name);
}

static void add_around(JsonWriter *w, const Report *r, const ReportExport *options)
{
    uint32_t key = (uint32_t)options->around;
    StrBuf name = {0};
    keys_add_name(&r->keys, key, &name);
    FlatRowVec callers = flat_callers(&r->tree, key);
    FlatRowVec callees = flat_callees(&r->tree, key);
    ReportExport cpu = *options;
    cpu.waits = NULL; // they are known by function, not by call
    json_begin_object(w, "around");
    json_str(w, "name", strbuf_str(&name));
    add_rows(w, r, &callers, "callers", &cpu);
    add_rows(w, r, &callees, "callees", &cpu);
    json_end(w);
    vec_free(&callers);
    vec_free(&callees);
    strbuf_deinit(&name);
}

void report_add_json(StrBuf *out, const Report *r, const ReportExport *options)
{
    JsonWriter w = json_writer(out, 1);
    json_begin_object(&w, NULL);
    json_str(&w, "schema", STR("assay-report"));
    json_u64(&w, "version", REPORT_JSON_VERSION);
    json_str(&w, "tool", options->tool_version);
    report_json_add_facts(&w, r->profile);
    add_metrics(&w, r);
    add_selection(&w, r);
    add_truth(&w, &r->truth);
    report_json_add_notes(&w, r->profile);
    json_u64(&w, "threads", report_thread_count(r));
    if (options->waits)
        add_waits(&w, r, options->waits);
    json_u64(&w, "row_count", r->rows.len);
    add_rows(&w, r, &r->rows, "rows", options);
    add_lines(&w, r, options);
    add_arguments(&w, r, options->arguments);
    if (options->around != SIZE_MAX)
        add_around(&w, r, options);
    if (options->tree)
        add_tree(&w, options->tree, options);
    json_end(&w);
}

static void add_csv_cell(StrBuf *out, const WaitCell *cell)
{
    WaitClass class;
    strbuf_printf(out, ",%llu,%llu,", (unsigned long long)wait_cell_self(cell),
                  (unsigned long long)wait_cell_total(cell));
    if (wait_cell_class(cell, &class))
        strbuf_add(out, str_from_c(wait_class_name(class)));
}

void report_add_csv(StrBuf *out, const Report *r, const ReportExport *options)
{
    strbuf_add(out, STR("self_percent,total_percent,self,total,self_samples,total_samples,name,"
                        "module,file,line,inlined,kernel"));
    strbuf_add(out, !options->counts           ? STR("")
                    : r->request.by == BY_LINE ? STR(",executions")
                                               : STR(",calls"));
    strbuf_add(out,
               options->waits ? STR(",waits_self_ns,waits_total_ns,waits_for\r\n") : STR("\r\n"));
    StrBuf name = {0};
    uint64_t whole = r->weights.value;
    size_t shown = 0;
    for (size_t i = 0; i < r->rows.len; i++) {
        const FlatRow *row = &r->rows.at[i];
        if (options->limit && shown == options->limit)
            break;
        if (row_percent(r, row, options) < options->percent_limit)
            continue;
        strbuf_printf(out, "%.3f,%.3f,%llu,%llu,%llu,%llu,", percent_of(row->self, whole),
                      percent_of(row->total, whole), (unsigned long long)row->self,
                      (unsigned long long)row->total, (unsigned long long)row->self_samples,
                      (unsigned long long)row->total_samples);
        strbuf_clear(&name);
        report_add_row_name(r, row, &name);
        strbuf_add_csv(out, strbuf_str(&name));
        strbuf_add_char(out, ',');
        strbuf_add_csv(out, row_module(r, row));
        StrId file;
        uint32_t line;
        if (report_row_place(r, row, &file, &line)) {
            strbuf_add_char(out, ',');
            strbuf_add_csv(out, profile_text(r->profile, file));
            strbuf_printf(out, ",%u", line);
        } else {
            strbuf_add(out, STR(",,"));
        }
        strbuf_printf(out, ",%d,%d", row->inlined, row->kernel);
        uint64_t count;
        if (report_counts_of_row(options->counts, r, row, &count))
            strbuf_printf(out, ",%llu", (unsigned long long)count);
        else if (options->counts)
            strbuf_add_char(out, ',');
        if (options->waits)
            add_csv_cell(out, wait_columns_row(options->waits, row));
        strbuf_add(out, STR("\r\n"));
        shown++;
    }
    strbuf_deinit(&name);
}
