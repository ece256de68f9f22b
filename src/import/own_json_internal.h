// SPDX-License-Identifier: Apache-2.0
// The JSON that `assay export -f json` writes.

#ifndef IMPORT_OWN_JSON_INTERNAL_H
#define IMPORT_OWN_JSON_INTERNAL_H

#include "base/error.h"
#include "model/profile.h"

// Whether a file begins as our own JSON.
bool own_json_is(Bytes head);

// Reads the whole recording back. Initialises `p`, and deinitialises it again on false.
// `input_bytes` is the size of the file before it was unpacked.
MUST_CHECK bool import_own_json(Bytes file, size_t input_bytes, Profile *p, Error *err);

#endif // IMPORT_OWN_JSON_INTERNAL_H
