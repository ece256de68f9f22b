// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of gcc's notes, and the way from graphs to lines.

#include "collect/cover/gcov_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    GcovNotes notes;
    Error err;
    if (gcov_notes_parse(&arena, bytes_over(data, size), &notes, &err)) {
        // Counts make loops worth following.
        for (size_t i = 0; i < notes.arcs.len; i++)
            notes.arcs.at[i].count = 3 + i % 5;
        gcov_data_none(&notes);
        Profile p;
        CoverProject how = {0};
        GcovSum sum;
        profile_init(&p);
        gcov_sum_init(&sum, &p, &how);
        StrBuf documents = {0};
        sum.documents = &documents;
        if (gcov_sum_add(&sum, &notes, STR("a.gcda"), &err))
            gcov_sum_finish(&sum);
        assert(p.line_counts.line.len == sum.lines.len || err.text[0]);
        gcov_sum_deinit(&sum);
        strbuf_deinit(&documents);
        profile_deinit(&p);
    }
    arena_deinit(&arena);
    return 0;
}
