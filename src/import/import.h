// SPDX-License-Identifier: Apache-2.0
// Foreign recordings -> Profile. The format is recognised by content, never by
// the file's name. Every byte is untrusted.

#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include "base/error.h"
#include "model/profile.h"

typedef enum ImportFormat {
    IMPORT_UNKNOWN,
    IMPORT_PERF_DATA,
    IMPORT_PERF_SCRIPT,
    IMPORT_FOLDED,
    IMPORT_PPROF,
} ImportFormat;

// Looks at the beginning of a file; a few kilobytes are enough.
ImportFormat import_format(Bytes head);
const char *import_format_name(ImportFormat format);

// The formats that are text: bytes -> a fresh profile, initialised here and
// deinitialised again on false. A file that is cut gives its whole part and a
// note; lines that are not of the format are counted in a note, and a file
// without a single one that is gives an error.
MUST_CHECK bool import_perf_script(Bytes file, Profile *p, Error *err);
MUST_CHECK bool import_folded(Bytes file, Profile *p, Error *err);

// pprof's profile.proto, plain or in gzip. Sample labels pid, tid, process,
// thread, time and cpu, as our export writes them, become what they say.
MUST_CHECK bool import_pprof(Bytes file, Profile *p, Error *err);

#endif // IMPORT_IMPORT_H
