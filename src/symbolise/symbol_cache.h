// SPDX-License-Identifier: Apache-2.0
// The symbol cache: a PlaceTable of each module on disk, so that looking up the
// same addresses again does not open the module's debug information.
//
// One file for a module. Writers write a temporary file and rename it, so that a
// reader sees the old or the new one and a killed writer costs nothing; of two
// writers at once the last wins. Readers trust nothing: checksum, version, bounds.

#ifndef SYMBOLISE_SYMBOL_CACHE_H
#define SYMBOLISE_SYMBOL_CACHE_H

#include "symbolise/place_table.h"

#define SYMBOL_CACHE_MAX_BYTES      (256ull << 20) // of the whole folder
#define SYMBOL_CACHE_FILE_MAX_BYTES (32ull << 20)

// The path of a module's file in the folder: by build-id, or where it has none by
// a hash of the object's bytes if the caller brings them, else of its path. ""
// when there is nothing of these.
Str symbol_cache_path(Arena *arena, Str folder, const BuildId *id, Bytes object, Str module_path);

// Appends a table and the files it was made from.
void symbol_cache_encode(const PlaceTable *t, const FileProbeVec *probes, StrBuf *out);

// Reads what symbol_cache_encode wrote into an empty table. Texts are copied.
// On false `err` says what is broken, and the table is to be thrown away.
MUST_CHECK bool symbol_cache_decode(Bytes file, PlaceTable *t, FileProbeVec *probes, Error *err);

// Fills an empty table from the file at `path`. False when there is none, it is
// broken or of another version, or one of the files it was made from has changed.
bool symbol_cache_load(Str path, const SymboliseFiles *access, PlaceTable *t, FileProbeVec *probes);

// Writes the table, then removes the oldest files while the folder holds more
// than `max_bytes`. Failing is not worth a word: the cache is a help only.
void symbol_cache_save(Str path, const PlaceTable *t, const FileProbeVec *probes,
                       uint64_t max_bytes);

#endif // SYMBOLISE_SYMBOL_CACHE_H
