// SPDX-License-Identifier: Apache-2.0
// The recorded kernel: the kernel module that contains an address, and the symbols that
// belong to that kernel.

#ifndef REPLAY_KERNEL_H
#define REPLAY_KERNEL_H

#include "base/strbuf.h"
#include "model/profile.h"
#include "perfdata/perf_record.h"
#include "replay/module_search.h"

typedef struct KernelModule {
    uint64_t start, end;
    uint64_t shift; // recorded address - address in the symbols
    Str name;
    ModuleId id; // 0 until a frame lies in it
} KernelModule;

typedef struct KernelMap {
    Arena arena;
    Profile *profile;
    const ModuleSearch *search; // NULL: the running kernel
    Vec(KernelModule) modules;  // sorted by start
    bool is_sorted;
    KernelModule kernel; // the kernel itself: addresses outside of all modules
    Str build_id;        // hex; "" when not known
    // A symbol and its recorded address. The kernel lies at another address after every boot; the
    // difference to the address in the symbols is `shift`.
    Str reference;
    uint64_t reference_at;
    bool settled;     // symbols were searched: at the start when live, else for the first frame
    StrBuf late;      // lines as in /proc/kallsyms, for code added during the recording (BPF)
    Str symbols_path; // a file as /proc/kallsyms; "": the symboliser reads /proc, or there is none
    bool is_running;  // the symbols are those of the running kernel
} KernelMap;

// Without a `search` the addresses come from /proc, at once; else from records, by kernel_map_add.
// Both pointers are borrowed.
void kernel_map_init(KernelMap *k, Profile *profile, const ModuleSearch *search);
void kernel_map_deinit(KernelMap *k);

// Adds the mapping of the kernel, or of one of its modules, that perf wrote at the start of the
// recording.
void kernel_map_add(KernelMap *k, const PerfMmap *m);

// Adds code that a KSYMBOL record names: the kernel added or removed it during the recording, so
// that /proc/kallsyms may not have it at the end.
void kernel_map_add_symbol(KernelMap *k, uint64_t address, Str name);
// The text of /proc/kallsyms followed by those symbols. False when there are none, or when the
// kernel hides addresses.
bool kernel_late_symbols(const KernelMap *k, Arena *arena, Bytes *ret);

// The frame of a kernel address, in the row of its module; `flags` are FRAME_*.
FrameId kernel_frame(KernelMap *k, uint64_t pc, uint8_t flags);

// Whether `path` names a module in which kernel_frame has made frames.
bool kernel_has_module(const KernelMap *k, Str path);

// The text of the symbols for the addresses of frames; false when no file belongs to the recorded
// kernel.
bool kernel_symbols(const KernelMap *k, Arena *arena, Bytes *ret);

#endif // REPLAY_KERNEL_H
