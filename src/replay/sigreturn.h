// SPDX-License-Identifier: Apache-2.0
// The code that a signal handler returns to, in objects that state no rule for it.

#ifndef REPLAY_SIGRETURN_H
#define REPLAY_SIGRETURN_H

#include "elf/elf.h"
#include "unwind/unwind_table.h"

// musl's __restore_rt and the __kernel_rt_sigreturn of aarch64's vdso, found by
// name or, in stripped objects, by their instructions. {0, 0}: none.
UnwindRange sigreturn_find(Arena *scratch, const Elf *elf, UnwindArch arch);

#endif // REPLAY_SIGRETURN_H
