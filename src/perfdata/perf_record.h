// SPDX-License-Identifier: Apache-2.0
// The records of a perf ring: bytes -> struct. Trusts nothing: what a ring (or
// a perf.data file) holds may be cut or hostile.
// Format: perf_event_open(2), "MMAP layout"; linux/perf_event.h.

#ifndef PERFDATA_PERF_RECORD_H
#define PERFDATA_PERF_RECORD_H

#include "base/str.h"

#include <linux/perf_event.h>

enum {
    PERF_REGS_MAX = 64,
    PERF_GROUP_MAX = 32, // counters of one group that are kept
};

// What the attributes say about the shape of records. All events of a
// recording share it.
typedef struct PerfLayout {
    uint64_t sample_type;
    uint64_t read_format;
    uint64_t regs_user; // mask
    uint64_t branch_type;
    uint32_t id_all_size; // bytes of sample_id at the end of records other than samples
    uint32_t sample_time; // offset of TIME in a sample record, 0: has none
    uint32_t id_all_time; // offset of TIME from the record's end, 0: has none
    uint32_t fixed_size;  // of a sample's fields up to and without READ
} PerfLayout;

PerfLayout perf_layout(const struct perf_event_attr *attr);

// A list of u64 in the record, not aligned.
typedef struct U64List {
    const uint8_t *ptr;
    size_t count;
} U64List;

static inline uint64_t u64_list_get(U64List l, size_t i)
{
    uint64_t v;
    memcpy(&v, l.ptr + i * 8, 8);
    return v;
}

// Of kernels newer than our headers: the user part of a call chain is taken at
// the return to user space, in a record of its own. The mark in the sample's
// chain is followed by a cookie that both have.
#define PERF_CHAIN_USER_DEFERRED ((uint64_t)-640)
enum { PERF_RECORD_CHAIN_DEFERRED = 22 };

typedef struct PerfGroupValue {
    uint64_t id;
    uint64_t value;
} PerfGroupValue;

typedef struct PerfSample {
    uint64_t ip;
    uint64_t addr;
    uint64_t period;
    uint64_t read_count; // of the values below
    PerfGroupValue read[PERF_GROUP_MAX];
    uint64_t time_enabled, time_running; // 0 when not in the read format
    U64List callchain;
    U64List deferred; // the chain's user part, if it came later: the caller's to fill
    Bytes raw;
    uint64_t branch_count;
    const uint8_t *branches;      // perf_branch_entry, 24 bytes each
    uint64_t regs_abi;            // PERF_SAMPLE_REGS_ABI_*; 0: no user registers
    uint64_t regs[PERF_REGS_MAX]; // by register number, 0 where not in the mask
    Bytes stack;                  // the user stack from sp upwards, as much as was copied
    bool stack_cut;               // the room for it was filled: the stack goes on
} PerfSample;

typedef struct PerfMmap {
    uint32_t pid, tid;
    uint64_t start, len, page_offset;
    uint32_t major, minor; // 0 when the record carries a build-id instead
    uint64_t inode;
    Bytes build_id; // empty when it carries the inode
    uint32_t prot, flags;
    bool exec; // PROT_EXEC
    Str path;
} PerfMmap;

typedef struct PerfRecord {
    uint32_t type; // PERF_RECORD_*
    uint16_t misc;
    // From the sample or its sample_id; 0 where not recorded.
    uint32_t pid, tid, cpu;
    uint64_t time;
    uint64_t id;
    union {
        PerfSample *sample; // the caller's, filled for PERF_RECORD_SAMPLE
        PerfMmap mmap;      // MMAP, MMAP2
        struct {
            uint32_t pid, tid;
            Str name;
            bool exec;
        } comm;
        struct {
            uint32_t pid, parent_pid, tid, parent_tid;
            uint64_t time;
        } task; // FORK, EXIT
        struct {
            uint64_t lost;
        } lost; // LOST, LOST_SAMPLES
        struct {
            bool out, preempted;
        } context_switch;
        struct {
            uint64_t cookie;
            U64List chain;
        } deferred; // CHAIN_DEFERRED
        struct {
            uint64_t address;
            uint32_t len;
            uint16_t symbol_type, flags;
            Str name;
        } ksymbol;
    } u;
} PerfRecord;

// Parses one record, header included. `sample` is where a sample goes. The
// result borrows `record`. False for what is malformed; types not listed above
// are true with only the common fields set.
MUST_CHECK bool perf_record_parse(const PerfLayout *layout, Bytes record, PerfSample *sample,
                                  PerfRecord *ret);

// The time of a record alone; 0 when it has none.
uint64_t perf_record_time(const PerfLayout *layout, Bytes record);

// For a drain that leaves out what the kernel only reserved: where in a sample
// record the user stack lies. `head` is the record's beginning, at least its
// fields before the stack. False when the record has no stack part or `head`
// does not reach it.
typedef struct PerfStackPart {
    uint32_t size_at; // offset of the u64 size; the bytes follow it
    uint32_t size;    // reserved; after the bytes comes a u64 with the size copied
} PerfStackPart;
MUST_CHECK bool perf_sample_stack_part(const PerfLayout *layout, Bytes head, uint32_t record_size,
                                       PerfStackPart *ret);

#endif // PERFDATA_PERF_RECORD_H
