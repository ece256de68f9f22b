// SPDX-License-Identifier: Apache-2.0
// Runs `assay` on a dump, where it is installed.

#ifndef AGENT_CONVERT_H
#define AGENT_CONVERT_H

#include "base/defs.h"

// Whether the name of a file asks for a recording or a pprof file.
bool convert_is_wanted(const char *path);
// Makes such a file of a dump and waits for it. The program sees no child: it gets no SIGCHLD, and
// wait(2) does not return it. False: there is no assay in PATH, or it failed.
bool convert_file(const char *dump, const char *path);

#endif // AGENT_CONVERT_H
