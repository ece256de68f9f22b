// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of gcc's notes, and the ways from graphs to lines.

#include "export/cover/gcov_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void sum(GcovNotes *notes, bool documents)
{
    Profile p;
    CoverProject how = {0};
    GcovSum sum;
    StrBuf json = {0};
    Error err;
    profile_init(&p);
    gcov_sum_init(&sum, &p, &how);
    if (documents) {
        sum.take = cover_gcov_json_add;
        sum.take_ctx = &json;
    }
    (void)!gcov_sum_add(&sum, notes, STR("a.gcda"), &err);
    gcov_sum_finish(&sum);
    assert(p.line_counts.line.len == sum.lines.len);
    gcov_sum_deinit(&sum);
    strbuf_deinit(&json);
    profile_deinit(&p);
}

// Marks that leave nothing out: functions that never ran are then read whole, too.
static CoverExclusions *no_marks(void *ctx, Str path)
{
    static CoverExclusions none;
    (void)ctx;
    (void)path;
    return &none;
}

// The unit twice, none of it having run.
static void sum_idle(GcovNotes *notes, CoverFindExclusions *marks, Profile *p)
{
    CoverProject how = {.exclusions = marks};
    GcovSum sum;
    Error err;
    profile_init(p);
    gcov_sum_init(&sum, p, &how);
    for (int i = 0; i < 2; i++) {
        for (size_t f = 0; f < notes->functions.len; f++)
            notes->functions.at[f].has_counts = false;
        gcov_data_none(notes);
        (void)!gcov_sum_add(&sum, notes, STR("a.gcda"), &err);
    }
    gcov_sum_finish(&sum);
    gcov_sum_deinit(&sum);
}

// Functions that never ran are added by a shorter way, to the same result.
static void compare_idle(GcovNotes *notes)
{
    Profile a, b;
    sum_idle(notes, NULL, &a);
    sum_idle(notes, no_marks, &b);
    assert(a.line_counts.line.len == b.line_counts.line.len);
    assert(a.branch_counts.line.len == b.branch_counts.line.len);
    assert(a.function_counts.count.len == b.function_counts.count.len);
    for (size_t i = 0; i < a.line_counts.line.len; i++) {
        assert(a.line_counts.line.at[i] == b.line_counts.line.at[i]);
        assert(a.line_counts.count.at[i] == 0 && b.line_counts.count.at[i] == 0);
    }
    for (size_t i = 0; i < a.branch_counts.line.len; i++)
        assert(a.branch_counts.line.at[i] == b.branch_counts.line.at[i]);
    profile_deinit(&a);
    profile_deinit(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { COUNTERS = 4096 };
    GcovNotes notes = {0};
    Error err;
    for (int documents = 0; documents < 2; documents++) {
        if (!gcov_notes_parse(&notes, bytes_over(data, size), &err))
            break;
        // Counts make loops worth following.
        gcov_data_none(&notes);
        for (uint64_t i = 0; i < COUNTERS; i++)
            vec_push(NULL, &notes.counters, 3 + i % 5);
        for (size_t i = 0; i < notes.functions.len; i++) {
            notes.functions.at[i].counters_count = COUNTERS;
            notes.functions.at[i].is_zero = false;
        }
        sum(&notes, documents);
    }
    if (gcov_notes_parse(&notes, bytes_over(data, size), &err))
        compare_idle(&notes);
    gcov_notes_deinit(&notes);
    return 0;
}
