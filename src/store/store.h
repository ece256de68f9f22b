// SPDX-License-Identifier: Apache-2.0
// The .assay recording: a Profile on disk. Format: docs/formats/assay.md.

#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/error.h"
#include "model/profile.h"

// ---- Writing ---------------------------------------------------------------
// The file grows under a name of its own, "PATH.part", beside PATH and gets
// PATH at the end. A writer that is killed leaves the .part file, which opens
// up to its last whole block.

typedef struct StoreWriter StoreWriter;

typedef struct StoreOptions {
    bool force; // an existing file at PATH is replaced at the end
    int level;  // zstd; 0 is the store's own choice
} StoreOptions;

// Creates the .part file. An existing PATH fails here already, before the work
// of a recording is done, unless `force`.
MUST_CHECK bool store_writer_open(Str path, const StoreOptions *options, StoreWriter **ret,
                                  Error *err);

// Appends what came to the profile since the last flush. Rows that were written
// must not have changed, but for tables that model/schema.h calls mutable.
MUST_CHECK bool store_writer_flush(StoreWriter *w, const Profile *p, Error *err);

// Flushes, appends the index, renames to PATH and frees the writer. On false
// the .part file stays and the writer is freed as well.
MUST_CHECK bool store_writer_finish(StoreWriter *w, const Profile *p, Error *err);

// Removes the .part file and frees the writer. Accepts NULL.
void store_writer_abandon(StoreWriter *w);

// The whole profile at once; on false nothing is left behind.
MUST_CHECK bool store_write(Str path, const StoreOptions *options, const Profile *p, Error *err);

// ---- Reading ---------------------------------------------------------------

// Whether the bytes begin as a recording does.
bool store_is_recording(Bytes head);

// Reads a recording. `p` is fresh memory: it is initialised here, and
// deinitialised again on false. A recording that was not finished gives its
// whole part, a warning note and FACT_INCOMPLETE; a damaged one is an error
// that names block and offset.
MUST_CHECK bool store_read(Bytes file, Profile *p, Error *err);

#endif // STORE_STORE_H
