// SPDX-License-Identifier: Apache-2.0
// Names that rows of runs use: the metrics of their values, and their conditions as text.
// They are part of the file format: added, never renamed. Also the few structs that writers and
// readers of such rows share.

#ifndef MODEL_RUN_NAMES_H
#define MODEL_RUN_NAMES_H

#include "base/strbuf.h"
#include "model/profile.h"

// Metrics of RunValues without an event. Times in seconds ("s"), sizes in bytes.
// The time that is compared, where it is not the run's wall_ns: less the shell's time, CPU
// time, or the median time of an iteration of a function benchmark.
#define RUN_METRIC_TIME                 "time"
#define RUN_METRIC_USER_TIME            "user time"   // where it is not the run's user_ns
#define RUN_METRIC_SYSTEM_TIME          "system time" // where it is not the run's system_ns
#define RUN_METRIC_WAITED               "time from start to wait" // where wall_ns is another
#define RUN_METRIC_WAITING              "waiting for a CPU"       // exact part of the time
#define RUN_METRIC_RUN_DELAY            "run delay"               // ready to run but without a CPU
#define RUN_METRIC_STEAL                "steal"                   // taken by other virtual machines
#define RUN_METRIC_PEAK_MEMORY          "peak memory" // of the largest process, corrected
#define RUN_METRIC_PEAK_MEMORY_COARSE   "peak memory by the kernel" // before the correction
#define RUN_METRIC_MEMORY_FLOOR         "memory floor"              // less cannot be told apart
#define RUN_METRIC_MINOR_FAULTS         "minor faults"
#define RUN_METRIC_MAJOR_FAULTS         "major faults"
#define RUN_METRIC_VOLUNTARY_SWITCHES   "voluntary switches"
#define RUN_METRIC_INVOLUNTARY_SWITCHES "involuntary switches"
#define RUN_METRIC_BLOCKS_IN            "blocks in" // of 512 bytes, from disk
#define RUN_METRIC_BLOCKS_OUT           "blocks out"
#define RUN_METRIC_MAIN_CPU             "main thread's CPU time"
#define RUN_METRIC_DISK_WAIT            "waiting for a disk" // main thread, by delay accounting
// Of function benchmarks. A sample is a pair of rows: iterations, then the time of them all.
#define RUN_METRIC_MEAN_TIME         "mean time"  // of an iteration, over the samples
#define RUN_METRIC_SLOPE_TIME        "slope time" // of an iteration, by least squares
#define RUN_METRIC_ITERATIONS        "iterations" // of all samples
#define RUN_METRIC_SAMPLE_ITERATIONS "sample iterations"
#define RUN_METRIC_SAMPLE_TIME       "sample time"
#define RUN_METRIC_SAMPLE_WAIT       "sample wait" // for a CPU; "sample time" is without it
#define RUN_METRIC_CPU_TIME          "CPU time"    // of an iteration, over the samples
#define RUN_METRIC_CYCLE             "cycle"       // of the CPU, about
#define RUN_METRIC_BYTES             "bytes"       // of an iteration, as the benchmark states
#define RUN_METRIC_ELEMENTS          "elements"    // of an iteration, as the benchmark states

// Keys of Runs.conditions. Runs of one name with equal conditions are repetitions of one
// measurement.
#define RUN_CONDITION_PARAMETER "parameter." // and its name: "parameter.n=4"
#define RUN_CONDITION_SHELL     "shell"      // "yes": started by a shell, whose time is taken off
#define RUN_CONDITION_COMMAND   "command"    // number of the command, of two with one name
#define RUN_CONDITION_BUILD     "build"      // "against": the build that another is compared with

// Keys of notes that the report of runs shows in places of their own.
#define NOTE_CLOCK        "clock"        // how the times were taken
#define NOTE_ORDER        "order"        // of the runs
#define NOTE_NOT_COUNTED  "not-counted"  // an event, and why; a warning when it was asked for
#define NOTE_EVENT_REASON "event-reason" // "NAME: why": of an event that stat could not count

// A variable of the command line and its value in one measurement.
typedef struct RunParameter {
    Str name, value;
} RunParameter;
typedef Vec(RunParameter) RunParameterVec;

// The machine that runs were made on.
typedef struct RunMachine {
    Str hostname, kernel, cpu_model, governor; // "" when not known, or when there is none
    uint32_t cpus;                             // 0 when not known
    double load;                               // mean number of runnable tasks in the minute before
} RunMachine;

// Appends "key=value" as a line of conditions. Newlines and backslashes are escaped.
void run_conditions_add(StrBuf *out, Str key, Str value);
// Takes the next line off `*rest`; `key` and `value` live in the arena or in the text. False
// at the end. A line without '=' is a key with the value "".
bool run_conditions_next(Arena *arena, Str *rest, Str *key, Str *value);
// The value of a key; "" when there is none.
Str run_conditions_find(Arena *arena, Str conditions, Str key);

// The metric of that name, unit and event, which is added when there is none.
MetricId run_metric(Profile *p, Str name, Str unit, MetricKind kind, Str event);

#endif // MODEL_RUN_NAMES_H
