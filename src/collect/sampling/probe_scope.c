// SPDX-License-Identifier: Apache-2.0
// On which processes a probe is set.

#include "collect/sampling/probe_scope_internal.h"

#include "os/proc.h"

#include <unistd.h>

static bool is_thread_of(uint32_t tid, uint32_t pid)
{
    Arena scratch = {0};
    ProcStatus st;
    bool ret = proc_status_read(&scratch, tid, &st, NULL) && st.thread_group == pid;
    arena_deinit(&scratch);
    return ret;
}

static bool is_recorded(const SamplingOptions *o, uint32_t pid)
{
    for (size_t i = 0; i < o->pid_count; i++)
        if (o->pids[i] == pid)
            return true;
    for (size_t i = 0; i < o->tid_count; i++)
        if (is_thread_of(o->tids[i], pid))
            return true;
    return pid == (uint32_t)getpid();
}

static bool maps_file(Arena *scratch, uint32_t pid, Str path)
{
    ProcMapVec maps = {0};
    arena_clear(scratch);
    if (!proc_maps_read(scratch, pid, &maps, NULL))
        return false; // it has ended
    for (size_t i = 0; i < maps.len; i++)
        if (str_equal(maps.at[i].path, path))
            return true;
    return false;
}

bool probe_file_is_ours(const SamplingOptions *o, Str path)
{
    U32Vec all = {0};
    Arena scratch = {0};
    bool is_ours = proc_list_all(&all, NULL);
    for (size_t i = 0; is_ours && i < all.len; i++)
        is_ours = is_recorded(o, all.at[i]) || !maps_file(&scratch, all.at[i], path);
    vec_free(&all);
    arena_deinit(&scratch);
    return is_ours;
}
