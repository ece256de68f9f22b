// SPDX-License-Identifier: Apache-2.0
// Bytes of names that no terminal may get.

#ifndef BASE_UNSHOWN_H
#define BASE_UNSHOWN_H

#include "base/str.h"

// How many bytes at `at` no terminal may get: those of a control character, of a bidirectional
// control, of a separator of lines, or one of invalid UTF-8. 0: a character that may be shown
// stands there.
size_t str_unshown(Str s, size_t at);

// The same; for a character that may be shown, the negative number of its bytes.
int str_unshown_or_shown(Str s, size_t at);

// The same for every byte of a text, from the first on: `bytes` begins with 0 and is kept between
// calls. True when the byte at `at` may not be shown. The bytes of a character beyond ASCII belong
// together.
static inline bool str_next_unshown(Str s, size_t at, int *bytes)
{
    if (*bytes > 1)
        --*bytes; // within an unshown sequence
    else if (*bytes < -1)
        ++*bytes; // within a character that may be shown
    else if (((unsigned char)s.ptr[at] & 0x80) == 0 && (unsigned char)s.ptr[at] >= 0x20 &&
             s.ptr[at] != 0x7f)
        *bytes = 0;
    else
        *bytes = str_unshown_or_shown(s, at);
    return *bytes > 0;
}

#endif // BASE_UNSHOWN_H
