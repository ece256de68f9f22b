// SPDX-License-Identifier: Apache-2.0
// Foreign recordings -> Profile. The format is recognised by content, never by
// the file's name. Every byte is untrusted.

#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include "base/error.h"
#include "model/profile.h"
#include "replay/module_search.h"
#include "symbolise/symbolise.h"

// Other files that an importer may read. perf.data holds addresses: their names, and stacks
// out of copied stack memory, need the files that were mapped.
typedef struct ImportOptions {
    ModuleSearch search;
    const SymboliseOptions *symbols; // how names are found; NULL: not at all
    const SourceOptions *sources;    // the source text to keep; NULL: none
    const Bytes *streams;            // the other files of a folder by perf record --threads
    size_t stream_count;
    // The input as messages name it. With it the process may take only so much memory for reading
    // as the input's size allows, and ends with a message when that is not enough.
    Str limited_name;
} ImportOptions;

// One format: a row of the table.
typedef struct ImportFormat {
    const char *name;    // as messages say it: "perf script"
    const char *writers; // the tools that write such files Whether a file is of this format, from
                         // its beginning; a few kilobytes are enough.
    bool (*is)(Bytes head);
    // Reads the whole file, as the functions below do. One of the three is set. `input_bytes` is
    // the size of the file before it was unpacked, by which the reader limits its memory.
    bool (*read)(Bytes file, Profile *p, Error *err);
    bool (*read_counted)(Bytes file, size_t input_bytes, Profile *p, Error *err);
    bool (*read_with_files)(Bytes file, const ImportOptions *options, Profile *p, Error *err);
} ImportFormat;

// The table, in the order in which the formats are tried. Help, man page and messages list it.
extern const ImportFormat import_formats[];
// Its length.
extern const size_t import_format_count;

// Whether import_bytes may read the file: it begins as one of the formats does, or is packed by
// gzip, zstd, xz or bzip2.
bool import_is_known(Bytes head);

// Sets the error for a file that is not known: the format's name, where assay knows it without
// reading it. Always returns false.
bool import_unknown_format(Bytes head, Error *err);

// Reads a file of any format of the table, also packed by gzip, zstd, xz or bzip2. A format that is
// known and not read is named, with a command that converts it. `format` becomes its row, also on
// false; NULL when it is of none. Without options nothing but the bytes is looked at.
MUST_CHECK bool import_bytes(Bytes file, const ImportOptions *options, Profile *p,
                             const ImportFormat **format, Error *err);

// Reads perf.data in its file and pipe forms. This and the following functions initialise `p`, and
// deinitialise it again on false. A file that is cut short gives its whole part and a note.
MUST_CHECK bool import_perf_data(Bytes file, const ImportOptions *options, Profile *p, Error *err);

// Reads the text of perf script. A file that is cut short gives its whole part and a note. A note
// counts the lines that are not of the format; a file with no other lines gives an error.
MUST_CHECK bool import_perf_script(Bytes file, Profile *p, Error *err);
// Reads folded stacks; the same holds for cut files and wrong lines.
MUST_CHECK bool import_folded(Bytes file, Profile *p, Error *err);

// Whether all lines of a text, save comments and the last one, end in a count.
bool folded_is(Bytes head);

// Reads pprof's profile.proto, which must be unpacked. The sample labels pid, tid, process, thread,
// time and cpu, as our export writes them, become processes, threads, times and CPUs. `input_bytes`
// is the size of the file before it was unpacked, by which the memory that it may take is limited.
MUST_CHECK bool import_pprof(Bytes file, size_t input_bytes, Profile *p, Error *err);
// Whether the bytes are the parts of a profile.proto, with samples among them. Without `is_whole`
// they are its beginning, and the last part may be cut.
bool pprof_is(Bytes file, bool is_whole);

// Reads callgrind's costs by line and call. Stacks are rebuilt from the calls, which is exact
// except in cycles of calls; counts of calls go to function_counts.
MUST_CHECK bool import_callgrind(Bytes file, Profile *p, Error *err);

// Reads speedscope's JSON. An inlined call becomes a stack entry of its own (FRAME_INLINED).
MUST_CHECK bool import_speedscope(Bytes file, Profile *p, Error *err);
// Reads V8's .cpuprofile. The time of samples is processor time, without the idle time of V8.
MUST_CHECK bool import_cpuprofile(Bytes file, Profile *p, Error *err);
// Reads the Firefox Profiler's JSON, with inlined calls in the same way.
MUST_CHECK bool import_firefox(Bytes file, Profile *p, Error *err);

#endif // IMPORT_IMPORT_H
