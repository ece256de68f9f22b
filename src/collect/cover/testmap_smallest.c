// SPDX-License-Identifier: Apache-2.0
// Minimum set cover by reduction, then branch and bound. A row is a set of tests that run the same
// lines. Reduction removes most rows: one that contains another row, and one with a single test,
// which is then taken. It also removes tests whose rows another test has, too. Method: Beasley, "An
// algorithm for set covering problem", European Journal of Operational Research 31 (1987), with the
// bound of disjoint rows.

#include "collect/cover/testmap_smallest.h"

#include <stdlib.h>

// The search stops after so many words and returns the best set so far: a fraction of a second.
enum { WORK_MAX = 100 * 1000 * 1000 };

typedef struct Search {
    Arena *arena;
    size_t test_words, row_words;
    uint32_t test_count, row_count;
    uint64_t *rows;   // [row][test_words]: the tests that run the row's lines
    uint64_t *covers; // [test][row_words]: the rows of a test
    int64_t work;     // how many words may still be looked at
    U32Vec chosen, best;
} Search;

static uint64_t *row_of(const Search *s, uint32_t row)
{
    return s->rows + row * s->test_words;
}

static uint64_t *cover_of(const Search *s, uint32_t test)
{
    return s->covers + test * s->row_words;
}

static bool has_bit(const uint64_t *bits, uint32_t i)
{
    return bits[i / 64] >> (i % 64) & 1;
}

static void set_bit(uint64_t *bits, uint32_t i)
{
    bits[i / 64] |= 1ull << (i % 64);
}

static uint32_t count_bits(const uint64_t *bits, size_t words)
{
    uint32_t n = 0;
    for (size_t i = 0; i < words; i++)
        n += (uint32_t)__builtin_popcountll(bits[i]);
    return n;
}

static bool is_within(const uint64_t *inner, const uint64_t *outer, size_t words)
{
    for (size_t i = 0; i < words; i++)
        if (inner[i] & ~outer[i])
            return false;
    return true;
}

// ---- Rows ---------------------------------------------------------------------

typedef struct Row {
    uint32_t size;
    const uint64_t *words;
} Row;

static int compare_rows(const void *a, const void *b)
{
    const Row *x = a, *y = b;
    return x->size < y->size ? -1 : x->size > y->size;
}

// Keeps the rows that contain no other row, the smallest first. A test for the lines of a row also
// runs those of every row that contains it.
static void keep_smallest_rows(Search *s)
{
    Row *order = arena_array(s->arena, Row, (size_t)s->row_count + 1);
    uint64_t *kept = arena_array(s->arena, uint64_t, s->row_count * s->test_words + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->row_count; i++)
        order[i] = (Row){count_bits(row_of(s, i), s->test_words), row_of(s, i)};
    qsort(order, s->row_count, sizeof(order[0]), compare_rows);
    for (uint32_t i = 0; i < s->row_count; i++) {
        bool contains = false;
        for (uint32_t k = 0; k < count && !contains && s->work > 0; k++, s->work--)
            contains = is_within(kept + k * s->test_words, order[i].words, s->test_words);
        if (contains || order[i].size == 0)
            continue;
        for (size_t w = 0; w < s->test_words; w++)
            kept[count * s->test_words + w] = order[i].words[w];
        count++;
    }
    s->rows = kept;
    s->row_count = count;
}

static void transpose(Search *s)
{
    s->row_words = ((size_t)s->row_count + 63) / 64;
    s->covers = arena_array(s->arena, uint64_t, s->test_count * s->row_words + 1);
    for (uint32_t i = 0; i < s->row_count; i++)
        for (uint32_t t = 0; t < s->test_count; t++)
            if (has_bit(row_of(s, i), t))
                set_bit(cover_of(s, t), i);
}

// Removes tests whose rows another test has, too. True when one was removed.
static bool drop_tests(Search *s)
{
    bool any = false;
    for (uint32_t t = 0; t < s->test_count; t++) {
        bool needless = false, empty = count_bits(cover_of(s, t), s->row_words) == 0;
        for (uint32_t u = 0; u < s->test_count && !needless && !empty && s->work > 0; u++) {
            s->work -= (int64_t)s->row_words;
            needless = u != t && is_within(cover_of(s, t), cover_of(s, u), s->row_words);
        }
        if (!needless)
            continue;
        any = true;
        memset(cover_of(s, t), 0, s->row_words * sizeof(uint64_t));
        for (uint32_t i = 0; i < s->row_count; i++)
            row_of(s, i)[t / 64] &= ~(1ull << (t % 64));
    }
    return any;
}

// ---- Search -------------------------------------------------------------------

// A lower bound: rows of which no two share a test need a test each. UINT32_MAX when a remaining
// row has no test that may be taken.
static uint32_t lower_bound(Search *s, const uint64_t *left, const uint64_t *barred, uint64_t *used)
{
    uint32_t count = 0;
    memset(used, 0, s->test_words * sizeof(used[0]));
    for (uint32_t i = 0; i < s->row_count; i++) {
        if (!has_bit(left, i))
            continue;
        bool free_tests = false, disjoint = true;
        s->work -= (int64_t)s->test_words;
        for (size_t w = 0; w < s->test_words; w++) {
            uint64_t tests = row_of(s, i)[w] & ~barred[w];
            free_tests |= tests != 0;
            disjoint &= (tests & used[w]) == 0;
        }
        if (!free_tests)
            return UINT32_MAX;
        for (size_t w = 0; w < s->test_words && disjoint; w++)
            used[w] |= row_of(s, i)[w] & ~barred[w];
        count += disjoint;
    }
    return count;
}

// The row with the fewest tests to choose from; UINT32_MAX when no row remains.
static uint32_t pick_row(Search *s, const uint64_t *left, const uint64_t *barred)
{
    uint32_t best = UINT32_MAX, best_size = UINT32_MAX;
    for (uint32_t i = 0; i < s->row_count; i++) {
        if (!has_bit(left, i))
            continue;
        uint32_t size = 0;
        s->work -= (int64_t)s->test_words;
        for (size_t w = 0; w < s->test_words; w++)
            size += (uint32_t)__builtin_popcountll(row_of(s, i)[w] & ~barred[w]);
        if (size < best_size) {
            best = i;
            best_size = size;
        }
    }
    return best;
}

// The test of the row that covers most of the remaining rows; UINT32_MAX when none may be taken.
static uint32_t pick_test(Search *s, uint32_t row, const uint64_t *left, const uint64_t *barred)
{
    uint32_t best = UINT32_MAX, best_gain = 0;
    for (uint32_t t = 0; t < s->test_count; t++) {
        if (!has_bit(row_of(s, row), t) || has_bit(barred, t))
            continue;
        uint32_t gain = 0;
        s->work -= (int64_t)s->row_words;
        for (size_t w = 0; w < s->row_words; w++)
            gain += (uint32_t)__builtin_popcountll(cover_of(s, t)[w] & left[w]);
        if (gain > best_gain) {
            best = t;
            best_gain = gain;
        }
    }
    return best;
}

static void remember(Search *s)
{
    s->best.len = 0;
    for (size_t i = 0; i < s->chosen.len; i++)
        vec_push(s->arena, &s->best, s->chosen.at[i]);
}

// Takes tests until no row remains. Each call picks a row and tries its tests one after the other.
// A test that was tried is barred afterwards, because all sets with it have been seen. The depth is
// at most the size of the best set so far.
static void search(Search *s, const uint64_t *left, const uint64_t *barred_before)
{
    if (count_bits(left, s->row_words) == 0) {
        if (s->best.len == 0 || s->chosen.len < s->best.len)
            remember(s);
        return;
    }
    Arena level = {0};
    uint64_t *rest = arena_array(&level, uint64_t, s->row_words + 1);
    uint64_t *barred = arena_array(&level, uint64_t, s->test_words + 1);
    uint64_t *used = arena_array(&level, uint64_t, s->test_words + 1);
    memcpy(barred, barred_before, s->test_words * sizeof(barred[0]));
    uint32_t row = pick_row(s, left, barred);
    while (s->work > 0 || s->best.len == 0) {
        uint32_t bound = lower_bound(s, left, barred, used);
        if (bound == UINT32_MAX || (s->best.len && s->chosen.len + bound >= s->best.len))
            break;
        uint32_t test = pick_test(s, row, left, barred);
        if (test == UINT32_MAX)
            break;
        for (size_t w = 0; w < s->row_words; w++)
            rest[w] = left[w] & ~cover_of(s, test)[w];
        vec_push(s->arena, &s->chosen, test);
        search(s, rest, barred);
        s->chosen.len--;
        set_bit(barred, test);
    }
    arena_deinit(&level);
}

// ---- The result ---------------------------------------------------------------

// Adds the number of a set's lines to the gain of each of its tests, or subtracts it.
static void count_set(const CoverTestStore *s, uint32_t set, int64_t lines, const uint64_t *tests,
                      int64_t *gain)
{
    for (uint32_t t = 0; t < s->test_count; t++)
        if (has_bit(tests, t) && cover_tests_in_set(s, set, t))
            gain[t] += lines;
}

static uint32_t most_useful(const int64_t *gain, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t t = 1; t < count; t++)
        if (gain[t] > gain[best])
            best = t;
    return best;
}

// Sorts tests by the lines that each adds; over all tests that is the greedy cover.
static void order_by_gain(Arena *arena, const CoverTestStore *s, const uint64_t *tests, U32Vec *ret,
                          U32Vec *gains)
{
    int64_t *gain = arena_array(arena, int64_t, (size_t)s->test_count + 1);
    int64_t *left = arena_array(arena, int64_t, (size_t)s->set_count + 1);
    for (uint32_t i = 0; i < s->line_count; i++)
        left[cover_tests_line(s, i).set]++;
    for (uint32_t set = 0; set < s->set_count; set++)
        count_set(s, set, left[set], tests, gain);
    while (s->test_count) {
        uint32_t best = most_useful(gain, s->test_count);
        if (gain[best] <= 0)
            return;
        vec_push(arena, ret, best);
        vec_push(arena, gains, (uint32_t)gain[best]);
        for (uint32_t set = 0; set < s->set_count; set++)
            if (left[set] && cover_tests_in_set(s, set, best)) {
                count_set(s, set, -left[set], tests, gain);
                left[set] = 0;
            }
    }
}

static void take_rows(Search *s, const CoverTestStore *store)
{
    uint8_t *has_lines = arena_array(s->arena, uint8_t, (size_t)store->set_count + 1);
    for (uint32_t i = 0; i < store->line_count; i++)
        has_lines[cover_tests_line(store, i).set] = 1;
    s->rows = arena_array(s->arena, uint64_t, store->set_count * s->test_words + 1);
    for (uint32_t set = 0; set < store->set_count; set++) {
        if (!has_lines[set])
            continue;
        for (uint32_t t = 0; t < s->test_count; t++)
            if (cover_tests_in_set(store, set, t))
                set_bit(row_of(s, s->row_count), t);
        s->row_count++;
    }
}

void cover_tests_smallest(Arena *arena, const CoverTestStore *store, CoverTestChoice *ret)
{
    Arena scratch = {0};
    Search s = {.arena = &scratch,
                .test_count = store->test_count,
                .test_words = ((size_t)store->test_count + 63) / 64,
                .work = WORK_MAX};
    U32Vec greedy = {0}, greedy_gains = {0};
    uint64_t *all = arena_array(&scratch, uint64_t, s.test_words + 1);
    uint64_t *none = arena_array(&scratch, uint64_t, s.test_words + 1);
    for (uint32_t t = 0; t < s.test_count; t++)
        set_bit(all, t);
    *ret = (CoverTestChoice){0};
    order_by_gain(&scratch, store, all, &greedy, &greedy_gains);
    s.best = greedy;

    take_rows(&s, store);
    keep_smallest_rows(&s);
    transpose(&s);
    while (drop_tests(&s) && s.work > 0) {
        keep_smallest_rows(&s);
        transpose(&s);
    }
    uint64_t *left = arena_array(&scratch, uint64_t, s.row_words + 1);
    for (uint32_t i = 0; i < s.row_count; i++)
        set_bit(left, i);
    search(&s, left, none);

    uint64_t *chosen = arena_array(&scratch, uint64_t, s.test_words + 1);
    for (size_t i = 0; i < s.best.len; i++)
        set_bit(chosen, s.best.at[i]);
    order_by_gain(arena, store, chosen, &ret->tests, &ret->gains);
    ret->minimal = s.work > 0;
    arena_deinit(&scratch);
}
