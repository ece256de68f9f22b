// SPDX-License-Identifier: Apache-2.0
// Ending long work on Ctrl-C with what it has: while begun, SIGINT, SIGTERM and
// SIGHUP set a flag in place of ending the process. The second one ends it.

#ifndef OS_STOP_H
#define OS_STOP_H

#include "base/defs.h"

#include <signal.h>
#include <stdatomic.h>

enum { STOP_SIGNALS = 3 };

// What stop_end puts back.
typedef struct StopSignals {
    struct sigaction old[STOP_SIGNALS];
    sigset_t old_mask;
} StopSignals;

// Clears the flag, takes the signals, and unblocks them in this thread. One that
// was ignored stays so. Not to be nested: the flag is one for the process.
void stop_begin(StopSignals *s);
void stop_end(const StopSignals *s);

// Set by the first of the signals since stop_begin.
const atomic_bool *stop_flag(void);

#endif // OS_STOP_H
