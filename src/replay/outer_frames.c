// SPDX-License-Identifier: Apache-2.0
// The frames of a thread's last complete stack, found by stack pointer and pc.

#include "replay/outer_frames.h"

#include "base/vec.h"

enum { KEPT_MAX = 1024 }; // of a recursion, more levels say no more

typedef struct OuterFrame {
    uint64_t pc;
    uint64_t sp;     // 0: not known
    uint32_t flags;  // UNWIND_FRAME_EXACT: frames may be found by tables and by guesses in turns
    uint32_t times;  // that it was found, up to OUTER_TIMES
    uint32_t stacks; // complete ones that had it, up to OUTER_TIMES
} OuterFrame;

struct OuterFrames {
    Vec(OuterFrame) at; // outermost first
};

// The stack pointer of a frame; 0 when it is not known.
static uint64_t sp_of(const UnwindFrame *f, uint64_t first_sp)
{
    return f->sp_words == UNWIND_SP_FAR ? 0 : first_sp + 8 * (uint64_t)f->sp_words;
}

static void count_time(uint32_t *times)
{
    *times += *times < OUTER_TIMES;
}

// Called for every complete sample, so that it only compares and copies.
void outer_frames_keep(OuterFrames **kept, const UnwindFrame *frames, uint32_t count, uint64_t sp,
                       bool is_look)
{
    if (!*kept)
        *kept = heap_alloc(sizeof(**kept));
    OuterFrames *o = *kept;
    uint32_t n = MIN(count, (uint32_t)KEPT_MAX), i = 0;
    for (; i < n && i < o->at.len; i++) {
        const UnwindFrame *f = &frames[count - 1 - i];
        OuterFrame *old = &o->at.at[i];
        if (old->pc != f->pc || old->sp != sp_of(f, sp) ||
            old->flags != (f->flags & UNWIND_FRAME_EXACT))
            break;
        count_time(&old->stacks);
        if (is_look)
            count_time(&old->times);
    }
    vec_reserve(NULL, &o->at, n > o->at.len ? n - o->at.len : 0);
    o->at.len = n;
    for (; i < n; i++) {
        const UnwindFrame *f = &frames[count - 1 - i];
        o->at.at[i] = (OuterFrame){f->pc, sp_of(f, sp), f->flags & UNWIND_FRAME_EXACT, is_look, 1};
    }
}

// The return address into a frame of x86-64 lies below the caller's stack pointer. A frame that a
// signal interrupted has none.
static bool has_place(const OuterFrame *f, uint64_t above)
{
    return f->sp && !(f->flags & UNWIND_FRAME_EXACT) && f->sp - 8 >= above;
}

uint32_t outer_frames_standing(const OuterFrames *kept, uint64_t above, OuterRead read, void *ctx)
{
    uint32_t n = 0;
    for (; kept && n < kept->at.len; n++) {
        const OuterFrame *f = &kept->at.at[n];
        uint64_t word;
        if (!has_place(f, above) || !read(ctx, f->sp - 8, &word) || word != f->pc + 1)
            break;
    }
    return n;
}

uint32_t outer_frames_lasting(OuterFrames *kept, uint64_t above, bool is_new_time, OuterRead read,
                              void *ctx)
{
    uint32_t standing = outer_frames_standing(kept, above, read, ctx), n = 0;
    for (uint32_t i = 0; is_new_time && kept && i < kept->at.len; i++) {
        if (i < standing)
            count_time(&kept->at.at[i].times);
        else
            kept->at.at[i].times = 0;
    }
    while (n < standing && kept->at.at[n].times >= OUTER_TIMES)
        n++;
    return n;
}

uint32_t outer_frames_usual(const OuterFrames *kept, uint64_t above)
{
    uint32_t n = 0;
    while (kept && n < kept->at.len && kept->at.at[n].stacks >= OUTER_TIMES &&
           has_place(&kept->at.at[n], above))
        n++;
    return n;
}

bool outer_frames_next(const OuterFrames *kept, uint32_t standing, uint64_t above, uint64_t *addr,
                       uint64_t *pc)
{
    if (!kept || standing >= kept->at.len || !has_place(&kept->at.at[standing], above))
        return false;
    *addr = kept->at.at[standing].sp - 8;
    *pc = kept->at.at[standing].pc;
    return true;
}

static uint32_t append_inner(const OuterFrames *o, size_t from, UnwindFrame *frames, uint32_t count,
                             uint64_t sp)
{
    for (size_t i = from; i-- > 0;) {
        const OuterFrame *f = &o->at.at[i];
        uint64_t words = (f->sp - sp) / 8;
        frames[count++] = (UnwindFrame){
            .pc = f->pc,
            .flags = f->flags | UNWIND_FRAME_GUESSED,
            .sp_words = f->sp > sp && words < UNWIND_SP_FAR ? (uint32_t)words : UNWIND_SP_FAR};
    }
    return count;
}

uint32_t outer_frames_join(const OuterFrames *kept, uint32_t standing, UnwindFrame *frames,
                           uint32_t count, uint32_t max, uint64_t sp)
{
    uint64_t last_sp = count ? sp_of(&frames[count - 1], sp) : 0;
    for (uint32_t i = 0; kept && last_sp && i <= standing && i < kept->at.len; i++)
        if (kept->at.at[i].pc == frames[count - 1].pc && kept->at.at[i].sp == last_sp)
            return i <= max - count ? append_inner(kept, i, frames, count, sp) : count;
    return count;
}

uint32_t outer_frames_append(const OuterFrames *kept, uint32_t standing, UnwindFrame *frames,
                             uint32_t count, uint32_t max, uint64_t sp)
{
    return standing <= max - count ? append_inner(kept, standing, frames, count, sp) : count;
}

void outer_frames_free(OuterFrames **kept)
{
    if (*kept)
        vec_free(&(*kept)->at);
    heap_free(*kept);
    *kept = NULL;
}
