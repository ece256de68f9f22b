// SPDX-License-Identifier: Apache-2.0
// The ring of records that an agent in the observed program shares with the collector, and the
// page of the session that all agents of a recording share. The records have the form of
// perf's (linux/perf_event.h), so that one reader serves for both.

#ifndef WIRE_RING_H
#define WIRE_RING_H

#include "base/defs.h"

#include <linux/perf_event.h>
#include <stdatomic.h>

enum {
    WIRE_VERSION = 3,
    WIRE_PAGE = 4096,
    WIRE_EVENT_ID = 1, // of the one event: processor time
    // A sample's layout, from which `perf_layout` derives that of all records.
    WIRE_SAMPLE_TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
                       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW,
    // The raw part of a sample is one u32: its low byte is an UnwindEnd; above it stands 1 + the
    // number of the first frame that was guessed, or 0.
    WIRE_RAW_BYTES = 4,
    WIRE_RAW_GUESSED_SHIFT = 8,
    // In the call chain, PERF_CONTEXT_USER stands before every frame whose address is exact.
    WIRE_FRAMES_MAX = 1024,
    WIRE_NAME_MAX = 64, // of a file in the session's folder, with its NUL
};

// attr.config1 of the event: tells its samples from those of a kernel. "assay-01".
#define WIRE_ATTR_MARK     0x31302d7961737361ull
#define WIRE_RING_MAGIC    0x676e697279617361ull // "asayring"
#define WIRE_SESSION_MAGIC 0x7373657379617361ull // "asaysess"
#define WIRE_SESSION_FILE  "session"
#define WIRE_LIBRARY_FILE  "libassay.so"

typedef enum WireState {
    WIRE_WAITING, // no samples yet
    WIRE_SAMPLING,
    WIRE_OVER // no more samples: agents delete their timers
} WireState;

// The file WIRE_SESSION_FILE beside the library that was preloaded. Agents only read it.
typedef struct WireSession {
    uint64_t magic;
    uint32_t version;
    _Atomic uint32_t state; // WireState
    uint64_t period_ns;     // of processor time of a thread, from sample to sample; 0: no samples
    uint64_t ring_bytes;    // of the records of one ring: a power of two, at least a page
    // What agents record; all but the first are as in WireHeap (wire/heap.h).
    uint32_t notes_heap;     // 1: of the heap
    uint32_t notes_mappings; // 1: and of mappings, too
    uint32_t clock_kind;
    uint32_t timer_floor; // timer's units between two readings at once
    uint64_t short_lived;
    uint64_t sample_bytes; // 0: each block is noted
    double timer_ns;
} WireSession;

// The first page of a ring's file, PID-NUMBER. Behind it lie `size` bytes of records, which both
// sides map twice in a row, so that no record is cut at the end. Several threads write: each
// reserves its part by moving `head`, and stores the header's type last. A type of 0 is a record
// that is being written. The reader clears the records that it has read before it moves `tail`.
typedef struct WireRing {
    uint64_t magic;
    uint32_t version;
    uint32_t pid;
    uint64_t size; // a power of two
    uint64_t started_ns;
    _Alignas(64) _Atomic uint64_t head; // bytes reserved since the start
    _Alignas(64) _Atomic uint64_t tail; // bytes read since the start
    _Alignas(64) _Atomic uint64_t lost; // samples for which there was no room
    _Atomic uint64_t counted_ns;        // processor time for which samples stand
    _Atomic uint64_t untimed_threads;   // threads for which no timer was to be had
    _Atomic uint64_t samples;           // written
} WireRing;

#endif // WIRE_RING_H
