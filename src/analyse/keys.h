// SPDX-License-Identifier: Apache-2.0
// Keys: the units that a view counts by. Each frame of the profile gets the number of its
// function, source line or module.

#ifndef ANALYSE_KEYS_H
#define ANALYSE_KEYS_H

#include "base/strbuf.h"
#include "model/profile.h"

typedef enum By {
    BY_FUNCTION, // a function without a declared place counts once for each module
    BY_LINE,     // {file, line}; a frame without a line counts by its function
    BY_MODULE,
    BY_MODULE_FUNCTION // a function of a module
} By;

// Keys are numbered from 0 in order of first appearance in the frame table. Key 0 belongs to
// frame 0, an unknown place.
typedef struct Keys {
    const Profile *profile;
    By by;
    uint32_t *of_frame; // [frame]: the key of the frame itself, not of those it was inlined into
    FrameIdVec first;   // [key]: the first frame that has it
} Keys;

// Numbers all frames of the profile, which must outlive the keys.
void keys_init(Keys *k, const Profile *p, By by);
void keys_deinit(Keys *k); // frees both columns

// Appends the name as it is in the profile, unescaped: "std::sort<…>(…)",
// "/src/a.c:12", "/usr/lib/libc.so.6". Frames without a function read
// "[unknown in libc.so.6]", cut frames "[stack cut: dump too short]".
void keys_add_name(const Keys *k, uint32_t key, StrBuf *out);

// Appends the name of the function of one frame, by the same rules.
void frame_add_function_name(const Profile *p, FrameId frame, StrBuf *out);

// File and line of the declaration of a key's function; for BY_LINE of the line itself. False when
// the place is not known.
bool keys_place(const Keys *k, uint32_t key, StrId *file, uint32_t *line);

#endif // ANALYSE_KEYS_H
