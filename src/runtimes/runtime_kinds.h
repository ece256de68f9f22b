// SPDX-License-Identifier: Apache-2.0
// Runtimes that generate code and can describe it in a map or a jitdump when they are told to.

#ifndef RUNTIMES_RUNTIME_KINDS_H
#define RUNTIMES_RUNTIME_KINDS_H

#include "base/str.h"

typedef struct RuntimeKind {
    const char *file;   // how the name of its program or library starts
    const char *name;   // as people call it
    const char *option; // how to make it write its names; a sentence without a full stop
} RuntimeKind;

// The runtime that a mapped program or library, by its path, belongs to; NULL for others.
const RuntimeKind *runtime_kind_find(Str path);

#endif // RUNTIMES_RUNTIME_KINDS_H
