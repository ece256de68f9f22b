// SPDX-License-Identifier: Apache-2.0
// Data that the parts of the perf.data importer share.

#ifndef IMPORT_PERF_DATA_INTERNAL_H
#define IMPORT_PERF_DATA_INTERNAL_H

#include "import/import.h"
#include "perfdata/perfdata.h"
#include "perfdata/time_order.h"
#include "replay/consumer.h"

// An event of the file, by its row in PerfData.events.
typedef struct PerfDataSource {
    PerfLayout layout;
    SampleEvent sample;
    bool is_dummy; // carries other records, never a sample
} PerfDataSource;

// A sample whose user call chain comes in a later record.
typedef struct HeldSample {
    uint32_t tid;
    uint32_t event;
    uint64_t cookie;
    Bytes record;
} HeldSample;

typedef struct PerfDataCounts {
    uint64_t malformed;
    uint64_t guest;         // samples of virtual machines' guests
    uint64_t hypervisor;    // samples of the hypervisor
    uint64_t switches;      // records of context switches
    uint64_t text_pokes;    // records of the kernel rewriting its code
    uint64_t trace;         // records of hardware traces (AUX)
    uint64_t unknown;       // records of kinds that we do not know
    uint32_t first_unknown; // the kind of the first of them
    uint64_t no_chain;      // samples whose deferred call chain never came
} PerfDataCounts;

typedef struct PerfDataImport {
    Arena arena;
    const ImportOptions *options;
    ModuleSearch search;
    Profile *profile;
    PerfDataReader *reader;
    const PerfData *info;
    Vec(PerfDataSource) sources; // of the heap
    U64Vec ids;                  // of samples; of the heap
    U32Vec source_of_id;
    Table by_id;
    Table by_path; // rows of info->build_ids
    TimeOrder order;
    Consumer *consumer;   // from the first delivered record on
    PerfSample sample;    // of the record at hand
    Vec(HeldSample) held; // of the heap
    Arena held_bytes;     // their records
    uint64_t start, last; // times of the first and the last record that have one
    bool other_arch;      // one whose stacks we cannot unwind
    bool needs_unwinding; // some event has stacks to unwind
    PerfDataCounts counts;
} PerfDataImport;

// Adds the facts and notes of the file to the profile, after all records were read.
void perf_data_facts(PerfDataImport *in);

// Names places by the symbols that the file itself holds, where nothing else has named them.
void perf_data_embedded_names(PerfDataImport *in);

// The name of an event as the file states it, or by its numbers.
Str perf_data_event_name(Arena *arena, const PerfDataEvent *event);

#endif // IMPORT_PERF_DATA_INTERNAL_H
