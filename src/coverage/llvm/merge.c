// SPDX-License-Identifier: Apache-2.0
// Threads over the files of a merge. Every thread takes one stretch of the list,
// so that the sums come together in the order of the list.

#include "coverage/llvm/merge.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "llvmcov/profdata.h"
#include "os/file.h"

enum {
    THREADS_MAX = 64,
    // Fewer are not worth a thread with sums of its own.
    FILES_PER_THREAD = 16,
};

typedef struct Part {
    Arena arena;
    CoverCounts own;
    CoverCounts *counts; // `own`, or the caller's for the first part
    const CoverMergeInputVec *inputs;
    size_t first, end;
    const CoverMergeOptions *options;
    Bytes build; // binary ids of the first profile of all; empty when it has none
    CoverMergeResult result;
    atomic_bool *stop;
    pthread_t thread;
} Part;

void cover_merge_result_deinit(CoverMergeResult *r)
{
    vec_free(&r->failures);
}

static bool check_build(const Part *p, Bytes file, Error *err)
{
    ProfRaw raw;
    if (!p->options->same_build || p->build.len == 0 || !profraw_is(file) ||
        !profraw_parse(file, 0, &raw, err))
        return true; // adding it reports what is wrong
    if (raw.binary_ids.len == 0 || bytes_equal(raw.binary_ids, p->build.ptr, p->build.len))
        return true;
    return error_set(err, ERROR_FORMAT, "it is of another build than the first profile");
}

static bool add_file(Part *p, const CoverMergeInput *input, Error *err)
{
    MappedFile m = {0};
    if (!os_map_file(input->path, &m, err))
        return false;
    bool ok;
    if (m.bytes.len == 0)
        ok = error_set(err, ERROR_FORMAT, "'%" STR_FMT "' is empty", STR_ARG(input->path));
    else if (!check_build(p, m.bytes, err))
        ok = error_context(err, "'%" STR_FMT "'", STR_ARG(input->path));
    else
        ok = cover_counts_add(p->counts, input->path, m.bytes, input->weight, err);
    os_unmap_file(&m);
    return ok;
}

static void *add_part(void *arg)
{
    Part *p = arg;
    for (size_t i = p->first; i < p->end && !atomic_load(p->stop); i++) {
        CoverMergeFailure f = {.input = i};
        if (p->first == 0 && p->options->progress)
            p->options->progress(p->options->progress_ctx, i, p->end);
        if (add_file(p, &p->inputs->at[i], &f.error)) {
            p->result.merged++;
            continue;
        }
        vec_push(NULL, &p->result.failures, f);
        if (p->options->stop_at_failure)
            atomic_store(p->stop, true);
    }
    return NULL;
}

// Which values of a site and which traces are kept, and in which order equals stand, depends on
// the order of the profiles: they are added by one thread, so that the result does
// not depend on the number of processors. The first profile says it for all.
static bool needs_order(const CoverMergeInputVec *inputs)
{
    MappedFile m = {0};
    ProfRaw raw;
    ProfData indexed;
    if (inputs->len == 0 || !os_map_file(inputs->at[0].path, &m, NULL))
        return false;
    bool needs = false;
    if (profraw_is(m.bytes) && profraw_parse_sections(m.bytes, 0, &raw, NULL))
        needs = profraw_value_blocks(&raw) != 0 || raw.variant & PROF_VARIANT_TEMPORAL;
    else if (profdata_is(m.bytes) && profdata_open(m.bytes, &indexed, NULL))
        needs = indexed.traces.seen != 0;
    os_unmap_file(&m);
    return needs;
}

static unsigned thread_count(const CoverMergeOptions *options, size_t files)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = processors > 1 ? (size_t)processors : 1;
    if (options->thread_count)
        wanted = MIN((size_t)options->thread_count, files);
    else
        wanted = MIN(wanted, files / FILES_PER_THREAD);
    return (unsigned)MAX(MIN(wanted, (size_t)THREADS_MAX), (size_t)1);
}

// The binary ids of the first input that states some; they are the arena's.
static Bytes first_build(Arena *arena, const CoverMergeInputVec *inputs)
{
    Bytes ids = {0};
    for (size_t i = 0; i < inputs->len && ids.len == 0; i++) {
        MappedFile m = {0};
        ProfRaw raw;
        if (!os_map_file(inputs->at[i].path, &m, NULL))
            continue;
        if (profraw_is(m.bytes) && profraw_parse(m.bytes, 0, &raw, NULL))
            ids = arena_bytes(arena, raw.binary_ids);
        os_unmap_file(&m);
    }
    return ids;
}

// The threads run; a part whose thread cannot be started is done here.
static void run_parts(Part *parts, unsigned count)
{
    bool started[THREADS_MAX] = {false};
    for (unsigned i = 1; i < count; i++)
        started[i] = pthread_create(&parts[i].thread, NULL, add_part, &parts[i]) == 0;
    for (unsigned i = 0; i < count; i++)
        if (!started[i])
            add_part(&parts[i]);
    for (unsigned i = 1; i < count; i++)
        if (started[i])
            pthread_join(parts[i].thread, NULL);
}

static bool bring_together(CoverCounts *c, Part *parts, unsigned count, CoverMergeResult *ret,
                           Error *err)
{
    bool ok = true;
    for (unsigned i = 0; i < count; i++) {
        ok = ok && (i == 0 || cover_counts_absorb(c, parts[i].counts, err));
        ret->merged += parts[i].result.merged;
        for (size_t k = 0; k < parts[i].result.failures.len; k++)
            vec_push(NULL, &ret->failures, parts[i].result.failures.at[k]);
    }
    return ok;
}

bool cover_merge_files(CoverCounts *c, const CoverMergeInputVec *inputs,
                       const CoverMergeOptions *options, CoverMergeResult *ret, Error *err)
{
    unsigned count = thread_count(options, inputs->len);
    if (count > 1 && !options->thread_count && needs_order(inputs))
        count = 1;
    Part *parts = arena_array(c->arena, Part, count);
    Bytes build = options->same_build ? first_build(c->arena, inputs) : (Bytes){0};
    atomic_bool stop = false;
    *ret = (CoverMergeResult){0};
    for (unsigned i = 0; i < count; i++) {
        Part *p = &parts[i];
        *p = (Part){.inputs = inputs, .options = options, .stop = &stop, .build = build};
        p->first = inputs->len * i / count;
        p->end = inputs->len * (i + 1) / count;
        p->own.arena = &p->arena;
        p->own.correlations = c->correlations;
        p->counts = i == 0 ? c : &p->own;
    }
    run_parts(parts, count);
    bool ok = bring_together(c, parts, count, ret, err);
    for (unsigned i = 0; i < count; i++) {
        cover_merge_result_deinit(&parts[i].result);
        cover_counts_deinit(&parts[i].own);
        arena_deinit(&parts[i].arena);
    }
    if (ok && ret->failures.len && (options->stop_at_failure || ret->merged == 0)) {
        *err = ret->failures.at[0].error;
        return false;
    }
    return ok;
}
