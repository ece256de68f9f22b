// SPDX-License-Identifier: Apache-2.0
// The symboliser's access to files, and the list of paths that it looked at.

#ifndef SYMBOLISE_FILES_H
#define SYMBOLISE_FILES_H

#include "base/vec.h"
#include "elf/build_id.h"
#include "model/ids.h"
#include "os/file.h"

// Functions of the caller that provide files. All zero: the file system.
typedef struct SymboliseFiles {
    void *ctx;
    // The bytes of a module that cannot be read by its path: a deleted or replaced file that was
    // kept open, a file of another mount namespace, the image of the vdso, the text of kallsyms or
    // of a JIT's symbol map. They stay valid for the whole run. False: open the path.
    bool (*module_bytes)(void *ctx, ModuleId module, Bytes *ret);
    // The bytes of any file by its path, instead of the file system. They stay valid for the whole
    // run. False: there is none.
    bool (*file_bytes)(void *ctx, Str path, Bytes *ret);
} SymboliseFiles;

// Functions that write files or use the network, for a process that may do neither.
typedef struct SymboliseHelp {
    // Writes a file of the symbol cache (symbol_cache_write).
    void (*cache_write)(void *ctx, Str name, Str content);
    // Fetches a debug file (debuginfod_find) and puts its path into the arena.
    bool (*find_debug_file)(void *ctx, Arena *arena, const BuildId *id, Str *ret);
    void *ctx;
} SymboliseHelp;

// A path that a search looked at, and the file that was there. When all probes of a search still
// hold, the same search would have the same result.
typedef struct FileProbe {
    Str path;
    bool exists;
    FileIdentity identity; // zero when it does not exist
} FileProbe;

typedef Vec(FileProbe) FileProbeVec;

// Files that stay open until file_set_deinit closes all of them.
typedef struct FileSet {
    const SymboliseFiles *access;
    Arena *arena; // paths of probes
    Vec(MappedFile) mapped;
    FileProbeVec probes;
} FileSet;

// An empty set. `access` and `arena` are borrowed.
void file_set_init(FileSet *set, const SymboliseFiles *access, Arena *arena);
void file_set_deinit(FileSet *set); // unmaps all files

// Opens a file; the bytes are valid until file_set_deinit. Adds a probe also when it fails. False
// when the file does not exist, cannot be read, or is not a regular file.
bool file_set_open(FileSet *set, Str path, Bytes *ret);

// Takes over a file that the caller has mapped, and adds its probe.
void file_set_add(FileSet *set, Str path, const MappedFile *file);

// Takes over a file that the caller has mapped, of which the search does not depend: no probe.
void file_set_keep(FileSet *set, const MappedFile *file);

// Whether the path still leads to the file, or to none, as `probe` says.
bool file_probe_holds(const SymboliseFiles *access, const FileProbe *probe);

#endif // SYMBOLISE_FILES_H
