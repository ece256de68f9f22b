// SPDX-License-Identifier: Apache-2.0
// Formats: Criterion 0.3 to 0.7, sample.json and benchmark.json (private to Criterion); rustc's
// library/test, formatters of benchmarks; divan 0.1, tree of results.

#include "collect/bench/harness.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "collect/bench/timings.h"

Harness harness_of(Bytes program)
{
    static const struct {
        const char *variable;
        Harness harness;
    } marks[] = {{"CRITERION_HOME", HARNESS_CRITERION}, {"DIVAN_MAX_TIME", HARNESS_DIVAN}};
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (str_find(str_from_bytes(program), str_from_c(marks[i].variable)) != SIZE_MAX)
            return marks[i].harness;
    return HARNESS_LIBTEST;
}

static HarnessResult empty_result(void)
{
    return (HarnessResult){.bytes = NAN, .elements = NAN, .cycle = NAN};
}

// ---- <assay/bench.h> -----------------------------------------------------------

static double any_number(const JsonValue *v)
{
    return v && v->kind == JSON_NUMBER ? v->number : NAN;
}

// An array of numbers, `count` long, times `unit`; NULL where there is none.
static double *read_numbers(Arena *arena, const JsonValue *v, size_t count, double unit)
{
    size_t k = 0;
    if (!v || v->kind != JSON_ARRAY || v->count != count)
        return NULL;
    double *x = arena_array(arena, double, count + 1);
    for (const JsonValue *i = v->child; i; i = i->next)
        x[k++] = any_number(i) * unit;
    return x;
}

bool harness_read_assay(Arena *arena, Str line, HarnessResult *ret, Error *err)
{
    HarnessResult r = empty_result();
    JsonValue *v;
    if (!json_parse(arena, line, &v, err))
        return false;
    const JsonValue *name = json_find(v, "name"), *times = json_find(v, "times");
    r.count = times && times->kind == JSON_ARRAY ? times->count : 0;
    r.iterations = read_numbers(arena, json_find(v, "iters"), r.count, 1);
    if (!name || name->kind != JSON_STRING || r.count == 0 || !r.iterations)
        return error_set(err, ERROR_FORMAT, "a line is not a result");
    r.name = name->text;
    r.seconds = read_numbers(arena, times, r.count, 1e-9);
    r.waits = read_numbers(arena, json_find(v, "waits"), r.count, 1e-9);
    r.cpus = read_numbers(arena, json_find(v, "cpus"), r.count, 1e-9);
    r.bytes = any_number(json_find(v, "bytes"));
    r.elements = any_number(json_find(v, "elements"));
    r.cycle = any_number(json_find(v, "cycle_ns")) * 1e-9;
    *ret = r;
    return true;
}

// ---- Criterion ---------------------------------------------------------------

static double stated(const JsonValue *v)
{
    return any_number(v) > 0 ? any_number(v) : NAN;
}

bool harness_read_criterion(Arena *arena, Str sample, Str description, HarnessResult *ret,
                            Error *err)
{
    HarnessResult r = empty_result();
    TimingsFormat format;
    TimingsVec found = {0};
    JsonValue *about;
    if (!timings_parse(arena, sample, &format, &found, err) ||
        !json_parse(arena, description, &about, err))
        return false;
    const JsonValue *id = json_find(about, "full_id"), *work = json_find(about, "throughput");
    if (format != TIMINGS_CRITERION || found.at[0].seconds.len == 0)
        return error_set(err, ERROR_FORMAT, "no samples of Criterion");
    if (!id || id->kind != JSON_STRING || id->text.len == 0)
        return error_set(err, ERROR_FORMAT, "the benchmark has no 'full_id'");
    r.name = id->text;
    r.count = found.at[0].seconds.len;
    r.iterations = found.at[0].iterations.at;
    r.seconds = arena_array(arena, double, r.count);
    for (size_t i = 0; i < r.count; i++)
        r.seconds[i] = found.at[0].seconds.at[i] * r.iterations[i];
    if (work && work->kind == JSON_OBJECT) {
        const JsonValue *decimal = json_find(work, "BytesDecimal");
        r.bytes = stated(decimal ? decimal : json_find(work, "Bytes"));
        r.elements = stated(json_find(work, "Elements"));
    }
    *ret = r;
    return true;
}

// ---- Lines of output ---------------------------------------------------------

static void add_time(Arena *arena, HarnessResults *ret, Str name, double seconds)
{
    HarnessResult r = empty_result();
    if (name.len == 0 || !(seconds > 0 && seconds < INFINITY))
        return;
    r.name = arena_str(arena, name);
    r.count = 1;
    r.iterations = arena_array(arena, double, 1);
    r.seconds = arena_array(arena, double, 1);
    r.iterations[0] = 1;
    r.seconds[0] = seconds;
    vec_push(arena, ret, r);
}

// A decimal number with commas between its groups; NaN when it is none.
static double grouped_number(Arena *arena, Str text)
{
    char *digits = arena_array(arena, char, text.len + 1);
    size_t n = 0;
    double value;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] != ',')
            digits[n++] = text.ptr[i];
    return n && str_parse_double(str_over(digits, n), &value) ? value : NAN;
}

// "test NAME ... bench:       1,234.56 ns/iter (+/- 7.89)"
static bool read_libtest(Arena *arena, Str line, HarnessResults *ret)
{
    const Str begin = STR("test "), middle = STR(" ... bench:"), end = STR(" ns/iter");
    size_t at = str_find(line, middle);
    if (!str_starts_with(line, begin) || at == SIZE_MAX || at < begin.len)
        return false;
    Str value = str_slice(line, at + middle.len, line.len);
    size_t unit = str_find(value, end);
    if (unit == SIZE_MAX)
        return false;
    add_time(arena, ret, str_trim(str_slice(line, begin.len, at)),
             grouped_number(arena, str_trim(str_slice(value, 0, unit))) * 1e-9);
    return true;
}

// Splits "deep   1.066 µs" before its time; the seconds, or NaN when it ends in no time.
static double split_time(Str text, Str *before)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"ps", 1e-12}, {"ns", 1e-9}, {"µs", 1e-6}, {"us", 1e-6},
                 {"ms", 1e-3},  {"s", 1},     {"m", 60},    {"h", 3600}};
    text = str_trim(text);
    *before = text;
    size_t space = str_find_last_char(text, ' ');
    if (space == SIZE_MAX)
        return NAN;
    Str unit = str_slice(text, space + 1, text.len), rest = str_trim(str_slice(text, 0, space));
    space = str_find_last_char(rest, ' ');
    size_t from = space == SIZE_MAX ? 0 : space + 1;
    double value;
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_equal(unit, str_from_c(units[i].name)) &&
            str_parse_double(str_slice(rest, from, rest.len), &value)) {
            *before = str_trim(str_slice(rest, 0, from));
            return value * units[i].seconds;
        }
    return NAN;
}

// divan's table is a tree: "├─ name  fastest │ slowest │ median │ mean │ samples │ iters".
#define DIVAN_COLUMN "│"
enum { DIVAN_DEPTH_MAX = 32, DIVAN_INDENT = 3, DIVAN_MEDIAN = 2, DIVAN_COLUMNS = 6 };

typedef struct DivanTable {
    bool begun;                  // its heading was read
    Str groups[DIVAN_DEPTH_MAX]; // names of the row's parents, from the root
} DivanTable;

// The depth of a row and the text after its branch; false for lines that are no row.
static bool divan_row(Str line, size_t *depth, Str *rest)
{
    static const char *const branches[] = {"├─ ", "╰─ "};
    size_t at = SIZE_MAX, columns = 0;
    for (size_t i = 0; i < ARRAY_LEN(branches); i++)
        at = MIN(at, str_find(line, str_from_c(branches[i])));
    if (at == SIZE_MAX)
        return false;
    for (size_t i = 0; i < at; i++)
        columns += ((unsigned char)line.ptr[i] & 0xc0) != 0x80; // characters of UTF-8
    *depth = columns / DIVAN_INDENT;
    *rest = str_slice(line, at + strlen(branches[0]), line.len);
    return *depth < DIVAN_DEPTH_MAX;
}

static void read_divan(Arena *arena, DivanTable *t, Str line, HarnessResults *ret)
{
    const Str column = STR(DIVAN_COLUMN);
    Str rest, name, cells[DIVAN_COLUMNS] = {{0}}, none;
    size_t depth, count = 0, at;
    if (str_find(line, STR("fastest")) != SIZE_MAX && str_find(line, STR("median")) != SIZE_MAX) {
        *t = (DivanTable){.begun = true};
        return;
    }
    if (!t->begun || !divan_row(line, &depth, &rest))
        return;
    while (count + 1 < DIVAN_COLUMNS && (at = str_find(rest, column)) != SIZE_MAX) {
        cells[count++] = str_slice(rest, 0, at);
        rest = str_slice(rest, at + column.len, rest.len);
    }
    cells[count++] = rest;
    (void)split_time(cells[0], &name);
    t->groups[depth] = name;
    double median = split_time(cells[DIVAN_MEDIAN], &none);
    if (count < DIVAN_COLUMNS || !isfinite(median))
        return;
    StrBuf full = {0};
    for (size_t i = 0; i <= depth; i++) {
        strbuf_add(&full, i ? STR("::") : STR(""));
        strbuf_add(&full, t->groups[i]);
    }
    add_time(arena, ret, strbuf_str(&full), median);
    strbuf_deinit(&full);
}

void harness_read_output(Arena *arena, Str output, HarnessResults *ret)
{
    DivanTable table = {0};
    Str line;
    while (str_next_line(&output, &line))
        if (!read_libtest(arena, line, ret))
            read_divan(arena, &table, line, ret);
}
