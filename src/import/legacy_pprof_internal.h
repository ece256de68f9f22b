// SPDX-License-Identifier: Apache-2.0
// The texts of pprof from before its protocol buffers.

#ifndef IMPORT_LEGACY_PPROF_INTERNAL_H
#define IMPORT_LEGACY_PPROF_INTERNAL_H

#include "import/import.h"

// Whether the file begins with the line of such a text.
bool legacy_pprof_is(Bytes head);

// Reads heap and growth profiles (metric 0 is bytes in use), contention (metric 0 is the delay in
// ns), goroutines and threads. Rows have no time. Sampled blocks and contentions are scaled to
// estimates of all, as pprof scales them. A last line that is cut is left out with a note.
MUST_CHECK bool import_legacy_pprof(Bytes file, const ImportOptions *options, Profile *p,
                                    Error *err);

#endif // IMPORT_LEGACY_PPROF_INTERNAL_H
