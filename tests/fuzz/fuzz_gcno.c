// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of gcc's notes, and the way from graphs to lines.

#include "collect/cover/gcov_lines.h"

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
    if (documents)
        sum.documents = &json;
    (void)!gcov_sum_add(&sum, notes, STR("a.gcda"), &err);
    gcov_sum_finish(&sum);
    assert(p.line_counts.line.len == sum.lines.len);
    gcov_sum_deinit(&sum);
    strbuf_deinit(&json);
    profile_deinit(&p);
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
    gcov_notes_deinit(&notes);
    return 0;
}
