// SPDX-License-Identifier: Apache-2.0
// Reads and writes the code of traced processes. Documents: proc(5), "mem"; ptrace(2).

#ifndef COLLECT_BREAKPOINTS_CODE_H
#define COLLECT_BREAKPOINTS_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { BREAKPOINT_BYTE = 0xcc }; // int3 of x86

// Read and write memory at an address of a process. `memory_fd` is a descriptor of /proc/PID/mem,
// or -1 where it could not be opened; then other ways are tried, for which `tid` must be a stopped
// thread. False when not all bytes could be had.
bool code_read(int memory_fd, pid_t pid, uint64_t at, void *to, size_t len);
bool code_write(int memory_fd, pid_t tid, uint64_t at, const uint8_t *from, size_t len);

#endif // COLLECT_BREAKPOINTS_CODE_H
