// SPDX-License-Identifier: Apache-2.0
// Opens the recordings that the user names. A recording of another tool is imported into memory.

#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include "base/error.h"
#include "cli/option.h"
#include "import/import.h"
#include "model/profile.h"
#include "replay/module_search.h"
#include "symbolise/module_symbols.h"

// The file that `assay record` writes, and that the other commands read, when the user names none.
#define DEFAULT_RECORDING STR("profile.assay")

// Reads the recording at `path`, "-" for standard input. `p` is initialised
// here, and deinitialised again on false. `format` (may be NULL) becomes
// the foreign format; NULL for a recording of ours.
MUST_CHECK bool load_profile(Str path, Profile *p, const ImportFormat **format, Error *err);

// Where to look for the programs of a recording that holds addresses without names (perf.data).
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

// The same as load_profile, with the user's folders for programs and debug files. With `sources`
// the profile keeps the text of the source lines that have samples.
MUST_CHECK bool load_recording(Str path, const RecordingFiles *files, bool sources, Profile *p,
                               const ImportFormat **format, Error *err);

// Whether the recording is one of runs: of `assay stat` or `assay bench`.
bool holds_only_runs(const Profile *p);

// Sets the error of a view of samples whose recording has none: ERROR_NOT_FOUND, "the recording has
// no samples to PURPOSE", with a hint that names its contents. Always returns false.
bool no_samples(const Profile *p, const char *purpose, Error *err);

// The places of a recording's objects and debug files: those that load_recording searches.
typedef struct RecordingSearch {
    ModuleSearch modules;
    DebugSearch debug;
} RecordingSearch;

// Fills `ret` from the options and the environment. All memory comes from the arena.
void recording_search(Arena *arena, const RecordingFiles *files, RecordingSearch *ret);

#endif // CLI_RECORDING_H
