// SPDX-License-Identifier: Apache-2.0
// Opening what the user names: a recording of ours, or one of another tool,
// which is imported on the fly.

#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include "base/error.h"
#include "cli/option.h"
#include "import/import.h"
#include "model/profile.h"
#include "replay/module_search.h"
#include "symbolise/module_symbols.h"

// What `assay record` writes and the others read unless told otherwise.
#define DEFAULT_RECORDING STR("profile.assay")

// Reads the recording at `path`, "-" for standard input. `p` is initialised
// here, and deinitialised again on false. `format` (may be NULL) becomes
// the foreign format; NULL for a recording of ours.
MUST_CHECK bool load_profile(Str path, Profile *p, const ImportFormat **format, Error *err);

// Where the files are that a recording without names (perf.data) was made of.
typedef struct RecordingFiles {
    Str sysroot, symfs;
    StrVec debug_dirs;
} RecordingFiles;

// For an option table; `field` is a RecordingFiles in the options struct S.
#define RECORDING_FILE_OPTIONS(S, field)                                                           \
    OPT_TEXT(0, "sysroot", S, field.sysroot, "DIR",                                                \
             "perf.data: find the files of the recorded programs below DIR instead of /"),         \
        OPT_TEXT(0, "symfs", S, field.symfs, "DIR", "the same as --sysroot, named as in perf"),    \
        OPT_LIST(0, "debug-dir", S, field.debug_dirs, "DIR",                                       \
                 "also search DIR for files by build-id and for debug files")

// The same as load_profile, with files from where the user says. With `sources`
// the profile keeps the source lines that it touches.
MUST_CHECK bool load_recording(Str path, const RecordingFiles *files, bool sources, Profile *p,
                               const ImportFormat **format, Error *err);

// For a view of samples whose recording has none: ERROR_NOT_FOUND, "the recording
// has no samples to PURPOSE", and what it has instead. Always false.
bool no_samples(const Profile *p, const char *purpose, Error *err);

// Where the objects of a recording and their debug files may be: the same places
// that load_recording looks at.
typedef struct RecordingSearch {
    ModuleSearch modules;
    DebugSearch debug;
} RecordingSearch;

// What `ret` points to lives in the arena.
void recording_search(Arena *arena, const RecordingFiles *files, RecordingSearch *ret);

#endif // CLI_RECORDING_H
