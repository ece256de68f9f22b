// SPDX-License-Identifier: Apache-2.0
// Java Flight Recordings.

#ifndef IMPORT_FLIGHT_RECORDING_INTERNAL_H
#define IMPORT_FLIGHT_RECORDING_INTERNAL_H

#include "import/import.h"

// Reads the execution samples of all chunks: jdk.ExecutionSample, of the JVM and of async-profiler.
// Their number is the metric. A last chunk that is not whole gives a note.
MUST_CHECK bool import_flight_recording(Bytes file, Profile *p, Error *err);

#endif // IMPORT_FLIGHT_RECORDING_INTERNAL_H
