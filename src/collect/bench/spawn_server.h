// SPDX-License-Identifier: Apache-2.0
// A small process that starts and measures the benchmarked commands, so that
// spawning is cheap and a child's peak memory is its own: Linux carries the
// memory peak of the spawning process over exec into the child's figure.

#ifndef COLLECT_BENCH_SPAWN_SERVER_H
#define COLLECT_BENCH_SPAWN_SERVER_H

#include "base/error.h"
#include "base/vec.h"
#include "os/event.h"

enum { SPAWN_COUNTERS_MAX = 12 };

typedef enum SpawnOutput {
    SPAWN_OUTPUT_NULL,
    SPAWN_OUTPUT_INHERIT,
    SPAWN_OUTPUT_PIPE, // to a thread that throws it away
    SPAWN_OUTPUT_FILE,
    SPAWN_OUTPUT_FD // to an open file of the caller's
} SpawnOutput;

typedef struct SpawnRequest {
    const char *path;        // of the program, found already
    const char *const *argv; // NULL-terminated
    const char *const *env; // "NAME=value" set on top of the server's, NULL-terminated; may be NULL
    const char *input;      // file for stdin; NULL is /dev/null
    const char *folder;     // where it runs; NULL: where the server was started
    SpawnOutput output;     // stdout
    SpawnOutput errors;     // stderr: _NULL or _INHERIT
    const char *output_file; // for SPAWN_OUTPUT_FILE: truncated for each run
    int output_fd;           // for SPAWN_OUTPUT_FD: borrowed, written from its position on
    int64_t timeout_ns;      // the command is killed after it; 0: never
    bool quick;              // no figures but status and time: for --prepare and the like
    // Stopped by ptrace at its end, so that its peak memory can be read to the page. Of
    // the reply only status, timed_out, alone, max_rss_bytes and exact_rss_bytes are set.
    // Not for programs that change user or group: they would not.
    bool weigh;
} SpawnRequest;

typedef enum SpawnClock {
    SPAWN_CLOCK_KERNEL, // exec to exit, from the kernel's records
    SPAWN_CLOCK_WAIT    // from before the spawn to after the wait
} SpawnClock;

// The figures of one run. None of them comes from an earlier run.
typedef struct SpawnResult {
    SpawnClock clock;  // of wall_ns
    int64_t wall_ns;   // by that clock
    int64_t waited_ns; // by SPAWN_CLOCK_WAIT, always
    int64_t start_ns;  // CLOCK_MONOTONIC
    int64_t user_ns, system_ns;
    int64_t on_cpu_ns;    // of the main thread; -1 when not known
    int64_t run_delay_ns; // waiting for a CPU within wall_ns, main thread; -1 when not known
    // Blocked on block I/O, main thread; -1 when the kernel does not account for it
    // (kernel.task_delayacct), or the wait is below its tick.
    int64_t disk_wait_ns;
    int64_t steal_ns; // taken by the hypervisor from all CPUs meanwhile; -1 when not read
    // Largest single process, as the kernel gives it at the end: some 30 pages of each
    // kind on each CPU are missing, and it is never below the server's own peak.
    uint64_t max_rss_bytes;
    uint64_t exact_rss_bytes; // of the command's own process, of a weighed run; 0: not known
    uint64_t minor_faults, major_faults;
    uint64_t voluntary_switches, involuntary_switches;
    uint64_t blocks_in, blocks_out; // of 512 bytes
    int status;                     // as wait4 gives it
    // By event of spawn_server_count: counts of the command and its children from exec on, scaled
    // where the PMU was shared out; NaN: not counted.
    double counts[SPAWN_COUNTERS_MAX];
    bool timed_out;
    bool one_process;   // it started no other; false also when not known
    bool alone;         // it was one thread and started nothing; false also when not known
    bool left_children; // processes of the run went on running
} SpawnResult;

typedef struct SpawnServer {
    int socket;                 // to the server; -1 when closed
    int pipe_read;              // of the discarded output; -1 when closed
    int32_t pid;                // of the server
    bool kernel_clock;          // it works here
    uint64_t rss_floor_bytes;   // below which max_rss_bytes cannot be; of the last run
    char clock_reason[256];     // why not
    struct SpawnShared *shared; // request and reply
    unsigned long drain_thread;
} SpawnServer;

// Starts it. Call early, while the process is small: no measured
// peak of memory is below that of the server. `environment` is that of the commands,
// NULL-terminated, and must stay. `allow_kernel_clock` false asks for
// SPAWN_CLOCK_WAIT.
MUST_CHECK bool spawn_server_open(char *const *environment, bool allow_kernel_clock,
                                  SpawnServer *ret, Error *err);
// Ends the server and frees its memory. Accepts a closed one.
void spawn_server_close(SpawnServer *s);

// An event of spawn_server_count.
typedef struct SpawnCounter {
    bool open;
    char name[128]; // as opened: "cycles:u" where the kernel's part is refused
    bool is_time;   // counts nanoseconds
    Error reason;   // why it is not open
} SpawnCounter;

// Has `events` (SPAWN_COUNTERS_MAX at most) counted in each later run that is not
// quick. `ret` gets one row for each. It is not a failure when events cannot be counted.
MUST_CHECK bool spawn_server_count(SpawnServer *s, const EventSpecVec *events, SpawnCounter *ret,
                                   Error *err);

// Runs one command to its end. A command that cannot be executed is an error;
// one that fails is a result.
MUST_CHECK bool spawn_server_run(SpawnServer *s, const SpawnRequest *request, SpawnResult *ret,
                                 Error *err);

// Sends `signal` to the process group of the command that runs now, if any.
// Safe in a signal handler.
void spawn_server_signal(const SpawnServer *s, int signal);

#endif // COLLECT_BENCH_SPAWN_SERVER_H
