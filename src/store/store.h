// SPDX-License-Identifier: Apache-2.0
// The .assay recording: a Profile on disk. Format: docs/formats/assay.md.

#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/error.h"
#include "model/profile.h"

// ---- Writing ---------------------------------------------------------------
// The file is written under the name "PATH.part" and renamed to PATH at the end. A writer
// that is killed leaves the .part file, which can be read up to its last whole block.

typedef struct StoreWriter StoreWriter;

typedef struct StoreOptions {
    bool force;     // an existing file at PATH is replaced at the end
    int level;      // zstd; 0 is the store's own choice
    bool keeps_old; // an existing recording at PATH becomes PATH.old at the end, as perf's does
} StoreOptions;

// Creates the .part file, which only its owner may read. Without `force` an existing PATH is an
// error already here, before the work of recording is done.
MUST_CHECK bool store_writer_open(Str path, const StoreOptions *options, StoreWriter **ret,
                                  Error *err);

// Appends the rows that were added to the profile since the last flush. Rows that have been
// written must not change, except in tables that model/schema.h calls mutable. On false the file
// ends with its last whole block, and the writer takes no more.
MUST_CHECK bool store_writer_flush(StoreWriter *w, const Profile *p, Error *err);

// Flushes, appends the index, renames to PATH and frees the writer. On false
// the .part file stays and the writer is freed, too.
MUST_CHECK bool store_writer_finish(StoreWriter *w, const Profile *p, Error *err);
// The same, but on false nothing is left.
MUST_CHECK bool store_writer_finish_or_remove(StoreWriter *w, const Profile *p, Error *err);

// Removes the .part file and frees the writer. Accepts NULL.
void store_writer_abandon(StoreWriter *w);

// Does the ends of a writer's file in place of the writer: for a process that no longer has the
// rights to rename and remove files.
typedef struct StoreEnds {
    bool (*publish)(void *ctx, Error *err); // calls store_writer_publish somewhere
    void (*remove)(void *ctx);              // calls store_writer_remove somewhere
    void *ctx;
} StoreEnds;
// Makes store_writer_finish and store_writer_abandon call `ends`, which must stay valid.
void store_writer_delegate(StoreWriter *w, const StoreEnds *ends);
// Renames the .part file to PATH, as it is; and removes it. Both also in a fork of the process.
MUST_CHECK bool store_writer_publish(StoreWriter *w, Error *err);
void store_writer_remove(StoreWriter *w);

// Frees the writer and leaves the .part file as it is, after a failed flush.
void store_writer_leave(StoreWriter *w);

// The number of bytes written so far.
uint64_t store_writer_bytes(const StoreWriter *w);
// The path of the .part file. Valid until the writer is freed.
Str store_writer_part_path(const StoreWriter *w);

// Writes a whole profile to a file; on false no file is left.
MUST_CHECK bool store_write(Str path, const StoreOptions *options, const Profile *p, Error *err);

// The same into an open file that is empty, such as one in memory. On false its content is not of
// use. The file stays open.
MUST_CHECK bool store_write_to(int fd, const StoreOptions *options, const Profile *p, Error *err);

// ---- Reading ---------------------------------------------------------------

// Whether the bytes start with the magic number of a recording.
bool store_is_recording(Bytes head);

// Reads a recording. `p` is uninitialised memory; it is initialised here, and deinitialised again
// on false. Of a recording that was not finished the whole blocks are read; the profile then has a
// warning note and FACT_INCOMPLETE. A damaged recording is an error that names block and offset.
MUST_CHECK bool store_read(Bytes file, Profile *p, Error *err);

#endif // STORE_STORE_H
