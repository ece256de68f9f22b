// SPDX-License-Identifier: Apache-2.0
// Gives up the rights that a recorder does not need once the program runs. It reads programs and
// debug files that strangers made; a flaw in a reader must not get root's rights.
// docs/security.md says what is left.

#ifndef OS_PRIVILEGE_H
#define OS_PRIVILEGE_H

#include <stdbool.h>

// Whether this process has rights to give up: it is root or has capabilities.
bool privilege_is_special(void);

// Keeps of this thread's capabilities those that reading other users' processes needs: CAP_PERFMON,
// CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH; CAP_SYSLOG, without which /proc/kallsyms has no addresses;
// CAP_CHECKPOINT_RESTORE, which opens mapped files that were deleted; with `may_signal` CAP_KILL,
// for a command that changes its user. Sets no_new_privs. Other threads keep theirs. Kernels
// before 5.9, whose CAP_SYS_ADMIN is all of these, leave the capabilities as they are.
void privilege_reduce(bool may_signal);

// Refuses, by a seccomp filter over this thread and those that it starts, what reading needs not:
// to execute, to start processes, to open files for writing, to make, rename or remove files,
// sockets, requests to devices and terminals (ioctl(2)) other than perf's, and to change other
// processes but by signals. Open descriptors stay writable. Refused calls fail with EPERM. With
// `may_trace`, ptrace(2) is left. False where the kernel has no such filters; the process is as
// before then.
bool privilege_confine(bool may_trace);

// Whether this process sees the numbers of processes that the kernel's programs see: not in a
// container with numbers of its own (pid_namespaces(7)).
bool privilege_sees_kernel_pids(void);

#endif // OS_PRIVILEGE_H
