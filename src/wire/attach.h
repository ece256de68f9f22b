// SPDX-License-Identifier: Apache-2.0
// What the collector and the agent tell each other while the agent is put into a process that runs
// already. The collector maps the agent's image there, writes a request beside it, and lets one
// thread run the image's entry with the request as its argument.

#ifndef WIRE_ATTACH_H
#define WIRE_ATTACH_H

#include "wire/entries.h"

enum {
    WIRE_ATTACH_FOLDER = 256,
    WIRE_THREAD_BYTES = 256, // of a WireThread
    WIRE_THREADS_MAX = 1 << 14,
    WIRE_TLS_BYTES = 240,       // of thread-local variables of the agent
    WIRE_ATTACH_MAPS = 1 << 15, // mappings of the agent that it can keep account of
    WIRE_ATTACH_FILES = 16,
};

typedef enum WireAttachStatus {
    WIRE_ATTACH_NONE, // the entry has not run
    WIRE_ATTACH_DONE,
    WIRE_ATTACH_NO_MEMORY,
    WIRE_ATTACH_NO_SESSION, // the folder of the session cannot be used from there
    WIRE_ATTACH_NO_HEAP,    // there is no room for the account (ulimit -v, a full file system)
    WIRE_ATTACH_NO_ENTRIES  // the functions are not where the file says, or out of reach
} WireAttachStatus;

// A thread of the program, found by its thread pointer: the agent has no thread-local data of the
// dynamic linker's there.
typedef struct WireThread {
    _Atomic uint64_t pointer; // its thread pointer; 0: free
    _Atomic uint32_t inside;  // calls of hooks that have not returned
    uint32_t tid;
    uint8_t tls[WIRE_TLS_BYTES];
} WireThread;

enum { WIRE_THREAD_PROBES = 64 };

// The row where the search for a thread pointer begins; it goes on for WIRE_THREAD_PROBES rows.
static inline uint32_t wire_thread_row(uint64_t pointer)
{
    return (uint32_t)(pointer * 0x9e3779b97f4a7c15ull >> 40) & (WIRE_THREADS_MAX - 1);
}

_Static_assert(sizeof(WireThread) == WIRE_THREAD_BYTES, "whole cache lines");

typedef struct WireAttachMap {
    uint64_t at, size; // 0: none
} WireAttachMap;

// Where a jump from an entry has to lead; entry 0: it cannot be hooked.
typedef struct WirePlaced {
    uint64_t entry, place;
} WirePlaced;

typedef struct WireAttach {
    // The collector's.
    char folder[WIRE_ATTACH_FOLDER];
    uint32_t tid_offset;   // from the thread pointer to the thread's id; 0: not known
    uint32_t granule_bits; // no two blocks begin within the same 2^bits bytes
    // The agent's.
    uint32_t status;  // WireAttachStatus
    uint32_t count;   // of `placed`: as of the entries in the session's folder
    uint64_t threads; // address of WIRE_THREADS_MAX WireThreads
    uint64_t others;  // … of a u32: calls of hooks on threads for which there was no room
    uint64_t maps;    // … of WIRE_ATTACH_MAPS WireAttachMaps: what is to be unmapped at the end
    uint64_t files;   // … of WIRE_ATTACH_FILES i32: descriptors to be closed, plus 1
    uint64_t places, places_end;
    WirePlaced placed[WIRE_ENTRIES_MAX];
} WireAttach;

#endif // WIRE_ATTACH_H
