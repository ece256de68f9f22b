// SPDX-License-Identifier: Apache-2.0
// Keeps the counters of each test, and computes from them the lines of each test.

#include "collect/cover/per_test.h"

#include "base/cursor.h"
#include "os/file.h"

enum { BATCH = 64 };

void cover_per_test_init(CoverPerTest *t, Arena *arena, Str gcov_root)
{
    *t = (CoverPerTest){.arena = arena, .total = {.arena = arena}};
    cover_gcov_tests_init(&t->gcov, arena, gcov_root);
}

void cover_per_test_deinit(CoverPerTest *t)
{
    cover_gcov_tests_deinit(&t->gcov);
    vec_free(&t->packed);
    table_deinit(&t->function_index);
    cover_counts_deinit(&t->total);
    arena_deinit(&t->test_arena);
}

// ---- While tests run -------------------------------------------------------------

void cover_per_test_begin(CoverPerTest *t, CoverPool *pool)
{
    pool->counts = (CoverCounts){.arena = &t->test_arena};
    if (t->runs.len == 0)
        cover_gcov_tests_begin(&t->gcov);
}

static uint32_t function_number(CoverPerTest *t, const CoverCountRow *row)
{
    uint64_t hash = hash_pair(row->name_ref, row->hash);
    uint32_t number;
    for (TableProbe p = table_probe(&t->function_index, hash);
         table_next(&t->function_index, &p, &number);)
        if (t->functions.at[number].name_ref == row->name_ref &&
            t->functions.at[number].hash == row->hash)
            return number;
    CoverTestFunction fresh = {row->name_ref, row->hash, row->count};
    number = (uint32_t)t->functions.len;
    vec_push(t->arena, &t->functions, fresh);
    table_insert(&t->function_index, hash, number);
    return number;
}

static void pack(CoverPerTest *t, uint64_t value)
{
    vec_reserve(NULL, &t->packed, 10);
    do {
        uint8_t byte = value & 0x7f;
        value >>= 7;
        t->packed.at[t->packed.len++] = (uint8_t)(byte | (value ? 0x80 : 0));
    } while (value);
}

static bool ever_ran(const uint64_t *counters, uint32_t count)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < count; i++)
        any |= counters[i];
    return any != 0;
}

static void pack_counts(CoverPerTest *t, const CoverCounts *c)
{
    for (size_t i = 0; i < c->rows.len; i++) {
        const CoverCountRow *row = &c->rows.at[i];
        const uint64_t *counters = cover_counts_of(c, row);
        if (!ever_ran(counters, row->count))
            continue;
        uint32_t number = function_number(t, row);
        if (t->functions.at[number].counter_count != row->count)
            continue;
        pack(t, number);
        for (uint32_t k = 0; k < row->count; k++)
            pack(t, counters[k]);
    }
}

bool cover_per_test_end(CoverPerTest *t, CoverPool *pool, CoverTest test, Error *err)
{
    CoverTestRun run = {.test = test, .first = t->packed.len};
    run.test.name = arena_str(t->arena, test.name);
    bool ok = cover_counts_absorb(&t->total, &pool->counts, err) &&
              cover_counts_finish(&pool->counts, err);
    if (ok) {
        cover_gcov_tests_end(&t->gcov);
        pack_counts(t, &pool->counts);
        run.end = t->packed.len;
        vec_push(t->arena, &t->runs, run);
    }
    cover_counts_deinit(&pool->counts);
    pool->counts = (CoverCounts){.arena = t->arena};
    arena_deinit(&t->test_arena);
    return ok;
}

void cover_per_test_done(CoverPerTest *t, CoverPool *pool)
{
    pool->counts = t->total;
    t->total = (CoverCounts){.arena = t->arena};
}

// ---- Lines -----------------------------------------------------------------------

// A function that one test executed.
typedef struct Executed {
    uint32_t function;
    uint32_t bit;
    size_t at; // offset of its counters in `packed`
} Executed;

typedef struct Lines {
    CoverPerTest *t;
    CoverData data;
    Vec(MappedFile) files;
    Vec(CovMap) maps; // of all objects
    // Lists of the rows of data.functions for each function number: the first row, and for each row
    // the next one; all + 1.
    U32Vec head, next;
    Vec(Executed) executed;
    U32Vec starts; // [function number]: first index in `executed`
    U64Vec counters;
    CovFunctionMap map;
} Lines;

static bool open_objects(Lines *l, const CoverObjects *objects, Error *err)
{
    for (size_t i = 0; i < objects->found.len; i++) {
        MappedFile m = {0};
        CovMap map;
        CovMapSections sections;
        if (!os_map_file(objects->found.at[i].path, &m, err))
            return false;
        vec_push(NULL, &l->files, m);
        if (!cover_object_sections(l->t->arena, m.bytes, &sections, err) ||
            !covmap_parse(l->t->arena, sections, &map, err))
            return error_context(err, "'%" STR_FMT "'", STR_ARG(objects->found.at[i].path));
        vec_push(NULL, &l->maps, map);
        cover_data_add_object(&l->data, &map, objects->found.at[i].path, &objects->pool->counts);
    }
    return true;
}

static void close_objects(Lines *l)
{
    for (size_t i = 0; i < l->maps.len; i++)
        covmap_deinit(&l->maps.at[i]);
    for (size_t i = 0; i < l->files.len; i++)
        os_unmap_file(&l->files.at[i]);
    vec_free(&l->maps);
    vec_free(&l->files);
}

static const CovMapFunction *record_of(const Lines *l, const CoverFunction *f)
{
    return &l->maps.at[f->object].functions.at[f->record];
}

static void link_functions(Lines *l)
{
    const CoverPerTest *t = l->t;
    vec_extend(NULL, &l->head, t->functions.len);
    vec_extend(NULL, &l->next, l->data.functions.len);
    for (size_t i = 0; i < l->data.functions.len; i++) {
        const CovMapFunction *f = record_of(l, &l->data.functions.at[i]);
        uint32_t number;
        for (TableProbe p = table_probe(&t->function_index, hash_pair(f->name_ref, f->hash));
             table_next(&t->function_index, &p, &number);)
            if (t->functions.at[number].name_ref == f->name_ref &&
                t->functions.at[number].hash == f->hash) {
                l->next.at[i] = l->head.at[number];
                l->head.at[number] = (uint32_t)i + 1;
                break;
            }
    }
}

// Reads which functions a test executed; skips their counters.
static void list_executed(Lines *l, const CoverTestRun *run, uint32_t bit)
{
    Cursor c = cursor_over(bytes_over(l->t->packed.at, run->end), "counters");
    c.at = run->first;
    while (cursor_more(&c)) {
        uint32_t number = (uint32_t)cursor_uleb(&c);
        Executed e = {number, bit, c.at};
        vec_push(NULL, &l->executed, e);
        for (uint32_t i = 0; i < l->t->functions.at[number].counter_count; i++)
            (void)cursor_uleb(&c);
    }
}

// Sorts the executed functions of a batch of tests by function, so that each is decoded once.
static void list_batch(Lines *l, size_t first, size_t end)
{
    Vec(Executed) sorted = {0};
    l->executed.len = l->starts.len = 0;
    for (size_t i = first; i < end; i++)
        list_executed(l, &l->t->runs.at[i], (uint32_t)(i - first));
    vec_extend(NULL, &l->starts, l->t->functions.len + 2);
    for (size_t i = 0; i < l->executed.len; i++)
        l->starts.at[l->executed.at[i].function + 2]++;
    for (size_t i = 2; i < l->starts.len; i++)
        l->starts.at[i] += l->starts.at[i - 1];
    vec_extend(NULL, &sorted, l->executed.len);
    for (size_t i = 0; i < l->executed.len; i++)
        sorted.at[l->starts.at[l->executed.at[i].function + 1]++] = l->executed.at[i];
    if (sorted.len)
        memcpy(l->executed.at, sorted.at, sorted.len * sizeof(sorted.at[0]));
    vec_free(&sorted);
}

static void clear_regions(CoverData *d)
{
    for (size_t i = 0; i < d->regions.len; i++)
        d->regions.at[i].count = d->regions.at[i].false_count = 0;
}

// Adds a test to the regions that it executed in a function.
static void add_test(Lines *l, const CoverFunction *f, const Executed *e)
{
    uint32_t count = l->t->functions.at[e->function].counter_count;
    Cursor c = cursor_over(bytes_over(l->t->packed.at, l->t->packed.len), "counters");
    c.at = e->at;
    l->counters.len = 0;
    vec_extend(NULL, &l->counters, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++)
        l->counters.at[i] = cursor_uleb(&c);
    const CoverRegion *regions;
    size_t region_count;
    if (!cover_data_evaluate(&l->data, &l->map, l->counters.at, count, &regions, &region_count))
        return;
    CoverRegion *to = l->data.regions.at + f->regions_first;
    for (size_t i = 0; i < region_count; i++)
        if ((int64_t)regions[i].count > 0)
            to[i].count |= 1ull << e->bit;
}

static void add_batch(Lines *l)
{
    for (size_t number = 0; number < l->t->functions.len; number++) {
        uint32_t first = l->starts.at[number], end = l->starts.at[number + 1];
        if (first == end)
            continue;
        for (uint32_t row = l->head.at[number]; row; row = l->next.at[row - 1]) {
            const CoverFunction *f = &l->data.functions.at[row - 1];
            if (!covmap_decode(record_of(l, f), &l->map, NULL))
                continue;
            for (uint32_t i = first; i < end; i++)
                add_test(l, f, &l->executed.at[i]);
        }
    }
}

// ---- The table ---------------------------------------------------------------------

// The set of tests of each line, before equal sets are joined.
typedef struct Matrix {
    U64Vec words; // [line][batch]
    Table index;  // of all different sets
} Matrix;

static void take_lines(Matrix *m, const Profile *p, uint32_t word, CoverTestTable *ret,
                       Arena *arena)
{
    const LineCounts *lines = &p->line_counts;
    if (word == 0)
        vec_extend(NULL, &m->words, lines->line.len * ret->words);
    for (size_t i = 0; i < lines->line.len; i++) {
        m->words.at[i * ret->words + word] = lines->count.at[i];
        if (word)
            continue;
        Str path = profile_text(p, lines->file.at[i]);
        if (ret->files.len == 0 || !str_equal(vec_last(&ret->files), path))
            vec_push(arena, &ret->files, arena_str(arena, path));
        CoverTestLine line = {(uint32_t)ret->files.len - 1, lines->line.at[i], 0};
        vec_push(arena, &ret->lines, line);
    }
}

static void make_table(Lines *l, const CoverProject *how, CoverTestTable *ret)
{
    Matrix m = {0};
    Arena *arena = l->t->arena;
    size_t tests = l->t->runs.len;
    ret->words = (uint32_t)((tests + BATCH - 1) / BATCH);
    for (size_t first = 0; first < tests; first += BATCH) {
        Profile p;
        profile_init(&p);
        list_batch(l, first, MIN(first + BATCH, tests));
        clear_regions(&l->data);
        add_batch(l);
        CoverFilling filling;
        cover_filling_init(&filling, &l->data, how, &p);
        cover_files_fill(&filling, false);
        cover_filling_deinit(&filling);
        take_lines(&m, &p, (uint32_t)(first / BATCH), ret, arena);
        profile_deinit(&p);
    }
    for (size_t i = 0; i < ret->lines.len; i++)
        ret->lines.at[i].set = cover_tests_set(arena, ret, &m.index, m.words.at + i * ret->words);
    for (size_t i = 0; i < tests; i++)
        vec_push(arena, &ret->tests, l->t->runs.at[i].test);
    vec_free(&m.words);
    table_deinit(&m.index);
}

bool cover_per_test_table(CoverPerTest *t, const CoverObjects *objects, const CoverProject *how,
                          CoverTestTable *ret, Error *err)
{
    Lines l = {.t = t};
    *ret = (CoverTestTable){0};
    cover_data_init(&l.data, t->arena);
    l.data.counting = COV_SETS;
    bool ok = open_objects(&l, objects, err);
    if (ok) {
        link_functions(&l);
        make_table(&l, how, ret);
        cover_gcov_tests_table(&t->gcov, how, ret);
    }
    close_objects(&l);
    vec_free(&l.head);
    vec_free(&l.next);
    vec_free(&l.executed);
    vec_free(&l.starts);
    vec_free(&l.counters);
    covmap_function_deinit(&l.map);
    cover_data_deinit(&l.data);
    return ok;
}
