// SPDX-License-Identifier: Apache-2.0
// Finds the mapped files of a recording that was made earlier or on another machine.

#ifndef REPLAY_MODULE_SEARCH_H
#define REPLAY_MODULE_SEARCH_H

#include "base/arena.h"
#include "base/vec.h"

// The places to search. Unknown folders are "". All zero: only the paths as they were mapped.
typedef struct ModuleSearch {
    bool no_files;        // open no files: only the recording itself is used
    Str sysroot;          // the folder that was "/" for the recorded programs
    Str symfs;            // the same by perf's name for it; searched first
    Str build_id_cache;   // that of perf: ~/.debug
    Str debuginfod_cache; // the folder of debuginfod's client
    // Folders with files under .build-id/xx/yyyy; /usr/lib/debug is always searched.
    const Str *debug_dirs;
    size_t debug_dir_count;
    Str kernel_release; // of the recorded kernel, as uname -r; "" when not known
    // CLOCK_REALTIME of the end of the recording; 0: not known. The file of a mapping without a
    // build-id is accepted when it has not changed since.
    int64_t recorded_at_ns;
} ModuleSearch;

typedef struct ModuleCandidate {
    Str path;
    bool is_certain; // the right file, unless its build-id differs
} ModuleCandidate;

typedef Vec(ModuleCandidate) ModuleCandidateVec;

// Appends the paths at which the object that was mapped from `path` may be, the most likely one
// first. `build_id` is hexadecimal, "" when not known.
void module_candidates(Arena *arena, const ModuleSearch *search, Str path, Str build_id,
                       ModuleCandidateVec *ret);

// The path of perf's copy of /proc/kallsyms for a kernel's build-id. The file need not exist; ""
// without a build-id.
Str module_kallsyms_path(Arena *arena, const ModuleSearch *search, Str build_id);

#endif // REPLAY_MODULE_SEARCH_H
