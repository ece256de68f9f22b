// SPDX-License-Identifier: Apache-2.0
// A recording of runs as measurements with figures and comparisons: the figures of a bench's
// reports, exports and pictures, computed from the profile's rows.

#ifndef ANALYSE_RUN_SUMMARY_H
#define ANALYSE_RUN_SUMMARY_H

#include "base/error.h"
#include "model/run_names.h"
#include "stats/run_set.h"

// One measurement: runs of one name under equal conditions. Texts are the profile's.
typedef struct RunCommand {
    Str name, command, revision;
    RunParameterVec parameters;
    bool via_shell; // the shell's time is taken off
    size_t warmups; // runs that no figure includes
} RunCommand;

// An event that was counted in the runs.
typedef struct RunCounter {
    Str name;
    bool is_time; // counts nanoseconds
} RunCounter;

typedef struct RunSummaries {
    Arena arena;
    const Profile *profile;                // must outlive this
    RunSet set;                            // a group for each command
    RunCommand *commands;                  // set.count of them, in the order of the rows
    RunCounter counters[RUN_COUNTERS_MAX]; // set.counters of them
    Str command_line;                      // that made the recording
    Str clock, clock_reason;               // see FACT_CLOCK
    uint64_t seed;
    bool interrupted;
    double speed_change;                // of the CPU, end over begin - 1
    double shell_time_s, shell_error_s; // taken off runs with a shell
    RunMachine machine;
} RunSummaries;

// Whether there are runs to summarise: of commands, not of functions.
bool run_summaries_apply(const Profile *p);

// Computes everything. Fails on rows that cannot be: a time that is not a number, a reference
// that is not a command.
MUST_CHECK bool run_summaries_init(RunSummaries *s, const Profile *p, Error *err);
// The facts of a recording alone: the plan, the machine, the command line.
void run_summaries_read_facts(RunSummaries *s);
// Accepts a zeroed one.
void run_summaries_deinit(RunSummaries *s);

// Benches that one file shows: one of commands, or one for each function, the build that it is
// compared with being the reference.
typedef struct RunFamilies {
    RunSummaries *at;
    size_t len;
} RunFamilies;

// Units that times are shown in.
typedef enum RunUnit { RUN_UNIT_AUTO, RUN_UNIT_US, RUN_UNIT_MS, RUN_UNIT_S } RunUnit;

// The order of commands in tables and comparisons.
typedef enum RunSort { RUN_SORT_AUTO, RUN_SORT_COMMAND, RUN_SORT_MEAN } RunSort;

#endif // ANALYSE_RUN_SUMMARY_H
