// SPDX-License-Identifier: Apache-2.0
// The pool: a folder to which an observed program and its children write raw profiles.
// It is emptied while they run: when no process has a file open any more, its counts are
// added to the sums and the file is deleted. So the disk never holds the profiles of all
// processes of a run.

#ifndef COLLECT_COVER_POOL_H
#define COLLECT_COVER_POOL_H

#include "coverage/llvm/correlated_programs.h"
#include "coverage/llvm/counts.h"
#include "elf/build_id.h"
#include "os/spawn.h"

typedef Vec(BuildId) BuildIdVec;

// A program that was seen while it wrote a profile. The open descriptor keeps its file readable
// after it is deleted.
typedef struct CoverWriter {
    int fd;
    Str path; // from /proc, without " (deleted)"
    uint64_t device, inode;
} CoverWriter;

// The kept mapping of a program of a documentation test (collect/cover/doctest.h).
typedef struct CoverKept {
    BuildId id;
    Str path;
} CoverKept;

typedef struct CoverPool {
    Arena *arena;
    Str folder;  // absolute
    Str reach;   // how programs reach it: the same path, or another
    Str keep_to; // where files go that are not deleted: *.kept, *.refused
    int notify_fd;
    bool keep_raw;    // files are not deleted
    bool defers;      // files that were added are deleted by cover_pool_delete_added
    StrVec added;     // those files
    bool keep_folder; // the folder existed before and is not removed
    CoverCounts counts;
    // Programs of profiles with counters only; NULL: such profiles are refused.
    CoverCorrelations *correlations;
    bool may_wait;         // profiles whose program is not known yet wait for cover_pool_retry
    StrVec waiting;        // their files
    StrVec taken;          // renamed files, perhaps still being written
    size_t aside_count;    // for the names of renamed files
    BuildIdVec binary_ids; // of the objects that wrote, each once
    bool has_unnamed;      // some profile has no binary id
    Vec(CoverWriter) writers;
    Str kept_folder; // for the mappings of programs that appear as "*.object"; "": none are kept
    Vec(CoverKept) kept;
    size_t object_count;             // for names in kept_folder
    uint64_t file_count, byte_count; // added so far
    StrVec refused;                  // a text for each file that could not be read, with its path
    bool continuous;                 // programs map their counters into the file itself
} CoverPool;

// Creates the folder where it is missing, and watches it.
MUST_CHECK bool cover_pool_open(CoverPool *pool, Arena *arena, Str folder, Error *err);
// Closes all descriptors and removes the folder when it is empty. The counts stay.
void cover_pool_close(CoverPool *pool);
void cover_pool_deinit(CoverPool *pool); // frees the counts, too

// A path in kept_folder, "object-N" and the suffix, at which there is no file yet: those of earlier
// results stay until the new ones are whole.
Str cover_pool_object_path(CoverPool *pool, const char *suffix);

// Takes over files that a killed watch of the folder has renamed and not deleted.
void cover_pool_take_up(CoverPool *pool);
// Deletes the files whose counts are kept elsewhere by now.
void cover_pool_delete_added(CoverPool *pool);

// The value of LLVM_PROFILE_FILE for programs that write to the pool.
Str cover_pool_pattern(const CoverPool *pool);

// Adds the counts of a complete file, which is not deleted. False when it could not be read;
// `refused` then has a text.
bool cover_pool_add(CoverPool *pool, Str path);

// Adds the counts of waiting files whose program is known by now. With `end` the others are
// refused. True while some still wait.
bool cover_pool_retry(CoverPool *pool, bool end);

// Adds the counts of all files that are complete. With `end`, at the end of a run, also of files
// that may be incomplete. True while some file is still being written.
bool cover_pool_drain(CoverPool *pool, bool end);

// How a run ended.
typedef struct CoverRunEnd {
    ChildEnd child;
    bool interrupted; // by a signal to this process
} CoverRunEnd;

// Runs the program and drains the pool until it has ended. Signals that are sent only to this
// process are passed on. `argv` ends in NULL.
MUST_CHECK bool cover_pool_run(CoverPool *pool, const Program *program, char *const argv[],
                               CoverRunEnd *ret, Error *err);

// Drains the pool while `is_busy` returns true, for at most `max_ns`, or until a signal to this
// process.
MUST_CHECK bool cover_pool_wait(CoverPool *pool, bool (*is_busy)(void *ctx), void *ctx,
                                int64_t max_ns, Error *err);

// Drains the pool until a signal to this process. `drained` is called after each pass.
MUST_CHECK bool cover_pool_watch(CoverPool *pool, void (*drained)(void *ctx), void *ctx,
                                 Error *err);

#endif // COLLECT_COVER_POOL_H
