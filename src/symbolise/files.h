// SPDX-License-Identifier: Apache-2.0
// How the symboliser gets at files, and which ones it looked at.

#ifndef SYMBOLISE_FILES_H
#define SYMBOLISE_FILES_H

#include "base/vec.h"
#include "model/ids.h"
#include "os/file.h"

// The caller's doors. All zero: the file system.
typedef struct SymboliseFiles {
    void *ctx;
    // What is known of a module better than by its path: a deleted or replaced
    // file kept open, one of another mount namespace, the vdso's image, the text
    // of kallsyms or of a JIT's map. The bytes stay valid for the whole run.
    // False: open it by its path.
    bool (*module_bytes)(void *ctx, ModuleId module, Bytes *ret);
    // Any file by its path, in place of the file system. The bytes stay valid
    // for the whole run. False: there is none.
    bool (*file_bytes)(void *ctx, Str path, Bytes *ret);
} SymboliseFiles;

// A path that was looked at, and what was there. When all of a list are as they
// were, the same search would find the same.
typedef struct FileProbe {
    Str path;
    bool exists;
    FileIdentity identity; // zero when it does not exist
} FileProbe;

typedef Vec(FileProbe) FileProbeVec;

// Files opened together and closed together.
typedef struct FileSet {
    const SymboliseFiles *access;
    Arena *arena; // paths of probes
    Vec(MappedFile) mapped;
    FileProbeVec probes;
} FileSet;

void file_set_init(FileSet *set, const SymboliseFiles *access, Arena *arena);
void file_set_deinit(FileSet *set);

// The bytes of a file, valid until file_set_deinit. Notes the probe either way.
// False when it is not there, not readable or not a regular file.
bool file_set_open(FileSet *set, Str path, Bytes *ret);

// Whether a path still is as `probe` found it.
bool file_probe_holds(const SymboliseFiles *access, const FileProbe *probe);

#endif // SYMBOLISE_FILES_H
