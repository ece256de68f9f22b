// SPDX-License-Identifier: Apache-2.0
// Opening what the user names: a recording of ours, or one of another tool,
// which is imported on the fly.

#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include "base/error.h"
#include "import/import.h"
#include "model/profile.h"

// What `assay record` writes and the others read unless told otherwise.
#define DEFAULT_RECORDING STR("profile.assay")

// Reads the recording at `path`, "-" for standard input. `p` is initialised
// here, and deinitialised again on false. `format` (may be NULL) says which
// foreign format it was; IMPORT_UNKNOWN for our own.
MUST_CHECK bool load_profile(Str path, Profile *p, ImportFormat *format, Error *err);

#endif // CLI_RECORDING_H
