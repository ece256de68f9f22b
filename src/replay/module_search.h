// SPDX-License-Identifier: Apache-2.0
// Where the files of a recording that was made earlier, or elsewhere, may be.

#ifndef REPLAY_MODULE_SEARCH_H
#define REPLAY_MODULE_SEARCH_H

#include "base/arena.h"
#include "base/vec.h"

// Folders that are not known are "". All zero: the mapped paths alone.
typedef struct ModuleSearch {
    bool no_files;        // look nowhere: what is not in the recording stays unknown
    Str sysroot;          // what the recorded programs saw as "/"
    Str symfs;            // the same by perf's name; asked first
    Str build_id_cache;   // perf's: ~/.debug
    Str debuginfod_cache; // of debuginfod's client
    // Files in a folder's .build-id/xx/yyyy; /usr/lib/debug is always asked.
    const Str *debug_dirs;
    size_t debug_dir_count;
    Str kernel_release; // of the recorded kernel, as uname -r; "" when not known
    // CLOCK_REALTIME of the recording's end; 0: not known. A mapping without
    // build-id is believed to be of a file that has not changed since.
    int64_t recorded_at_ns;
} ModuleSearch;

typedef struct ModuleCandidate {
    Str path;
    bool is_certain; // it is the right one unless build-ids tell otherwise
} ModuleCandidate;

typedef Vec(ModuleCandidate) ModuleCandidateVec;

// Paths where the object mapped from `path` may be, likeliest first. `build_id`
// in hex, "" when not known.
void module_candidates(Arena *arena, const ModuleSearch *search, Str path, Str build_id,
                       ModuleCandidateVec *ret);

// perf's copy of the kernel's symbols, as /proc/kallsyms had them: a path, which
// need not exist; "" without build-id.
Str module_kallsyms_path(Arena *arena, const ModuleSearch *search, Str build_id);

#endif // REPLAY_MODULE_SEARCH_H
