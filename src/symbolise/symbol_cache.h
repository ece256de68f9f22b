// SPDX-License-Identifier: Apache-2.0
// The symbol cache: a PlaceTable of each module on disk, so that looking up the
// same addresses again does not open the module's debug information.
//
// There is one file for each module. A writer writes a temporary file and renames it, so
// that a reader sees the old or the new file and a killed writer does no harm; of two
// writers at the same time the last one wins. Readers check checksum, version and bounds.

#ifndef SYMBOLISE_SYMBOL_CACHE_H
#define SYMBOLISE_SYMBOL_CACHE_H

#include "symbolise/place_table.h"

enum { SYMBOL_CACHE_VERSION = 4 };                 // of the file
#define SYMBOL_CACHE_MAX_BYTES      (256ull << 20) // of the whole folder
#define SYMBOL_CACHE_FILE_MAX_BYTES (32ull << 20)

// Opens the folder of the cache, and makes it where it is missing. -1 with an error when the folder
// or one above it belongs to another user (os_open_own_folder).
int symbol_cache_open(Str folder, Error *err);

// The name of a module's cache file in the folder: by the build-id; without one by a hash of the
// object's bytes, if the caller has them, else by a hash of the path. "" when none of these is
// known.
Str symbol_cache_name(Arena *arena, const BuildId *id, Bytes object, Str module_path);

// Appends a table, and the probes of the files it was made from, in the format of the file.
void symbol_cache_encode(const PlaceTable *t, const FileProbeVec *probes, StrBuf *out);

// Reads such bytes into an empty table. Texts are copied. On false `err` names the damage, and the
// caller must free the table without using it.
MUST_CHECK bool symbol_cache_decode(Bytes file, PlaceTable *t, FileProbeVec *probes, Error *err);

// Maps a file in the folder, -1 for no folder. False when there is none, or when it is not a
// regular file of this user or of root.
bool symbol_cache_map(int folder, Str name, MappedFile *ret);

// Fills an empty table from a file in the folder, -1 for no folder. The file must be a regular file
// of this user or of root. False when there is no file, when it is broken or of another version, or
// when one of the files that it was made from has changed.
bool symbol_cache_load(int folder, Str name, const SymboliseFiles *access, PlaceTable *t,
                       FileProbeVec *probes);

// Appends the content of the module's cache file. False when it is too large for the cache.
bool symbol_cache_pack(const PlaceTable *t, const FileProbeVec *probes, StrBuf *out);

// Writes such a file under a random name and renames it, so that a planted link is replaced and
// not followed. Then removes the oldest files until the folder has at most `max_bytes`. A failure
// is not reported: without a cache only the time of the next look-up is lost. So is a name or a
// content that is not of the cache.
void symbol_cache_write(int folder, Str name, Str content, uint64_t max_bytes);

// The number of the cache's files in the folder, and their size.
void symbol_cache_size(int folder, uint64_t *files, uint64_t *bytes);

// Removes them, finished and unfinished ones. Other files in the folder stay.
void symbol_cache_clear(int folder);

#endif // SYMBOLISE_SYMBOL_CACHE_H
