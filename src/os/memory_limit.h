// SPDX-License-Identifier: Apache-2.0
// A limit of memory for a part of a command's work: reading an input that unpacks to much more
// than it is. It covers every table that a reader fills, so that readers do not count memory
// themselves.

#ifndef OS_MEMORY_LIMIT_H
#define OS_MEMORY_LIMIT_H

#include "base/error.h"

// The limit before this one.
typedef struct MemoryLimit {
    uint64_t soft_bytes;
    bool is_set;
} MemoryLimit;

// Lets the process take at most `more_bytes` of private memory above its present size. A refusal
// of memory ends the process with status 1 and `message` on standard error, which is borrowed until
// memory_limit_end. Programs that are started meanwhile inherit the limit. Does nothing where the
// system has no such limit, has a lower one already, or a sanitizer needs memory of its own.
MemoryLimit memory_limit_begin(uint64_t more_bytes, const char *message);

// Takes the limit away again; the second time it does nothing.
void memory_limit_end(MemoryLimit *limit);

// The private memory of this process that is in use (resident and anonymous); 0: not known.
uint64_t memory_private_bytes(void);

#endif // OS_MEMORY_LIMIT_H
