// SPDX-License-Identifier: Apache-2.0
// Stacks that go on where nothing was copied. A runtime such as Go's runs parts
// of itself on another stack; a sample carries a copy of that one alone. It also
// carries the chain of frame pointers that the kernel followed while the thread
// stood still, across all stacks.

#ifndef REPLAY_FRAME_POINTERS_H
#define REPLAY_FRAME_POINTERS_H

#include "perfdata/perf_record.h"
#include "unwind/core.h"

// Appends the frames of the kernel's chain from the frame on that a walk could
// not leave. `fp` is the frame pointer in the sample's registers. Only where the
// chain has left the copy at that very frame: the copied part of the chain must
// hold the same return addresses. Gives the new count, or walk->frame_count
// where the chain does not lead on from there.
uint32_t frame_pointers_join(U64List chain, uint64_t fp, const UnwindMemory *memory,
                             const UnwindWalk *walk, UnwindFrame *frames, uint32_t max);

#endif // REPLAY_FRAME_POINTERS_H
