// SPDX-License-Identifier: Apache-2.0
// Records a profile of a running program by sampling. Two threads: the caller's thread
// copies records out of the kernel's ring buffers and watches the program; a worker thread
// sorts the records, unwinds stacks and fills the profile. README.md beside this file says more.

#ifndef COLLECT_SAMPLING_SAMPLING_H
#define COLLECT_SAMPLING_SAMPLING_H

#include "model/profile.h"
#include "os/call_plan.h"
#include "os/event.h"
#include "os/source_file.h"
#include "os/spawn.h"
#include "store/store.h"

typedef enum StackMode {
    STACKS_AUTO,   // tables where the machine can dump registers and stack
    STACKS_TABLES, // "dwarf": dump the stack, unwind it by tables
    STACKS_FP,     // the kernel follows frame pointers
    STACKS_LBR,    // the processor's call stack of branch records
    STACKS_WALKED, // by tables, in the observed process; what timers give
    STACKS_NONE
} StackMode;

// What takes the samples.
typedef enum SamplingEngine {
    ENGINE_AUTO,   // perf events, or the engine that is permitted instead
    ENGINE_PERF,   // perf events
    ENGINE_PTRACE, // this process stops the threads of the command
    ENGINE_TIMER   // a library in the processes of the command
} SamplingEngine;

// A recording, running or ended. It keeps the recorded files open, so that symbols come from the
// files that ran, also when others replace them.
typedef struct Sampling Sampling;

// The state of a running recording.
typedef struct SamplingState {
    int64_t now_ns; // since the recording's start; samples until shortly before are in the profile
    uint64_t samples;
    uint64_t lost;        // as far as the ring buffers have told
    bool is_last;         // the recording has ended
    uint64_t dumps_asked; // with takes_dumps: how often SIGUSR2 came
} SamplingState;

// What a watcher wants.
typedef enum SamplingWish {
    SAMPLING_GO_ON,
    SAMPLING_END,           // the recording ends, the program runs on
    SAMPLING_INTERRUPT,     // the recording and the program end, as by Ctrl-C
    SAMPLING_INTERRUPT_SENT // the recorder's own: the program has been told
} SamplingWish;

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
    uint64_t freq_hz;           // samples per second; 0: as many as the kernel allows
    bool freq_given;            // the user gave it: events that count each occurrence obey it, too
    uint64_t period;            // events per sample, instead of a frequency; 0: none
    StackMode stacks;
    uint32_t stack_bytes; // of the stack copied with each sample; 0: as fits the ring
    bool user_only;
    bool kernel_only;
    bool no_idle;        // with system_wide: clocks leave out the time in which a CPU is idle
    bool no_inherit;     // only existing threads, no later ones
    uint64_t ring_pages; // a power of two; 0: as many as the quota allows
    bool no_args;        // command lines are kept without their arguments
    uint64_t max_bytes;  // the recording ends when the file has this size; 0: not limited
    int64_t duration_ns; // 0: until the program ends or a signal comes
    int64_t delay_ns;    // from the start of the program to the first sample
    SamplingEngine engine;
    bool waits;            // record what threads wait for, too
    int64_t min_wait_ns;   // with waits: shorter ones are in the sums only
    const CallPlan *calls; // record calls of these functions, too; NULL: none
    bool heap; // with ENGINE_TIMER: no samples; account of the heap (collect/heap/rows.h)
    // With heap, as in AgentSessionOptions:
    uint32_t heap_clock;
    bool heap_mappings;
    bool heap_copies;
    uint64_t short_lived;
    uint64_t heap_sample_bytes;
    Bytes heap_entries;
    // The process to attach to, instead of a command; NULL: a command.
    const struct AttachTarget *heap_target;
    bool heap_with_time;      // with heap: samples of the processor time, too
    char *const *environment; // of the command; ends in NULL
    Str temp_folder;          // $TMPDIR; "": the usual ones
    bool copy_stacks;         // copy the stack of each sample, also where it was seen before
    bool no_runtimes;         // do not read the tables that runtimes have of their code
    // Once the program runs, give up the rights that recording does not need, and refuse what could
    // change files or processes (os/privilege.h). The caller's writer must not need them. With
    // `takes_dumps` only the worker does so, which reads what strangers made.
    bool confine;
    // Called in the worker thread, which may use the profile then, ten times a second or more
    // often; NULL: not called. It may fold samples and name frames. While it works, records wait in
    // memory.
    SamplingWish (*watch)(void *ctx, Sampling *s, Profile *profile, const SamplingState *state);
    void *watch_ctx;
    // SIGUSR2 is told to the watcher, command lines are kept, and waits are single waits, also
    // those that have not ended: there are no sums of the whole recording.
    bool takes_dumps;
    bool is_followed; // another recording follows: sampling_close leaves the signals blocked
    // Samples that the writer has written are dropped from memory. The caller looks at none of
    // them.
    bool drop_written;
    Str tool_version;
} SamplingOptions;

typedef struct SamplingResult {
    uint64_t samples;
    uint64_t lost;       // samples that the kernel or this process had to drop
    uint64_t complete;   // stacks that were unwound to the outermost frame
    uint64_t with_gap;   // … but for frames in the middle
    uint64_t with_stack; // samples with a user stack to unwind
    int64_t wall_ns;
    int64_t recorder_cpu_ns; // of both threads of the recorder
    bool has_child;
    pid_t child_pid;
    int child_status; // wait status
    // Of a child that has ended: its main thread's wait for block I/O, -1 when that is not known,
    // and blocks of 512 bytes that it and its children read and wrote.
    int64_t disk_wait_ns;
    uint64_t blocks_in, blocks_out;
    bool child_runs;        // the recording ended before the child
    bool interrupted;       // by a signal to this process
    int interrupted_by;     // which one; 0: none
    uint32_t still_running; // processes of the command that still run
    bool has_waits;         // waits were recorded; else `waits_refused` says why not
    Error waits_refused;
    bool has_calls; // calls were recorded: so many
    uint64_t calls;
    bool write_failed; // `writer` failed, and the recording ended there
    Error write_error; // why it failed
    int killed_by;     // the signal that ended the wait for a thread that hangs; 0: none
} SamplingResult;

// Records until the program ends, the duration is over, or SIGINT, SIGTERM or SIGHUP comes. Only
// the recorder may use the profile until this returns; rows go to `writer` about once a second.
// When `writer` fails, the recording ends, the program runs on, and the result says so.
// On false nothing useful was recorded and the child, if any, has ended; for a missing right the
// hint says how to grant it. The signals stay blocked in the calling thread until sampling_close.
//
// A second signal also ends the wait for a worker thread that hangs on a file: false, with
// result.killed_by. That thread still uses the profile and the writer, so the caller must free
// neither, and must end the process.
MUST_CHECK bool sampling_run(const SamplingOptions *options, Profile *profile, StoreWriter *writer,
                             Sampling **ret, SamplingResult *result, Error *err);
// In a copy of the process that `watch` makes: completes the profile as sampling_run does at its
// end, with the facts until now.
void sampling_snapshot(Sampling *s, SamplingResult *result);
// The bytes for a module of the profile: its file as it was mapped, or the symbol map that a
// runtime wrote for its generated code. False when there are none. Valid until sampling_close.
bool sampling_module_bytes(Sampling *s, Str path, Str build_id_hex, Bytes *ret);

// For a watcher: runs a function in the thread that keeps its rights, and waits for it. Rings are
// emptied before and after.
void sampling_run_with_rights(Sampling *s, void (*run)(void *ctx), void *ctx);

// A source file that such a module names, in the root folder of its process: modules_source.
SourceAccess sampling_source(Sampling *s, Str path, Str build_id_hex, Str source, MappedFile *ret);
// Whether what is left to do, once sampling_run has returned, needs none of the rights that
// os/privilege.h gives up: no session in other processes has to end.
bool sampling_needs_no_rights(const Sampling *s);
// Waits for the end of a child for which result.child_runs is true. A signal to this process ends
// the wait; result.child_runs stays true then.
void sampling_wait(Sampling *s, SamplingResult *result);
void sampling_close(Sampling *s); // closes all files and frees `s`; accepts NULL

#endif // COLLECT_SAMPLING_SAMPLING_H
