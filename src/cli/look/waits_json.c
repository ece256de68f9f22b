// SPDX-License-Identifier: Apache-2.0
// Writes waits as JSON.

#include "cli/look/waits_json.h"

#include "base/json.h"

enum { WAITS_JSON_VERSION = 1 };

static void add_place(JsonWriter *w, const char *key, const Profile *p, WaitPlace place)
{
    if (place.frame.v == 0)
        return;
    FunctionId function = p->frames.function.at[place.frame.v];
    json_begin_object(w, key);
    json_str(w, "function", profile_text(p, p->functions.name.at[function.v]));
    json_str(w, "file", profile_text(p, place.file));
    json_u64(w, "line", place.line);
    json_end(w);
}

static void add_object(JsonWriter *w, const Profile *p, StrId object)
{
    if (object.v)
        json_str(w, "object", profile_text(p, object));
}

static void begin(JsonWriter *w, const char *schema)
{
    json_begin_object(w, NULL);
    json_str(w, "schema", str_from_c(schema));
    json_u64(w, "version", WAITS_JSON_VERSION);
}

void waits_add_json(StrBuf *out, const Profile *p, WaitBy by, size_t limit)
{
    static const char *const names[] = {"class", "lock", "file", "waker"};
    WaitLineVec lines = wait_lines(p, by, by == WAIT_BY_CLASS);
    WaitTotals t = wait_totals(p);
    JsonWriter w = json_writer(out, 1);
    begin(&w, "assay-waits");
    json_str(&w, "by", str_from_c(names[by]));
    json_u64(&w, "threads", t.threads);
    json_u64(&w, "all_ns", t.all);
    json_u64(&w, "idle_ns", t.idle);
    json_begin_array(&w, "rows");
    for (size_t i = 0; i < lines.len && (limit == 0 || i < limit); i++) {
        const WaitLine *l = &lines.at[i];
        json_begin_object(&w, NULL);
        if (by != WAIT_BY_WAKER)
            json_str(&w, "class", str_from_c(wait_class_name(l->state)));
        add_object(&w, p, l->object);
        json_u64(&w, "count", l->count);
        json_u64(&w, "total_ns", l->total_ns);
        json_u64(&w, "longest_ns", l->longest_ns);
        json_u64(&w, "p50_ns", l->p50_ns);
        json_u64(&w, "p99_ns", l->p99_ns);
        add_place(&w, "place", p, l->place);
        add_place(&w, by == WAIT_BY_LOCK ? "holder" : "waker", p, l->other);
        if (l->other.frame.v && by != WAIT_BY_WAKER)
            json_double(&w, by == WAIT_BY_LOCK ? "holder_share" : "waker_share", l->other_share);
        json_end(&w);
    }
    json_end(&w);
    json_end(&w);
    vec_free(&lines);
}

void critical_add_json(StrBuf *out, const Critical *c, const Profile *p, size_t limit)
{
    JsonWriter w = json_writer(out, 1);
    begin(&w, "assay-critical");
    json_i64(&w, "from_ns", c->from_ns);
    json_i64(&w, "to_ns", c->to_ns);
    json_u64(&w, "total_ns", c->total_ns);
    json_u64(&w, "changes_of_thread", c->steps);
    json_u64(&w, "tid", p->threads.tid.at[c->last.v]);
    json_begin_array(&w, "lines");
    for (size_t i = 0; i < c->lines.len && (limit == 0 || i < limit); i++) {
        const CriticalLine *l = &c->lines.at[i];
        json_begin_object(&w, NULL);
        json_str(&w, "thread", profile_text(p, p->threads.name.at[l->thread.v]));
        json_u64(&w, "tid", p->threads.tid.at[l->thread.v]);
        json_str(&w, "class", str_from_c(wait_class_name(l->state)));
        json_u64(&w, "ns", l->ns);
        add_object(&w, p, l->object);
        add_place(&w, "place", p, l->place);
        json_end(&w);
    }
    json_end(&w);
    json_end(&w);
}
