// SPDX-License-Identifier: Apache-2.0
// Times of several recorded runs by stack, so that slow runs can be compared with the others.

#ifndef ANALYSE_STACK_COSTS_H
#define ANALYSE_STACK_COSTS_H

#include "base/table.h"
#include "model/profile.h"

// A stack and the values of its leaf. Stacks are equal when their functions' names are.
typedef struct StackCost {
    Str stack;         // "leaf < caller < …", without the C library's start
    Str leaf;          // the line of the innermost function with a source: "prog.c:12"; "" for none
    bool waits;        // it had no CPU there; else it computed
    DoubleVec seconds; // by run; shorter when the last runs have none
} StackCost;

typedef struct StackCosts {
    Arena arena;
    Vec(StackCost) rows; // in order of first appearance
    Table index;
} StackCosts;

// How long a thread had no CPU that lost it at this time on CLOCK_MONOTONIC; 0: not known.
typedef int64_t (*StackWait)(void *ctx, uint32_t tid, int64_t time_ns);

// Adds the samples of a run: those of a clock with their time, those of context-switches with the
// time in `wait`. Texts are copied.
void stack_costs_add(StackCosts *c, const Profile *p, uint32_t run, StackWait wait, void *ctx);
// Accepts a zeroed one.
void stack_costs_deinit(StackCosts *c);

// The seconds of a run at a stack.
double stack_cost_of(const StackCost *row, uint32_t run);

// The kind of wait of a stack, judged by the name of a function in it: "a lock", "sleep", "a child
// process" …;
// "" when no name tells.
Str stack_waits_for(Str stack);

#endif // ANALYSE_STACK_COSTS_H
