// SPDX-License-Identifier: Apache-2.0
// Evaluates DWARF expressions of call frame information. Freestanding.
// Format: DWARF 5 §2.5, restricted by §6.4.2.

#ifndef UNWIND_EXPR_INTERNAL_H
#define UNWIND_EXPR_INTERNAL_H

#include "unwind/core.h"

// Gives an expression the values of registers and memory. False: not known, or not readable.
typedef struct ExprContext {
    bool (*reg)(void *ctx, uint64_t reg, uint64_t *ret);
    bool (*load)(void *ctx, uint64_t addr, uint64_t *ret); // 8 bytes
    void *ctx;
} ExprContext;

// Evaluates `size` bytes of an expression. `initial` is pushed first unless it is NULL. False when
// the expression is broken, runs too long, or needs a value that is not available.
bool expr_evaluate(const uint8_t *code, size_t size, const uint64_t *initial,
                   const ExprContext *context, uint64_t *ret);

#endif // UNWIND_EXPR_INTERNAL_H
