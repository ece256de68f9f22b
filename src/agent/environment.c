// SPDX-License-Identifier: Apache-2.0
// The environment of this process.

#include "agent/environment.h"

extern char **environ __attribute__((weak));

char **environment(void)
{
    return &environ ? environ : NULL;
}

const char *environment_get(const char *name)
{
    for (char **e = environment(); e && *e; e++) {
        size_t i = 0;
        while (name[i] && (*e)[i] == name[i])
            i++;
        if (!name[i] && (*e)[i] == '=')
            return *e + i + 1;
    }
    return NULL;
}
