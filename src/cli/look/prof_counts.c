// SPDX-License-Identifier: Apache-2.0
// Recordings and coverage inputs, told apart by content.

#include "cli/look/prof_counts.h"

#include "cli/cli.h"
#include "cli/cover/cover_load.h"
#include "cli/recording.h"
#include "model/facts.h"
#include "os/file.h"
#include "store/store.h"
#include "tracefile/tracefile.h"

// Whether a file is a recording. A folder and an unreadable file are none: the function that reads
// them as coverage inputs reports the reason.
static bool is_recording(Str path)
{
    MappedFile file;
    if (!os_map_file(path, &file, NULL))
        return false;
    bool is_one = store_is_recording(file.bytes) ||
                  (tracefile_kind(file.bytes) == TRACEFILE_NONE && import_is_known(file.bytes));
    os_unmap_file(&file);
    return is_one;
}

bool prof_counts_load(ProfCounts *c, const Profile *own, const StrVec *operands, Arena *scratch,
                      Error *err)
{
    *c = (ProfCounts){.all = {own}, .all_count = 1};
    StrVec inputs = {0};
    for (size_t i = 0; i < operands->len; i++) {
        if (!is_recording(operands->at[i])) {
            vec_push(scratch, &inputs, operands->at[i]);
            continue;
        }
        Profile *p = &c->recordings[c->recording_count];
        if (!load_profile(operands->at[i], p, NULL, err))
            return false;
        c->recording_count++;
        c->all[c->all_count++] = p;
    }
    if (inputs.len == 0)
        return true;
    const CoverRequest request = {.demangle = true, .wants = COVER_WANT_ROWS | COVER_WANT_REGIONS};
    uint64_t is_hits = 0;
    c->has_cover = true;
    if (!cover_load_printed(&request, &inputs, &c->cover, err))
        return false;
    if (profile_fact_u64(&c->cover, STR(FACT_COVER_HITS), &is_hits) && is_hits) {
        cli_say("counts of breakpoints (--engine ptrace) are left out: they say which lines ran, "
                "not how often");
        return true;
    }
    c->all[c->all_count++] = &c->cover;
    return true;
}

void prof_counts_deinit(ProfCounts *c)
{
    for (size_t i = 0; i < c->recording_count; i++)
        profile_deinit(&c->recordings[i]);
    if (c->has_cover)
        profile_deinit(&c->cover);
}
