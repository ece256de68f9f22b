// SPDX-License-Identifier: Apache-2.0
// Evaluates DWARF expressions of call frame information. Freestanding. Format: DWARF 5 §2.5 and
// §7.7.1.

#include "unwind/expr_internal.h"

#include "unwind/cfi_internal.h"

enum { STACK_MAX = 32, STEPS_MAX = 512 };

enum {
    OP_ADDR = 0x03,
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_CONST1S,
    OP_CONST2U,
    OP_CONST2S,
    OP_CONST4U,
    OP_CONST4S,
    OP_CONST8U,
    OP_CONST8S,
    OP_CONSTU,
    OP_CONSTS,
    OP_DUP = 0x12,
    OP_DROP,
    OP_OVER,
    OP_PICK,
    OP_SWAP,
    OP_ROT,
    OP_ABS = 0x19,
    OP_AND,
    OP_DIV,
    OP_MINUS,
    OP_MOD,
    OP_MUL,
    OP_NEG,
    OP_NOT,
    OP_OR,
    OP_PLUS,
    OP_PLUS_UCONST,
    OP_SHL,
    OP_SHR,
    OP_SHRA,
    OP_XOR,
    OP_BRA,
    OP_EQ,
    OP_GE,
    OP_GT,
    OP_LE,
    OP_LT,
    OP_NE,
    OP_SKIP,
    OP_LIT0 = 0x30,
    OP_LIT31 = 0x4f,
    OP_BREG0 = 0x70,
    OP_BREG31 = 0x8f,
    OP_BREGX = 0x92,
    OP_DEREF_SIZE = 0x94,
    OP_NOP = 0x96
};

typedef struct Expr {
    CfiCursor c;
    const uint8_t *start;
    const ExprContext *context;
    uint64_t stack[STACK_MAX];
    unsigned depth;
    bool bad;
} Expr;

static void push(Expr *e, uint64_t v)
{
    if (e->depth == STACK_MAX)
        e->bad = true;
    else
        e->stack[e->depth++] = v;
}

static uint64_t pop(Expr *e)
{
    if (e->depth == 0) {
        e->bad = true;
        return 0;
    }
    return e->stack[--e->depth];
}

static void push_pick(Expr *e, uint64_t index)
{
    if (index >= e->depth)
        e->bad = true;
    else
        push(e, e->stack[e->depth - 1 - index]);
}

static void push_reg(Expr *e, uint64_t reg, int64_t offset)
{
    uint64_t v = 0;
    if (!e->context->reg(e->context->ctx, reg, &v))
        e->bad = true;
    push(e, v + (uint64_t)offset);
}

static void push_load(Expr *e, uint64_t addr, uint64_t size)
{
    uint64_t v = 0;
    if (size == 0 || size > 8 || !e->context->load(e->context->ctx, addr, &v))
        e->bad = true;
    else if (size < 8)
        v &= ((uint64_t)1 << (8 * size)) - 1;
    push(e, v);
}

static void jump(Expr *e, bool taken)
{
    int16_t delta = (int16_t)cfi_uint(&e->c, 2);
    if (e->c.bad || !taken)
        return;
    if (delta < e->start - e->c.at || delta > e->c.end - e->c.at)
        e->bad = true;
    else
        e->c.at += delta;
}

static uint64_t divide(Expr *e, int64_t a, int64_t b)
{
    if (b == 0 || (a == INT64_MIN && b == -1)) {
        e->bad = true;
        return 0;
    }
    return (uint64_t)(a / b);
}

static uint64_t modulo(Expr *e, uint64_t a, uint64_t b)
{
    if (b == 0) {
        e->bad = true;
        return 0;
    }
    return a % b;
}

static uint64_t shift_right_signed(uint64_t a, uint64_t by)
{
    return (uint64_t)((int64_t)a >> (by > 63 ? 63 : by));
}

static void step_binary(Expr *e, uint8_t op)
{
    uint64_t b = pop(e), a = pop(e);
    int64_t sa = (int64_t)a, sb = (int64_t)b;
    switch (op) {
    case OP_AND:
        push(e, a & b);
        break;
    case OP_DIV:
        push(e, divide(e, sa, sb));
        break;
    case OP_MINUS:
        push(e, a - b);
        break;
    case OP_MOD:
        push(e, modulo(e, a, b));
        break;
    case OP_MUL:
        push(e, a * b);
        break;
    case OP_OR:
        push(e, a | b);
        break;
    case OP_PLUS:
        push(e, a + b);
        break;
    case OP_SHL:
        push(e, b > 63 ? 0 : a << b);
        break;
    case OP_SHR:
        push(e, b > 63 ? 0 : a >> b);
        break;
    case OP_SHRA:
        push(e, shift_right_signed(a, b));
        break;
    case OP_XOR:
        push(e, a ^ b);
        break;
    case OP_EQ:
        push(e, sa == sb);
        break;
    case OP_GE:
        push(e, sa >= sb);
        break;
    case OP_GT:
        push(e, sa > sb);
        break;
    case OP_LE:
        push(e, sa <= sb);
        break;
    case OP_LT:
        push(e, sa < sb);
        break;
    case OP_NE:
        push(e, sa != sb);
        break;
    default:
        e->bad = true;
    }
}

static void step_const(Expr *e, uint8_t op)
{
    CfiCursor *c = &e->c;
    switch (op) {
    case OP_ADDR:
    case OP_CONST8U:
    case OP_CONST8S:
        push(e, cfi_uint(c, 8));
        break;
    case OP_CONST1U:
        push(e, cfi_uint(c, 1));
        break;
    case OP_CONST1S:
        push(e, (uint64_t)(int8_t)cfi_uint(c, 1));
        break;
    case OP_CONST2U:
        push(e, cfi_uint(c, 2));
        break;
    case OP_CONST2S:
        push(e, (uint64_t)(int16_t)cfi_uint(c, 2));
        break;
    case OP_CONST4U:
        push(e, cfi_uint(c, 4));
        break;
    case OP_CONST4S:
        push(e, (uint64_t)(int32_t)cfi_uint(c, 4));
        break;
    case OP_CONSTU:
        push(e, cfi_uleb(c));
        break;
    case OP_CONSTS:
        push(e, (uint64_t)cfi_sleb(c));
        break;
    default:
        e->bad = true;
    }
}

static void rotate(Expr *e)
{
    uint64_t first = pop(e), second = pop(e), third = pop(e);
    push(e, first);
    push(e, third);
    push(e, second);
}

static void swap(Expr *e)
{
    uint64_t first = pop(e), second = pop(e);
    push(e, first);
    push(e, second);
}

static void step_other(Expr *e, uint8_t op)
{
    uint64_t v;
    switch (op) {
    case OP_DEREF:
        push_load(e, pop(e), 8);
        break;
    case OP_DEREF_SIZE:
        push_load(e, pop(e), cfi_uint(&e->c, 1));
        break;
    case OP_DUP:
        push_pick(e, 0);
        break;
    case OP_OVER:
        push_pick(e, 1);
        break;
    case OP_PICK:
        push_pick(e, cfi_uint(&e->c, 1));
        break;
    case OP_DROP:
        pop(e);
        break;
    case OP_SWAP:
        swap(e);
        break;
    case OP_ROT:
        rotate(e);
        break;
    case OP_ABS:
        v = pop(e);
        push(e, (int64_t)v < 0 ? 0 - v : v);
        break;
    case OP_NEG:
        push(e, 0 - pop(e));
        break;
    case OP_NOT:
        push(e, ~pop(e));
        break;
    case OP_PLUS_UCONST:
        v = pop(e);
        push(e, v + cfi_uleb(&e->c));
        break;
    case OP_BRA:
        jump(e, pop(e) != 0);
        break;
    case OP_SKIP:
        jump(e, true);
        break;
    case OP_BREGX:
        v = cfi_uleb(&e->c);
        push_reg(e, v, cfi_sleb(&e->c));
        break;
    case OP_NOP:
        break;
    default:
        step_binary(e, op);
    }
}

bool expr_evaluate(const uint8_t *code, size_t size, const uint64_t *initial,
                   const ExprContext *context, uint64_t *ret)
{
    Expr e;
    e.c = (CfiCursor){.at = code, .end = code + size};
    e.start = code;
    e.context = context;
    e.depth = 0;
    e.bad = false;
    if (initial)
        push(&e, *initial);
    for (unsigned steps = 0; e.c.at < e.c.end; steps++) {
        uint8_t op = *e.c.at++;
        if (op >= OP_LIT0 && op <= OP_LIT31)
            push(&e, op - OP_LIT0);
        else if (op >= OP_BREG0 && op <= OP_BREG31)
            push_reg(&e, op - OP_BREG0, cfi_sleb(&e.c));
        else if (op == OP_ADDR || (op >= OP_CONST1U && op <= OP_CONSTS))
            step_const(&e, op);
        else
            step_other(&e, op);
        if (e.bad || e.c.bad || steps == STEPS_MAX)
            return false;
    }
    if (e.depth == 0)
        return false;
    *ret = e.stack[e.depth - 1];
    return true;
}
