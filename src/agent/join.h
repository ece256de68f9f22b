// SPDX-License-Identifier: Apache-2.0
// Whether this process is recorded: the folder that the collector made, or the program itself
// by include/assay/profile.h.

#ifndef AGENT_JOIN_H
#define AGENT_JOIN_H

#include "wire/ring.h"

// Joins the session of the folder from which LD_PRELOAD loaded this library, if it is one. Only the
// first call does. The environment must be there.
void join_session(void);
// Whether join_session can be called and was not.
bool join_is_pending(void);
// True when a collector records this process.
bool session_is_joined(void);
// Writes the records that a process begins with: its name and its mappings.
void tell_process(bool exec);
// For the child of a fork: begins anew with a ring of its own. `parent_tid` made it.
void join_after_fork(uint32_t parent_pid, uint32_t parent_tid);

#endif // AGENT_JOIN_H
