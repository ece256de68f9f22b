// SPDX-License-Identifier: Apache-2.0
// Code shared by the readers of this folder: a profile of one metric, frames that are known by
// name, and trees whose rows tell their depth.

#ifndef IMPORT_STACKS_NAMED_H
#define IMPORT_STACKS_NAMED_H

#include "model/profile.h"

typedef struct Named {
    Profile *p;
    ThreadId thread; // of samples whose thread is not known
    MetricId metric;
} Named;

// A metric of a file: its name and unit.
typedef struct NamedMetric {
    const char *name, *unit;
} NamedMetric;

// Initialises the profile with one metric, one process without a number and its thread.
// `collector` is the fact: "import dtrace".
Named named_begin(Profile *p, const char *collector, NamedMetric metric);

// The frame of a function. `module` and `file` may be "", and `line` 0.
FrameId named_frame(const Named *n, Str function, Str module, Str file, uint32_t line);

// Adds `value` to the stack; nothing for 0.
void named_add(const Named *n, StackId stack, int64_t value);

// The first 64 KiB as text.
Str named_beginning(Bytes head);

// The stack of the row that is being read of a tree. Rows come parents first.
typedef struct NamedPath {
    StackIdVec stacks; // by depth, on the heap
} NamedPath;

// The stack of a row of this depth: the frame under the row above it that is one less deep. Depths
// that skip a level count from the deepest row. False beyond 1 000 000 levels.
MUST_CHECK bool named_path_enter(Named *n, NamedPath *path, size_t depth, FrameId frame,
                                 StackId *ret, Error *err);
// Releases the path.
void named_path_deinit(NamedPath *path);

#endif // IMPORT_STACKS_NAMED_H
