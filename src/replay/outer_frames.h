// SPDX-License-Identifier: Apache-2.0
// The outer frames of deep stacks. perf copies at most 64 KiB of a stack into a sample, so
// that frames further out are missing. An earlier sample of the same thread, taken when
// the stack was less deep, may have had them. They are still valid when the outermost frame
// that was unwound now has the same stack pointer and pc as a frame of the earlier stack.

#ifndef REPLAY_OUTER_FRAMES_H
#define REPLAY_OUTER_FRAMES_H

#include "unwind/core.h"

// The last complete stack of a thread. A NULL pointer stands for none.
typedef struct OuterFrames OuterFrames;

// Stores the frames of a stack that was unwound to the outermost frame. `sp` is the stack pointer
// of the first frame. Frames without a known stack pointer (UNWIND_SP_FAR) are appended by
// outer_frames_join but cannot be its starting point.
void outer_frames_keep(OuterFrames **kept, const UnwindFrame *frames, uint32_t count, uint64_t sp);

// Completes a stack that ended at the end of its copy: finds its last frame in the stored stack
// and appends the frames outside of that one, marked UNWIND_FRAME_GUESSED. `max` is the room in
// `frames`. Returns the new count, or `count` when the frame is not found or the room too small.
uint32_t outer_frames_join(const OuterFrames *kept, UnwindFrame *frames, uint32_t count,
                           uint32_t max, uint64_t sp);

// Frees the stack and sets the pointer to NULL.
void outer_frames_free(OuterFrames **kept);

#endif // REPLAY_OUTER_FRAMES_H
