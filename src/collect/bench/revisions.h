// SPDX-License-Identifier: Apache-2.0
// Revisions of a git repository, each built once in a work tree of its own.

#ifndef COLLECT_BENCH_REVISIONS_H
#define COLLECT_BENCH_REVISIONS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "os/spawn.h"

typedef struct Revision {
    Str name;    // as the user wrote it
    Str commit;  // hexadecimal digits; "" for the user's own work tree
    Str subject; // first line of the commit's message
    Str folder;  // where it is built and runs: the user's folder in that work tree; "" until built
    bool reused; // it had been built before
} Revision;
typedef Vec(Revision) RevisionVec;

typedef struct RevisionBuilds {
    Arena *arena;
    Program git, shell;
    Str top;    // of the user's work tree
    Str prefix; // of the user's folder below it: "" or "sub/"
    Str cache;  // folder of the work trees of this repository
    Str build;  // shell command; "" builds nothing
} RevisionBuilds;

// The folder in the user's folder for caches that holds the work trees of all repositories.
#define REVISIONS_FOLDER "revisions"

// Finds the repository of the present folder. `cache` is the user's folder for caches, where the
// work trees are kept; `path` is PATH.
MUST_CHECK bool revisions_init(RevisionBuilds *ret, Arena *arena, Str cache, Str build, Str path,
                               Error *err);

// The commit that a name stands for.
MUST_CHECK bool revision_find(const RevisionBuilds *b, Str name, Revision *ret, Error *err);

// Makes the work tree and builds there, unless an earlier call has done so with the same command.
// The user's own work tree is built where it is. `*build_failed` tells that from other errors.
// Calls at the same time wait for each other.
MUST_CHECK bool revision_build(const RevisionBuilds *b, Revision *r, bool *build_failed,
                               Error *err);

// The file with all that its build printed.
Str revision_log(const RevisionBuilds *b, const Revision *r);

// Whether revision_build has nothing left to build.
bool revision_is_built(const RevisionBuilds *b, const Revision *r);

// Runs git in the repository and returns its output without the line feed at its end. `args` ends
// in NULL and begins behind "git".
MUST_CHECK bool revisions_git(const RevisionBuilds *b, const char *const args[], Str *ret,
                              Error *err);

// Removes the work trees of all repositories with their builds; `cache` is the user's open folder
// for caches. Fails, and removes nothing, while one of them is being built. git forgets a work tree
// whose folder is gone by itself.
MUST_CHECK bool revisions_clear(int cache, Error *err);

#endif // COLLECT_BENCH_REVISIONS_H
