// SPDX-License-Identifier: Apache-2.0
// Frames of a thread's last whole stack, by stack pointer and pc.

#include "machine/outer_frames.h"

#include "base/vec.h"

typedef struct OuterFrame {
    uint64_t pc;
    uint64_t sp; // 0: not known
    uint32_t flags;
} OuterFrame;

struct OuterFrames {
    Vec(OuterFrame) at; // outermost last
};

static uint64_t sp_of(const UnwindFrame *f, uint64_t first_sp)
{
    return f->sp_words == UNWIND_SP_FAR ? 0 : first_sp + 8 * (uint64_t)f->sp_words;
}

void outer_frames_keep(OuterFrames **kept, const UnwindFrame *frames, uint32_t count, uint64_t sp)
{
    if (!*kept)
        *kept = heap_alloc(sizeof(**kept));
    OuterFrames *o = *kept;
    o->at.len = 0;
    vec_reserve(NULL, &o->at, count);
    for (uint32_t i = 0; i < count; i++)
        vec_push(NULL, &o->at, (OuterFrame){frames[i].pc, sp_of(&frames[i], sp), frames[i].flags});
}

static size_t find(const OuterFrames *o, uint64_t pc, uint64_t sp)
{
    for (size_t i = o->at.len; i-- > 0;)
        if (o->at.at[i].sp == sp && o->at.at[i].pc == pc)
            return i;
    return SIZE_MAX;
}

uint32_t outer_frames_join(const OuterFrames *kept, UnwindFrame *frames, uint32_t count,
                           uint32_t max, uint64_t sp)
{
    uint64_t last_sp = count ? sp_of(&frames[count - 1], sp) : 0;
    size_t at = kept && last_sp ? find(kept, frames[count - 1].pc, last_sp) : SIZE_MAX;
    if (at == SIZE_MAX || kept->at.len - at - 1 > max - count)
        return count;
    for (size_t i = at + 1; i < kept->at.len; i++) {
        const OuterFrame *f = &kept->at.at[i];
        uint64_t words = (f->sp - sp) / 8;
        frames[count++] = (UnwindFrame){
            .pc = f->pc,
            .flags = f->flags | UNWIND_FRAME_GUESSED,
            .sp_words = f->sp > sp && words < UNWIND_SP_FAR ? (uint32_t)words : UNWIND_SP_FAR};
    }
    return count;
}

void outer_frames_free(OuterFrames **kept)
{
    if (*kept)
        vec_free(&(*kept)->at);
    heap_free(*kept);
    *kept = NULL;
}
