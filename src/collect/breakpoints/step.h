// SPDX-License-Identifier: Apache-2.0
// Lets a thread that is stopped at a breakpoint carry out the instruction that the breakpoint
// replaces, while the breakpoint stays, so that no other thread passes it unseen. Simple
// instructions are emulated; a copy of any other is single-stepped in a slot elsewhere. x86-64
// only. Document: Intel SDM volume 2, chapter 2.

#ifndef COLLECT_BREAKPOINTS_STEP_H
#define COLLECT_BREAKPOINTS_STEP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

enum {
    STEP_CODE_BYTES = 16, // of an instruction and of a slot for steps; no instruction is longer
    STEP_COPY_BYTES = 24, // of a permanent copy of an instruction with its jump back
};

typedef struct StepThread {
    pid_t tid;     // stopped
    int memory_fd; // /proc/PID/mem, open for writing
    uint64_t slot; // address of STEP_CODE_BYTES of code that no other thread executes now
} StepThread;

typedef enum StepResult {
    STEP_DONE,
    STEP_SIGNAL,  // the instruction faulted: `*ret` is the signal to deliver; it runs again after
    STEP_ENDED,   // the thread reported another thing: `*ret` is its wait status
    STEP_REFUSED, // the instruction cannot be passed so: it enters the kernel
} StepResult;

// Whether step_over can pass this instruction, given by STEP_CODE_BYTES of code.
bool step_is_possible(const uint8_t *code);

// Builds a permanent copy of the instruction of `code`, which stands at `at`, for the address `to`:
// the same instruction, with its distance to data corrected, then a jump to the instruction behind
// `at`. A thread that is sent to `to` needs no step, and nobody who waits for it. Sets `*ret_len`
// to the bytes in front of the jump. False when step_over emulates the instruction, which needs no
// copy, or when a copy would not do the same: calls, which push their own address, instructions of
// unknown length, and distances that do not fit.
bool step_copy(const uint8_t *code, uint64_t at, uint64_t to, uint8_t *copy, unsigned *ret_len);

// Passes the instruction at `regs->rip`, whose bytes are `code`. Waits for the thread, whose
// signals are held back meanwhile. `regs` are the thread's registers; on STEP_DONE and STEP_SIGNAL
// they are those that it goes on with. The slot is as before at the end.
StepResult step_over(const StepThread *thread, const uint8_t *code, struct user_regs_struct *regs,
                     int *ret);

#endif // COLLECT_BREAKPOINTS_STEP_H
