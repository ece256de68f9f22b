// SPDX-License-Identifier: Apache-2.0
// Functions whose calls are recorded: where they begin and return, and which values are taken.

#ifndef OS_CALL_PLAN_H
#define OS_CALL_PLAN_H

#include "os/event.h"

// What the entry of a function means.
typedef enum CallRole {
    CALL_ROLE_CALL,  // a call begins, which a return ends
    CALL_ROLE_BEGIN, // work begins …
    CALL_ROLE_END,   // … and ends where a function with an equal value is entered
} CallRole;

typedef struct CallFunction {
    Str name;     // for people
    Str path;     // of the file, as the kernel opens it
    Str build_id; // lower-case hex; "" when it has none
    uint64_t svma;
    CallRole role;
    bool is_go;
    uint16_t goid_offset;   // of a goroutine's number in what describes it; 0: not known
    bool returns_by_kernel; // its returns are seen by the kernel's trampoline
    bool takes_key;         // the first argument joins entries
    const EventArg *args;   // at the entry; values in registers, or constants
    size_t arg_count;
    bool takes_result; // the value that it returns is kept
} CallFunction;

typedef struct CallPlace {
    uint32_t function;  // row of `functions`
    uint64_t offset;    // in the file
    bool is_return;     // an instruction that returns, or with by_trampoline
    bool by_trampoline; // after the return, by an address that the kernel puts into its place
} CallPlace;

typedef struct CallPlan {
    Vec(CallFunction) functions;
    Vec(CallPlace) places;
} CallPlan;

#endif // OS_CALL_PLAN_H
