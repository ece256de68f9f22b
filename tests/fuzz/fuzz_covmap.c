// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of coverage mappings and the way from regions to lines. The
// input is LLVM's test form, or {u32 covmap size, u32 names size} and the
// sections __llvm_covmap, __llvm_prf_names and __llvm_covfun.

#include "base/cursor.h"
#include "collect/cover/summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool split(Bytes file, CovMapSections *ret)
{
    Error err;
    if (covmap_is_test_form(file))
        return covmap_open_test_form(file, ret, &err);
    Cursor c = cursor_over(file, "fuzz");
    uint32_t covmap = cursor_u32(&c), names = cursor_u32(&c);
    ret->pointer_size = 8;
    ret->covmap = cursor_bytes(&c, covmap);
    ret->names = cursor_bytes(&c, names);
    ret->covfun = cursor_bytes(&c, cursor_left(&c));
    return cursor_ok(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CovMapSections s = {0};
    if (!split(bytes_over(data, size), &s))
        return 0;
    Arena arena = {0};
    CovMap map;
    Error err;
    if (covmap_parse(&arena, s, &map, &err)) {
        CoverCounts none = {.arena = &arena};
        CoverData d;
        cover_data_init(&d, &arena);
        cover_data_add_object(&d, &map, STR("fuzz"), &none);
        // Lines cost memory by their number: leave inputs that span millions out.
        uint64_t lines = 0;
        for (size_t i = 0; i < d.regions.len; i++)
            lines += d.regions.at[i].end_line - d.regions.at[i].line;
        if (lines < 1 << 16) {
            CoverProject how = {0};
            CoverFileVec files = {0};
            Profile p;
            profile_init(&p);
            cover_files_summarise(&arena, &d, &how, &files);
            cover_files_fill(&d, &how, &p);
            profile_deinit(&p);
        }
        cover_data_deinit(&d);
        cover_counts_deinit(&none);
        covmap_deinit(&map);
    }
    arena_deinit(&arena);
    return 0;
}
