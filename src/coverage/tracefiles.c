// SPDX-License-Identifier: Apache-2.0
// Tracefiles and recordings into one set.

#include "coverage/tracefiles.h"

#include "coverage/rows/tracefile_rows.h"
#include "os/file.h"
#include "store/store.h"

// The counts in a recording, as 'cover merge -o x.assay' writes them.
static bool read_recording(CoverSet *set, Bytes file, Error *err)
{
    Profile p;
    if (!store_read(file, &p, err))
        return false;
    bool ok = p.line_counts.line.len != 0;
    if (ok)
        cover_set_take_profile(set, &p);
    profile_deinit(&p);
    return ok || error_set(err, ERROR_NOT_FOUND, "a recording without counts of lines");
}

static bool read_set(CoverSet *set, Bytes file, Error *err)
{
    return store_is_recording(file) ? read_recording(set, file, err)
                                    : tracefile_read(set, file, err);
}

// Adds the counts of one file `weight` times.
static bool add_set(CoverSet *set, Bytes file, uint64_t weight, Error *err)
{
    if (weight == 1)
        return read_set(set, file, err);
    CoverSet one;
    cover_set_init(&one, set->arena); // paths are mapped as they are added
    bool ok = read_set(&one, file, err);
    if (ok) {
        cover_set_scale(&one, weight);
        cover_set_add(set, &one);
    }
    cover_set_deinit(&one);
    return ok;
}

bool cover_tracefiles_read(CoverReading *r, const CoverInputVec *files, CoverSet *set, Error *err)
{
    for (size_t i = 0; i < files->len; i++) {
        const CoverInput *input = &files->at[i];
        MappedFile m = {0};
        if (!os_map_file(input->path, &m, err))
            return false;
        size_t notes = set->notes.len;
        bool ok = add_set(set, m.bytes, input->weight, err);
        os_unmap_file(&m);
        if (!ok)
            return error_context(err, "'%" STR_FMT "'", STR_ARG(input->path));
        for (; notes < set->notes.len; notes++)
            profile_note(r->profile, NOTE_WARNING, STR("tracefile"), "'%" STR_FMT "': %" STR_FMT,
                         STR_ARG(input->path), STR_ARG(set->notes.at[notes]));
    }
    if (set->clamped)
        profile_note(r->profile, NOTE_WARNING, STR("counts-below-zero"),
                     "%llu counts below zero taken as zero", (unsigned long long)set->clamped);
    return true;
}
