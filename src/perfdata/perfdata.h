// SPDX-License-Identifier: Apache-2.0
// Reads perf.data files, as `perf record` writes them: events, features and the stream of
// records. File form and pipe form, also with compressed records.
// Format: linux tools/perf/Documentation/perf.data-file-format.txt.

#ifndef PERFDATA_PERFDATA_H
#define PERFDATA_PERFDATA_H

#include "base/error.h"
#include "base/vec.h"

#include <linux/perf_event.h>

// Records that perf adds to those of the kernel.
typedef enum PerfDataRecordType {
    PERFDATA_HEADER_ATTR = 64,
    PERFDATA_EVENT_TYPE = 65,
    PERFDATA_TRACING_DATA = 66,
    PERFDATA_BUILD_ID = 67,
    PERFDATA_FINISHED_ROUND = 68,
    PERFDATA_ID_INDEX = 69,
    PERFDATA_AUXTRACE_INFO = 70,
    PERFDATA_AUXTRACE = 71,
    PERFDATA_AUXTRACE_ERROR = 72,
    PERFDATA_THREAD_MAP = 73,
    PERFDATA_EVENT_UPDATE = 78,
    PERFDATA_TIME_CONV = 79,
    PERFDATA_HEADER_FEATURE = 80,
    PERFDATA_COMPRESSED = 81,
    PERFDATA_FINISHED_INIT = 82,
    PERFDATA_COMPRESSED2 = 83,
} PerfDataRecordType;

typedef struct PerfDataEvent {
    struct perf_event_attr attr; // fields that the file does not have are 0
    U64Vec ids;                  // sample ids that belong to it; empty when the file has one event
    Str name;                    // "cpu-clock:u"; "" when the file does not say
} PerfDataEvent;

typedef struct PerfDataBuildId {
    uint32_t pid;  // UINT32_MAX: the kernel's, or any process
    uint16_t misc; // PERF_RECORD_MISC_* cpu mode
    Bytes id;
    Str path;
} PerfDataBuildId;

typedef struct PerfDataSymbol {
    uint64_t address; // as stated in the file; the kernel's own
    uint32_t size;    // bytes; 0 when not known
    Str name;
} PerfDataSymbol;

// A file with the symbols that the recorder found in it: simpleperf keeps them.
typedef struct PerfDataFile {
    Str path;
    uint32_t kind;          // simpleperf's DsoType
    uint64_t first_address; // of its first code segment, as stated in the file …
    uint64_t first_offset;  // … and where that stands in the file
    Vec(PerfDataSymbol) symbols;
} PerfDataFile;

typedef Vec(PerfDataFile) PerfDataFileVec;
typedef Vec(PerfDataEvent) PerfDataEventVec;
typedef Vec(PerfDataBuildId) PerfDataBuildIdVec;

// The description of the recording in the file; "" and 0 for missing parts.
typedef struct PerfData {
    bool is_pipe;
    bool is_open_ended; // the data part has no end, because perf was killed
    bool is_cut;        // the file ends within its data part
    PerfDataEventVec events;
    PerfDataBuildIdVec build_ids;
    PerfDataFileVec files; // with symbols, of simpleperf
    Str hostname, os_release, perf_version, arch, cpu_description;
    StrVec command;
    uint32_t cpus_online;
    uint64_t first_sample_ns, last_sample_ns;
    bool has_clock_data;         // the two below are one moment
    uint64_t clock_realtime_ns;  // CLOCK_REALTIME
    uint64_t clock_reference_ns; // the clock of the samples
} PerfData;

// One record of the data: header included, as the kernel lays it out. Borrowed
// until the next call, or from the file.
typedef struct PerfDataRecord {
    uint32_t type;
    uint16_t misc;
    bool in_file; // `bytes` stay: they lie in the file itself
    Bytes bytes;
    uint64_t offset; // in the file, of the record or of the compressed one around it
} PerfDataRecord;

typedef struct PerfDataReader PerfDataReader;

// Whether the bytes start with the magic number of perf.data, in either byte order.
bool perfdata_is(Bytes head);

// Reads headers and features. `file` must outlive the reader. In pipe form events and features
// come between the records, so that perfdata_info grows while records are read. A data part
// without an end (its size is 0 because perf was killed) is read to the end of the file.
MUST_CHECK bool perfdata_open(Arena *arena, Bytes file, PerfDataReader **ret, Error *err);
void perfdata_close(PerfDataReader *r); // accepts NULL

// Further records, which follow those of the file: perf record --threads writes a folder with a
// file of records, without a header, for each of its threads. They are not in the order of time.
// `streams` and their bytes must outlive the reader.
void perfdata_add_streams(PerfDataReader *r, const Bytes *streams, size_t count);

// The description read so far; borrowed from the reader.
const PerfData *perfdata_info(const PerfDataReader *r);

typedef enum PerfDataNext {
    PERFDATA_RECORD,
    PERFDATA_END,
    PERFDATA_CUT,
    PERFDATA_BAD
} PerfDataNext;

// Reads the next record: one of the kernel or of the types above. Records of headers, features and
// compression are processed here and not returned. PERFDATA_CUT: the file ends inside a record,
// and `err` says where; all records before were complete. PERFDATA_BAD: `err` says what is wrong.
PerfDataNext perfdata_next(PerfDataReader *r, PerfDataRecord *ret, Error *err);

// The number of bytes of the file that have been read, for a progress bar.
uint64_t perfdata_position(const PerfDataReader *r);

#endif // PERFDATA_PERFDATA_H
