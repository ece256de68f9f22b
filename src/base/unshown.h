// SPDX-License-Identifier: Apache-2.0
// Bytes of names that no terminal may get.

#ifndef BASE_UNSHOWN_H
#define BASE_UNSHOWN_H

#include "base/str.h"

// How many bytes at `at` no terminal may get: those of a control character, of a bidirectional
// control, of a separator of lines, or one of invalid UTF-8. 0: a character that may be shown
// stands there.
size_t str_unshown(Str s, size_t at);

#endif // BASE_UNSHOWN_H
