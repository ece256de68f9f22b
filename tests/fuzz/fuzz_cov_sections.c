// SPDX-License-Identifier: Apache-2.0
// Fuzzes the finder of coverage mappings in ELF, Mach-O, COFF, PE, LLVM's test forms, archives and
// universal binaries, and using what it found once the file is gone, as the commands do.

#include <limits.h>
#include <stdlib.h>

#include "coverage/llvm/listing_rows.h"
#include "llvmcov/containers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// What is found in a copy of the file, which is freed.
static void add_object(CoverData *d, Bytes file, const CoverCounts *counts)
{
    CovMapSections s;
    CovMap map;
    Error err;
    uint8_t *copy = heap_alloc(file.len);
    bytes_copy(copy, file);
    Bytes object = bytes_over(copy, file.len);
    if (cover_object_sections(d->arena, object, &s, &err) &&
        covmap_parse(d->arena, s, &map, &err)) {
        cover_data_add_object(d, &map, STR("fuzz"), counts);
        covmap_deinit(&map);
    }
    heap_free(copy);
}

typedef struct Walk {
    CoverData *data;
    const CoverCounts *counts;
} Walk;

static bool add_member(void *ctx, const CovMember *member, Error *err)
{
    (void)err;
    Walk *w = ctx;
    add_object(w->data, member->bytes, w->counts);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    CoverCounts counts = {.arena = &arena};
    CoverData d;
    Error err;
    cover_data_init(&d, &arena);
    d.explain = true;
    Bytes file = bytes_over(data, size);
    Walk walk = {&d, &counts};
    if (!cov_archive_is(file) && !cov_universal_is(file))
        add_object(&d, file, &counts);
    else if (!cov_container_each(file, add_member, &walk, &err))
        assert(err.text[0]);
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
    }
    cover_data_deinit(&d);
    cover_counts_deinit(&counts);
    arena_deinit(&arena);
    return 0;
}
