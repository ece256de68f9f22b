// SPDX-License-Identifier: Apache-2.0
// Lets long work stop cleanly on Ctrl-C and keep its results so far. Between stop_begin
// and stop_end the first SIGINT, SIGTERM or SIGHUP sets a flag; the next one, unless it is
// the repetition of the first, ends the process.

#ifndef OS_STOP_H
#define OS_STOP_H

#include "base/defs.h"

#include <signal.h>
#include <stdatomic.h>

enum { STOP_SIGNALS = 3, STOP_REPEAT_MS = 250 };

// The state before stop_begin, which stop_end restores.
typedef struct StopSignals {
    struct sigaction old[STOP_SIGNALS];
    sigset_t old_mask;
} StopSignals;

// Clears the flag, installs the handlers, and unblocks the signals in this thread; ignored signals
// stay ignored. Calls cannot be nested, because the process has one flag.
void stop_begin(StopSignals *s);
void stop_end(const StopSignals *s); // restores handlers and mask

// Other code has read a signal that asks to end, by other means. False when it is the repetition of
// one: timeout(1) sends its signal to the command and, at once, to the whole group. Such a pair is
// one request, within STOP_REPEAT_MS. The handlers of stop_begin count these requests, too.
bool stop_note_request(void);

// The flag: true from the first of the signals after stop_begin on.
const atomic_bool *stop_flag(void);

#endif // OS_STOP_H
