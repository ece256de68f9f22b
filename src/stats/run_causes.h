// SPDX-License-Identifier: Apache-2.0
// One measured run of a command, and why a slow one was slow: which part of its time was longer
// than usual.

#ifndef STATS_RUN_CAUSES_H
#define STATS_RUN_CAUSES_H

#include "base/vec.h"

enum { RUN_COUNTERS_MAX = 12 };

// One run of a command. An unknown value is NaN as a double and -1 as a signed integer.
typedef struct MeasuredRun {
    double time_s; // that is compared: less the shell's time; or CPU time
    double user_s, system_s;
    double waiting_s;                               // of time_s, ready to run but without a CPU
    int64_t start_ns;                               // by any clock that all runs share
    int64_t wall_ns, waited_ns, user_ns, system_ns; // as measured; waited: from start to wait
    int64_t run_delay_ns;                           // the wait for a CPU, of the main thread
    int64_t steal_ns;                               // of all CPUs, by other virtual machines
    int64_t on_cpu_ns;                              // computing of the main thread
    int64_t disk_wait_ns;                           // blocked on block I/O, main thread
    uint64_t max_rss_bytes;                         // as the kernel gives it
    uint64_t minor_faults, major_faults;
    uint64_t voluntary_switches, involuntary_switches;
    uint64_t blocks_in, blocks_out; // of 512 bytes
    uint32_t round;                 // runs of one round are pairs
    uint32_t position;              // in that round
    uint32_t status;                // exit status, or 128 + signal
    bool kernel_clocked;
    double counts[RUN_COUNTERS_MAX];
} MeasuredRun;
typedef Vec(MeasuredRun) MeasuredRunVec;

typedef enum OutlierCause {
    CAUSE_UNKNOWN,   // no known part of the time explains half of the slowness
    CAUSE_BLOCKED,   // it did not compute and was not ready to: it slept or waited
    CAUSE_RUN_DELAY, // ready, but another program had the CPU
    CAUSE_STEAL,     // the hypervisor ran other machines
    CAUSE_DISK,      // blocked, and block I/O was counted
    CAUSE_PAGING,    // blocked, with more page faults from disk than usual
    CAUSE_CHILDREN,  // its children and further threads computed more
    CAUSE_CPU,       // it computed more itself
    CAUSE_COUNT
} OutlierCause;

// Why a run was slow, for a sentence about it: "waited for a CPU".
const char *outlier_cause_name(OutlierCause c);

// Medians over the runs of a command; NaN: not known.
typedef struct TypicalRun {
    double time_s, cpu_s, main_cpu_s, delay_s, major_faults;
} TypicalRun;

// The cause of a run that took longer than the typical one.
OutlierCause run_cause(const MeasuredRun *run, const TypicalRun *typical);

#endif // STATS_RUN_CAUSES_H
