// SPDX-License-Identifier: Apache-2.0
// Loads BPF programs that tools/bpf-programs has compiled, and attaches them to tracepoints of the
// kernel. Needs CAP_BPF and CAP_PERFMON, and a kernel that describes its types (BTF).

#ifndef COLLECT_BPF_BPF_H
#define COLLECT_BPF_BPF_H

#include <linux/perf_event.h>

#include "base/error.h"

// A place in a program that gets the address of a map.
typedef struct BpfPlace {
    uint32_t at;  // number of the instruction
    uint32_t map; // number of the map
} BpfPlace;

enum { BPF_PARTS_MAX = 4 };

// One program.
typedef struct BpfCode {
    const char *tracepoint;
    const uint64_t *code; // struct bpf_insn
    uint32_t len;
    const BpfPlace *places;
    uint32_t place_count;
    // The first instruction of each function that bpf_loop calls, in order; 0: there are no more.
    uint32_t parts[BPF_PARTS_MAX];
} BpfCode;

// The programs of one source file.
typedef struct BpfObject {
    const BpfCode *programs;
    uint32_t count;
} BpfObject;

// A map, as programs refer to it.
typedef struct BpfMap {
    int fd;
    bool direct; // programs have the address of its first value, not of the map
} BpfMap;

// Makes an array of `entries` values. Returns the descriptor, or -1 with errno. `flags` are those
// of BPF_MAP_CREATE.
int bpf_array_make(uint32_t value_bytes, uint32_t entries, uint32_t flags);
// Makes an array of perf events, one for each of `cpus`.
int bpf_event_array_make(uint32_t cpus);
// Makes an array of programs, for calls that do not return.
int bpf_program_array_make(uint32_t entries);
// Sets an element. False with errno.
bool bpf_element_set(int map, uint32_t key, const void *value);
// From now on the map cannot be changed, and the kernel treats its values as constants. False with
// errno.
bool bpf_freeze(int map);

// The attributes of the events through which programs write records into the rings of a recording,
// whose own events have those of `base`.
struct perf_event_attr bpf_output_attr(const struct perf_event_attr *base);
// Opens such an event on each of `count` CPUs, directs it into the ring of that CPU, and makes it
// the CPU's element of an array of events. Fills the descriptors and the numbers that their records
// state; `*opened` is how many there are, also on false, with errno.
bool bpf_outputs_open(const struct perf_event_attr *attr, const uint32_t *cpus, const int *ring_fds,
                      size_t count, int array, int *fds, uint64_t *ids, size_t *opened);

// A file of types of the kernel, opened.
typedef struct BpfTypes BpfTypes;

// Where the running kernel describes its types, if it does.
#define BPF_TYPES_PATH "/sys/kernel/btf/vmlinux"
// Reads a file of types into heap memory. Fails where there is none, and where it is damaged.
MUST_CHECK bool bpf_types_open(const char *path, BpfTypes **ret, Error *err);
void bpf_types_close(BpfTypes *t); // accepts NULL
// The offset in bytes of a member of a structure of the kernel. False when there is none, and for
// bit fields.
bool bpf_types_offset(const BpfTypes *t, const char *structure, const char *member, uint32_t *ret);
// The type of a tracepoint, and the number of its arguments. 0 when there is none.
uint32_t bpf_types_tracepoint(const BpfTypes *t, const char *name, uint32_t *args);

// Loads one program of the object and attaches it to its tracepoint, until both descriptors that
// are appended to `fds`, an array with room for two, are closed. Returns how many were appended: 0
// with `err` on failure. Programs begin to run at once.
uint32_t bpf_attach(const BpfCode *code, const BpfMap *maps, const BpfTypes *types, int *fds,
                    Error *err);
// Loads a program that runs at the samples of perf events, or, from a section "kprobe", at the hits
// of probes. Returns its descriptor, or -1 with `err`.
int bpf_load_for_samples(const BpfCode *code, const BpfMap *maps, Error *err);
// Instructions of one file at which a program of a section "uprobe" runs.
typedef struct BpfUserPlaces {
    const char *path;        // of the file, as this process opens it
    const uint64_t *offsets; // in the file
    const uint64_t *cookies; // for each place; the program can ask for it
    uint32_t count;
    bool at_return; // when the functions that begin there have returned
} BpfUserPlaces;
// Loads such a program. Returns its descriptor, or -1 with `err`.
int bpf_load_for_places(const BpfCode *code, const BpfMap *maps, Error *err);
// Lets it run at the places, in all processes, until the descriptor that is returned is closed. -1
// with `err`: kernels before 6.6 cannot.
int bpf_attach_to_places(int program, const BpfUserPlaces *places, Error *err);
// Lets a program of the second kind run at a probe, also while its event is disabled, until the
// descriptor that is returned is closed. The program can ask for the cookie. -1 with errno.
int bpf_attach_to_event(int program, int event, uint64_t cookie);

#endif // COLLECT_BPF_BPF_H
