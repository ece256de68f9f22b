// SPDX-License-Identifier: Apache-2.0
// What a view counts by: each frame of the profile gets the number of the
// function, source line or module that it belongs to.

#ifndef ANALYSE_KEYS_H
#define ANALYSE_KEYS_H

#include "base/strbuf.h"
#include "model/profile.h"

typedef enum By {
    BY_FUNCTION, // a function without a declared place counts once for each module
    BY_LINE,     // {file, line}; a frame without a line counts by its function
    BY_MODULE
} By;

// Keys are numbered from 0 in order of first appearance in the frame table.
// Key 0 is that of frame 0: a place nothing is known of.
typedef struct Keys {
    const Profile *profile;
    By by;
    uint32_t *of_frame; // [frame]: the key of this level, not of its inliners
    FrameIdVec first;   // [key]: the frame it was first seen at
} Keys;

void keys_init(Keys *k, const Profile *p, By by);
void keys_deinit(Keys *k);

// Appends the name as it is in the profile, unescaped: "std::sort<…>(…)",
// "/src/a.c:12", "/usr/lib/libc.so.6". Frames without a function read
// "[unknown in libc.so.6]", cut frames "[stack cut: dump too short]".
void keys_add_name(const Keys *k, uint32_t key, StrBuf *out);

// Appends the name of a single frame's function, in the same words.
void frame_add_function_name(const Profile *p, FrameId frame, StrBuf *out);

// The place a key's function is declared at, or the line itself for BY_LINE.
// False when neither is known.
bool keys_place(const Keys *k, uint32_t key, StrId *file, uint32_t *line);

#endif // ANALYSE_KEYS_H
