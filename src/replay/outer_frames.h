// SPDX-License-Identifier: Apache-2.0
// The outer frames of deep stacks. perf copies at most 64 KiB of a stack into a sample, so
// that frames further out are missing. An earlier sample of the same thread may have had
// them. They are valid while the thread has not returned from them: then the return address into
// each stands where it stood. Words that came with the sample prove that. Words that are read from
// the process afterwards do not, as the thread may have returned and called the same function once
// more. So these frames must have stood at several earlier times, too (docs/decisions/0326).

#ifndef REPLAY_OUTER_FRAMES_H
#define REPLAY_OUTER_FRAMES_H

#include "unwind/core.h"

// The last complete stack of a thread. A NULL pointer stands for none.
typedef struct OuterFrames OuterFrames;

// Reads a word of the stack.
typedef bool (*OuterRead)(void *ctx, uint64_t addr, uint64_t *ret);

// A frame that is looked at as often, at the same place, is one that the thread hardly leaves.
enum { OUTER_TIMES = 8 };

// Stores the outermost frames of a stack that was unwound to the outermost frame. `sp` is the stack
// pointer of the first frame. With `is_look` it is one time more that they were found.
void outer_frames_keep(OuterFrames **kept, const UnwindFrame *frames, uint32_t count, uint64_t sp,
                       bool is_look);

// How many of the outermost frames the thread is still in, from the outermost one inwards, by
// return addresses at `above` or further out. `read` reads words as they were at the sample.
uint32_t outer_frames_standing(const OuterFrames *kept, uint64_t above, OuterRead read, void *ctx);

// The same by words as they are now: only frames count that were found OUTER_TIMES times. With
// `is_new_time` this look counts for later ones.
uint32_t outer_frames_lasting(OuterFrames *kept, uint64_t above, bool is_new_time, OuterRead read,
                              void *ctx);

// The same where the process has ended: the frames that the last OUTER_TIMES complete stacks had.
uint32_t outer_frames_usual(const OuterFrames *kept, uint64_t above);

// The place of the return address into the frame that is the next one inwards of `standing` ones,
// and the last pc there; false when there is none. The thread may be at another call of that
// function.
bool outer_frames_next(const OuterFrames *kept, uint32_t standing, uint64_t above, uint64_t *addr,
                       uint64_t *pc);

// Completes a stack that ended at the end of its copy: finds its last frame in the stored stack
// and appends the frames outside of that one, marked UNWIND_FRAME_GUESSED. `standing` is how many
// of the outermost ones are valid, `max` the room in `frames`. Returns the new count, or `count`
// when the frame is not found, is not next to valid ones, or the room too small.
uint32_t outer_frames_join(const OuterFrames *kept, uint32_t standing, UnwindFrame *frames,
                           uint32_t count, uint32_t max, uint64_t sp);

// Appends the outermost `standing` frames, marked UNWIND_FRAME_GUESSED. Between them and the last
// one in `frames` are others that nobody knows. Returns the new count, or `count` when the room is
// too small.
uint32_t outer_frames_append(const OuterFrames *kept, uint32_t standing, UnwindFrame *frames,
                             uint32_t count, uint32_t max, uint64_t sp);

// Frees the stack and sets the pointer to NULL.
void outer_frames_free(OuterFrames **kept);

#endif // REPLAY_OUTER_FRAMES_H
