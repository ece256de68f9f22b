// SPDX-License-Identifier: Apache-2.0
// Formats that are known and not read.

#ifndef IMPORT_OTHER_FORMATS_INTERNAL_H
#define IMPORT_OTHER_FORMATS_INTERNAL_H

#include "base/error.h"

// Whether the file is of a format that assay knows and does not read. `err` then names it, with the
// command that converts it to a format that assay reads.
bool other_format_is_known(Bytes head, Error *err);

#endif // IMPORT_OTHER_FORMATS_INTERNAL_H
