// SPDX-License-Identifier: Apache-2.0
// Texts of pprof: heap and growth profiles of gperftools (HEAPPROFILE=FILE, heapz, growthz), locks
// (contentionz), and what Go's net/http/pprof gives with ?debug=1. -> Profile.
// Format: gperftools, docs/heapprofile.html and pprof_remote_servers.html; Go,
// src/runtime/pprof/pprof.go. Addresses are named by the mappings at the end, or by the lines
// "#\t0x45a0\tmain.f+0x20\t/src/main.go:12" that Go writes below each record.

#include "import/legacy_pprof_internal.h"

#include <math.h>

#include "import/mapped_stacks_internal.h"
#include "import/places_internal.h"
#include "model/facts.h"
#include "model/heap_metrics.h"

typedef enum Kind { KIND_HEAP, KIND_GROWTH, KIND_LOCKS, KIND_COUNT } Kind;

// First lines. The kind decides how the text between it and the records is read.
static const struct {
    const char *begin;
    Kind kind;
    const char *counts; // name of the metric of KIND_COUNT
} beginnings[] = {
    {"heap profile: ", KIND_HEAP, NULL},
    {"growth profile: ", KIND_GROWTH, NULL},
    {"--- contention", KIND_LOCKS, NULL},
    {"--- mutex:", KIND_LOCKS, NULL},
    {"goroutine profile: total ", KIND_COUNT, "goroutines"},
    {"threadcreate profile: total ", KIND_COUNT, "threads"},
};

enum { VALUES_MAX = 4 };

typedef struct Legacy {
    Profile *p;
    MappedStacks stacks;
    Kind kind;
    double period; // a block of so many bytes, or a contention of so many; at most 1: all
    double hz;     // cycles in a second; 0: the delays are ns
    MetricId metric[VALUES_MAX];
    size_t metric_count;
    bool has_names;              // Go's lines
    ThreadId thread;             // of rows with names
    U64Vec places;               // of a record; of the heap
    Vec(FrameId) frames;         // the same of Go's lines, the inner one first
    uint64_t values[VALUES_MAX]; // of the record whose names come
    bool is_open;                // there is one
    uint64_t line;
    Error *err;
} Legacy;

static size_t find_beginning(Str text)
{
    for (size_t i = 0; i < ARRAY_LEN(beginnings); i++)
        if (str_starts_with(text, str_from_c(beginnings[i].begin)))
            return i;
    return SIZE_MAX;
}

bool legacy_pprof_is(Bytes head)
{
    return find_beginning(str_from_bytes(head)) != SIZE_MAX;
}

// ---- Numbers -----------------------------------------------------------------

// Takes a decimal number and the blanks around it off the start.
static bool take_number(Str *text, uint64_t *ret)
{
    *text = str_trim(*text);
    size_t n = 0;
    while (n < text->len && text->ptr[n] >= '0' && text->ptr[n] <= '9')
        n++;
    if (n == 0 || !str_parse_u64(str_slice(*text, 0, n), 10, ret))
        return false;
    *text = str_trim(str_slice(*text, n, text->len));
    return true;
}

static bool take(Str *text, char c)
{
    if (text->len == 0 || text->ptr[0] != c)
        return false;
    *text = str_trim(str_slice(*text, 1, text->len));
    return true;
}

// "3: 3072 [10: 10240]"
static bool take_blocks(Str *text, uint64_t ret[VALUES_MAX])
{
    return take_number(text, &ret[0]) && take(text, ':') && take_number(text, &ret[1]) &&
           take(text, '[') && take_number(text, &ret[2]) && take(text, ':') &&
           take_number(text, &ret[3]) && take(text, ']');
}

// "0x401136 0x401200", or nothing.
static bool take_places(Str text, U64Vec *ret)
{
    Str word;
    ret->len = 0;
    while (str_next_part(&text, ' ', &word)) {
        uint64_t address;
        word = str_trim(word);
        if (word.len == 0)
            continue;
        if (!str_starts_with(word, STR("0x")) ||
            !str_parse_u64(str_slice(word, 2, word.len), 16, &address))
            return false;
        vec_push(NULL, ret, address);
    }
    return true;
}

static uint64_t clamped(double value)
{
    return value >= (double)INT64_MAX ? (uint64_t)INT64_MAX : (uint64_t)value;
}

// Estimates from sampled blocks: a block of s bytes is noted with probability 1 - exp(-s / period).
static void scale_blocks(double period, uint64_t *blocks, uint64_t *bytes)
{
    if (*blocks == 0 || *bytes == 0 || period <= 1)
        return;
    double size = (double)*bytes / (double)*blocks;
    double factor = 1 / (1 - exp(-size / period));
    *blocks = clamped((double)*blocks * factor);
    *bytes = clamped((double)*bytes * factor);
}

// ---- The head ----------------------------------------------------------------

static bool broken(const Legacy *g, const char *what)
{
    return error_set(g->err, ERROR_FORMAT, "text of pprof: line %llu: %s",
                     (unsigned long long)g->line, what);
}

static void add_metric(Legacy *g, const char *name, const char *unit)
{
    g->metric[g->metric_count++] =
        profile_add_metric(g->p, str_from_c(name), str_from_c(unit), METRIC_SUM, STR(""));
}

static void add_metrics(Legacy *g, const char *counts)
{
    switch (g->kind) {
    case KIND_HEAP:
        add_metric(g, "bytes at end", "bytes");
        add_metric(g, "blocks at end", "");
        add_metric(g, "bytes allocated", "bytes");
        add_metric(g, "blocks allocated", "");
        break;
    case KIND_GROWTH:
        add_metric(g, "bytes grown", "bytes");
        add_metric(g, "times grown", "");
        break;
    case KIND_LOCKS:
        add_metric(g, "delay", "ns");
        add_metric(g, "contentions", "");
        break;
    case KIND_COUNT:
        add_metric(g, counts, "");
        break;
    }
    g->stacks.event.metric = g->metric[0];
}

// The rate of samples behind the '@' of the first line: "heap_v2/524288" is the mean distance in
// bytes, also as "heapz_v2"; "heap/1048576" twice that; others note every block.
static bool read_rate(Legacy *g, Str head)
{
    uint64_t total[VALUES_MAX], rate;
    if (!take_blocks(&head, total) || !take(&head, '@'))
        return broken(g, "the sums of blocks and the kind of heap profile are missing");
    g->period = 1;
    bool is_new = str_starts_with(head, STR("heap_v2/")) || str_starts_with(head, STR("heapz_v2/")),
         is_old = str_starts_with(head, STR("heap/"));
    if (!is_new && !is_old)
        return true;
    head = str_slice(head, str_find_char(head, '/') + 1, head.len);
    if (!take_number(&head, &rate))
        return broken(g, "the distance of samples is not a number");
    g->period = is_new ? (double)rate : (double)rate / 2;
    return true;
}

// "cycles/second = 2800000000", "sampling period=100", and lines that say nothing of the records.
static bool read_setting(Legacy *g, Str line)
{
    Str key, text;
    uint64_t value;
    if (!str_split(line, '=', &key, &text))
        return false;
    key = str_trim(key);
    bool is_number = take_number(&text, &value);
    if (is_number && str_equal(key, STR("cycles/second")))
        g->hz = (double)value;
    if (is_number && str_equal(key, STR("sampling period")))
        g->period = (double)value;
    return true;
}

// ---- Records -----------------------------------------------------------------

// The values of the metrics, scaled.
static void set_values(Legacy *g, uint64_t v[VALUES_MAX])
{
    if (g->kind == KIND_HEAP || g->kind == KIND_GROWTH) {
        scale_blocks(g->period, &v[0], &v[1]);
        scale_blocks(g->period, &v[2], &v[3]);
        const uint64_t order[VALUES_MAX] = {v[1], v[0], v[3], v[2]};
        memcpy(g->values, order, sizeof(order));
    } else if (g->kind == KIND_LOCKS) {
        double period = g->period > 0 ? g->period : 1;
        double ns = (double)v[0] * period / (g->hz > 0 ? g->hz / 1e9 : 1);
        g->values[0] = clamped(ns);
        g->values[1] = clamped((double)v[1] * period);
    } else {
        g->values[0] = v[0];
    }
}

static void set_row(Legacy *g, size_t row)
{
    for (size_t i = 0; i < g->metric_count; i++)
        profile_sample_set(g->p, row, g->metric[i],
                           (int64_t)MIN(g->values[i], (uint64_t)INT64_MAX));
}

// Every place is a return address, the inner one too: it is that of the call that noted the stack.
static void add_addresses(Legacy *g)
{
    if (g->places.len)
        g->places.at[0] -= g->places.at[0] != 0;
    set_row(g, mapped_stacks_add(&g->stacks, &g->places, MIN(g->values[0], (uint64_t)INT64_MAX)));
}

static void add_named(Legacy *g)
{
    StackId stack = {0};
    for (size_t i = g->frames.len; i > 0; i--)
        stack = profile_stack(g->p, stack, g->frames.at[i - 1]);
    set_row(g, profile_add_sample(g->p, TIME_NONE, g->thread, stack, SAMPLE_CPU_NONE));
}

// Ends the record whose names were read.
static void end_record(Legacy *g)
{
    if (g->is_open && g->has_names)
        add_named(g);
    else if (g->is_open)
        add_addresses(g);
    g->is_open = false;
    g->frames.len = 0;
}

static bool read_record(Legacy *g, Str line)
{
    uint64_t v[VALUES_MAX] = {0};
    bool ok = false;
    if (g->kind == KIND_HEAP || g->kind == KIND_GROWTH)
        ok = take_blocks(&line, v);
    else
        ok = take_number(&line, &v[0]) && (g->kind == KIND_COUNT || take_number(&line, &v[1]));
    end_record(g);
    if (!ok || !take(&line, '@') || !take_places(line, &g->places))
        return false;
    set_values(g, v);
    g->is_open = true;
    return true;
}

// "#\t0x45d4e5\tmain.work+0x25\t\t/src/main.go:12": a frame, from the inner one on.
static void read_name(Legacy *g, Str line)
{
    Str part, words[3] = {0};
    uint64_t address = 0, number = 0;
    for (size_t n = 0; n < ARRAY_LEN(words) && str_next_part(&line, '\t', &part);)
        if (part.len && !str_equal(part, STR("#")))
            words[n++] = str_trim(part);
    if (!str_starts_with(words[0], STR("0x")) ||
        !str_parse_u64(str_slice(words[0], 2, words[0].len), 16, &address))
        return;
    size_t plus = str_find_last_char(words[1], '+'), colon = str_find_last_char(words[2], ':');
    Str name = str_slice(words[1], 0, plus == SIZE_MAX ? words[1].len : plus);
    Str file = str_slice(words[2], 0, colon == SIZE_MAX ? 0 : colon);
    if (file.len && (!str_parse_u64(str_slice(words[2], colon + 1, words[2].len), 10, &number) ||
                     number > UINT32_MAX))
        number = 0;
    ModuleId none = {0};
    FunctionId function = profile_function(g->p, name, STR(""), file, 0);
    vec_push(NULL, &g->frames,
             import_named_frame(g->p, none, address, function, profile_str(g->p, file),
                                (uint32_t)number, 0));
}

static bool is_maps(Str line)
{
    return str_equal(line, STR("MAPPED_LIBRARIES:")) ||
           str_equal(line, STR("--- Memory map: ---")) ||
           str_starts_with(line, STR("--- Memory map"));
}

// The text of the mappings, behind the records; empty when there is none.
static Str find_maps(Str text)
{
    Str line;
    while (str_next_line(&text, &line))
        if (is_maps(str_trim(line)))
            return text;
    return (Str){0};
}

static bool read_records(Legacy *g, Str text)
{
    Str line;
    while (str_next_line(&text, &line)) {
        g->line++;
        bool is_last = text.len == 0;
        line = str_trim(line);
        if (is_maps(line))
            break;
        if (line.len && line.ptr[0] == '#') {
            if (g->has_names && g->is_open)
                read_name(g, line);
            continue;
        }
        if (line.len == 0 || read_record(g, line) || read_setting(g, line))
            continue;
        if (!is_last)
            return broken(g, "no record of this kind of profile");
        profile_note(g->p, NOTE_WARNING, STR("cut-file"),
                     "the file is cut in line %llu: the part before is read",
                     (unsigned long long)g->line);
    }
    end_record(g);
    return true;
}

static bool read_text(Legacy *g, Str text)
{
    Str head;
    size_t kind = find_beginning(text);
    assert(kind != SIZE_MAX); // the caller looked
    str_next_line(&text, &head);
    g->line = 1;
    g->kind = beginnings[kind].kind;
    head = str_slice(head, strlen(beginnings[kind].begin), head.len);
    bool is_heap = g->kind == KIND_HEAP || g->kind == KIND_GROWTH;
    if (is_heap && !read_rate(g, head))
        return false;
    add_metrics(g, beginnings[kind].counts);
    g->has_names = str_find(text, STR("\n#\t0x")) != SIZE_MAX;
    if (g->has_names) {
        ProcessId process = profile_add_process(g->p, MAPPED_STACKS_PID, 0, (StrId){0}, TIME_NONE);
        g->thread = profile_add_thread(g->p, process, MAPPED_STACKS_PID, (StrId){0}, TIME_NONE);
    } else {
        mapped_stacks_maps(&g->stacks, find_maps(text));
    }
    if (!read_records(g, text))
        return false;
    if (is_heap && g->period > 1)
        profile_note(g->p, NOTE_INFO, STR("sampled-blocks"),
                     "one block in about %.0f bytes was noted: values are estimates", g->period);
    return mapped_stacks_finish(&g->stacks, g->err);
}

bool import_legacy_pprof(Bytes file, const ImportOptions *options, Profile *p, Error *err)
{
    Legacy *g = heap_alloc(sizeof(*g));
    *g = (Legacy){.p = p, .err = err, .period = 1};
    profile_init(p);
    profile_set_fact(p, STR(FACT_COLLECTOR), STR("import pprof text"));
    mapped_stacks_open(&g->stacks, p, options);
    bool ok = read_text(g, str_from_bytes(file));
    mapped_stacks_close(&g->stacks);
    vec_free(&g->places);
    vec_free(&g->frames);
    heap_free(g);
    if (!ok)
        profile_deinit(p);
    return ok;
}
