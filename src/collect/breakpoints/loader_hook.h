// SPDX-License-Identifier: Apache-2.0
// The function that the dynamic linker calls after it has mapped objects: <link.h>, r_brk.

#ifndef COLLECT_BREAKPOINTS_LOADER_HOOK_H
#define COLLECT_BREAKPOINTS_LOADER_HOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct LoaderHook {
    bool has_loader;  // false: a static program
    uint64_t address; // of _dl_debug_state in the process; 0: not found
    uint8_t byte;     // its first byte
    uint64_t entry;   // address at which the program itself starts; 0: not known
} LoaderHook;

// Finds the function in a process that has just executed a program.
LoaderHook loader_hook_find(pid_t pid);

// Whether the function is a single return instruction, and sets `hook->byte`. Only then a stop
// there can be ended by emulating the return, so that no other thread passes while the breakpoint
// is away. `memory_fd` is as for code_read.
bool loader_hook_fits(LoaderHook *hook, int memory_fd, pid_t pid);

#endif // COLLECT_BREAKPOINTS_LOADER_HOOK_H
