// SPDX-License-Identifier: Apache-2.0
// Which objects belong to the profiles of a run: told by build-id, or, where a
// profile states none, by a function that both hold.

#ifndef COLLECT_COVER_OBJECTS_H
#define COLLECT_COVER_OBJECTS_H

#include "collect/cover/pool.h"

typedef struct CoverObject {
    Str path; // absolute
    BuildId id;
    bool matched;    // by a build-id of the run
    bool is_mapping; // all that is left of it, without the id
} CoverObject;

typedef struct CoverObjects {
    Arena *arena;
    const CoverPool *pool; // its counts are finished
    Vec(CoverObject) found;
    // What was looked at and cannot have counted: for the reason why nothing was written.
    uint64_t without_mapping;
} CoverObjects;

// Adds the object at `path` if the run's profiles are of it; with `any` whenever
// it has coverage mapping. Files that are no such object are passed over.
void cover_objects_offer(CoverObjects *o, Str path, bool any);
// How many build-ids of the run have their object.
size_t cover_objects_matched(const CoverObjects *o);
// Whether every build-id of the run has its object.
bool cover_objects_complete(const CoverObjects *o);
// Adds what is kept of programs that are gone, where the run's profiles are of them.
void cover_objects_add_kept(CoverObjects *o);
// Offers the programs that were seen writing. Those that are gone from where they
// were are copied into `folder`.
void cover_objects_offer_writers(CoverObjects *o, Str folder);
// Looks through a folder tree for what is missing: files that may be run, and
// shared objects. Ends when it is complete, or after a stated number of files.
void cover_objects_search(CoverObjects *o, Str folder);
// Offers those with a binary id of the profiles to the pool's correlations instead.
void cover_objects_search_programs(CoverObjects *o, Str folder);

// The list of objects in a folder of results: "BUILD-ID PATH" a line, "-" for none.
#define COVER_OBJECTS_FILE STR("assay-objects")
MUST_CHECK bool cover_objects_write(const CoverObjects *o, Str folder, Error *err);
// Splits a line of the list.
MUST_CHECK bool cover_objects_line(Str line, BuildId *id, Str *path);

// How a program counts, as far as its file tells.
typedef enum CoverKind {
    COVER_KIND_NONE,    // it does not
    COVER_KIND_LLVM,    // clang, rustc
    COVER_KIND_GCOV,    // --coverage
    COVER_KIND_UNKNOWN, // no ELF object, or stripped of what would tell
} CoverKind;
CoverKind cover_kind_of(Bytes file);

// Calls for every .gcda below a folder.
typedef void CoverDataFile(void *ctx, Str path);
void cover_each_data_file(Str folder, CoverDataFile *each, void *ctx);

// gcc's data that a run left below FOLDER/gcov belongs to notes elsewhere: links
// them beside. Gives the number of data files, and of those without notes.
void cover_link_notes(Str folder, uint64_t *data, uint64_t *without_notes);

#endif // COLLECT_COVER_OBJECTS_H
