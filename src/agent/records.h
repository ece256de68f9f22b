// SPDX-License-Identifier: Apache-2.0
// Writes records to the ring of this process, in the form of perf's (linux/perf_event.h). A
// record for which there is no room is counted as lost.

#ifndef AGENT_RECORDS_H
#define AGENT_RECORDS_H

#include "agent/mappings.h"

// A PERF_RECORD_COMM: the thread has this name; `exec`: the process begins with it.
void record_name(uint32_t pid, uint32_t tid, const char *name, bool exec);
// A PERF_RECORD_MMAP2: MappingNew for mappings_refresh.
void record_mapping(const AgentMapping *m, uint32_t device_major, uint32_t device_minor,
                    const char *path);
// A PERF_RECORD_FORK or PERF_RECORD_EXIT (`type`).
void record_task(uint32_t type, uint32_t pid, uint32_t parent_pid, uint32_t tid,
                 uint32_t parent_tid);

typedef struct SampleRecord {
    uint64_t event_id; // WIRE_EVENT_ID or WIRE_SITE_EVENT_ID
    uint32_t pid, tid;
    uint64_t time_ns;          // CLOCK_MONOTONIC; 0: now
    uint64_t value;            // processor time, ns; of a site its number plus 1
    const UnwindFrame *frames; // innermost first
    uint32_t frame_count;      // at least 1
    UnwindEnd end;
} SampleRecord;

// A PERF_RECORD_SAMPLE; false when there is no room.
bool record_sample(const SampleRecord *s);

#endif // AGENT_RECORDS_H
