// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of coverage mappings and the way from regions to lines. The
// input is LLVM's test form, or {u32 covmap size, u32 names size} and the
// sections __llvm_covmap, __llvm_prf_names and __llvm_covfun.

#include <limits.h>
#include <stdlib.h>

#include "base/cursor.h"
#include "coverage/llvm/listing_rows.h"
#include "export/cover/llvm_json.h"
#include "llvmcov/proftext.h"

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

// Every function ran, and some of each bitmap's paths.
static void make_counts(const CovMap *map, CoverCounts *counts)
{
    static const uint64_t values[] = {5, 3, 2, 1, 0, 7, 4, 4};
    static const uint8_t bits[] = {0x5b, 0xff, 0x11, 0x80};
    StrBuf text = {0};
    Error err;
    proftext_write_header(&text, 0);
    for (size_t i = 0; i < map->functions.len; i++) {
        ProfDataRow row = {.name = map->functions.at[i].name,
                           .hash = map->functions.at[i].hash,
                           .counters = values,
                           .counter_count = ARRAY_LEN(values),
                           .bitmap = bytes_over(bits, sizeof(bits))};
        if (row.name.len)
            proftext_write(&text, &row, NULL, NULL); // no value profiles
    }
    // Names may break the text; what came before counts.
    if (!cover_counts_add(counts, STR("fuzz"), bytes_from_str(strbuf_str(&text)), 1, &err) ||
        !cover_counts_finish(counts, &err))
        assert(err.text[0]);
    strbuf_deinit(&text);
}

static bool drop_text(void *ctx, StrBuf *out)
{
    (void)ctx;
    strbuf_clear(out);
    return true;
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
        CoverCounts counts = {.arena = &arena};
        CoverData d;
        make_counts(&map, &counts);
        cover_data_init(&d, &arena);
        cover_data_add_object(&d, &map, STR("fuzz"), &counts);
        // Lines cost memory by their number: leave inputs that span millions out.
        uint64_t lines = 0;
        for (size_t i = 0; i < d.regions.len; i++)
            lines += d.regions.at[i].end_line - d.regions.at[i].line;
        if (lines < 1 << 16) {
            CoverProject how = {0};
            Profile p;
            profile_init(&p);
            CoverFilling filling;
            cover_filling_init(&filling, &d, &how, &p);
            cover_files_fill(&filling, true);
            cover_totals_fill(&filling, UINT_MAX);
            cover_listing_fill(&filling, UINT_MAX);
            cover_filling_deinit(&filling);
            if (!profile_check(&p, &err))
                abort();
            profile_deinit(&p);
            StrBuf out = {0};
            if (!cover_write_llvm_json(&d, &how, &out, drop_text, NULL))
                abort();
            strbuf_deinit(&out);
        }
        cover_data_deinit(&d);
        cover_counts_deinit(&counts);
        covmap_deinit(&map);
    }
    arena_deinit(&arena);
    return 0;
}
