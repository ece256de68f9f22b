// SPDX-License-Identifier: Apache-2.0
// The kernel that was recorded: which of its modules an address lies in, and
// where the names of its addresses are.

#ifndef REPLAY_KERNEL_H
#define REPLAY_KERNEL_H

#include "base/strbuf.h"
#include "model/profile.h"
#include "perfdata/perf_record.h"
#include "replay/module_search.h"

typedef struct KernelModule {
    uint64_t start, end;
    uint64_t shift; // recorded address - address that the symbols are for
    Str name;
    ModuleId id; // 0 until a frame lies in it
} KernelModule;

typedef struct KernelMap {
    Arena arena;
    Profile *profile;
    const ModuleSearch *search; // NULL: the running kernel
    Vec(KernelModule) modules;  // sorted by start
    bool is_sorted;
    KernelModule kernel; // what lies in no module
    Str build_id;        // hex; "" when not known
    // A symbol and where it was: the kernel moves with every boot.
    Str reference;
    uint64_t reference_at;
    bool settled;
    StrBuf late;      // lines as of /proc/kallsyms for code that came up meanwhile (BPF programs)
    Str symbols_path; // a text as /proc/kallsyms; "": the symboliser asks /proc, or there is none
    bool is_running;  // the text is the running kernel's own
} KernelMap;

// With a `search` the maps come from records, else from /proc, now.
void kernel_map_init(KernelMap *k, Profile *profile, const ModuleSearch *search);
void kernel_map_deinit(KernelMap *k);

// A mapping of the kernel or of one of its modules, as perf notes them at its start.
void kernel_map_add(KernelMap *k, const PerfMmap *m);

// Code that the running kernel made or took away, as KSYMBOL tells: it may be gone
// from /proc/kallsyms at the end.
void kernel_map_add_symbol(KernelMap *k, uint64_t address, Str name);
// /proc/kallsyms with these; false when there are none, or addresses are hidden.
bool kernel_late_symbols(const KernelMap *k, Arena *arena, Bytes *ret);

FrameId kernel_frame(KernelMap *k, uint64_t pc, uint8_t flags);

// Whether it is a module that kernel_frame has put frames in.
bool kernel_has_module(const KernelMap *k, Str path);

// The names for the frames' addresses; false when none fit the recorded kernel.
bool kernel_symbols(const KernelMap *k, Arena *arena, Bytes *ret);

#endif // REPLAY_KERNEL_H
