// SPDX-License-Identifier: Apache-2.0
// Finds the objects (programs and shared objects) that wrote the profiles of a run: by
// build-id or, for a profile without one, by a function that both contain.

#ifndef COLLECT_COVER_OBJECTS_H
#define COLLECT_COVER_OBJECTS_H

#include "collect/cover/pool.h"

typedef struct CoverObject {
    Str path; // absolute
    BuildId id;
    bool matched;    // by a build-id of the run
    bool is_mapping; // `path` holds only the mapping of a deleted program, without its id
} CoverObject;

typedef struct CoverObjects {
    Arena *arena;
    CoverPool *pool; // its counts are finished
    Vec(CoverObject) found;
    // Number of files without coverage mapping, for the message why nothing was written.
    uint64_t without_mapping;
} CoverObjects;

// Adds the object at `path` if it wrote a profile of the run; with `any` also every object that has
// coverage mapping. Other files are ignored.
void cover_objects_offer(CoverObjects *o, Str path, bool any);
// The number of build-ids of the run whose object is found.
size_t cover_objects_matched(const CoverObjects *o);
// Whether the object of every build-id of the run is found.
bool cover_objects_complete(const CoverObjects *o);
// Adds the kept mappings of deleted programs (CoverKept) that wrote profiles of the run.
void cover_objects_add_kept(CoverObjects *o);
// Offers the programs that were seen while they wrote. A program that has been deleted since is
// copied to the pool's kept_folder.
void cover_objects_offer_writers(CoverObjects *o);
// Searches a folder and all folders below it for missing objects: executable files and shared
// objects. Stops when all are found, or after a fixed number of files.
void cover_objects_search(CoverObjects *o, Str folder);
// The same for programs of profiles with counters only: offers files with a binary id of these
// profiles to the pool's correlations.
void cover_objects_search_programs(CoverObjects *o, Str folder);

// Writes the list of objects into a folder of results (coverage/object_list.h).
MUST_CHECK bool cover_objects_write(const CoverObjects *o, Str folder, Error *err);

// The instrumentation of a program, as far as its file shows it.
typedef enum CoverKind {
    COVER_KIND_NONE,    // not instrumented
    COVER_KIND_LLVM,    // clang, rustc
    COVER_KIND_GCOV,    // --coverage
    COVER_KIND_UNKNOWN, // no ELF object, or the sections and symbols that show it are stripped
} CoverKind;
CoverKind cover_kind_of(Bytes file); // by sections and symbols

typedef void CoverDataFile(void *ctx, Str path);
// Calls `each` for every .gcda in a folder and all folders below it.
void cover_each_data_file(Str folder, CoverDataFile *each, void *ctx);

// Links the notes (.gcno) of gcc's data files beside them: a run leaves the data below `root`, at
// their absolute path, while the notes are where the compiler wrote them. Returns the number of
// data files and of those without notes.
void cover_link_notes(Str root, uint64_t *data, uint64_t *without_notes);

#endif // COLLECT_COVER_OBJECTS_H
