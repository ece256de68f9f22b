// SPDX-License-Identifier: Apache-2.0
// Functions of the kernel as events, where the kernel has kprobes: kernel:vfs_read, with %return
// for its returns, in bpftrace's words kprobe: and kretprobe:, in perf's probe:. Document:
// Documentation/ABI/testing/sysfs-bus-event_source-devices-kprobe.

#ifndef PROBES_KERNEL_FUNCTION_H
#define PROBES_KERNEL_FUNCTION_H

#include "os/event.h"

// Whether a text behind -e means a function of the kernel. `tracefs` is where the kernel's own
// events are, "" when it is not mounted: probe:vfs_read is one of them after perf probe --add.
bool kernel_function_is(Str text, Str tracefs);

// Appends the event of such a text. The kernel sees the function's name when the event is opened:
// it lies in the arena. Fails where this kernel has no kprobes or no function of that name.
MUST_CHECK bool kernel_function_find(Arena *arena, Str text, EventSpecVec *ret, Error *err);

#endif // PROBES_KERNEL_FUNCTION_H
