// SPDX-License-Identifier: Apache-2.0
// The object that a system call waits for.

#ifndef COLLECT_WAIT_REASONS_INTERNAL_H
#define COLLECT_WAIT_REASONS_INTERNAL_H

#include "model/profile.h"

// The kind of the argument that names the object a system call waits for.
typedef enum WaitObject {
    WAIT_OBJECT_NONE,
    WAIT_OBJECT_FD,
    WAIT_OBJECT_LOCK, // an address
    WAIT_OBJECT_PID,
    WAIT_OBJECT_PATH, // in the table of calls only
} WaitObject;

// The kind of the object, and in `*arg` the number of the argument, from 0.
WaitObject wait_object_of(uint32_t call, uint32_t *arg);

// The class of a wait in a system call, or in WAIT_NO_CALL. `how` is WAIT_HOW_*. `path` is the
// target of the descriptor; "" when not known.
WaitClass wait_class_of(uint32_t call, uint32_t how, Str path);

#endif // COLLECT_WAIT_REASONS_INTERNAL_H
