// SPDX-License-Identifier: Apache-2.0
// CPU profiles of gperftools.

#ifndef IMPORT_GPERFTOOLS_INTERNAL_H
#define IMPORT_GPERFTOOLS_INTERNAL_H

#include "import/import.h"

// Whether the file begins with the header of such a profile.
bool gperftools_is(Bytes head);

// Reads the profile. Metric 0 is processor time in ns, metric 1 the number of samples; rows have no
// time. A file that is cut gives its whole records and a note.
MUST_CHECK bool import_gperftools(Bytes file, const ImportOptions *options, Profile *p, Error *err);

#endif // IMPORT_GPERFTOOLS_INTERNAL_H
