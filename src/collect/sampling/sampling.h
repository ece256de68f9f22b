// SPDX-License-Identifier: Apache-2.0
// Recording by sampling: a running program -> a Profile. Threads: the caller's
// drains the kernel's rings and watches the program; one worker of ours orders,
// unwinds and fills the profile. README.md beside this file.

#ifndef COLLECT_SAMPLING_SAMPLING_H
#define COLLECT_SAMPLING_SAMPLING_H

#include "model/profile.h"
#include "os/event.h"
#include "os/spawn.h"
#include "store/store.h"

typedef enum StackMode {
    STACKS_AUTO,   // tables where the machine can dump registers and stack
    STACKS_TABLES, // "dwarf": dump the stack, unwind it by tables
    STACKS_FP,     // the kernel follows frame pointers
    STACKS_LBR,    // the processor's call stack of branch records
    STACKS_NONE
} StackMode;

typedef struct SamplingOptions {
    // What to record: a command, processes, threads or whole CPUs.
    char *const *argv;      // ends in NULL; NULL: no command
    const Program *program; // of argv
    const uint32_t *pids;
    size_t pid_count;
    const uint32_t *tids;
    size_t tid_count;
    bool system_wide;
    const uint32_t *cpus; // with system_wide: only these; none: all that are online
    size_t cpu_count;

    const EventSpecVec *events; // empty: the ladder cycles:P, cycles, cpu-clock
    uint64_t freq_hz;           // 0: as often as the kernel allows
    uint64_t period;            // not 0: instead of a frequency
    StackMode stacks;
    uint32_t stack_bytes; // of each dump; 0: what fits the ring
    bool user_only;
    bool kernel_only;
    bool no_inherit;     // only the threads that are there, no new ones
    uint64_t ring_pages; // a power of two; 0: as the quota allows
    int64_t duration_ns; // 0: until the program ends or a signal
    int64_t delay_ns;    // samples start this long after the program does
    Str tool_version;
} SamplingOptions;

typedef struct SamplingResult {
    uint64_t samples;
    uint64_t lost;       // samples that the kernel or we had to drop
    uint64_t complete;   // stacks that end where they should
    uint64_t with_stack; // samples of which a user stack was asked
    int64_t wall_ns;
    int64_t recorder_cpu_ns; // our own, both threads
    bool has_child;
    pid_t child_pid;
    int child_status;       // wait status
    bool child_runs;        // the recording ended before it did
    bool interrupted;       // by a signal to us
    uint32_t still_running; // processes of the command that outlived it
} SamplingResult;

// A recording under way or just done. It keeps the recorded files open, so that
// symbols come from what ran and not from what lies there now.
typedef struct Sampling Sampling;

// Records until the program, the duration or a signal (SIGINT, SIGTERM, SIGHUP)
// ends it. The profile is ours until this returns; rows go to `writer` about
// once a second. On false nothing useful was recorded and the child, if any, is
// gone; the error's hint says what lifts a refusal. Signals stay blocked in the
// calling thread until sampling_close.
MUST_CHECK bool sampling_run(const SamplingOptions *options, Profile *profile, StoreWriter *writer,
                             Sampling **ret, SamplingResult *result, Error *err);
// The bytes of a module's file as it was mapped, or the text of a runtime's map of
// its code; false when there is none.
bool sampling_module_bytes(Sampling *s, Str path, Str build_id_hex, Bytes *ret);
// With result.child_runs: waits for the child's end, or for a signal to us that
// comes after; then result.child_runs stays true.
void sampling_wait(Sampling *s, SamplingResult *result);
void sampling_close(Sampling *s); // accepts NULL

#endif // COLLECT_SAMPLING_SAMPLING_H
