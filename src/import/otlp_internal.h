// SPDX-License-Identifier: Apache-2.0
// Profiles of OpenTelemetry, as collectors get and write them.

#ifndef IMPORT_OTLP_INTERNAL_H
#define IMPORT_OTLP_INTERNAL_H

#include "base/error.h"
#include "model/profile.h"

// Whether a file begins with a ResourceProfiles that holds a profile.
bool otlp_is(Bytes head);

// Reads a ProfilesData or an ExportProfilesServiceRequest. A metric for each type of sample; the
// attributes thread.name, thread.id and process.pid become threads. Initialises `p`, and
// deinitialises it again on false. `input_bytes` is the size of the file before it was unpacked.
MUST_CHECK bool import_otlp(Bytes file, size_t input_bytes, Profile *p, Error *err);

#endif // IMPORT_OTLP_INTERNAL_H
