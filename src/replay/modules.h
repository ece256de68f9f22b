// SPDX-License-Identifier: Apache-2.0
// Modules: the files that code was mapped from. A live recording opens them when they are
// mapped, before anyone can replace them. Unwind tables are made when they are first needed.

#ifndef REPLAY_MODULES_H
#define REPLAY_MODULES_H

#include "elf/build_id.h"
#include "elf/elf.h"
#include "gopclntab/gopclntab.h"
#include "model/profile.h"
#include "os/source_file.h"
#include "perfdata/perf_record.h"
#include "replay/foreign_roots.h"
#include "replay/kernel.h"
#include "replay/module_search.h"
#include "replay/rule_search.h"
#include "runtimes/runtime_kinds.h"
#include "unwind/core.h"
#include "unwind/unwind_table.h"

enum { MODULE_SWITCHES_MAX = 8 };

typedef struct ModuleFile {
    ModuleId id;        // 0 until a frame lies in it: modules_id
    uint32_t owner;     // for generated code (JIT) the process; 0: a file
    uint32_t owner_uid; // the user id of that process when the code was mapped; UINT32_MAX: unknown
    int jit_map;  // descriptor + 1 of the symbol file that the process wrote for its generated
                  // code; it stays open because the process's namespace may end; 0: none
    bool is_dump; // that file is a jitdump
    ModuleKind kind;
    Str path;
    uint64_t hash; // of path and identity
    uint64_t inode;
    Str build_id; // hex
    bool opened;
    bool is_replaced; // the file at the path is not the mapped one
    bool table_tried; // an unwind table was made, or could not be made
    bool is_clock;    // the [vdso]
    Elf elf;
    MappedFile file;
    uint32_t root;     // of the first process that mapped it: foreign_root_of
    UnwindTable table; // size 0: none
    bool search_tried; // `search` was set up
    RuleSearch search; // until there is a table
    // Functions of a Go program that go on on another stack; a walk may end in them.
    UnwindRange stack_switches[MODULE_SWITCHES_MAX];
    size_t stack_switch_count;
    // For generated code without a map: the runtime that generates it, and the option that makes it
    // write a map.
    const RuntimeKind *runtime; // NULL: not known
    uint32_t kind_searches;     // for it, so far
    bool v8_tried;              // V8 was looked for in it
    uint32_t v8_asked;          // addresses of which it was asked whether they are V8's own
    struct V8 *v8;              // NULL: it does not contain V8
} ModuleFile;

// A jit-PID.dump: a process maps it so that perf's records name it.
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
    const ModuleSearch *search; // NULL: a live recording
    Vec(ModuleFile *) files;
    Vec(JitDump) jit_dumps; // a later one of the same process comes later
    U32Vec awaited;         // modules of generated code whose map was not there yet
    Table by_key;
    Table by_path; // rows by the hash of their path; a module that got another path has two
    ForeignRoots roots;
    KernelMap kernel;
    uint32_t replaced; // files that had been replaced when they were opened
    uint32_t narrow;   // programs and libraries of 32 bits, which are not read
    uint32_t missing;  // files that could not be opened
    // Maps of generated code and jitdumps that are not used: why, for the first ones.
    StrVec refused;
    uint32_t refused_count;
    uint64_t table_bytes;
    RuleCache *rules; // NULL: no large module was met yet
} ModuleSet;

// An empty set. Without a `search` the recording is live: /proc leads to the mapped files
// themselves and lists the modules of the kernel. `profile` and `search` are borrowed.
void modules_init(ModuleSet *set, Profile *profile, UnwindArch arch, const ModuleSearch *search);
void modules_deinit(ModuleSet *set);

// The number of the module of a mapping, which an MMAP2 record or /proc described. A new module is
// opened.
uint32_t modules_of_mapping(ModuleSet *set, uint32_t pid, const PerfMmap *m);

// The mapping of that module as the unwinder's address space of the process takes it.
UnwindMapping modules_mapping(ModuleSet *set, uint32_t module, uint32_t pid, const PerfMmap *m);

// The row of a module in the profile, made at the first call. Many runtimes that generate code have
// written their symbol file by then; modules_find_late_maps finds those of the others.
ModuleId modules_id(ModuleSet *set, uint32_t module);

// The bytes for a module of the profile, found by its path and build-id: an opened file as it was
// mapped; for generated code the present text of perf-PID.map, or one made from jit-PID.dump; for
// the kernel its symbols. False when there are none.
bool modules_bytes(const ModuleSet *set, Arena *arena, Str path, Str build_id_hex, Bytes *ret);

// Maps a source file that a module of the profile names, if the module comes from a process with
// another root folder: it is looked for there, and read only if this user or root owns the
// module. SOURCE_ABSENT also for modules of other processes.
SourceAccess modules_source(const ModuleSet *set, Str path, Str build_id_hex, Str source,
                            MappedFile *ret);

// Looks again for the maps of generated code that were not there when a frame first lay in it:
// of one process, for example when it ends, or with 0 of all.
void modules_find_late_maps(ModuleSet *set, uint32_t pid);

// Adds a warning for each refused map of generated code, which another user may have planted.
void modules_note_refused(const ModuleSet *set, Profile *p);

// Adds a note for each process whose generated code has no names although its runtime can write
// them: which runtime it is, and how.
void modules_note_unnamed(const ModuleSet *set, Profile *p);

// Makes or returns the unwind table of a mapping: UnwindSpace.load, with the set as its context.
const UnwindTable *modules_load_table(void *ctx, const UnwindMapping *m);
// The rule at one address of a large module that has no table yet: UnwindSpace.search, with the set
// as its context.
bool modules_search_rule(void *ctx, const UnwindMapping *m, uint64_t svma, UnwindAction *ret);

// A module by the number that modules_of_mapping returned.
static inline ModuleFile *modules_get(const ModuleSet *set, uint32_t module)
{
    assert(module < set->files.len);
    return set->files.at[module];
}

#endif // REPLAY_MODULES_H
