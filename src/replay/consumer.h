// SPDX-License-Identifier: Apache-2.0
// The consumer turns perf's records, given in the order of time, into rows of the profile.
// It keeps processes, threads and their mappings, and unwinds the stacks of samples. Its
// callers are the worker of a running recording and the importer of perf.data.

#ifndef REPLAY_CONSUMER_H
#define REPLAY_CONSUMER_H

#include "os/event.h"
#include "os/proc.h"
#include "perfdata/perf_record.h"
#include "replay/modules.h"
#include "wire/known_stacks.h"
#include "wire/python_capture.h"

// Where the stacks of an event's samples come from.
typedef enum SampleStacks {
    SAMPLE_STACKS_NONE,   // there are none: only the sampled address
    SAMPLE_STACKS_CHAIN,  // the kernel's call chain, user part included
    SAMPLE_STACKS_TABLES, // registers and a copy of the stack, unwound by tables
    SAMPLE_STACKS_WALKED, // a chain that an agent unwound by tables: wire/ring.h
    SAMPLE_STACKS_LBR     // the processor's call stack of branch records
} SampleStacks;

// A value that samples of an event carry, beside how often it happened: an argument of a probe.
typedef struct SampleArg {
    MetricId metric;
    const EventArg *arg;
} SampleArg;

// One event of the recording; it may be open on many descriptors.
typedef struct SampleEvent {
    MetricId metric; // a sample adds its period to it
    SampleStacks stacks;
    uint64_t regs_user; // mask of the registers in its samples
    uint64_t period;    // the period of samples that do not state one; 0: they do
    bool group_read;    // its samples contain the counters of its group
    // Threads that inherited a counter count apart under its id. Otherwise an id has one count for
    // a CPU with all its threads.
    bool is_inherited;
    bool leader_is_read; // the leader's value is taken from the counters, too, not its period
    MetricId wall;       // with has_wall: a sample adds its period to this metric, too
    bool has_wall;
    bool is_weighed; // after consumer_weigh_from, a sample adds the processor time it stands for
    const SampleArg *args;
    size_t arg_count;
    uint32_t number; // of the event, as in ProbeTexts
    // Samples are taken in the caller when this function has returned: it becomes their innermost
    // frame. "": the samples lie where they say.
    Str returned_path;
    uint64_t returned_svma;
} SampleEvent;

typedef struct ConsumerSetup {
    Profile *profile;
    UnwindArch arch; // of the observed programs
    // Where mapped files may be; borrowed. NULL: the programs are running on this machine, and
    // /proc gives processes, files and the kernel.
    const ModuleSearch *search;
    int64_t start_ns; // the time that becomes 0 in the profile
    // The period in ns of the event that is weighed; 0: there is none.
    uint64_t weighed_period_ns;
    bool no_args;     // command lines are kept without their arguments
    bool no_commands; // command lines are not read: nothing is kept
    // Finds the event of a counter by the counter's id; returns NULL for an unknown id. Called for
    // events with group_read only.
    const SampleEvent *(*event_by_id)(void *ctx, uint64_t id);
    void *ctx;
    bool no_runtimes; // do not read the tables that runtimes have of their code
    bool few_stacks;  // each stack comes once: memory of 2 MiB that is zeroed at once costs more
} ConsumerSetup;

typedef struct ConsumerCounts {
    uint64_t samples;
    uint64_t known;       // of these, with stacks that were recognised instead of copied
    uint64_t known_wrong; // … that were copied for a check, and had other frames
    uint64_t with_stack;  // samples with a user stack to unwind
    uint64_t complete;    // of these, stacks that were unwound to the outermost frame
    uint64_t read_later;  // … stacks whose outer part was read from the process after the sample
    uint64_t with_gap; // … stacks whose outer frames are those of an earlier one, over a marked gap
    uint64_t cut[STACK_CUT_COUNT]; // stacks by why they stay cut
    uint64_t searched; // of `complete`, stacks whose callers of code without rules were searched
    uint64_t short_copies; // stacks that were larger than their copies, completed or not
    uint64_t whole_copies; // stacks that were walked to their end in their copies
    uint64_t stack_bytes;  // of the newest of these
    uint64_t frames_walked;
    uint64_t throttled;
    uint64_t args_missing; // arguments that lay outside of the copied stack
    uint64_t lost;         // sum over LOST records
    uint64_t lost_samples; // sum over LOST_SAMPLES records, which may repeat what `lost` counts
    // After consumer_finish, of the time since consumer_weigh_from, in ns of the processor.
    uint64_t weighed_ns;   // what samples stand for
    uint64_t unsampled_ns; // of threads that ended, without a sample that stands for it
} ConsumerCounts;

typedef struct Consumer Consumer;

// A consumer in heap memory, which consumer_close frees. The profile of `setup` must outlive it.
Consumer *consumer_open(const ConsumerSetup *setup);
void consumer_close(Consumer *c); // accepts NULL

// Programs in the kernel look at the samples from now on. `known` are zeroed tables of the one that
// recognises stacks that were copied before, `targets` CAPTURE_TARGETS zeroed entries of the one
// that reads Python's frames at each sample. The consumer fills both. They are borrowed; either may
// be NULL. Until then all stacks are copied and Python's frames are read after the samples.
void consumer_use_programs(Consumer *c, KnownShared *known, CaptureTarget *targets);

// Applies one record. `event` is the event of a sample; NULL for other records.
void consumer_record(Consumer *c, const PerfRecord *r, const SampleEvent *event);
// Takes the frames of a thread, as a CaptureStack in the raw part of a record. They belong to the
// thread's next sample.
void consumer_capture(Consumer *c, const PerfRecord *r);
// Takes the texts that arguments of a probe point to, as ProbeTexts in the raw part of a record.
// They belong to the thread's next sample of that probe.
void consumer_texts(Consumer *c, const PerfRecord *r);
// Applies a sample that a program in the kernel wrote instead of perf: a KnownSample in the raw
// part of a record. False when it is broken.
bool consumer_known(Consumer *c, const PerfRecord *r, const SampleEvent *event);
// Opens the file that a mapping record names. Call it when the record arrives, before it is its
// turn in time: the file may be replaced meanwhile.
void consumer_peek(Consumer *c, const PerfRecord *r);

// From `time` on, by the clock of the records, the records contain all context switches of the
// threads: samples of an event with is_weighed get the processor time that they stand for.
void consumer_weigh_from(Consumer *c, uint64_t time);

// Adds a process that ran before the recording began: mappings, threads and names from /proc.
// False when it has ended. For live recordings only.
bool consumer_add_existing(Consumer *c, uint32_t pid);
// Reads the mappings of a running process again, where its records lack some.
void consumer_read_maps(Consumer *c, uint32_t pid);
// Adds mappings that were read earlier, of which those with code count.
void consumer_add_maps(Consumer *c, uint32_t pid, const ProcMapVec *maps);

enum { PT_REGS_WORDS = 21 }; // of struct pt_regs on x86-64
// From struct pt_regs to the registers that unwinding needs, in perf's numbers. Returns their mask.
uint64_t regs_from_pt_regs(const uint64_t *pt_regs, uint64_t *ret);

// A stack that was copied apart from samples: the first words of struct pt_regs in perf's numbers,
// and the bytes from the stack pointer upwards.
typedef struct CopiedStack {
    uint32_t pid, tid;
    uint64_t regs_mask; // of the registers in `regs`
    uint64_t regs[PERF_REGS_MAX];
    Bytes bytes;
} CopiedStack;
// Unwinds it in the present address space of its process. `*base` becomes the address up to which
// the frames reach; 0 when the stack was cut. Returns the reason of that, or STACK_CUT_NONE.
StackCut consumer_unwind(Consumer *c, const CopiedStack *s, StackId *ret, uint64_t *base);

// Where the code of a process lies: the program's, and that of libraries. Sizes are 0 when there is
// none.
typedef struct CodeRanges {
    uint64_t low, low_size, high, high_size;
} CodeRanges;
CodeRanges consumer_code(Consumer *c, uint32_t pid);
// The file of the process whose data lie at an address, and the address that the file states. NULL
// if it is not the mapping of a file. Borrowed from the consumer.
const ModuleFile *consumer_file_at(Consumer *c, uint32_t pid, uint64_t address, uint64_t *svma);
// The thread of the profile with that number, running or ended last.
ThreadId consumer_thread(Consumer *c, uint32_t pid, uint32_t tid);
// A time of the records as one of the profile.
int64_t consumer_time(const Consumer *c, uint64_t time);

// After the last record: completes the intervals of threads that still run. `end` is the end of
// the recording by the clock of the records; 0: the time of the last record.
void consumer_finish(Consumer *c, uint64_t end);

// The number of processes that have not ended so far.
uint32_t consumer_running(const Consumer *c);
// After the last record of a live recording: looks for files that processes wrote late, such as
// maps of generated code.
void consumer_find_late_maps(Consumer *c);
// The runtimes whose memory is read in all processes.
typedef enum RuntimeHaste {
    RUNTIMES_NONE,
    RUNTIMES_STAY,   // the memory that is read names functions, which live for a while
    RUNTIMES_CHANGE, // frames are read, too: soon after each sample
} RuntimeHaste;
RuntimeHaste consumer_has_runtimes(const Consumer *c);
// Whether functions of JavaScript got their names from the memory of V8.
bool consumer_has_scripts(const Consumer *c);
// Whether Python's frames were read after the samples that they belong to.
bool consumer_read_late(const Consumer *c);
// The counts and the modules so far, borrowed from the consumer.
const ConsumerCounts *consumer_counts(const Consumer *c);
const ModuleSet *consumer_modules(const Consumer *c);

#endif // REPLAY_CONSUMER_H
