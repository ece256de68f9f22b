// SPDX-License-Identifier: Apache-2.0
// The code that a signal handler returns to, in objects without unwind rules for it.

#ifndef REPLAY_SIGRETURN_H
#define REPLAY_SIGRETURN_H

#include "elf/elf.h"
#include "unwind/unwind_table.h"

// The range of musl's __restore_rt, or of __kernel_rt_sigreturn in the vdso of aarch64, found by
// name or, in stripped objects, by the instructions. {0, 0}: none.
UnwindRange sigreturn_find(Arena *scratch, const Elf *elf, UnwindArch arch);

#endif // REPLAY_SIGRETURN_H
