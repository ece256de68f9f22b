// SPDX-License-Identifier: Apache-2.0
// Series of saved benches as text and JSON.

#include "cli/bench/bench_history.h"

#include <math.h>

#include "base/json.h"
#include "cli/bench/bench_baseline.h"
#include "cli/bench/bench_session.h"
#include "cli/runs/run_text.h"
#include "export/run_services.h"

// One command in one session.
typedef struct HistoryPoint {
    const BaselineSession *session;
    const BaselineCommand *command;
    double median;
    Interval interval; // 95 %, of the median
} HistoryPoint;

// A level that lasts from one change to the next.
typedef struct HistoryChange {
    size_t at; // the first point behind it
    double before, after;
} HistoryChange;

typedef struct HistorySeries {
    Str name;
    Vec(HistoryPoint) points;
    Vec(HistoryChange) changes;
} HistorySeries;
typedef Vec(HistorySeries) HistorySeriesVec;

static HistorySeries series_of(Arena *arena, const BaselineSessionVec *all, Str name)
{
    HistorySeries s = {.name = name};
    DoubleVec medians = {0};
    for (size_t i = 0; i < all->len; i++) {
        const BaselineCommand *c = bench_find_baseline(&all->at[i], name, 0);
        if (!c || c->times.len == 0)
            continue;
        double *sorted = stats_sorted(arena, c->times.at, c->times.len);
        HistoryPoint p = {&all->at[i], c, stats_median_sorted(sorted, c->times.len),
                          stats_median_interval_sorted(sorted, c->times.len, 0.95)};
        vec_push(arena, &s.points, p);
        vec_push(arena, &medians, p.median);
    }
    U32Vec changes = stats_change_points(arena, medians.at, medians.len);
    for (size_t i = 0; i < changes.len; i++) {
        size_t from = i ? changes.at[i - 1] : 0, at = changes.at[i];
        size_t end = i + 1 < changes.len ? changes.at[i + 1] : medians.len;
        HistoryChange c = {at, stats_median(arena, medians.at + from, at - from),
                           stats_median(arena, medians.at + at, end - at)};
        vec_push(arena, &s.changes, c);
    }
    return s;
}

// ---- Text --------------------------------------------------------------------

static void add_point(StrBuf *out, Arena *arena, const HistoryPoint *p, const HistoryPoint *before)
{
    const CompareOptions options = {.level = 0.95, .margin = 0.01};
    const DoubleVec *times = &p->command->times;
    strbuf_add(out, STR("  "));
    bench_add_date(out, p->session->created_s);
    strbuf_add(out, STR("  "));
    strbuf_add_terminal(out, p->session->name);
    strbuf_add(out, STR("  median "));
    run_add_time(out, p->median, RUN_UNIT_AUTO);
    strbuf_printf(out, ", %zu run%s", times->len, plural_s(times->len));
    if (p->command->program_hash.len)
        strbuf_printf(out, ", program %.8s", p->command->program_hash.ptr);
    if (before) {
        const DoubleVec *old = &before->command->times;
        Comparison d =
            bench_compare_unpaired(arena, old->at, old->len, times->at, times->len, &options);
        strbuf_printf(out, ", %+.1f %% [%+.1f … %+.1f] %s", (d.ratio.point - 1) * 100,
                      (d.ratio.low - 1) * 100, (d.ratio.high - 1) * 100, verdict_name(d.verdict));
    }
    strbuf_add_char(out, '\n');
}

// A block for each session, its height between the least and the greatest median; the last ones
// where there are more than fit.
static void add_trend(StrBuf *out, const HistorySeries *s)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const size_t highest = ARRAY_LEN(blocks) - 1;
    enum { COLUMNS = 60, LEAST = 3 };
    double low = INFINITY, high = 0;
    size_t from = s->points.len > COLUMNS ? s->points.len - COLUMNS : 0;
    if (s->points.len < LEAST)
        return;
    for (size_t i = from; i < s->points.len; i++) {
        low = MIN(low, s->points.at[i].median);
        high = MAX(high, s->points.at[i].median);
    }
    strbuf_add(out, STR("  "));
    for (size_t i = from; i < s->points.len; i++) {
        double share = high > low ? (s->points.at[i].median - low) / (high - low) : 0;
        strbuf_add(out, str_from_c(blocks[(size_t)(share * (double)highest + 0.5)]));
    }
    strbuf_add(out, STR("  "));
    run_add_time(out, low, RUN_UNIT_AUTO);
    strbuf_add(out, STR(" … "));
    run_add_time(out, high, RUN_UNIT_AUTO);
    strbuf_add_char(out, '\n');
}

static void add_series(StrBuf *out, Arena *arena, const HistorySeries *s)
{
    strbuf_add(out, STR("'"));
    strbuf_add_terminal(out, s->name);
    strbuf_add(out, STR("'\n"));
    for (size_t i = 0; i < s->points.len; i++)
        add_point(out, arena, &s->points.at[i], i ? &s->points.at[i - 1] : NULL);
    add_trend(out, s);
    for (size_t i = 0; i < s->changes.len; i++) {
        const HistoryChange *c = &s->changes.at[i];
        strbuf_add(out, STR("  the level changed at "));
        bench_add_date(out, s->points.at[c->at].session->created_s);
        strbuf_add(out, STR(": from "));
        run_add_time(out, c->before, RUN_UNIT_AUTO);
        strbuf_add(out, STR(" to "));
        run_add_time(out, c->after, RUN_UNIT_AUTO);
        strbuf_printf(out, ", %+.1f %%\n", (c->after / c->before - 1) * 100);
    }
}

// ---- Files -------------------------------------------------------------------

static void json_point(JsonWriter *w, const HistoryPoint *p)
{
    json_begin_object(w, NULL);
    json_str(w, "saved_as", p->session->name);
    json_u64(w, "time", (uint64_t)p->session->created_s);
    json_double(w, "median_s", p->median);
    if (isfinite(p->interval.low)) {
        json_double(w, "low_s", p->interval.low);
        json_double(w, "high_s", p->interval.high);
    }
    json_u64(w, "runs", p->command->times.len);
    if (p->command->program_hash.len)
        json_str(w, "program", p->command->program_hash);
    json_end(w);
}

static void add_json(StrBuf *out, const HistorySeriesVec *all)
{
    JsonWriter w = json_writer(out, 2);
    json_begin_object(&w, NULL);
    json_str(&w, "schema", STR("assay-history"));
    json_u64(&w, "version", 1);
    json_begin_array(&w, "series");
    for (size_t i = 0; i < all->len; i++) {
        const HistorySeries *s = &all->at[i];
        json_begin_object(&w, NULL);
        json_str(&w, "name", s->name);
        json_begin_array(&w, "points");
        for (size_t k = 0; k < s->points.len; k++)
            json_point(&w, &s->points.at[k]);
        json_end(&w);
        json_begin_array(&w, "changes");
        for (size_t k = 0; k < s->changes.len; k++) {
            json_begin_object(&w, NULL);
            json_u64(&w, "point", s->changes.at[k].at);
            json_double(&w, "before_s", s->changes.at[k].before);
            json_double(&w, "after_s", s->changes.at[k].after);
            json_end(&w);
        }
        json_end(&w);
        json_end(&w);
    }
    json_end(&w);
    json_end(&w);
    strbuf_add_char(out, '\n');
}

// The last point of each series.
static ServiceRowVec last_rows(Arena *arena, const HistorySeriesVec *all)
{
    ServiceRowVec rows = {0};
    for (size_t i = 0; i < all->len; i++) {
        const HistorySeries *s = &all->at[i];
        if (s->points.len == 0)
            continue;
        const HistoryPoint *p = &vec_last(&s->points);
        ServiceRow row = {.name = s->name,
                          .median_s = p->median,
                          .interval = p->interval,
                          .runs = p->command->times.len};
        vec_push(arena, &rows, row);
    }
    return rows;
}

static bool write_files(Arena *arena, const BenchArgs *args, const HistorySeriesVec *all,
                        Error *err)
{
    StrBuf text = {0};
    ServiceRowVec rows = last_rows(arena, all);
    bool ok = true;
    if (args->json.len) {
        add_json(&text, all);
        ok = bench_write_text(args->json, strbuf_str(&text), err);
    }
    strbuf_clear(&text);
    if (ok && args->github.len) {
        service_rows_github(&text, &rows);
        ok = bench_write_text(args->github, strbuf_str(&text), err);
    }
    strbuf_clear(&text);
    if (ok && args->bencher.len) {
        service_rows_bencher(&text, &rows);
        ok = bench_write_text(args->bencher, strbuf_str(&text), err);
    }
    strbuf_deinit(&text);
    return ok;
}

static StrVec command_names(Arena *arena, const BaselineSessionVec *all)
{
    StrVec names = {0};
    for (size_t i = 0; i < all->len; i++)
        for (size_t k = 0; k < all->at[i].commands.len; k++) {
            bool known = false;
            for (size_t n = 0; n < names.len && !known; n++)
                known = str_equal(names.at[n], all->at[i].commands.at[k].name);
            if (!known)
                vec_push(arena, &names, all->at[i].commands.at[k].name);
        }
    return names;
}

bool bench_history(StrBuf *out, const BenchArgs *args, Str db_path, Str name, Error *err)
{
    Arena arena = {0};
    BaselineDb *db;
    BaselineSessionVec all = {0};
    HistorySeriesVec series = {0};
    if (!baseline_open(db_path, false, &db, err))
        return false;
    bool ok = baseline_list(db, &arena, name, &all, err);
    baseline_close(db);
    if (ok && all.len == 0)
        ok = error_set(err, ERROR_NOT_FOUND, "no bench is saved as '%" STR_FMT "'", STR_ARG(name));
    StrVec names = ok ? command_names(&arena, &all) : (StrVec){0};
    for (size_t i = 0; i < names.len; i++) {
        vec_push(&arena, &series, series_of(&arena, &all, names.at[i]));
        add_series(out, &arena, &vec_last(&series));
    }
    ok = ok && write_files(&arena, args, &series, err);
    arena_deinit(&arena);
    return ok;
}
