// SPDX-License-Identifier: Apache-2.0
// The folder that an observed program and its children write raw profiles into,
// emptied while they run: each file is summed once no writer has it open, and
// deleted, so that the disk holds one profile for a process, not one for a run.

#ifndef COLLECT_COVER_POOL_H
#define COLLECT_COVER_POOL_H

#include "coverage/llvm/correlated_programs.h"
#include "coverage/llvm/counts.h"
#include "elf/build_id.h"
#include "os/spawn.h"

typedef Vec(BuildId) BuildIdVec;

// A program seen while it wrote: its file stays readable when it is deleted.
typedef struct CoverWriter {
    int fd;
    Str path; // as /proc names it, " (deleted)" dropped
    uint64_t device, inode;
} CoverWriter;

// What is left of a program of a documentation test (collect/cover/doctest.h).
typedef struct CoverKept {
    BuildId id;
    Str path;
} CoverKept;

typedef struct CoverPool {
    Arena *arena;
    Str folder; // absolute
    int notify_fd;
    bool keep_raw;    // files are summed but not deleted
    bool keep_folder; // it is not ours to remove
    CoverCounts counts;
    // Of profiles that hold counters alone; NULL: those are refused.
    CoverCorrelations *correlations;
    bool may_wait;         // those whose program is not known yet stay for cover_pool_retry
    StrVec waiting;        // their files
    StrVec taken;          // set aside under other names, maybe still being written
    BuildIdVec binary_ids; // of the objects that wrote, each once
    bool has_unnamed;      // some profile states no binary id
    Vec(CoverWriter) writers;
    Str kept_folder; // where mappings of programs go that come as "*.object"; "": nowhere
    Vec(CoverKept) kept;
    uint64_t file_count, byte_count; // summed so far
    StrVec refused;                  // texts: files that could not be read, and where they are
    bool continuous;                 // programs keep their counters in the file itself
} CoverPool;

// Makes the folder and watches it.
MUST_CHECK bool cover_pool_open(CoverPool *pool, Arena *arena, Str folder, Error *err);
// Closes what is open; removes the folder when it is empty. The counts stay.
void cover_pool_close(CoverPool *pool);
void cover_pool_deinit(CoverPool *pool);

// What LLVM_PROFILE_FILE is to be for programs that write into the pool.
Str cover_pool_pattern(const CoverPool *pool);

// Sums a file that is complete and stays. False, with a text among the refused, when it
// could not be read.
bool cover_pool_add(CoverPool *pool, Str path);

// Sums the files that wait for their program, as far as it has been offered since; at the
// `end` the others are refused. True while some still wait.
bool cover_pool_retry(CoverPool *pool, bool end);

// Takes in what is complete. At the `end` of a run also what cannot be told to
// be complete. True while some file is still being written.
bool cover_pool_drain(CoverPool *pool, bool end);

// How a run ended.
typedef struct CoverRunEnd {
    ChildEnd child;
    bool interrupted; // a signal asked for the end
} CoverRunEnd;

// Starts the program, drains the pool until it has ended, and passes signals on
// that are sent to us alone. `argv` ends in NULL.
MUST_CHECK bool cover_pool_run(CoverPool *pool, const Program *program, char *const argv[],
                               CoverRunEnd *ret, Error *err);

// Drains the pool as long as it `is_busy`, for some time at most, or until a signal asks
// for the end.
MUST_CHECK bool cover_pool_wait(CoverPool *pool, bool (*is_busy)(void *ctx), void *ctx,
                                int64_t max_ns, Error *err);

// Drains the pool until a signal asks for the end. `drained` is called after each look.
MUST_CHECK bool cover_pool_watch(CoverPool *pool, void (*drained)(void *ctx), void *ctx,
                                 Error *err);

#endif // COLLECT_COVER_POOL_H
