// SPDX-License-Identifier: Apache-2.0
// Translates event names to the numbers of perf_event_open(2). The language is that of perf's -e:
//   cycles  cpu-clock:u  r01c2  cpu/event=0x3c,umask=0x1/  sched:sched_switch
//   'sched:sched_switch prev_pid next_pid'   (some of the fields of a tracepoint)
//   mem:0x1000/4:rw  L1-dcache-load-misses  {cycles,instructions}:S
// Names of a PMU come from /sys/bus/event_source, tracepoints from tracefs.

#ifndef OS_EVENT_H
#define OS_EVENT_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

#include <linux/perf_event.h>

#define EVENT_NO_GROUP UINT32_MAX

enum { EVENT_FIELDS_MAX = 16 }; // so many fields of a tracepoint are taken

// Where a sample has the value of an argument of a probe or of a tracepoint's field. Registers have
// perf's numbers.
typedef enum EventArgKind {
    EVENT_ARG_REGISTER, // the register + `offset`
    EVENT_ARG_STACK, // memory at the register's value + offset, which must be in the copied stack
    EVENT_ARG_RAW,   // `offset` bytes into the record of a tracepoint
    EVENT_ARG_CONSTANT, // `offset` itself
    EVENT_ARG_TEXT      // the text at the register's value + `offset`, read at the hit
} EventArgKind;

typedef struct EventArg {
    Str name;
    EventArgKind kind;
    uint8_t reg;
    uint8_t size; // bytes: 1, 2, 4 or 8
    bool is_signed;
    int64_t offset;
    // Of a text: its address is not in the register but in memory, at the register's value +
    // `pointer_offset`.
    bool by_pointer;
    int64_t pointer_offset;
} EventArg;

typedef struct EventSpec {
    Str name; // as the user wrote it, without its group's braces: "cycles:u"
    uint32_t type;
    uint64_t config, config1, config2;
    uint32_t bp_type; // breakpoints
    uint64_t bp_addr, bp_len;
    // Modifiers. With none of u, k, h given, all of these are false.
    bool exclude_user, exclude_kernel, exclude_hv, exclude_guest, exclude_host;
    bool pinned;
    uint8_t precise;   // 0–3, the number of 'p'
    bool precise_most; // 'P': as precise as the machine can
    uint64_t period;   // from period=, 0: the recording's
    uint64_t freq;     // from freq=, 0: the recording's
    uint32_t group;    // equal numbers are one group, the first is its leader
    bool group_read;   // ':S': only the leader samples, the others are read with it
    bool counts_each;  // each occurrence is a sample, unless the recording has a period or a rate
    bool is_probe;     // a place in a program; config1 is the address of its path
    bool is_kernel_function; // config1 is the address of its name
    bool at_return;          // of a probe: by the kernel's trampoline, seen in the caller
    uint64_t svma;           // of a probe: its place as stated in the file
    bool is_emulated;        // of a probe: the kernel need not single-step the instruction there
    const EventArg *args;    // of a probe or a tracepoint
    size_t arg_count;
    Str fields; // of a tracepoint: the names that stand behind it; "": all
    Str filter; // of a tracepoint: only what it lets through is a sample; "": none
    Str unit;   // of its count or period: "ns" for clocks, else ""
} EventSpec;

typedef Vec(EventSpec) EventSpecVec;

// Where names are looked up; tests point these at folders of their own.
typedef struct EventSources {
    Str sysfs;   // "/sys/bus/event_source/devices"
    Str tracefs; // "/sys/kernel/tracing"; "" when it is not mounted
    // For names that none of the above knows (libpfm4); NULL when there is none.
    bool (*find_other)(Arena *arena, Str name, EventSpec *ret);
    // For places in programs; NULL when there are none. `*is_probe` becomes whether the text is
    // one; when it is not, the result is true and nothing was appended.
    bool (*find_probe)(void *ctx, Arena *arena, Str text, bool *is_probe, EventSpecVec *ret,
                       Error *err);
    void *probe_ctx;
} EventSources;

// The machine's own: finds tracefs where it is mounted, and libpfm4 when it is
// installed.
EventSources event_sources_default(void);

// Appends the events of one -e argument. The error names the part of the text that is wrong.
MUST_CHECK bool events_parse(Arena *arena, const EventSources *src, Str text, EventSpecVec *ret,
                             Error *err);

// Whether the kernel reads the name of its place from the memory of the process that opens the
// event: threads of other programs cannot inherit it.
static inline bool event_is_place(const EventSpec *spec)
{
    return spec->is_probe || spec->is_kernel_function;
}

// True for cpu-clock and task-clock, which count time in nanoseconds.
bool event_is_clock(const EventSpec *spec);

// A field of a PMU's `format` folder: which bits of which config word it fills.
enum { PMU_FIELD_RANGES = 8 };
typedef struct PmuField {
    uint8_t word; // 0: config, 1: config1, 2: config2
    uint8_t range_count;
    struct {
        uint8_t low, high; // bits, inclusive
    } ranges[PMU_FIELD_RANGES];
} PmuField;

// "config:0-7,32-35".
MUST_CHECK bool pmu_field_parse(Str text, PmuField *ret);
// Spreads a value over the field's bits. False when the value is too large.
MUST_CHECK bool pmu_field_put(const PmuField *field, uint64_t value, uint64_t config[3]);

// Writes an event to an attr whose other fields hold the settings of the recording, or zero.
void event_spec_apply(const EventSpec *spec, struct perf_event_attr *attr);

// One of the software and hardware events that the kernel knows by number.
typedef struct EventName {
    const char *name;
    const char *alias; // NULL: none
    uint32_t type;
    uint64_t config;
} EventName;
// The table of them, static, with `*count` rows.
const EventName *event_names(size_t *count);
// The kernel's own name of an event: "cycles" for "cpu-cycles:u". "" for an event that is
// neither a software, a hardware nor a cache event.
Str event_kernel_name(Arena *arena, const EventSpec *spec);
// Appends the names of the cache events, without combinations that no processor has:
// "L1-dcache-load-misses".
void event_cache_names(Arena *arena, StrVec *ret);

#endif // OS_EVENT_H
