// SPDX-License-Identifier: Apache-2.0
// Tracefiles and recordings into one set.

#include "coverage/tracefiles.h"

#include "base/gzip.h"
#include "coverage/go_module.h"
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

// The set keeps no pointer into what is unpacked.
static bool read_packed(CoverSet *set, Bytes file, Error *err)
{
    Arena arena = {0};
    bool ok = gzip_unpack(&arena, file, &file, err) && tracefile_read(set, file, err);
    arena_deinit(&arena);
    return ok;
}

static bool read_set(CoverSet *set, Bytes file, Error *err)
{
    if (store_is_recording(file))
        return read_recording(set, file, err);
    return gzip_is(file) ? read_packed(set, file, err) : tracefile_read(set, file, err);
}

// How paths of Go become those of files, and of what the set maps further.
typedef struct GoPaths {
    Arena *arena;
    GoModule module;
    Str (*map_path)(void *ctx, Str path);
    void *map_ctx;
} GoPaths;

static Str map_go_path(void *ctx, Str path)
{
    const GoPaths *g = ctx;
    path = cover_go_module_file(g->arena, &g->module, path);
    return g->map_path ? g->map_path(g->map_ctx, path) : path;
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

static bool add_input(CoverSet *set, const CoverInput *input, Bytes file, Error *err)
{
    if (tracefile_kind(file) != TRACEFILE_GO_COVER)
        return add_set(set, file, input->weight, err);
    GoPaths g = {set->arena, cover_go_module(set->arena, input->path), set->map_path, set->map_ctx};
    set->map_path = map_go_path;
    set->map_ctx = &g;
    bool ok = add_set(set, file, input->weight, err);
    set->map_path = g.map_path;
    set->map_ctx = g.map_ctx;
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
        bool ok = add_input(set, input, m.bytes, err);
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
