// SPDX-License-Identifier: Apache-2.0
// Frames of the code that LuaJIT generates, on x86-64. A trace runs in the frame of the
// interpreter, which it may have made larger by multiples of 16 bytes (LuaJIT 2.1, src/lj_frame.h
// and src/lj_target_x86.h: CFRAME_SIZE and sps_adjust).

#ifndef REPLAY_LUAJIT_FRAMES_H
#define REPLAY_LUAJIT_FRAMES_H

#include "unwind/core.h"

// Whether an action is the rule of the interpreter, which is written in assembler, and of no
// function in C: it saves rbp and rbx right below the return address in a frame of 80 bytes.
bool luajit_is_interpreter(UnwindAction a);

// Makes `frame` that of the function that called the interpreter: the innermost place at which the
// frame may end where `is_caller` says that the word is a return address into that function. False
// when there is none; `frame` is unchanged then.
bool luajit_step(UnwindGenerated *frame, bool (*is_caller)(void *ctx, uint64_t word), void *ctx);

#endif // REPLAY_LUAJIT_FRAMES_H
