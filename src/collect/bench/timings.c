// SPDX-License-Identifier: Apache-2.0
// Saved times of several tools.
// Formats: hyperfine 1.20 --export-json; Google Benchmark docs/user_guide.md
// (json_schema_version 1); pyperf doc/api.rst, JSON version 1.0; Criterion 0.3
// to 0.7 sample.json (private to Criterion, three layouts).

#include "collect/bench/timings.h"

#include <math.h>

#include "base/json.h"

const char *timings_format_name(TimingsFormat f)
{
    static const char *const names[] = {"hyperfine", "Google Benchmark", "pyperf", "Criterion"};
    return names[f];
}

static bool add_second(Arena *arena, Timings *t, double seconds, Error *err)
{
    if (!(seconds >= 0) || !isfinite(seconds))
        return error_set(err, ERROR_FORMAT,
                         "benchmark '%" STR_FMT "' has a time that is negative or not finite",
                         STR_ARG(t->name));
    vec_push(arena, &t->seconds, seconds);
    return true;
}

static Str text_of(const JsonValue *object, const char *key)
{
    const JsonValue *v = json_find(object, key);
    return v && v->kind == JSON_STRING ? v->text : STR("");
}

static double number_of(const JsonValue *v)
{
    return v && v->kind == JSON_NUMBER ? v->number : NAN;
}

static bool parse_hyperfine(Arena *arena, const JsonValue *results, TimingsVec *ret, Error *err)
{
    for (const JsonValue *r = results->child; r; r = r->next) {
        Timings t = {.name = text_of(r, "command")};
        const JsonValue *times = json_find(r, "times");
        if (!times || times->kind != JSON_ARRAY)
            return error_set(err, ERROR_FORMAT, "result '%" STR_FMT "' has no times",
                             STR_ARG(t.name));
        for (const JsonValue *v = times->child; v; v = v->next)
            if (!add_second(arena, &t, number_of(v), err))
                return false;
        vec_push(arena, ret, t);
    }
    return true;
}

static bool unit_seconds(Str unit, double *ret)
{
    *ret = str_equal(unit, STR("ns")) || unit.len == 0 ? 1e-9
           : str_equal(unit, STR("us"))                ? 1e-6
           : str_equal(unit, STR("ms"))                ? 1e-3
           : str_equal(unit, STR("s"))                 ? 1
                                                       : 0;
    return *ret > 0;
}

// Repetitions of one benchmark follow each other, or are interleaved at random.
static bool parse_gbench(Arena *arena, const JsonValue *list, TimingsVec *ret, Error *err)
{
    for (const JsonValue *b = list->child; b; b = b->next) {
        Str kind = text_of(b, "run_type"), name = text_of(b, "run_name");
        const JsonValue *failed = json_find(b, "error_occurred");
        double unit;
        if ((kind.len && !str_equal(kind, STR("iteration"))) || (failed && failed->boolean))
            continue;
        if (name.len == 0)
            name = text_of(b, "name");
        if (!unit_seconds(text_of(b, "time_unit"), &unit))
            return error_set(err, ERROR_FORMAT, "benchmark '%" STR_FMT "' has an unknown time unit",
                             STR_ARG(name));
        Timings *t = NULL;
        // The usual case is the last one: a look back over all would be quadratic.
        for (size_t back = 0; back < MIN(ret->len, (size_t)1000) && !t; back++)
            if (str_equal(ret->at[ret->len - 1 - back].name, name))
                t = &ret->at[ret->len - 1 - back];
        if (!t) {
            vec_push(arena, ret, (Timings){.name = name});
            t = &vec_last(ret);
        }
        if (!add_second(arena, t, number_of(json_find(b, "real_time")) * unit, err))
            return false;
    }
    return true;
}

static bool parse_pyperf(Arena *arena, const JsonValue *top, const JsonValue *list, TimingsVec *ret,
                         Error *err)
{
    Str common = text_of(json_find(top, "metadata"), "name");
    for (const JsonValue *b = list->child; b; b = b->next) {
        Timings t = {.name = text_of(json_find(b, "metadata"), "name")};
        const JsonValue *runs = json_find(b, "runs");
        if (t.name.len == 0)
            t.name = common;
        for (const JsonValue *r = runs ? runs->child : NULL; r; r = r->next) {
            // Calibration runs have warm-ups only.
            const JsonValue *values = json_find(r, "values");
            for (const JsonValue *v = values ? values->child : NULL; v; v = v->next)
                if (!add_second(arena, &t, number_of(v), err))
                    return false;
        }
        vec_push(arena, ret, t);
    }
    return true;
}

// {"iters": […], "times": […]} of 0.3.5 and later; before, the two in a list, with or
// without the mode of sampling.
static bool parse_criterion(Arena *arena, const JsonValue *iterations, const JsonValue *times,
                            TimingsVec *ret, Error *err)
{
    Timings t = {0};
    if (iterations->kind != JSON_ARRAY || times->kind != JSON_ARRAY ||
        iterations->count != times->count)
        return error_set(err, ERROR_FORMAT, "the sample's iterations and times do not match");
    const JsonValue *v = times->child;
    for (const JsonValue *i = iterations->child; i && v; i = i->next, v = v->next) {
        double count = number_of(i);
        if (!(count > 0))
            return error_set(err, ERROR_FORMAT, "the sample's iteration count is not above 0");
        vec_push(arena, &t.iterations, count);
        if (!add_second(arena, &t, number_of(v) * 1e-9 / count, err))
            return false;
    }
    vec_push(arena, ret, t);
    return true;
}

bool timings_parse(Arena *arena, Str text, TimingsFormat *format, TimingsVec *ret, Error *err)
{
    JsonValue *top;
    TimingsVec found = {0};
    if (!json_parse(arena, text, &top, err))
        return false;
    const JsonValue *results = json_find(top, "results"), *list = json_find(top, "benchmarks");
    const JsonValue *iterations = json_find(top, "iters"), *times = json_find(top, "times");
    bool ok;
    if (results && results->kind == JSON_ARRAY) {
        *format = TIMINGS_HYPERFINE;
        ok = parse_hyperfine(arena, results, &found, err);
    } else if (list && list->kind == JSON_ARRAY && json_find(top, "context")) {
        *format = TIMINGS_GBENCH;
        ok = parse_gbench(arena, list, &found, err);
    } else if (list && list->kind == JSON_ARRAY) {
        *format = TIMINGS_PYPERF;
        ok = parse_pyperf(arena, top, list, &found, err);
    } else if (iterations && times) {
        *format = TIMINGS_CRITERION;
        ok = parse_criterion(arena, iterations, times, &found, err);
    } else if (top->kind == JSON_ARRAY && top->count == 3 &&
               top->child->next->kind == JSON_ARRAY) { // ["Linear", iters, times]
        *format = TIMINGS_CRITERION;
        ok = parse_criterion(arena, top->child->next, top->child->next->next, &found, err);
    } else if (top->kind == JSON_ARRAY && top->count == 2 &&
               top->child->kind == JSON_ARRAY) { // [iters, times], before 0.3
        *format = TIMINGS_CRITERION;
        ok = parse_criterion(arena, top->child, top->child->next, &found, err);
    } else {
        return error_set(err, ERROR_FORMAT,
                         "not the JSON of hyperfine, assay bench, Google Benchmark, pyperf or "
                         "Criterion");
    }
    if (!ok)
        return false;
    if (found.len == 0)
        return error_set(err, ERROR_FORMAT, "there are no benchmarks in it");
    *ret = found;
    return true;
}
