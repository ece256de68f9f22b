// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of gcc's counts. The input is a .gcno and a .gcda behind each
// other, the size of the first in 4 bytes before them.

#include "base/cursor.h"
#include "gcov/gcov.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Cursor c = cursor_over(bytes_over(data, size), "fuzz");
    uint32_t notes_size = cursor_u32(&c);
    Bytes first = cursor_bytes(&c, notes_size);
    Bytes second = cursor_bytes(&c, cursor_left(&c));
    Arena arena = {0};
    GcovNotes notes = {0};
    Error err;
    if (cursor_ok(&c) && gcov_notes_parse(&notes, first, &err) &&
        gcov_data_add(&notes, second, &err))
        for (size_t i = 0; i < notes.functions.len; i++)
            if (gcov_graph_read(&notes, &notes.functions.at[i], &err))
                (void)!gcov_solve(&arena, &notes, &notes.functions.at[i], &err);
    gcov_notes_deinit(&notes);
    arena_deinit(&arena);
    return 0;
}
