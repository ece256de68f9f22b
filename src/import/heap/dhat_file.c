// SPDX-License-Identifier: Apache-2.0
// DHAT's JSON, dhatFileVersion 2 -> Profile.
// Format: valgrind, dhat/dh_main.c, the comment above the writer; dhat-rs writes the same.

#include "import/heap/heap_files.h"

#include "base/json.h"
#include "base/strbuf.h"
#include "import/heap/heap_rows_internal.h"
#include "model/facts.h"

bool dhat_is(Bytes head)
{
    Str text = str_from_bytes(bytes_slice(head, 0, 64 << 10));
    return str_starts_with(str_trim(text), STR("{")) &&
           str_find(text, STR("\"dhatFileVersion\"")) != SIZE_MAX;
}

typedef struct Dhat {
    HeapRows rows;
    Arena scratch;
    const JsonValue *root;
    Vec(FrameId) frames;           // of ftbl
    bool lifetimes;                // "bklt"
    bool accesses;                 // "bkacc"
    enum HeapMetric blocks, bytes; // what "tbk" and "tb" are in the file's mode
    MetricId read, written;
    Error *err;
} Dhat;

// A number of an object as it is written, so that no digit is lost. False: it is none.
static bool number_of(const JsonValue *object, const char *key, uint64_t *ret)
{
    const JsonValue *v = json_find(object, key);
    return v && v->kind == JSON_NUMBER && str_parse_u64(v->text, 10, ret);
}

static bool flag_of(const JsonValue *object, const char *key)
{
    const JsonValue *v = json_find(object, key);
    return v && v->kind == JSON_BOOL && v->boolean;
}

static Str text_of(const JsonValue *object, const char *key, Str otherwise)
{
    const JsonValue *v = json_find(object, key);
    return v && v->kind == JSON_STRING ? v->text : otherwise;
}

static bool read_frames(Dhat *d)
{
    const JsonValue *table = json_find(d->root, "ftbl");
    if (!table || table->kind != JSON_ARRAY)
        return error_set(d->err, ERROR_FORMAT, "DHAT's file: no table of frames, 'ftbl'");
    for (const JsonValue *v = table->child; v; v = v->next) {
        if (v->kind != JSON_STRING)
            return error_set(d->err, ERROR_FORMAT, "DHAT's file: a frame in 'ftbl' is not text");
        vec_push(&d->scratch, &d->frames, heap_rows_frame(d->rows.p, v->text));
    }
    return true;
}

// The stack of a list of frames, innermost first. "[root]" stands for an empty one.
static bool read_stack(Dhat *d, const JsonValue *point, StackId *ret)
{
    const JsonValue *list = json_find(point, "fs");
    U32Vec numbers = {0};
    StackId stack = {0};
    if (!list || list->kind != JSON_ARRAY)
        return error_set(d->err, ERROR_FORMAT, "DHAT's file: a point has no frames, 'fs'");
    for (const JsonValue *v = list->child; v; v = v->next) {
        uint64_t number;
        if (v->kind != JSON_NUMBER || !str_parse_u64(v->text, 10, &number) ||
            number >= d->frames.len)
            return error_set(d->err, ERROR_FORMAT, "DHAT's file: there is no frame '%" STR_FMT "'",
                             STR_ARG(str_slice(v->text, 0, 40)));
        vec_push(&d->scratch, &numbers, (uint32_t)number);
    }
    for (size_t i = numbers.len; i-- > 0;)
        if (numbers.at[i] != 0)
            stack = profile_stack(d->rows.p, stack, d->frames.at[numbers.at[i]]);
    *ret = stack;
    return true;
}

static bool read_point(Dhat *d, const JsonValue *point)
{
    const struct {
        const char *key;
        enum HeapMetric metric;
        bool lifetimes; // only files with lifetimes have it
    } keys[] = {{"tb", d->bytes, false},       {"tbk", d->blocks, false},
                {"mb", HEAP_MAX_BYTES, true},  {"mbk", HEAP_MAX_BLOCKS, true},
                {"gb", HEAP_PEAK_BYTES, true}, {"gbk", HEAP_PEAK_BLOCKS, true},
                {"eb", HEAP_END_BYTES, true},  {"ebk", HEAP_END_BLOCKS, true},
                {"tl", HEAP_LIFETIME, true}};
    uint64_t value[HEAP_METRIC_COUNT] = {0}, access;
    StackId stack;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        bool wanted = d->lifetimes || !keys[i].lifetimes;
        // The lifetime may be missing: dh_view does not ask for it.
        if (wanted && !number_of(point, keys[i].key, &value[keys[i].metric]) &&
            keys[i].metric != HEAP_LIFETIME)
            return error_set(d->err, ERROR_FORMAT, "DHAT's file: a point has no number '%s'",
                             keys[i].key);
    }
    // Blocks that are live at the end have a lifetime, too: until the end.
    value[HEAP_FREED] = value[HEAP_BLOCKS];
    if (!read_stack(d, point, &stack))
        return false;
    heap_rows_add(&d->rows, stack, value);
    size_t row = d->rows.p->samples.stack.len - 1;
    if (d->accesses && number_of(point, "rb", &access))
        profile_sample_set(d->rows.p, row, d->read, (int64_t)MIN(access, (uint64_t)INT64_MAX));
    if (d->accesses && number_of(point, "wb", &access))
        profile_sample_set(d->rows.p, row, d->written, (int64_t)MIN(access, (uint64_t)INT64_MAX));
    return true;
}

static void add_facts(Dhat *d)
{
    Profile *p = d->rows.p;
    uint64_t threshold;
    StrBuf number = {0};
    if (d->lifetimes && number_of(d->root, "tuth", &threshold)) {
        strbuf_add_u64(&number, threshold);
        profile_set_fact(p, STR(FACT_HEAP_SHORT_LIVED), strbuf_str(&number));
    }
    if (d->lifetimes) {
        Str unit = text_of(d->root, "tu", STR("allocations"));
        p->metrics.unit.at[d->rows.metric[HEAP_LIFETIME].v] = profile_str(p, unit);
        profile_set_fact(p, STR(FACT_HEAP_CLOCK), unit);
    }
    strbuf_deinit(&number);
}

static bool read_all(Dhat *d, Profile *p)
{
    uint64_t version = 0, pid = 0;
    const JsonValue *points = json_find(d->root, "pps");
    if (!number_of(d->root, "dhatFileVersion", &version) || version != 2)
        return error_set(d->err, ERROR_UNSUPPORTED, "DHAT's file: its version is not 2");
    if (!points || points->kind != JSON_ARRAY)
        return error_set(d->err, ERROR_FORMAT, "DHAT's file: no points, 'pps'");
    d->lifetimes = flag_of(d->root, "bklt");
    d->accesses = flag_of(d->root, "bkacc");
    (void)number_of(d->root, "pid", &pid);
    Str mode = text_of(d->root, "mode", STR("heap"));
    bool copies = str_equal(mode, STR("copy")), marks = str_ends_with(mode, STR("ad-hoc"));
    d->blocks = copies ? HEAP_COPIES : marks ? HEAP_MARKS : HEAP_BLOCKS;
    d->bytes = copies ? HEAP_COPY_BYTES : marks ? HEAP_MARK_WEIGHT : HEAP_BYTES;
    uint64_t has = UINT64_C(1) << d->blocks | UINT64_C(1) << d->bytes;
    if (d->lifetimes)
        has |= HEAP_BIT(MAX_BYTES) | HEAP_BIT(MAX_BLOCKS) | HEAP_BIT(PEAK_BYTES) |
               HEAP_BIT(PEAK_BLOCKS) | HEAP_BIT(END_BYTES) | HEAP_BIT(END_BLOCKS) |
               HEAP_BIT(LIFETIME) | HEAP_BIT(FREED);
    heap_rows_init(&d->rows, p, STR("import DHAT"), has, (uint32_t)MIN(pid, UINT64_C(0x7fffffff)),
                   text_of(d->root, "cmd", STR("")));
    if (d->accesses) {
        d->read = profile_add_metric(p, STR("bytes read"), STR("bytes"), METRIC_SUM, STR(""));
        d->written = profile_add_metric(p, STR("bytes written"), STR("bytes"), METRIC_SUM, STR(""));
    }
    add_facts(d);
    if (!read_frames(d))
        return false;
    for (const JsonValue *v = points->child; v; v = v->next)
        if (!read_point(d, v))
            return false;
    return true;
}

bool import_dhat(Bytes file, Profile *p, Error *err)
{
    Dhat d = {.err = err};
    JsonValue *root;
    if (!json_parse(&d.scratch, str_from_bytes(file), &root, err)) {
        arena_deinit(&d.scratch);
        return error_context(err, "DHAT's file");
    }
    d.root = root;
    profile_init(p);
    bool ok = read_all(&d, p);
    arena_deinit(&d.scratch);
    if (!ok)
        profile_deinit(p);
    return ok;
}
