// SPDX-License-Identifier: Apache-2.0
// The programs of correlated profiles: raw profiles that hold counters alone, as what
// they count is in the program or its debug information (llvmcov/correlate.h).

#ifndef COVERAGE_LLVM_CORRELATED_PROGRAMS_H
#define COVERAGE_LLVM_CORRELATED_PROGRAMS_H

#include <pthread.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "coverage/llvm/counts.h"
#include "elf/build_id.h"
#include "llvmcov/correlate.h"
#include "os/file.h"

// A program or debug file that may be wanted.
typedef struct CoverCorrelated {
    Str path;
    BuildId id;            // once is_looked_at
    FileIdentity identity; // likewise
    ProfCorrelation correlation;
    bool is_looked_at, is_read;
    bool has_records; // once is_read
    bool is_used;     // some profile was joined with it
    Error why;        // it has no records
} CoverCorrelated;

// Threads may join profiles at once; all else is for one.
struct CoverCorrelations {
    Arena arena;
    pthread_mutex_t lock;
    Vec(CoverCorrelated) objects;
    StrVec notes; // what was left out and why
};

// An empty set of programs. Several threads may use it.
void cover_correlations_init(CoverCorrelations *all);
void cover_correlations_deinit(CoverCorrelations *all); // frees everything

// Notes a file, which is read when a profile wants it. A path that was offered is so once.
void cover_correlations_offer(CoverCorrelations *all, Str path);

// Gives a profile without records those of its program: of the one that has its binary id
// or, where the one or the other states none, the only one with as many counters.
// ERROR_NOT_FOUND says which is wanted. `all` may be NULL. The profile borrows from `all`.
MUST_CHECK bool cover_correlations_join(CoverCorrelations *all, ProfRaw *p, Error *err);

// Whether profiles were joined with the file.
bool cover_correlations_used(const CoverCorrelations *all, Str path);

#endif // COVERAGE_LLVM_CORRELATED_PROGRAMS_H
