// SPDX-License-Identifier: Apache-2.0
// A program asks what it allocates: include/assay/heap.h.

#include "agent/heap.h"
#include "agent/heap_sample.h"
#include "agent/heap_sites.h"
#include "agent/join.h"
#include "agent/sys.h"

#include <assay/heap.h>
#include <errno.h>

#define SCOPE_MARK 0x65706f6373796173ull // "sayscope"

// In the memory of an AssayHeapScope.
typedef struct Scope {
    uint64_t mark; // SCOPE_MARK while it lasts
    uint64_t tid;
    uint64_t blocks, bytes; // of the thread, when it began
    int64_t live_blocks, live_bytes;
    int64_t outer_blocks, outer_bytes; // the highest level of the scope around
} Scope;

_Static_assert(sizeof(Scope) == sizeof(AssayHeapScope), "a scope fits");

// 0 when blocks are counted exactly.
static int ready(void)
{
    if (join_is_pending())
        join_session();
    return !heap_is_on() ? -ESRCH : heap_samples() ? -ENOTSUP : 0;
}

static int refused(int error, AssayHeapStats *ret)
{
    if (ret)
        *ret = (AssayHeapStats){0};
    return error;
}

static int stats(AssayHeapStats *ret)
{
    int error = ready();
    if (error)
        return refused(error, ret);
    *ret = (AssayHeapStats){
        .live_blocks = (int64_t)wire_heap_live_blocks(agent_heap),
        .live_bytes = (int64_t)atomic_load(&agent_heap->live_bytes),
        .max_blocks = (int64_t)atomic_load(&agent_heap->peak_blocks),
        .max_bytes = (int64_t)atomic_load(&agent_heap->peak_bytes),
    };
    heap_sites_total(&ret->blocks, &ret->bytes);
    return 0;
}

static int thread_stats(AssayHeapStats *ret)
{
    int error = ready();
    HeapCounts *c = error ? NULL : heap_thread_counts();
    if (!c)
        return refused(error ? error : -ENOMEM, ret);
    *ret = (AssayHeapStats){
        .blocks = c->blocks,
        .bytes = c->bytes,
        .live_blocks = c->live_blocks,
        .live_bytes = c->live_bytes,
        .max_blocks = c->max_blocks,
        .max_bytes = c->max_bytes,
    };
    return 0;
}

static int scope_begin(AssayHeapScope *scope)
{
    int error = ready();
    HeapCounts *c = error ? NULL : heap_thread_counts();
    Scope s = {0};
    if (c) {
        s = (Scope){SCOPE_MARK,     sys_tid(),     c->blocks,         c->bytes,
                    c->live_blocks, c->live_bytes, c->highest_blocks, c->highest_bytes};
        c->highest_blocks = c->live_blocks;
        c->highest_bytes = c->live_bytes;
    }
    __builtin_memcpy(scope, &s, sizeof(s));
    return c ? 0 : error ? error : -ENOMEM;
}

static int scope_stats(const AssayHeapScope *scope, AssayHeapStats *ret)
{
    int error = ready();
    HeapCounts *c = error ? NULL : heap_thread_counts();
    Scope s;
    __builtin_memcpy(&s, scope, sizeof(s));
    if (!c || s.mark != SCOPE_MARK || s.tid != sys_tid())
        return refused(error ? error : -EINVAL, ret);
    if (ret)
        *ret = (AssayHeapStats){
            .blocks = c->blocks - s.blocks,
            .bytes = c->bytes - s.bytes,
            .live_blocks = c->live_blocks - s.live_blocks,
            .live_bytes = c->live_bytes - s.live_bytes,
            .max_blocks = c->highest_blocks - s.live_blocks,
            .max_bytes = c->highest_bytes - s.live_bytes,
        };
    return 0;
}

static int scope_end(AssayHeapScope *scope, AssayHeapStats *ret)
{
    int error = scope_stats(scope, ret);
    if (error)
        return error;
    HeapCounts *c = heap_thread_counts();
    Scope s;
    __builtin_memcpy(&s, scope, sizeof(s));
    // The scope around has seen the higher of both levels.
    if (s.outer_bytes >= c->highest_bytes) {
        c->highest_bytes = s.outer_bytes;
        c->highest_blocks = s.outer_blocks;
    }
    __builtin_memset(scope, 0, sizeof(*scope));
    return 0;
}

static int mark(uint64_t weight)
{
    int error = ready();
    if (error == 0 || error == -ENOTSUP)
        heap_marked(weight, HEAP_CALLER);
    return error == -ENOTSUP ? 0 : error;
}

// For include/assay/heap.h, which looks it up by name.
AGENT_EXPORT const AssayHeapFunctions *assay_heap_functions(void);

const AssayHeapFunctions *assay_heap_functions(void)
{
    static const AssayHeapFunctions functions = {
        sizeof(functions), stats, thread_stats, scope_begin, scope_stats, scope_end, mark,
    };
    return &functions;
}
