// SPDX-License-Identifier: Apache-2.0
// Frames of the code that LuaJIT generates.

#include "replay/luajit_frames.h"

enum {
    FRAME_BYTES = 80,       // from the stack pointer to above the return address
    FRAME_STEP = 16,        // by which traces make it larger
    FRAME_BYTES_MAX = 1024, // traces have at most 255 slots of 4 bytes
    SAVED_FP = -16,         // from the end of the frame
    SAVED_BX_SLOT = 3,
};

bool luajit_is_interpreter(UnwindAction a)
{
    return a.kind == UNWIND_FP_AT_CFA && (a.cfa & UNWIND_CFA_REG) == UNWIND_X86_64_SP &&
           unwind_cfa_off(a) == FRAME_BYTES && a.fp_off == SAVED_FP && a.bx_slot == SAVED_BX_SLOT;
}

bool luajit_step(UnwindGenerated *frame, bool (*is_caller)(void *ctx, uint64_t word), void *ctx)
{
    for (uint64_t size = FRAME_BYTES; size <= FRAME_BYTES + FRAME_BYTES_MAX; size += FRAME_STEP) {
        uint64_t end = frame->sp + size, word, fp;
        if (!frame->load(frame->ctx, end - 8, &word))
            return false;
        if (!is_caller(ctx, word) ||
            !frame->load(frame->ctx, end + (uint64_t)(int64_t)SAVED_FP, &fp))
            continue;
        frame->pc = word;
        frame->sp = end;
        frame->fp = fp;
        return true;
    }
    return false;
}
