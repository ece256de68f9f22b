// SPDX-License-Identifier: Apache-2.0
// The environment of this process, as libc has it.

#ifndef AGENT_ENVIRONMENT_H
#define AGENT_ENVIRONMENT_H

#include "base/defs.h"

// All variables, "NAME=value"; ends in NULL. NULL: there is no libc that has them.
char **environment(void);
// The value of a variable; NULL: it is not set.
const char *environment_get(const char *name);

#endif // AGENT_ENVIRONMENT_H
