// SPDX-License-Identifier: Apache-2.0
// Going on with the kernel's chain of frame pointers.

#include "replay/frame_pointers.h"

// The user part of a chain: where its first entry, the sampled place, stands.
static bool user_part(U64List chain, size_t *ret)
{
    for (size_t i = 0; i < chain.count; i++)
        if (u64_list_get(chain, i) == (uint64_t)PERF_CONTEXT_USER && i + 1 < chain.count) {
            *ret = i + 1;
            return true;
        }
    return false;
}

static bool copied(const UnwindMemory *m, uint64_t addr, uint64_t *ret)
{
    uint64_t at = addr - m->window_addr;
    if (addr % 8 || m->window_size < 8 || at > m->window_size - 8)
        return false;
    memcpy(ret, (const char *)m->window + at, sizeof(*ret));
    return true;
}

// The entry of the chain that was read from the first frame outside of the copy.
static bool first_outside(U64List chain, size_t user, uint64_t fp, const UnwindMemory *memory,
                          uint64_t end_fp, size_t *ret)
{
    size_t at = user + 1;
    uint64_t next, ra;
    for (; copied(memory, fp, &next) && copied(memory, fp + 8, &ra); at++, fp = next)
        if (at >= chain.count || u64_list_get(chain, at) != ra)
            return false;
    *ret = at;
    return fp == end_fp && at < chain.count;
}

uint32_t frame_pointers_join(U64List chain, uint64_t fp, const UnwindMemory *memory,
                             const UnwindWalk *walk, UnwindFrame *frames, uint32_t max)
{
    size_t user = 0, at = 0;
    uint32_t n = walk->frame_count;
    if (walk->end_fp == 0 || !user_part(chain, &user) ||
        !first_outside(chain, user, fp, memory, walk->end_fp, &at))
        return n;
    for (; at < chain.count && n < max; at++) {
        uint64_t ra = u64_list_get(chain, at);
        if (ra == 0 || ra >= (uint64_t)PERF_CONTEXT_MAX)
            break;
        frames[n++] = (UnwindFrame){.pc = ra - 1, .sp_words = UNWIND_SP_FAR};
    }
    return n;
}
