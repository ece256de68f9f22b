// SPDX-License-Identifier: Apache-2.0
// The keys of a profile's facts. Text values; numbers in decimal. Part of the
// file format: keys are added, never renamed.

#ifndef MODEL_FACTS_H
#define MODEL_FACTS_H

// The unit of a metric whose counts had fractions: behind it stands the power of ten by which they
// were multiplied, "1/1000".
#define FOLDED_UNIT      "1/"
#define FOLDED_COLLECTOR "import folded" // FACT_COLLECTOR of folded stacks

#define FACT_COLLECTOR       "collector" // "sampling", "heap", "cover", "import perf.data" …
#define COLLECTOR_HEAP       "heap"
#define COLLECTOR_BENCH      "bench"           // runs of commands
#define COLLECTOR_FUNCTIONS  "bench functions" // runs of function benchmarks
#define COLLECTOR_COUNTERS   "counters"        // runs with counted events
#define FACT_TOOL_VERSION    "tool-version"    // of assay, at recording
#define FACT_COMMAND         "command" // the recorded command line, words quoted for a shell
#define FACT_START_REALTIME  "start-realtime-ns" // clock pair taken at the start:
#define FACT_START_MONOTONIC "start-monotonic-ns"
#define FACT_WALL_NS         "wall-ns" // from release of the child to its end
#define FACT_USER_NS         "user-ns" // rusage of the child tree
#define FACT_SYSTEM_NS       "system-ns"
#define FACT_MAX_RSS_BYTES   "max-rss-bytes"
#define FACT_EXIT_STATUS     "exit-status" // "0", "signal 11"; absent for attach
#define FACT_HOSTNAME        "hostname"
#define FACT_KERNEL          "kernel" // uname -sr
#define FACT_ARCH            "arch"   // uname -m
#define FACT_CPU_MODEL       "cpu-model"
#define FACT_CPU_COUNT       "cpu-count"
#define FACT_CLOCK           "clock" // of runs' times: "wait" (from start to wait), "kernel" …
#define FACT_COUNTED_CPUS    "counted-cpus" // the CPUs that were counted whole; absent: none
// The running threads that were counted; absent for a command and for whole CPUs.
#define FACT_COUNTED_THREADS "counted-threads"
#define FACT_EVENT           "event" // main event as opened: "cpu-clock:u"
// … or this, of a recording by ptrace: time in the kernel is counted with the code that called the
// kernel.
#define EVENT_PTRACE "cpu time by ptrace"
// … or this, of an agent inside the processes that sees each call of malloc and free.
#define EVENT_HEAP "allocations"
// … or this, of timers inside the processes, of which the same is true.
#define EVENT_TIMERS "cpu time by thread timers"
#define FACT_EVENT_FALLBACK                                                                        \
    "event-fallback" // why the better engine before it was not used; absent if none
#define FACT_RATE_ASKED    "rate-asked-hz"
#define FACT_RATE_OBTAINED "rate-obtained-hz"
#define FACT_SAMPLES_LOST  "samples-lost"
#define FACT_PROBE_HIT_NS  "probe-hit-ns"  // cost of a hit of the probe for the program, in a loop
#define FACT_PROBE_COLD_NS "probe-cold-ns" // … and where its caches are cold; absent: not measured
#define FACT_THROTTLED     "throttled"     // number of THROTTLE records
#define FACT_STACK_MODE    "stack-mode"    // "tables", "frame pointers", "lbr", "none"
#define FACT_WAITS         "waits"         // how waits were recorded, such as "bpf"; absent: not
#define FACT_WAITS_LIFT    "waits-lift"    // how to record them better; "" for nothing
#define FACT_WAITS_MISSING "waits-missing" // by how much the classes miss the threads' time: 0.001
#define FACT_WAITS_STACKS  "waits-stacks"  // different stacks of waits, "complete/all"
#define FACT_WAITS_LOST    "waits-lost"    // stacks and single waits without room
#define FACT_CALLS         "calls"         // what was asked for with --calls
#define FACT_CALLS_LOST    "calls-lost"    // entries and returns without room in a ring
#define FACT_INCOMPLETE    "recording-incomplete" // why, when the recorder did not finish
// Of runs:
#define FACT_CLOCK        "clock"        // of the times: "kernel", "wait", "cpu", "in process"
#define FACT_CLOCK_REASON "clock-reason" // why it is not the kernel's
#define FACT_ORDER        "order"        // "interleaved": runs of a round are pairs; "grouped"
#define FACT_SEED         "seed"         // of the random order
#define FACT_REFERENCE    "reference"    // number of the measurement the others are compared with
#define FACT_LEVEL        "level"        // of the intervals: "0.95"
#define FACT_MARGIN       "margin"       // differences below it do not matter: "0.01"
#define FACT_UNTIL        "until"        // the margin that ended the bench when decided
#define FACT_MAX_RUNS     "max-runs"     // of each command
#define FACT_BUILD_NAME   "build-name"   // of a program of function benchmarks, by its user
#define FACT_AGAINST_NAME "against-name" // of the build that it is compared with
#define FACT_WITH_WAITING "with-waiting" // "yes": comparisons keep the wait for a CPU
// Whether they leave it out, and its share of the time, where that was settled on early.
#define FACT_WITHOUT_WAITING "without-waiting" // "yes", "no"
#define FACT_WAITING_SHARE   "waiting-share"
#define FACT_INTERRUPTED     "interrupted"        // "yes": the user ended it
#define FACT_SPEED_CHANGE    "cpu-speed-change"   // of fixed work, end over begin - 1
#define FACT_GOVERNOR        "cpu-governor"       // of the frequency
#define FACT_LOAD            "load"               // runnable tasks in the last minute, at the start
#define FACT_MEMORY_FLOOR    "memory-floor-bytes" // no peak memory can be told from less
#define FACT_SHELL_TIME      "shell-time-s"       // taken off runs with a shell
#define FACT_SHELL_ERROR     "shell-error-s"      // standard error of it

// Of the heap:
#define FACT_HEAP_CLOCK       "heap-clock"       // of lifetimes: "allocations", "bytes", "ns"
#define FACT_HEAP_SHORT_LIVED "heap-short-lived" // a short-lived block lives at most so long
// One block of so many bytes is noted on average, and values are estimates; absent: every block.
#define FACT_HEAP_SAMPLE  "heap-sample-bytes"
#define FACT_HEAP_PEAK_NS "heap-peak-ns" // about when the heap was largest, since the start

#define FACT_INTERVAL "interval-ns" // asked for between the points of a series

// Of coverage:
#define FACT_COVER_ORIGINS "cover-origins" // "llvm", "gcc", "lines" (tracefiles), by a space
#define FACT_COVER_HITS    "cover-hits"    // "1": a count of 1 says that it ran, not how often
#define FACT_COVER_STALE   "cover-stale"   // functions and .gcda files with counts of another build
#define FACT_COVER_MARKS   "cover-marks-contradicted" // marks in sources that do not match the counts
#define FACT_COVER_BUILT   "cover-built-ns"           // time stamp of the newest object or .gcno
#define FACT_COVER_COUNTED "cover-counted-ns"         // time stamp of the newest input with counts
#define FACT_COVER_SKIPPED "cover-sources-skipped"    // sources that the run was to leave out
#define FACT_COVER_VALUES  "cover-value-profiles"     // "1": the profiles hold values, too

// The text before the command line in exports whose format has only remarks.
#define COMMAND_REMARK "command: "

// Begins FACT_WAITS of recordings by copies of the stack at each switch: their waits from a given
// length on are all there, as with "bpf".
#define WAITS_BY_STACKS "switch records with stacks"

#endif // MODEL_FACTS_H
