// SPDX-License-Identifier: Apache-2.0
// Foreign recordings -> Profile. The format is recognised by content, never by
// the file's name. Every byte is untrusted.

#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include "base/error.h"
#include "model/profile.h"
#include "replay/module_search.h"
#include "symbolise/symbolise.h"

// What an importer may look at besides the file's bytes. perf.data has addresses
// only: their names, and the stacks of copied stack memory, come from the files
// that were mapped.
typedef struct ImportOptions {
    ModuleSearch search;
    const SymboliseOptions *symbols; // how names are found; NULL: not at all
    const SourceOptions *sources;    // the source text to keep; NULL: none
} ImportOptions;

// One format: a row of the table.
typedef struct ImportFormat {
    const char *name;    // as messages say it: "perf script"
    const char *writers; // who writes such files
    // Whether a file is of this format, from its beginning; a few kilobytes are enough.
    bool (*is)(Bytes head);
    // Reads the whole file, as the functions below do. One of the two is set.
    bool (*read)(Bytes file, Profile *p, Error *err);
    bool (*read_with_files)(Bytes file, const ImportOptions *options, Profile *p, Error *err);
} ImportFormat;

// The table, in the order in which the formats are tried. Help, man page and messages list it.
extern const ImportFormat import_formats[];
extern const size_t import_format_count;

// Whether import_bytes may read the file: it begins as one of the formats does, or is packed by
// gzip.
bool import_is_known(Bytes head);

// Reads a file of any format of the table, also inside gzip. `format` becomes its row, also on
// false; NULL when it is of none. Without options nothing but the bytes is looked at.
MUST_CHECK bool import_bytes(Bytes file, const ImportOptions *options, Profile *p,
                             const ImportFormat **format, Error *err);

// perf.data, file and pipe form -> a fresh profile, initialised here and
// deinitialised again on false. A file that is cut gives its whole part and a
// note.
MUST_CHECK bool import_perf_data(Bytes file, const ImportOptions *options, Profile *p, Error *err);

// The formats that are text: bytes -> a fresh profile, initialised here and
// deinitialised again on false. A file that is cut gives its whole part and a
// note; lines that are not of the format are counted in a note, and a file
// without a single one that is gives an error.
MUST_CHECK bool import_perf_script(Bytes file, Profile *p, Error *err);
MUST_CHECK bool import_folded(Bytes file, Profile *p, Error *err);

// pprof's profile.proto, unpacked. Sample labels pid, tid, process,
// thread, time and cpu, as our export writes them, become what they say.
MUST_CHECK bool import_pprof(Bytes file, Profile *p, Error *err);

// Callgrind's costs by line and call, our export's too. Stacks are rebuilt from the
// calls, which is exact but for cycles; calls are counted (function_counts).
MUST_CHECK bool import_callgrind(Bytes file, Profile *p, Error *err);

// JSON formats. Calls inlined elsewhere arrive as stack entries (FRAME_INLINED).
MUST_CHECK bool import_speedscope(Bytes file, Profile *p, Error *err);
MUST_CHECK bool import_firefox(Bytes file, Profile *p, Error *err);

#endif // IMPORT_IMPORT_H
