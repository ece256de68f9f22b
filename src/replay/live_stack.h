// SPDX-License-Identifier: Apache-2.0
// The part of a stack that lies above what perf copies, read from the process soon
// after the sample. It counts only where the end of the copy still has the bytes that
// it had then: the frames that lie across it have not returned.

#ifndef REPLAY_LIVE_STACK_H
#define REPLAY_LIVE_STACK_H

#include "unwind/core.h"

enum { LIVE_STACK_CHUNK = 16 << 10 };

typedef struct LiveStack {
    uint32_t pid;
    uint64_t above;      // only the part from here on is read
    bool inwards;        // the next word will be one further in
    uint64_t at, length; // the piece in `bytes`; length 0: none
    uint64_t bytes_read; // since it was opened
    uint8_t bytes[LIVE_STACK_CHUNK];
} LiveStack;

// Reads memory of a process; the number of bytes that could be read, 0 for none.
size_t live_memory_read(uint32_t pid, uint64_t addr, void *to, size_t size);

// Reads words from the outer end inwards, at `above` or further out. Nothing is compared: the words
// are those of now.
void live_stack_open_inwards(LiveStack *s, uint32_t pid, uint64_t above);
bool live_stack_read(LiveStack *s, uint64_t addr, uint64_t *ret);

// Makes `memory` go on above its window with the stack of the process. False: the
// process cannot be read, or its stack has changed at the window's end.
bool live_stack_open(LiveStack *s, uint32_t pid, const UnwindMemory *window, UnwindMemory *memory);

#endif // REPLAY_LIVE_STACK_H
