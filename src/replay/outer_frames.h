// SPDX-License-Identifier: Apache-2.0
// The outer frames of deep stacks. perf copies at most 64 KiB of a stack into a sample, so
// that frames further out are missing. An earlier sample of the same thread may have had
// them. A frame is valid while the thread has not returned from it: then the return address into
// the frame is unchanged at its address. Words that came with the sample prove that. Words that are
// read from the process later do not prove it, because the thread may have returned and called the
// same function again. So such frames must have been found at several earlier times, too
// (docs/decisions/0326).

#ifndef REPLAY_OUTER_FRAMES_H
#define REPLAY_OUTER_FRAMES_H

#include "unwind/core.h"

// The last complete stack of a thread. A NULL pointer stands for none.
typedef struct OuterFrames OuterFrames;

// Reads a word of the stack. False: it cannot be read.
typedef bool (*OuterRead)(void *ctx, uint64_t addr, uint64_t *ret);

// A frame that was found this many times at the same address is one that the thread hardly leaves.
enum { OUTER_TIMES = 8 };

// Stores the outermost frames of a stack that was unwound to the outermost frame. `sp` is the stack
// pointer of the first frame. With `is_look` each of the frames counts as found once more.
void outer_frames_keep(OuterFrames **kept, const UnwindFrame *frames, uint32_t count, uint64_t sp,
                       bool is_look);

// The number of outermost frames that the thread has not left, from the outermost one inwards. Only
// return addresses at `above` or further out are read. `read` reads words as they were at the
// sample.
uint32_t outer_frames_standing(const OuterFrames *kept, uint64_t above, OuterRead read, void *ctx);

// The same by words as they are now: only frames count that were found OUTER_TIMES times. With
// `is_new_time` the frames that are found now count as found once more.
uint32_t outer_frames_lasting(OuterFrames *kept, uint64_t above, bool is_new_time, OuterRead read,
                              void *ctx);

// The same when the process has ended: the frames that the last OUTER_TIMES complete stacks share.
uint32_t outer_frames_usual(const OuterFrames *kept, uint64_t above);

// The frame next inwards of the `standing` outermost ones: the address of the return address into
// it, and its pc in the stored stack. The thread may be at another call of that function by now.
// False: there is no such frame.
bool outer_frames_next(const OuterFrames *kept, uint32_t standing, uint64_t above, uint64_t *addr,
                       uint64_t *pc);

// Completes a stack that ended at the end of its copy: finds its last frame in the stored stack
// and appends the frames outside of that one, marked UNWIND_FRAME_GUESSED. `standing` is the number
// of outermost frames that are valid, `max` the room in `frames`. Returns the new count. Returns
// `count` if the frame is not found, is not next to valid frames, or the room is too small.
uint32_t outer_frames_join(const OuterFrames *kept, uint32_t standing, UnwindFrame *frames,
                           uint32_t count, uint32_t max, uint64_t sp);

// Appends the outermost `standing` frames, marked UNWIND_FRAME_GUESSED. Unknown frames lie between
// them and the last one in `frames`. Returns the new count, or `count` if the room is too small.
uint32_t outer_frames_append(const OuterFrames *kept, uint32_t standing, UnwindFrame *frames,
                             uint32_t count, uint32_t max, uint64_t sp);

// Frees the stack and sets the pointer to NULL.
void outer_frames_free(OuterFrames **kept);

#endif // REPLAY_OUTER_FRAMES_H
