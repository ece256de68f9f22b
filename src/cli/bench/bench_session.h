// SPDX-License-Identifier: Apache-2.0
// Parts that benches of commands and of functions share: signals, the terminal, the recording,
// and the files of results.

#ifndef CLI_BENCH_BENCH_SESSION_H
#define CLI_BENCH_BENCH_SESSION_H

#include "cli/bench/bench_args.h"
#include "cli/runs/run_report.h"
#include "collect/bench/record.h"
#include "store/store.h"

#include <signal.h>

// Set by SIGINT and SIGTERM once bench_catch_signals was called.
extern volatile sig_atomic_t bench_interrupted;
// Catches both signals and passes them on to the command that `server` runs.
void bench_catch_signals(const SpawnServer *server);
// Passes no more signals on; called before the server is closed.
void bench_forget_server(void);

// The terminal with the colours of --style.
Terminal bench_terminal(Str style);
// The terminal, the unit and the order that the options ask for.
RunStyle bench_style(const BenchArgs *args);
// --db, or the project's database.
Str bench_database_path(const BenchArgs *args);
// The command line of assay, words quoted for a shell.
Str bench_command_line(Arena *arena, int argc, char **argv);

// The machine, the command line and the revision of the sources, for a recording.
BenchContext bench_context(Arena *arena, const BenchArgs *args, int argc, char **argv);

// Opens the file that --recording names, before anything runs, so that no measurement is lost
// to a name that cannot be written. `*ret` is NULL without the option.
MUST_CHECK bool bench_open_recording(const BenchArgs *args, StoreWriter **ret, Error *err);
// Writes the profile, closes the file, and leaves `*w` NULL, also on failure. Accepts a NULL
// writer.
MUST_CHECK bool bench_finish_recording(StoreWriter **w, const Profile *p, Error *err);
// Writes a result to a file, or to stdout for "-".
MUST_CHECK bool bench_write_text(Str path, Str text, Error *err);

// Fails if a file that the options name cannot be made, so that this is known before the runs.
MUST_CHECK bool bench_check_outputs(const BenchArgs *args, Error *err);

#endif // CLI_BENCH_BENCH_SESSION_H
