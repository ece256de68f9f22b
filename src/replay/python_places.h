// SPDX-License-Identifier: Apache-2.0
// Functions and lines of Python frames, kept so that few reads of the process name many samples.

#ifndef REPLAY_PYTHON_PLACES_H
#define REPLAY_PYTHON_PLACES_H

#include "model/profile.h"
#include "runtimes/python.h"

typedef struct PythonPlaces PythonPlaces;

// A new cache for one process, whose frames become frames of `module`.
PythonPlaces *python_places_new(Profile *profile, ModuleId module);
void python_places_free(PythonPlaces *c); // accepts NULL

// The place of a frame; row 0 when it has no name. A code object is read once in each `second`, and
// its name, file and lines again only when it refers to others. Places that were read earlier stay
// valid after the process can no longer be read.
FrameId python_places_find(PythonPlaces *c, const Python *p, const ProcessMemory *m,
                           const PythonFrame *f, int64_t second);

#endif // REPLAY_PYTHON_PLACES_H
