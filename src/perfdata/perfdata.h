// SPDX-License-Identifier: Apache-2.0
// perf.data files, as `perf record` writes them: bytes -> events, features and
// a stream of records. File and pipe form, compressed records.
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

typedef Vec(PerfDataEvent) PerfDataEventVec;
typedef Vec(PerfDataBuildId) PerfDataBuildIdVec;

// What the file says of the recording; "" and 0 when it does not.
typedef struct PerfData {
    bool is_pipe;
    bool is_open_ended; // the data part was never closed: perf was killed
    bool is_cut;        // the file ends before its data part does
    PerfDataEventVec events;
    PerfDataBuildIdVec build_ids;
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

// Whether the bytes begin as perf.data does, of either byte order.
bool perfdata_is(Bytes head);

// Reads headers and features. `file` stays borrowed. In pipe form events and
// features arrive with the records: `info` grows while reading.
// A data part that was never closed (its size is 0: perf was killed) is read up
// to the end of the file.
MUST_CHECK bool perfdata_open(Arena *arena, Bytes file, PerfDataReader **ret, Error *err);
void perfdata_close(PerfDataReader *r); // accepts NULL
const PerfData *perfdata_info(const PerfDataReader *r);

typedef enum PerfDataNext {
    PERFDATA_RECORD,
    PERFDATA_END,
    PERFDATA_CUT,
    PERFDATA_BAD
} PerfDataNext;

// The next record of the kernel's or of the kinds above, those that only carry
// headers, features or compression excepted: they are digested here.
// CUT: the file ends inside a record, `err` says where; all before it was whole.
PerfDataNext perfdata_next(PerfDataReader *r, PerfDataRecord *ret, Error *err);

// The bytes taken so far and in all, for a progress bar.
uint64_t perfdata_position(const PerfDataReader *r);

#endif // PERFDATA_PERFDATA_H
