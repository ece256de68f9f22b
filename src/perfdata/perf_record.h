// SPDX-License-Identifier: Apache-2.0
// Parses the records of a perf ring buffer or a perf.data file. They are not trusted: bytes
// may be cut or hostile.
// Format: perf_event_open(2), "MMAP layout"; linux/perf_event.h.

#ifndef PERFDATA_PERF_RECORD_H
#define PERFDATA_PERF_RECORD_H

#include "base/str.h"

#include <linux/perf_event.h>

enum {
    PERF_REGS_MAX = 64,
    PERF_GROUP_MAX = 32, // counters of one group that are kept
};

// The layout of records, which the attributes of the events determine. All events of a recording
// share it.
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

// The layout for events with these attributes.
PerfLayout perf_layout(const struct perf_event_attr *attr);

// A list of u64 in the record, not aligned.
typedef struct U64List {
    const uint8_t *ptr;
    size_t count;
} U64List;

// Number i < count of the list.
static inline uint64_t u64_list_get(U64List l, size_t i)
{
    uint64_t v;
    memcpy(&v, l.ptr + i * 8, 8);
    return v;
}

// Newer kernels than our headers can unwind the user part of a call chain later, at the return to
// user space, and write it in a record of its own. The chain of the sample then has this mark and
// a cookie, which the later record repeats.
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
    U64List deferred; // the user part of the chain, if it came later; set by the caller
    Bytes raw;
    uint64_t branch_count;
    const uint8_t *branches;      // perf_branch_entry, 24 bytes each
    uint64_t regs_abi;            // PERF_SAMPLE_REGS_ABI_*; 0: no user registers
    uint64_t regs[PERF_REGS_MAX]; // by register number, 0 where not in the mask
    Bytes stack;                  // the copied part of the user stack, from sp upwards
    bool stack_cut;               // the copy filled its room: the stack continues
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

// Parses one record, header included. A sample is written to `*sample`. The result borrows
// `record`. False when the record is malformed. For a type that is not listed above only the
// common fields are set.
MUST_CHECK bool perf_record_parse(const PerfLayout *layout, Bytes record, PerfSample *sample,
                                  PerfRecord *ret);

// Only the time of a record; 0 when it has none.
uint64_t perf_record_time(const PerfLayout *layout, Bytes record);

typedef struct PerfStackPart {
    uint32_t size_at; // offset of the u64 size; the bytes follow it
    uint32_t size;    // reserved; after the bytes comes a u64 with the size copied
} PerfStackPart;
// Finds the user stack in a sample record, for a reader that skips the bytes which the kernel
// reserved but did not fill. `head` is the beginning of the record, at least the fields before the
// stack. False when the record has no stack, or `head` is too short.
MUST_CHECK bool perf_sample_stack_part(const PerfLayout *layout, Bytes head, uint32_t record_size,
                                       PerfStackPart *ret);

#endif // PERFDATA_PERF_RECORD_H
