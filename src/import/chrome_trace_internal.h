// SPDX-License-Identifier: Apache-2.0
// Traces of Chrome.

#ifndef IMPORT_CHROME_TRACE_INTERNAL_H
#define IMPORT_CHROME_TRACE_INTERNAL_H

#include "base/error.h"
#include "model/profile.h"

// Reads the samples of a trace: the global ones, else those of V8's profiles, whose values are
// processor time in ns without the idle time of V8. Other events are not imported; a trace without
// samples gives an error.
MUST_CHECK bool import_chrome_trace(Bytes file, Profile *p, Error *err);

#endif // IMPORT_CHROME_TRACE_INTERNAL_H
