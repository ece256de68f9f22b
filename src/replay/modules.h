// SPDX-License-Identifier: Apache-2.0
// The objects that code was mapped from: found while the process lives, opened
// before anyone can replace them, with their unwind tables on demand.

#ifndef REPLAY_MODULES_H
#define REPLAY_MODULES_H

#include "elf/build_id.h"
#include "elf/elf.h"
#include "model/profile.h"
#include "os/file.h"
#include "perfdata/perf_record.h"
#include "replay/kernel.h"
#include "replay/module_search.h"
#include "unwind/core.h"
#include "unwind/unwind_table.h"

typedef struct ModuleFile {
    ModuleId id;    // 0 until a frame lies in it: modules_id
    uint32_t owner; // the process whose generated code this is; 0: a file
    int jit_map;    // descriptor + 1 of a runtime's map, kept open: its namespace may end; 0: none
    bool is_dump;   // … which is a jitdump
    ModuleKind kind;
    Str path;
    uint64_t hash; // of path and identity
    uint64_t inode;
    Str build_id; // hex
    bool opened;
    bool is_replaced; // there is a file, but it is not the mapped one
    bool table_tried;
    bool is_clock; // stands for [vdso]
    Elf elf;
    MappedFile file;
    UnwindTable table; // size 0: none
} ModuleFile;

// A jit-PID.dump that a process mapped to tell of it.
typedef struct JitDump {
    uint32_t pid;
    int fd;
    Str path;
} JitDump;

typedef struct ModuleSet {
    Arena arena;
    Arena tables; // unwind tables, in huge pages
    Profile *profile;
    UnwindArch arch;
    const ModuleSearch *search; // NULL: mapped on this machine, now
    Vec(ModuleFile *) files;
    Vec(JitDump) jit_dumps; // the newest of a process last
    Table by_key;
    KernelMap kernel;
    uint32_t replaced; // files that were not the mapped ones any more
    uint32_t missing;  // files that could not be opened
    uint64_t table_bytes;
} ModuleSet;

// Without a `search` what is mapped is mapped on this machine, now: /proc leads
// to the very files, and to the kernel's modules. It is borrowed.
void modules_init(ModuleSet *set, Profile *profile, UnwindArch arch, const ModuleSearch *search);
void modules_deinit(ModuleSet *set);

// The module of a mapping as MMAP2 or /proc told of it; new ones are opened.
uint32_t modules_of_mapping(ModuleSet *set, uint32_t pid, const PerfMmap *m);

// What to put into the process's space for it.
UnwindMapping modules_mapping(ModuleSet *set, uint32_t module, uint32_t pid, const PerfMmap *m);

// Its row in the profile, made at first use: by then a runtime that generates
// code has written its map.
ModuleId modules_id(ModuleSet *set, uint32_t module);

// The bytes of an opened file as it was mapped, the text of perf-PID.map of
// generated code as it is now (made of jit-PID.dump where there is one), or the symbols of the
// recorded kernel, by the path and build-id in the profile.
bool modules_bytes(const ModuleSet *set, Arena *arena, Str path, Str build_id_hex, Bytes *ret);

// UnwindSpace.load, with the set as its context.
const UnwindTable *modules_load_table(void *ctx, const UnwindMapping *m);

static inline ModuleFile *modules_get(const ModuleSet *set, uint32_t module)
{
    assert(module < set->files.len);
    return set->files.at[module];
}

#endif // REPLAY_MODULES_H
