// SPDX-License-Identifier: Apache-2.0
// Which system call a thread is in, by the code in front of its place. Samples of the kernel state
// the arguments of a call, and not its number.

#ifndef COLLECT_WAIT_CALL_NUMBERS_INTERNAL_H
#define COLLECT_WAIT_CALL_NUMBERS_INTERNAL_H

#include "base/str.h"
#include "base/table.h"
#include "base/vec.h"
#include "wire/wait.h"

enum {
    WAIT_UNKNOWN_CALL = WAIT_CALLS - 1, // no call has this number
    CALL_CODE_BYTES = 48                // that are looked at
};

// A place behind an instruction that calls the kernel.
typedef struct CallPlace {
    uint32_t pid, call;
    uint64_t pc;
} CallPlace;

typedef struct CallNumbers {
    Vec(CallPlace) places;
    Table by_place;
} CallNumbers;

void call_numbers_deinit(CallNumbers *n); // frees the places

// The number that code puts into the register before the instruction that calls the kernel, which
// ends the code. False: it does not say.
bool call_number_in(Bytes code, uint32_t *ret);

// A look at the thread has seen the number. A place with several is not believed from then on.
void call_numbers_learn(CallNumbers *n, uint32_t pid, uint64_t pc, uint32_t call);
// The number at a place, from what was learned, or else from the memory of the process.
// WAIT_UNKNOWN_CALL: not known.
uint32_t call_numbers_find(CallNumbers *n, uint32_t pid, uint64_t pc);

#endif // COLLECT_WAIT_CALL_NUMBERS_INTERNAL_H
