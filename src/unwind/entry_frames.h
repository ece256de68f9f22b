// SPDX-License-Identifier: Apache-2.0
// The frames that called code without rules. Code that PHP, PyPy, Ruby or Guile generate, code of
// Haskell, musl's C library, and code by hand say nothing of their callers. Such code is entered
// from a compiled function, by a call whose return address lies further up on the stack; from there
// tables lead on. Freestanding, like core.h.

#ifndef UNWIND_ENTRY_FRAMES_H
#define UNWIND_ENTRY_FRAMES_H

#include "unwind/core.h"

enum { ENTRY_CODE_BYTES = 8 };

typedef struct EntrySearch {
    UnwindSpace *space;
    UnwindCache *cache;
    // Reads the ENTRY_CODE_BYTES bytes of code that stand before an address. False: not known.
    bool (*code_before)(void *ctx, uint64_t address, uint8_t *ret);
    void *ctx;
    uint32_t words_max; // of the stack that one search looks at
} EntrySearch;

// Whether a call ends where these ENTRY_CODE_BYTES bytes of code do.
bool entry_is_call(const uint8_t *code);

// Goes on with a walk that ended in code without rules: finds the first return address above its
// stack pointer from which a walk leads to the outermost frame, through more generated code if need
// be. Generated code is called through a pointer, or by generated code; other code without rules
// also by its address, by a stub of another module, or as GHC's code by StgRun. What musl begins
// programs and threads with is known by its instructions. The frames are appended, marked
// UNWIND_FRAME_GUESSED, for such a word may be left from an earlier call, and `walk` becomes
// complete. One that leads nowhere stays as it is.
void entry_frames_join(const EntrySearch *search, const UnwindMemory *memory, UnwindFrame *frames,
                       uint32_t max, UnwindWalk *walk);

#endif // UNWIND_ENTRY_FRAMES_H
