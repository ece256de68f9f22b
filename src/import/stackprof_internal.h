// SPDX-License-Identifier: Apache-2.0
// Profiles of stackprof.

#ifndef IMPORT_STACKPROF_INTERNAL_H
#define IMPORT_STACKPROF_INTERNAL_H

#include "base/error.h"
#include "model/profile.h"

// Reads stackprof's JSON, or its dump in Ruby's Marshal format. In the modes cpu and wall a sample
// adds the interval in ns, else 1. A file without stacks gives the functions alone, and a note.
MUST_CHECK bool import_stackprof(Bytes file, Profile *p, Error *err);

#endif // IMPORT_STACKPROF_INTERNAL_H
