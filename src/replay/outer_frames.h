// SPDX-License-Identifier: Apache-2.0
// The outer part of stacks that are deeper than perf copies: at most 64 KiB of a
// stack come with a sample, but what lies further out was near enough when an
// earlier sample of the thread was taken. A function still stands where it stood
// then when its stack pointer and its pc are the same.

#ifndef REPLAY_OUTER_FRAMES_H
#define REPLAY_OUTER_FRAMES_H

#include "unwind/core.h"

// A thread's last whole stack. All zero is none.
typedef struct OuterFrames OuterFrames;

// Keeps a walk that reached the outermost frame. `sp` is the first frame's.
// Frames whose stack pointer nobody knows (UNWIND_SP_FAR) are kept to be joined,
// not to be found.
void outer_frames_keep(OuterFrames **kept, const UnwindFrame *frames, uint32_t count, uint64_t sp);

// Goes on from the last frame of a walk that the copy's end cut: appends, marked
// UNWIND_FRAME_GUESSED, what stood outside of it when it was kept. Gives the new
// count, or `count` where that frame is not known or there is no room.
uint32_t outer_frames_join(const OuterFrames *kept, UnwindFrame *frames, uint32_t count,
                           uint32_t max, uint64_t sp);

void outer_frames_free(OuterFrames **kept);

#endif // REPLAY_OUTER_FRAMES_H
