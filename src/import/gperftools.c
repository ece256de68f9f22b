// SPDX-License-Identifier: Apache-2.0
// CPU profiles of gperftools (CPUPROFILE=FILE, libprofiler), also those of Go before 1.9 ->
// Profile. Format: gperftools, docs/cpuprofile-fileformat.html: words of the machine, 32 or 64
// bits, then the text of /proc/self/maps. Addresses are named by the files that were mapped.

#include "import/gperftools_internal.h"

#include "base/cursor.h"
#include "import/mapped_stacks_internal.h"
#include "model/facts.h"

enum {
    HEADER_WORDS = 5, // zero, words that follow, version, period in µs, padding
    FOLLOWING_MIN = 3,
    FOLLOWING_MAX = 64, // of the words that follow: a later version may have more
    ENTRIES_MAX = 1 << 16
};

typedef struct Words {
    size_t size; // of a word: 4 or 8
    bool big_endian;
    uint64_t period_us;
    uint64_t following;
} Words;

typedef struct Gperftools {
    Profile *p;
    MappedStacks stacks;
    Words words;
    Cursor at;
    MetricId count;
    U64Vec places; // of a record; of the heap
    bool has_end;
    Error *err;
} Gperftools;

// Reads the header in one size and order of words.
static bool header_read(Bytes file, size_t size, bool big_endian, Words *ret)
{
    Cursor c = cursor_over(file, "gperftools profile");
    uint64_t word[HEADER_WORDS];
    c.big_endian = big_endian;
    for (size_t i = 0; i < HEADER_WORDS; i++)
        word[i] = size == 8 ? cursor_u64(&c) : cursor_u32(&c);
    if (!cursor_ok(&c) || word[0] || word[1] < FOLLOWING_MIN || word[1] > FOLLOWING_MAX ||
        word[2] || word[3] == 0 || word[3] > UINT32_MAX || word[4])
        return false;
    *ret = (Words){size, big_endian, word[3], word[1]};
    return true;
}

static bool find_words(Bytes file, Words *ret)
{
    return header_read(file, 8, false, ret) || header_read(file, 8, true, ret) ||
           header_read(file, 4, false, ret) || header_read(file, 4, true, ret);
}

bool gperftools_is(Bytes head)
{
    Words words;
    return find_words(head, &words);
}

static uint64_t next_word(Gperftools *g)
{
    return g->words.size == 8 ? cursor_u64(&g->at) : cursor_u32(&g->at);
}

// ---- Samples -----------------------------------------------------------------

typedef struct Record {
    uint64_t count, entries;
    size_t at; // of its entries
} Record;

// The next record. False at the end, which is a record of its own, or where the file is cut.
static bool next_record(Gperftools *g, Record *ret)
{
    size_t begin = g->at.at;
    ret->count = next_word(g);
    ret->entries = next_word(g);
    ret->at = g->at.at;
    if (cursor_ok(&g->at) && ret->entries <= ENTRIES_MAX) {
        cursor_skip(&g->at, ret->entries * g->words.size);
        if (cursor_ok(&g->at) && ret->count)
            return true;
    }
    Cursor last = g->at;
    last.at = ret->at;
    uint64_t first = g->words.size == 8 ? cursor_u64(&last) : cursor_u32(&last);
    g->has_end = cursor_ok(&g->at) && ret->count == 0 && ret->entries == 1 && first == 0;
    if (!g->has_end)
        g->at.at = begin;
    return false;
}

// The handler of the signal finds the innermost place in the registers, and often again by the
// walk, where it is no return address.
static void add_sample(Gperftools *g, const Record *record)
{
    Cursor c = g->at;
    c.at = record->at;
    g->places.len = 0;
    for (uint64_t i = 0; i < record->entries; i++) {
        uint64_t pc = g->words.size == 8 ? cursor_u64(&c) : cursor_u32(&c);
        if (i != 1 || pc != g->places.at[0])
            vec_push(NULL, &g->places, pc);
    }
    size_t row =
        mapped_stacks_add(&g->stacks, &g->places, record->count * g->words.period_us * 1000);
    profile_sample_set(g->p, row, g->count, (int64_t)record->count);
}

// Passes over all records, up to the text behind them.
static bool check_records(Gperftools *g)
{
    uint64_t limit = INT64_MAX / (g->words.period_us * 1000), sum = 0;
    size_t begin = g->at.at;
    Record r;
    while (next_record(g, &r)) {
        if (r.count > limit - sum)
            return error_set(g->err, ERROR_FORMAT,
                             "gperftools profile: %llu samples at offset 0x%zx are too many",
                             (unsigned long long)r.count, r.at - 2 * g->words.size);
        sum += r.count;
    }
    if (!g->has_end && g->at.at == begin)
        return error_set(g->err, ERROR_FORMAT,
                         "gperftools profile: no sample before the file is cut");
    if (!g->has_end)
        profile_note(g->p, NOTE_WARNING, STR("cut-file"),
                     "the file is cut or damaged at offset 0x%zx: the part before is read",
                     g->at.at);
    return true;
}

static bool read_file(Gperftools *g, Bytes file)
{
    size_t begin = (2 + (size_t)g->words.following) * g->words.size;
    Record r;
    g->at = cursor_over(file, "gperftools profile");
    g->at.big_endian = g->words.big_endian;
    cursor_skip(&g->at, begin);
    if (!cursor_check(&g->at, g->err) || !check_records(g))
        return false;
    Bytes text = g->has_end ? bytes_slice(file, g->at.at, file.len) : (Bytes){0};
    size_t end = g->at.at;
    // They stand behind the samples, and are needed before them.
    mapped_stacks_maps(&g->stacks, str_from_bytes(text));
    g->at.at = begin;
    g->at.why = NULL;
    while (g->at.at < end && next_record(g, &r))
        add_sample(g, &r);
    return mapped_stacks_finish(&g->stacks, g->err);
}

bool import_gperftools(Bytes file, const ImportOptions *options, Profile *p, Error *err)
{
    Words words;
    if (!find_words(file, &words))
        return error_set(err, ERROR_FORMAT, "gperftools profile: the header is cut or damaged");
    Gperftools *g = heap_alloc(sizeof(*g));
    g->p = p;
    g->words = words;
    g->err = err;
    profile_init(p);
    profile_set_fact(p, STR(FACT_COLLECTOR), STR("import gperftools"));
    mapped_stacks_open(&g->stacks, p, options);
    g->stacks.event.metric = profile_add_metric(p, STR("cpu time"), STR("ns"), METRIC_SUM,
                                                STR("cpu time by ITIMER_PROF"));
    g->count = profile_add_metric(p, STR("samples"), STR(""), METRIC_SUM, STR(""));
    bool ok = read_file(g, file);
    mapped_stacks_close(&g->stacks);
    vec_free(&g->places);
    heap_free(g);
    if (!ok)
        profile_deinit(p);
    return ok;
}
