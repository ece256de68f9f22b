// SPDX-License-Identifier: Apache-2.0
// The table of formats that `assay export` writes. A new format is a row here and a file that
// defines its writer, listed in meson.build. Parsing, help, completions and the man page follow
// from this table; docs/formats/export.md describes the contents of each format.

#ifndef EXPORT_FORMATS_INTERNAL_H
#define EXPORT_FORMATS_INTERNAL_H

enum {
    EXPORT_TEXT = 0,
    EXPORT_BINARY = 1,   // not fit for a terminal
    EXPORT_RUNS = 2,     // also for recordings that hold runs and no samples
    EXPORT_FOLDER = 4,   // several files in a folder
    EXPORT_LINES = 8,    // also for recordings that hold execution counts of lines and no samples
    EXPORT_CALLS = 16,   // single calls
    EXPORT_TEXTS = 32,   // the texts that probes read
    EXPORT_WAITS = 64,   // what threads waited for
    EXPORT_TIMED = 128,  // a time line, in which states of threads stand beside samples
    EXPORT_COUNTS = 256, // the calls of each function, where they were counted
    EXPORT_COVER = 512,  // all tables of coverage: branches, regions, decisions
};

// ROW(writer, name, extension of its files, of EXPORT_*, who reads it). The first is the default.
// clang-format off
#define EXPORT_FORMATS(ROW) \
    ROW(export_folded, "folded", "folded", EXPORT_TEXT, \
        "one stack a line; flamegraph.pl, inferno, speedscope") \
    ROW(export_perf_script, "perf-script", "txt", EXPORT_TEXTS, \
        "for tools that read the text of 'perf script'") \
    ROW(export_pprof, "pprof", "pb.gz", EXPORT_BINARY | EXPORT_WAITS, \
        "pprof, Pyroscope, Parca, Grafana (gzip)") \
    ROW(export_firefox, "firefox", "json", EXPORT_CALLS | EXPORT_WAITS | EXPORT_TIMED, \
        "profiler.firefox.com, samply load") \
    ROW(export_speedscope, "speedscope", "speedscope.json", EXPORT_TEXT, \
        "speedscope.app") \
    ROW(export_callgrind, "callgrind", "callgrind.out", EXPORT_TEXT, \
        "KCachegrind, callgrind_annotate") \
    ROW(export_dhat, "dhat", "json", EXPORT_TEXT, \
        "dh_view.html of valgrind: recordings of the heap") \
    ROW(export_massif, "massif", "massif.out", EXPORT_TEXT, \
        "ms_print, massif-visualizer: recordings of the heap") \
    ROW(export_heaptrack, "heaptrack", "heaptrack", EXPORT_TEXT, \
        "heaptrack_print, heaptrack_gui: recordings of the heap") \
    ROW(export_chrome, "chrome", "trace.json", EXPORT_CALLS | EXPORT_WAITS | EXPORT_TIMED, \
        "Perfetto, chrome://tracing") \
    ROW(export_otlp, "otlp", "otlp", EXPORT_BINARY, \
        "OpenTelemetry collectors (ProfilesData, v1development)") \
    ROW(export_csv, "csv", "csv", EXPORT_TEXTS | EXPORT_RUNS, \
        "a row for each thread and stack, or for each run and event") \
    ROW(export_json, "json", "json", EXPORT_RUNS | EXPORT_LINES | EXPORT_CALLS | EXPORT_WAITS | EXPORT_TEXTS | EXPORT_COUNTS | EXPORT_COVER, \
        "every table of the recording") \
    ROW(export_sqlite, "sqlite", "db", EXPORT_BINARY | EXPORT_RUNS | EXPORT_LINES | EXPORT_CALLS | EXPORT_WAITS | EXPORT_TEXTS | EXPORT_COUNTS, \
        "a database with views, see docs/formats/sqlite.md") \
    ROW(export_parquet, "parquet", "parquet", EXPORT_BINARY | EXPORT_RUNS | EXPORT_FOLDER | EXPORT_LINES | EXPORT_CALLS | EXPORT_WAITS | EXPORT_TEXTS, \
        "a folder of tables for DuckDB, ClickHouse, Spark; docs/formats/parquet.md")
// clang-format on

#endif // EXPORT_FORMATS_INTERNAL_H
