// SPDX-License-Identifier: Apache-2.0
// Recordings in the formats of other tools: one table, one file for each format.
// docs/formats/export.md describes the contents of each, and how names are escaped.

#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "analyse/weights.h"

// Takes the output of a format in pieces, because an export may be larger than memory.
typedef struct ExportSink {
    bool (*write)(void *ctx, Str text); // false: stop; the sink knows the reason
    // What follows belongs to a file of this name in the folder; of formats with `is_folder` only.
    bool (*begin_file)(void *ctx, Str name);
    void *ctx;
} ExportSink;

typedef struct ExportRequest {
    Selection selection;
    bool suffixes;    // folded: mark kernel, inlined and JIT frames as stackcollapse does
    bool all_metrics; // formats that hold several metrics write all, not the selected one
    Str tool_version;
    Str service; // the name that back ends group profiles by; "": the program's
} ExportRequest;

typedef struct ExportFormat {
    const char *name;
    const char *extension; // of the files that its readers expect: "folded"
    const char *summary;   // who reads it
    bool binary;           // not for a terminal
    bool holds_runs;       // also recordings that hold runs and no samples
    bool holds_lines;      // also recordings that hold execution counts of lines and no samples
    bool holds_calls;      // single calls
    bool holds_waits;      // what threads waited for
    bool holds_texts;      // the texts that probes read
    bool holds_counts;     // the calls of each function, where they were counted
    bool holds_cover;      // all tables of coverage: branches, regions, decisions
    bool is_timed;         // a time line: states of threads stand beside samples
    bool is_folder;        // writes several files, which sink->begin_file names
    // Writes the whole file. Fails for a bad selection, and with ERROR_NONE when the sink stops.
    bool (*write)(const Profile *p, const ExportRequest *request, const ExportSink *sink,
                  Error *err);
} ExportFormat;

// The table; its rows stand in formats_internal.h.
extern const ExportFormat export_formats[];
// Its length.
extern const size_t export_format_count;

// The service that back ends group the recording by: the request's name; else that of the program,
// by the command or by the first process; else "unknown_service", as OpenTelemetry asks for.
Str export_service_name(const Profile *p, const ExportRequest *request);

#endif // EXPORT_EXPORT_H
