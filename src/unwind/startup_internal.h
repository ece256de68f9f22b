// SPDX-License-Identifier: Apache-2.0
// Derives unwind rules from machine code, for the few functions without call frame
// information that nearly every module has: _init, _fini and the functions of crtbegin.o,
// which run when the module is loaded and unloaded.

#ifndef UNWIND_STARTUP_INTERNAL_H
#define UNWIND_STARTUP_INTERNAL_H

#include "base/str.h"

// From byte `at` on the CFA is sp + 8 * (1 + words), and the frame pointer of the caller is saved
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
    uint32_t end; // the end of the last function that was decoded
} StartupCode;

// Decodes x86-64 functions at the start of `code`, which lies at `svma`. It knows only the
// instructions that such functions consist of, and tracks the depth of the stack through them.
// Stops before the first function with any other instruction, and where no function begins at
// a multiple of `align`. Row count 0: no function was decoded.
// Encodings: Intel SDM volume 2, chapters 2 to 5.
void startup_read(Bytes code, uint64_t svma, uint32_t align, StartupCode *ret);

#endif // UNWIND_STARTUP_INTERNAL_H
