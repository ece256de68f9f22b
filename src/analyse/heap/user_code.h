// SPDX-License-Identifier: Apache-2.0
// Which frame of a stack that allocates is the user's own code, and which belong to the allocator
// or to the standard library of C, C++ or Rust.

#ifndef ANALYSE_HEAP_USER_CODE_H
#define ANALYSE_HEAP_USER_CODE_H

#include "model/profile.h"

// Whether each frame is code of an allocator or a standard library. Heap memory, [frame].
uint8_t *user_code_libraries(const Profile *p);

typedef struct UserPlace {
    FrameId
        frame;   // the innermost frame of user code, inlined calls included; 0: the stack is empty
    FrameId via; // the library function that it called; 0: it called the allocator itself
    // The library function that was called keeps the block for the library, as stdio its buffers:
    // no function of the C library that gives blocks to its caller.
    bool is_kept_by_library;
    bool is_user; // false: all frames are of libraries, and `frame` is the outermost
} UserPlace;

// Finds the place of a stack. A stack without user code has its outermost known frame.
UserPlace user_place_of(const Profile *p, const uint8_t *libraries, StackId stack);

// Whether a name is that of the frame in which a thread or a process starts, outside main.
bool user_code_is_start(Str name);

#endif // ANALYSE_HEAP_USER_CODE_H
