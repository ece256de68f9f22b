// SPDX-License-Identifier: Apache-2.0
// Names for locks that are no variable of their own, by the source line that takes them: of a lock
// in heap memory only the address is known, but the program's text calls it "q->mutex".

#ifndef ANALYSE_WAIT_LOCK_NAMES_H
#define ANALYSE_WAIT_LOCK_NAMES_H

#include "analyse/waits.h"

// Finds the expression of the lock that a source line takes: "q->mutex" in
// "pthread_mutex_lock(&q->mutex);", "m_" in "std::lock_guard<std::mutex> guard(m_);", "state.inner"
// in "state.inner.lock()". A wait for a condition names the condition; with `is_mutex`, the mutex
// that it takes afterwards. False when the line names none. `ret` is a part of `line`.
bool lock_name_in_line(Str line, bool is_mutex, Str *ret);

// Gives waits for locks without a name, "0x7f…" and "pool+72", one by the source lines that the
// recording holds: "q->mutex (0x7f…)". When the line has only the name of a parameter, the caller's
// line is read. Other waits keep their objects.
void waits_name_locks(Profile *p);

#endif // ANALYSE_WAIT_LOCK_NAMES_H
