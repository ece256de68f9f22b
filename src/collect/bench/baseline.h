// SPDX-License-Identifier: Apache-2.0
// Saved benches, in one SQLite file of the project: .assay/bench.db. Sessions are
// added and never changed; docs/formats/bench-db.md describes the tables.

#ifndef COLLECT_BENCH_BASELINE_H
#define COLLECT_BENCH_BASELINE_H

#include "collect/bench/bench.h"
#include "collect/bench/conditions.h"

typedef struct BaselineDb BaselineDb;

// Opens the database; `create` makes the file and its folder. A file that is not a database of
// assay, or one of a newer version, is an error and stays as it is.
MUST_CHECK bool baseline_open(Str path, bool create, BaselineDb **ret, Error *err);
// Accepts NULL.
void baseline_close(BaselineDb *db);

// Larger programs are not copied.
enum { BASELINE_PROGRAM_MAX = 256 << 20 };
// Adds a bench as a session called `name`, in one transaction: a second writer waits. Programs are
// copied to the folder of the database, named by the hash of their content.
MUST_CHECK bool baseline_save(BaselineDb *db, Str name, Bench *b, const RunMachine *machine,
                              Str command_line, Error *err);

typedef struct BaselineCommand {
    Str name, text;
    Str program_hash; // 16 hex digits; "" when it ran through a shell
    Str program_copy; // path of the copy; "" when there is none
    DoubleVec times;  // seconds, in order
} BaselineCommand;
typedef Vec(BaselineCommand) BaselineCommandVec;

typedef struct BaselineSession {
    int64_t id;
    Str name;
    int64_t created_s; // Unix time
    RunMachine machine;
    Str clock; // "kernel" or "wait"
    BaselineCommandVec commands;
} BaselineSession;
typedef Vec(BaselineSession) BaselineSessionVec;

// The last session of that name.
MUST_CHECK bool baseline_load(BaselineDb *db, Arena *arena, Str name, BaselineSession *ret,
                              Error *err);
// All of that name, oldest first; all sessions when `name` is "".
MUST_CHECK bool baseline_list(BaselineDb *db, Arena *arena, Str name, BaselineSessionVec *ret,
                              Error *err);

#endif // COLLECT_BENCH_BASELINE_H
