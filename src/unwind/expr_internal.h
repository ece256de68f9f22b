// SPDX-License-Identifier: Apache-2.0
// DWARF expressions as call frame information uses them. Freestanding.
// Format: DWARF 5 §2.5, restricted by §6.4.2.

#ifndef UNWIND_EXPR_INTERNAL_H
#define UNWIND_EXPR_INTERNAL_H

#include "unwind/core.h"

// What an expression may ask for. False: not known, or not readable.
typedef struct ExprContext {
    bool (*reg)(void *ctx, uint64_t reg, uint64_t *ret);
    bool (*load)(void *ctx, uint64_t addr, uint64_t *ret); // 8 bytes
    void *ctx;
} ExprContext;

// Evaluates `size` bytes. `initial` is pushed first unless NULL. False when the
// expression is broken, does not end soon or asks for what is not there.
bool expr_evaluate(const uint8_t *code, size_t size, const uint64_t *initial,
                   const ExprContext *context, uint64_t *ret);

#endif // UNWIND_EXPR_INTERNAL_H
