// SPDX-License-Identifier: Apache-2.0
// The frames of a thread's last complete stack, found by stack pointer and pc.

#include "replay/outer_frames.h"

#include "base/vec.h"

struct OuterFrames {
    Vec(UnwindFrame) at; // outermost last
    uint64_t sp;         // of the first
};

// The stack pointer of a frame; 0 when it is not known.
static uint64_t sp_of(const UnwindFrame *f, uint64_t first_sp)
{
    return f->sp_words == UNWIND_SP_FAR ? 0 : first_sp + 8 * (uint64_t)f->sp_words;
}

// Called for every deep sample, so that it only copies.
void outer_frames_keep(OuterFrames **kept, const UnwindFrame *frames, uint32_t count, uint64_t sp)
{
    if (!*kept)
        *kept = heap_alloc(sizeof(**kept));
    OuterFrames *o = *kept;
    o->at.len = 0;
    vec_reserve(NULL, &o->at, count);
    if (count)
        memcpy(o->at.at, frames, count * sizeof(*frames));
    o->at.len = count;
    o->sp = sp;
}

static size_t find(const OuterFrames *o, uint64_t pc, uint64_t sp)
{
    for (size_t i = o->at.len; i-- > 0;)
        if (o->at.at[i].pc == pc && sp_of(&o->at.at[i], o->sp) == sp)
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
        UnwindFrame f = kept->at.at[i];
        uint64_t frame_sp = sp_of(&f, kept->sp), words = (frame_sp - sp) / 8;
        f.flags |= UNWIND_FRAME_GUESSED;
        f.sp_words = frame_sp > sp && words < UNWIND_SP_FAR ? (uint32_t)words : UNWIND_SP_FAR;
        frames[count++] = f;
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
