// SPDX-License-Identifier: Apache-2.0
// The options of `assay stat`, and the events that they select.

#ifndef CLI_STAT_STAT_ARGS_H
#define CLI_STAT_STAT_ARGS_H

#include "cli/build_options.h"
#include "cli/event_filters.h"
#include "cli/option.h"
#include "collect/counters/counting.h"

typedef struct StatArgs {
    StrVec events;
    EventFilters filters;
    uint64_t repeat, interval_count, log_fd;
    int64_t interval, timeout;
    bool all_cpus, json, table, force, per_thread, per_cpu, no_inherit, null_run, append,
        metric_only, topdown, per_core, per_die, per_socket, per_node, big_num, no_big_num, quiet,
        sync, summary, no_csv_summary, interval_clear, all_user, all_kernel, no_merge;
    unsigned detailed, verbose;
    Str cpus, pids, tids, separator, output, html, recording, metrics, before, after, cgroup,
        each_cgroup, control, delay;
    BuildOptions build;
} StatArgs;

// Fails on options that exclude or need each other.
MUST_CHECK bool stat_check_args(const StatArgs *a, Error *err);
// Fills the targets of the options. `has_command`: a command is given.
MUST_CHECK bool stat_choose_targets(Arena *arena, const StatArgs *a, bool has_command,
                                    CountingOptions *options, Error *err);
// Fills their events and filters. Probes are searched in the options' program and targets; it fails
// where they are refused.
MUST_CHECK bool stat_choose_events(Arena *arena, const StatArgs *a, CountingOptions *options,
                                   Error *err);
// Opens the descriptors or FIFOs that --control names.
MUST_CHECK bool stat_open_control(Str text, CountingOptions *options, Error *err);

#endif // CLI_STAT_STAT_ARGS_H
