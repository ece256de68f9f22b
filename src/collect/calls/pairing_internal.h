// SPDX-License-Identifier: Apache-2.0
// Entries and returns to calls: which return ends which entry.

#ifndef COLLECT_CALLS_PAIRING_INTERNAL_H
#define COLLECT_CALLS_PAIRING_INTERNAL_H

#include "base/table.h"
#include "model/profile.h"

enum { PAIRING_VALUES_MAX = 8 }; // of one call

typedef struct PairingValue {
    StrId name;
    int64_t value;
} PairingValue;

// An entry, or a return.
typedef struct PairingHit {
    uint32_t function;
    uint64_t flow;      // the thread or goroutine, a number of the caller's
    bool is_go;         // stacks of goroutines move: `sp` says nothing
    uint64_t goroutine; // its number; 0: none, or not known
    // The stack pointer at the entry; at a return one that is not below that of the entry.
    uint64_t sp;
    uint64_t return_address; // that the kernel replaces on the stack at `sp`; 0: it does not
    int64_t time_ns;
    FrameId frame;
    ThreadId thread;
    const PairingValue *values;
    size_t value_count;
} PairingHit;

// A call that has begun.
typedef struct OpenCall {
    uint32_t function;
    uint64_t sp, return_address, goroutine;
    CallRow row;
    uint32_t value_count;
    PairingValue values[PAIRING_VALUES_MAX];
} OpenCall;
typedef Vec(OpenCall) OpenCalls;

// A thread with its calls, outermost first.
typedef struct Flow {
    uint64_t id;
    uint64_t last_sp, last_return; // of the call that ended last
    OpenCalls open;
} Flow;

// Work that has begun and is known by a value.
typedef struct OpenWork {
    uint64_t key;
    bool is_done;
    OpenCall call;
} OpenWork;

// Zeroed it is empty, save `profile`.
typedef struct Pairing {
    Profile *profile; // gets a row for each call that ends
    StrId goroutine;  // names of values: the number of the goroutine …
    StrId end_thread; // … and of the thread that a call ended on, where it is another
    Vec(Flow) flows;
    Table by_flow;
    Vec(OpenWork) work;
    U32Vec free_work;    // rows of `work` that are done
    Table by_key;        // of the work that has begun
    size_t keys_stale;   // rows of `by_key` whose work is done
    uint64_t trampoline; // the page of the process where replaced addresses lead; 0: not known
    uint64_t left;       // calls without a return
    uint64_t unmatched;  // returns and ends without an entry
} Pairing;

// Frees all but the profile.
void pairing_deinit(Pairing *p);

// A function is entered.
void pairing_enter(Pairing *p, const PairingHit *h);
// A function has returned. A result is the last of the values, if there is one.
void pairing_return(Pairing *p, const PairingHit *h);

// Puts the return addresses of the calls that are open back into a copy of the stack, which begins
// at `sp`.
void pairing_mend(Pairing *p, uint64_t flow, uint64_t sp, uint8_t *stack, size_t len);

// Whether `ip` lies in the code to which replaced return addresses lead. Then `*ip` and `*sp`
// become those after the return, as if nothing were replaced.
bool pairing_step_out(Pairing *p, uint64_t flow, uint64_t *ip, uint64_t *sp);

// Work that `key` names begins or ends.
void pairing_begin(Pairing *p, uint64_t key, const PairingHit *h);
void pairing_end(Pairing *p, uint64_t key, const PairingHit *h);

// At the end of the recording: adds what is still open.
void pairing_finish(Pairing *p, int64_t end_ns);

#endif // COLLECT_CALLS_PAIRING_INTERNAL_H
