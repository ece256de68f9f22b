// SPDX-License-Identifier: Apache-2.0
// Rules out of the code itself, for the few functions that state none and are in
// nearly every module: _init, _fini and those of crtbegin.o, which run as it is loaded and
// as it ends.

#ifndef UNWIND_STARTUP_INTERNAL_H
#define UNWIND_STARTUP_INTERNAL_H

#include "base/str.h"

// From byte `at` on the CFA is sp + 8 * (1 + words), and the caller's frame pointer is
// at cfa - 8 * (1 + fp_word); fp_word 0: it is still in its register.
typedef struct StartupRow {
    uint32_t at;
    uint8_t words;
    uint8_t fp_word;
} StartupRow;

enum { STARTUP_ROWS_MAX = 32 };

typedef struct StartupCode {
    StartupRow row[STARTUP_ROWS_MAX]; // ascending; the first at the first function
    uint32_t row_count;
    uint32_t end; // behind the last function that was understood
} StartupCode;

// Reads x86-64 functions from `code` on, which lies at `svma`: instruction by
// instruction, while each is one of those that such functions are made of, so that
// the stack's depth is known at every one. Stops before the first function with
// another, and where one does not begin at a multiple of `align`. Row count 0: none
// was understood.
// Encodings: Intel SDM volume 2, chapters 2 to 5.
void startup_read(Bytes code, uint64_t svma, uint32_t align, StartupCode *ret);

#endif // UNWIND_STARTUP_INTERNAL_H
