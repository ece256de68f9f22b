// SPDX-License-Identifier: Apache-2.0
// The one data model: collectors and importers fill it; views, exporters and diff read it.
// docs/ARCHITECTURE.md, "The model".
//
// Tables are columns in the profile's arena, rows in order of first appearance,
// never removed. Row 0 of strings, modules, functions, frames and stacks stands
// for "none": "", no module, no function, the frame of an unknown place, the
// empty stack.

#ifndef MODEL_PROFILE_H
#define MODEL_PROFILE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/table.h"
#include "base/vec.h"
#include "model/ids.h"

typedef Vec(StrId) StrIdVec;
typedef Vec(ModuleId) ModuleIdVec;
typedef Vec(FunctionId) FunctionIdVec;
typedef Vec(FrameId) FrameIdVec;
typedef Vec(StackId) StackIdVec;
typedef Vec(ProcessId) ProcessIdVec;
typedef Vec(ThreadId) ThreadIdVec;
typedef Vec(MetricId) MetricIdVec;
typedef Vec(RunId) RunIdVec;

// "No time": the recording does not know when.
#define TIME_NONE INT64_MIN

typedef enum ModuleKind {
    MODULE_NONE,
    MODULE_FILE,   // an ELF object, also when deleted or replaced since
    MODULE_KERNEL, // vmlinux: addresses are the kernel's own, not stated ones
    MODULE_KMOD,   // a kernel module, addresses as for the kernel
    MODULE_VDSO,
    MODULE_JIT, // code that a runtime made: perf-PID.map, jitdump; addresses in the process
    MODULE_ANON // executable memory that no file, map or jitdump describes; addresses in the
                // process
} ModuleKind;

typedef struct Modules {
    StrIdVec path;     // as the recorded process saw it; "[kernel]", "[vdso]", "//anon" …
    StrIdVec build_id; // lower-case hex, "" when it has none
    U8Vec kind;        // ModuleKind
} Modules;

typedef struct Functions {
    StrIdVec name;         // demangled, in full
    StrIdVec linkage_name; // as the symbol table has it; equals name for C
    StrIdVec file;         // where it is declared, "" when not known
    U32Vec line;           // 0 when not known
} Functions;

enum {
    FRAME_KERNEL = 1 << 0,
    // Found by a guess (frame pointer without unwind table, stack scan), not by a rule.
    FRAME_GUESSED = 1 << 1,
    // Not a place in a program but the reason why the stack ends below it; then
    // `address` is a StackCut and module and function are none.
    FRAME_CUT = 1 << 2,
    // The address is exact (a sample's own pc, a frame a signal interrupted); without it the
    // address is that of the call, i.e. the return address - 1.
    FRAME_EXACT = 1 << 3,
    // A call that was inlined into the frame below it in the stack. Only imports
    // that have inlined calls as stack entries set it; elsewhere `inlined_in` says so.
    FRAME_INLINED = 1 << 4
};

// Why an incomplete stack is incomplete. Part of the file format: never renumber.
typedef enum StackCut {
    STACK_CUT_NONE,
    STACK_CUT_DUMP_SHORT,  // the copied part of the stack ended before the stack did
    STACK_CUT_NO_TABLE,    // no unwind table covers the pc and the frame pointer led nowhere
    STACK_CUT_JIT,         // the same, in code that a runtime made
    STACK_CUT_BAD_FRAME,   // the table's rule gave an address that cannot be (corrupt or misread)
    STACK_CUT_NO_USER,     // the kernel part only: no user registers were recorded
    STACK_CUT_UNKNOWN_MAP, // pc in no known mapping
    STACK_CUT_TOO_DEEP,    // a stated limit on depth
    STACK_CUT_NO_MEMORY,   // the kernel part only: exec had replaced the stack, or its page was not
                           // there
    STACK_CUT_SWITCH,      // code went on on another stack, and the way back is not known
    STACK_CUT_GAP,         // frames in the middle are missing: its marker stands in their place
    STACK_CUT_COUNT
} StackCut;

const char *stack_cut_name(StackCut cut); // "dump too short", for the truth line

// One place: an address of a module, and after symbolising the function and line there.
// A call inlined at that address is a frame of its own, one for each level:
// the frame that stacks refer to is the innermost one, and `inlined_in` leads
// outwards to the frame of the real function, where it is 0.
typedef struct Frames {
    ModuleIdVec module;
    U64Vec address;         // Svma for MODULE_FILE and MODULE_VDSO, else see ModuleKind
    FunctionIdVec function; // 0: not symbolised
    StrIdVec file;          // "" when not known
    U32Vec line;            // 0 when not known or when the compiler made it up
    FrameIdVec inlined_in;  // 0: not inlined
    U8Vec flags;            // FRAME_*
} Frames;

// Stacks as a trie: a stack is its leaf's row. The root side is at the parents.
typedef struct Stacks {
    StackIdVec parent;
    FrameIdVec frame;
} Stacks;

typedef struct Processes {
    U32Vec pid;
    U32Vec parent_pid; // 0 when not known
    StrIdVec name;     // the last comm
    StrIdVec command;  // command line, arguments joined by NUL; "" when not known
    I64Vec start_ns;   // TIME_NONE: before the recording
    I64Vec end_ns;     // TIME_NONE: after the recording, or not known
} Processes;

typedef struct Threads {
    ProcessIdVec process;
    U32Vec tid;
    StrIdVec name;
    I64Vec start_ns;
    I64Vec end_ns;
} Threads;

typedef enum MetricKind {
    METRIC_SUM, // adds over samples, threads and time: ns, bytes allocated, cycles
    METRIC_MAX, // a level, of which the highest counts: bytes at peak
} MetricKind;

// The event of a metric that holds the values of an argument of a probe: this, and the name of the
// probe's own metric. Its values belong to the samples whose value of that metric is not 0.
#define METRIC_ARGUMENT_OF "argument of "
// The unit of such a metric whose values are texts: numbers of strings of the profile, StrId.
#define METRIC_TEXT "text"

typedef struct Metrics {
    StrIdVec name;  // "cpu time", "cycles", "page-faults", "bytes allocated" …
    StrIdVec unit;  // "ns", "bytes", "" for plain counts
    U8Vec kind;     // MetricKind
    StrIdVec event; // the event it was counted with ("cpu-clock:u"), "" when there is none
} Metrics;

// Samples that a recorder has written to its file and no longer holds. Their rows come before those
// of the columns.
typedef struct DroppedSamples {
    size_t rows;
    U64Vec of_stack; // [stack] how many have this stack; shorter when the rest have none
    U64Vec sum;      // [metric] of their values
    U64Vec not_zero; // [metric] how many of their values are not 0
} DroppedSamples;

// `values` has one column for each metric, as long as `stack`.
typedef struct Samples {
    I64Vec time_ns; // since the recording's start, or TIME_NONE
    ThreadIdVec thread;
    StackIdVec stack;
    U32Vec cpu;     // SAMPLE_CPU_NONE when not known
    I64Vec *values; // [metric]
    size_t value_columns;
    DroppedSamples dropped;
} Samples;

#define SAMPLE_CPU_NONE UINT32_MAX

// Counters and levels over time. A counter's value is the number of events since the row
// before it with the same metric and part, or since the start; a level's value is the level.
typedef struct Series {
    MetricIdVec metric;
    I64Vec time_ns;
    DoubleVec value;   // scaled to the whole span; NaN: the event never ran in it
    StrIdVec part;     // "CPU0", "worker-4711" where parts were counted apart; "" for the whole
    U64Vec enabled_ns; // of this span the event should have counted; 0 for a level
    U64Vec running_ns; // it did: less when the PMU was shared out
} Series;

enum {
    RUN_WARMUP = 1 << 0,  // before the measured runs
    RUN_WEIGHED = 1 << 1, // made for its exact peak memory; its times are not known
    RUN_MISSING = 1 << 2, // none was finished: the row names the command, and has no figures
    // Timed from start to wait, though the recording's clock is the kernel's.
    RUN_BY_WAIT = 1 << 3,
    // Statistics include only runs without any of these.
    RUN_NO_STATISTIC = RUN_WARMUP | RUN_WEIGHED | RUN_MISSING
};

// The status of a run that is not known.
#define RUN_STATUS_NONE UINT32_MAX

// One execution of a command or of a function benchmark. Runs of one name are repetitions of
// one measurement; runs of different names in the same round are pairs.
typedef struct Runs {
    StrIdVec name;       // by which reports call the measurement: "./old", "parse/1000"
    StrIdVec command;    // the command line, words quoted for a shell
    StrIdVec revision;   // of the source that the program was built from; "" when not known
    StrIdVec conditions; // lines "key=value": parameters that differed from other runs, "" if none
    I64Vec start_ns;     // since the recording's start; TIME_NONE when not known
    I64Vec wall_ns;      // by the clock that the recording names; TIME_NONE when not known
    I64Vec user_ns;      // TIME_NONE when not known
    I64Vec system_ns;    // TIME_NONE when not known
    U32Vec status;       // exit status, or 128 + signal; RUN_STATUS_NONE when not known
    U32Vec round;        // from 0
    U32Vec position;     // within the round, from 0
    U8Vec flags;         // RUN_*
} Runs;

// Counts of a run, beside its times: events, peak memory, faults.
typedef struct RunValues {
    RunIdVec run;
    MetricIdVec metric;
    // Scaled to the whole run where the event counted only a part of it. NaN: the event was
    // opened and never ran.
    DoubleVec value;
    U64Vec enabled_ns; // the event should have counted for so long; 0 if it is not an event
    U64Vec running_ns; // it did: less when the PMU was shared out
    StrIdVec part;     // "CPU0", "worker-4711" where parts were counted apart; "" for the whole
} RunValues;

// Names of intervals that `assay record` writes.
#define INTERVAL_THREAD "thread" // from the start of a thread to its end, as far as observed
#define INTERVAL_FORK   "fork"   // a mark: the thread made a process; detail: its pid
#define INTERVAL_EXEC   "exec"   // a mark: the thread became another program; detail: its name

// Spans and points on the time line; a mark has end_ns == start_ns.
typedef struct Intervals {
    ThreadIdVec thread;
    I64Vec start_ns;
    I64Vec end_ns;
    StrIdVec name;
    StrIdVec detail;
} Intervals;

// The state of a thread. Part of the file format: never renumber.
typedef enum WaitClass {
    WAIT_RUNNING,
    WAIT_RUNNABLE, // could run, and has no processor
    WAIT_LOCK,
    WAIT_DISK,
    WAIT_NETWORK, // sockets, pipes, terminals, and calls that wait for several of these
    WAIT_SLEEP,
    WAIT_FAULT, // memory that was not there
    WAIT_CHILD, // the end of a process
    WAIT_STOPPED,
    WAIT_OTHER,
    WAIT_CLASS_COUNT
} WaitClass;

// "lock", "disk" …
const char *wait_class_name(WaitClass c);

// Sums over the states of a thread: those at one stack, for one object. All rows of a thread
// together are the time that it was observed.
typedef struct Waits {
    ThreadIdVec thread;
    StackIdVec stack; // 0: not known, as for the classes running and runnable
    U8Vec state;      // WaitClass
    StrIdVec object;  // lock, file, peer; "" when not known
    U64Vec count;
    U64Vec blocked_ns;  // in this state
    U64Vec runnable_ns; // afterwards, until there was a processor; belongs to WAIT_RUNNABLE
    U64Vec longest_ns;  // of both
} Waits;

// How long single waits took: `count` of a row of `waits` were from 2^(bucket/2) ns on, half steps
// being three quarters of the next power, up to the next bucket's begin (wait_bucket_ns).
typedef struct WaitTimes {
    U32Vec wait; // row of `waits`
    U32Vec bucket;
    U64Vec count;
} WaitTimes;

// The shortest time of a bucket in ns.
uint64_t wait_bucket_ns(uint32_t bucket);

// Single waits: those that took longer than the recorder was told to leave out.
typedef struct States {
    ThreadIdVec thread;
    I64Vec start_ns;
    I64Vec woken_ns; // from here to the end it could run and had no processor
    I64Vec end_ns;
    U8Vec state; // WaitClass
    StrIdVec object;
    StackIdVec stack;
    // 1 + the thread that ended the wait, or that made this thread; 0: an interrupt, or not known.
    U32Vec waker;
    StackIdVec waker_stack; // 0: not known
} States;

enum {
    CALL_ENDS_LATE = 1 << 0, // no return was seen: an exception or a jump left it, some time before
    CALL_IS_OPEN = 1 << 1,   // it had not ended when the recording did
    CALL_IS_WORK = 1 << 2,   // work that a value joins, from the entry of one function to another's
};

// Calls of functions, in the order in which they ended.
typedef struct Calls {
    FrameIdVec frame; // the first instruction of the function
    ThreadIdVec thread;
    I64Vec begin_ns;
    I64Vec end_ns;
    U32Vec depth; // how many recorded calls of the thread were open when it began
    U8Vec flags;  // CALL_*
} Calls;

// Arguments and results of calls. The rows of one call are neighbours, in the order of `calls`.
typedef struct CallValues {
    U32Vec call; // row of `calls`
    StrIdVec name;
    I64Vec value;
} CallValues;

// Execution counts from coverage. `count` is the number of executions.
typedef struct LineCounts {
    StrIdVec file;
    U32Vec line;
    U64Vec count;
} LineCounts;

typedef struct FunctionCounts {
    FunctionIdVec function;
    U64Vec count; // entries
    U64Vec hash;  // the compiler's structural hash, 0 when it has none
    // Where on its line the function starts: those of one file, line and column are instances of
    // one function and count as one. 0: not known, the function counts by itself.
    U32Vec column;
} FunctionCounts;

typedef struct BranchCounts {
    StrIdVec file;
    U32Vec line;
    U32Vec column;
    U32Vec block;  // distinguishes decisions on one line
    U32Vec branch; // 0-based within the decision
    U64Vec count;
} BranchCounts;

// The kinds of regions of a function. The numbers are those of LLVM's coverage mapping, and part
// of the file format.
typedef enum RegionKind {
    REGION_CODE = 0,
    REGION_EXPANSION = 1,
    REGION_SKIPPED = 2,
    REGION_GAP = 3,
    REGION_BRANCH = 4,
    REGION_DECISION = 5,
    REGION_DECISION_BRANCH = 6
} RegionKind;

typedef struct RegionCounts {
    FunctionIdVec function;
    StrIdVec file;
    U32Vec line, column, end_line, end_column;
    U8Vec kind; // RegionKind
    U64Vec count;
} RegionCounts;

// MC/DC: how often a condition of a decision has been shown to decide the outcome
// alone, by being true and by being false: two rows for each.
typedef struct ConditionCounts {
    StrIdVec file;
    U32Vec line;         // of the decision
    U32Vec group;        // how many conditions the decision has
    U32Vec index;        // of the condition
    U8Vec sense;         // 1: true
    StrIdVec expression; // its text, or its place as "line:column"
    U64Vec count;
} ConditionCounts;

// The criteria of coverage of a file or a function. The numbers are part of the file format.
typedef enum CoverCriterion {
    COVER_LINES,
    COVER_FUNCTIONS,      // instances of one template count as one
    COVER_INSTANTIATIONS, // each instance counts
    COVER_REGIONS,
    COVER_BRANCHES,
    COVER_CONDITIONS, // of decisions (MC/DC), shown to decide alone
    COVER_CRITERION_COUNT
} CoverCriterion;

// So many of so many.
typedef struct CoverTally {
    uint64_t covered, count;
} CoverTally;

// Totals of a file or a function, by CoverCriterion.
typedef struct CoverTotals {
    CoverTally of[COVER_CRITERION_COUNT];
} CoverTotals;

// Adds the totals of each criterion.
static inline void cover_totals_add(CoverTotals *into, const CoverTotals *more)
{
    for (int i = 0; i < COVER_CRITERION_COUNT; i++) {
        into->of[i].covered += more->of[i].covered;
        into->of[i].count += more->of[i].count;
    }
}

// Totals that the rows above do not give: llvm-cov's, which follow from how functions are
// instantiated. The rows of one file or function are neighbours, criteria ascending.
typedef struct CoverTotalRows {
    StrIdVec file;
    FunctionIdVec function; // 0: the whole file
    U8Vec criterion;        // CoverCriterion
    U64Vec covered, count;
} CoverTotalRows;

// A two-sided branch as it is written. Branches in the text of a macro are listed where the
// outermost macro is used.
typedef struct BranchSites {
    StrIdVec file;      // where it is listed
    U32Vec listed_line; // there
    U32Vec line;        // where it is written, which may be in another file
    U32Vec column;
    U64Vec true_count, false_count;
    U8Vec is_folded; // the compiler knew the condition
} BranchSites;

enum {
    SEGMENT_HAS_COUNT = 1 << 0, // else the text from here on is not counted
    SEGMENT_IS_ENTRY = 1 << 1,  // a region starts here, else one goes on
    SEGMENT_IS_GAP = 1 << 2     // between statements
};

// Stretches of a file with one count each, all functions taken together: a stretch ends where
// the next one of the file starts.
typedef struct CoverSegments {
    StrIdVec file;
    U32Vec line, column;
    U64Vec count;
    U8Vec flags; // SEGMENT_*
} CoverSegments;

typedef enum ExcerptKind {
    EXCERPT_EXPANSION, // the text that the use of a macro expands to
    EXCERPT_INSTANCE   // one of several functions at one place
} ExcerptKind;

// Lines that a listing shows once more below a line, with counts of their own.
typedef struct Excerpts {
    StrIdVec file; // in which it is shown
    U32Vec line;   // below which it is shown
    U8Vec kind;    // ExcerptKind
    FunctionIdVec function;
    U64Vec count;  // entries of the function
    StrIdVec text; // the file that the lines are of
} Excerpts;

// The rows of one excerpt are neighbours, in the order of `excerpts`.
typedef struct ExcerptLines {
    U32Vec excerpt; // row of `excerpts`
    U32Vec line;
    U64Vec count;
} ExcerptLines;

enum {
    DECISION_IS_EXCLUDED = 1 << 0, // by a mark in the source
};

// A decision (MC/DC) of one function, with the evaluations that ran.
typedef struct Decisions {
    StrIdVec file;
    U32Vec line, column, end_line, end_column;
    FunctionIdVec function;
    U8Vec flags; // DECISION_*
    // For each different evaluation a letter for each condition, then one for the outcome:
    // T, F, - (not evaluated) or C (the compiler knew it).
    StrIdVec vectors;
} Decisions;

enum {
    CONDITION_IS_FOLDED = 1 << 0,    // the compiler knew it: not to be covered
    CONDITION_IS_ELSEWHERE = 1 << 1, // written in another file than its decision: in a macro
};

// A condition of a decision. The rows of one decision are neighbours, in the order of
// `decisions`.
typedef struct DecisionConditions {
    U32Vec decision; // row of `decisions`
    U32Vec line, column, end_line, end_column;
    U8Vec flags; // CONDITION_*
    // The vectors, from 1, that show that the condition decides alone; 0: none do.
    U32Vec pair_first, pair_second;
} DecisionConditions;

// The text of source lines that a result touches.
typedef struct SourceLines {
    StrIdVec file;
    U32Vec line;
    StrIdVec text;
} SourceLines;

typedef enum NoteLevel { NOTE_INFO, NOTE_WARNING } NoteLevel;

// Notes that the user needs to judge the recording, in the order of their making.
typedef struct Notes {
    U8Vec level;  // NoteLevel
    StrIdVec key; // stable and short, for programs: "lost-samples"
    StrIdVec text;
} Notes;

// Facts: one value for each key, the last set wins. Known keys stand in facts.h.
typedef struct Facts {
    StrIdVec key;
    StrIdVec value;
} Facts;

typedef struct Profile {
    Arena arena;
    Intern strings;
    Modules modules;
    Functions functions;
    Frames frames;
    Stacks stacks;
    Processes processes;
    Threads threads;
    Metrics metrics;
    Samples samples;
    Series series;
    Intervals intervals;
    Waits waits;
    WaitTimes wait_times;
    States states;
    Calls calls;
    CallValues call_values;
    Runs runs;
    RunValues run_values;
    LineCounts line_counts;
    FunctionCounts function_counts;
    BranchCounts branch_counts;
    RegionCounts region_counts;
    ConditionCounts condition_counts;
    CoverTotalRows cover_totals;
    BranchSites branch_sites;
    CoverSegments segments;
    Excerpts excerpts;
    ExcerptLines excerpt_lines;
    Decisions decisions;
    DecisionConditions decision_conditions;
    SourceLines source_lines;
    Notes notes;
    Facts facts;
    // Indexes for interning rows; built on demand after a load.
    Table module_index, function_index, frame_index, stack_index, source_index;
    size_t unindexed_stacks; // so many at the end are not in stack_index yet
} Profile;

// Makes a profile without rows, save row 0 of the tables that have one.
void profile_init(Profile *p);
// Frees everything that the profile holds; texts and rows taken from it are gone then.
void profile_deinit(Profile *p);
// Moves a profile to other memory, which is not initialised; `from` is zeroed.
void profile_move(Profile *to, Profile *from);

// The row of a string, which is copied when it is new.
static inline StrId profile_str(Profile *p, Str s)
{
    return (StrId){intern_add(&p->strings, s)};
}

// The text of a row; it lives as long as the profile.
static inline Str profile_text(const Profile *p, StrId id)
{
    return intern_get(&p->strings, id.v);
}

// Interning adders: an equal row gives the same number back.
ModuleId profile_module(Profile *p, ModuleKind kind, Str path, Str build_id_hex);
FunctionId profile_function(Profile *p, Str name, Str linkage_name, Str file, uint32_t line);
FunctionId profile_function_of(Profile *p, StrId name, StrId linkage_name, StrId file,
                               uint32_t line);
// A raw place, not yet symbolised. Equal {module, address, flags} give the same frame.
FrameId profile_frame(Profile *p, ModuleId module, uint64_t address, uint8_t flags);
// The frame that stands for "the stack is cut here because".
FrameId profile_cut_frame(Profile *p, StackCut cut);
StackId profile_stack(Profile *p, StackId parent, FrameId frame);
// A stack that the caller knows to be new: nothing is looked up or indexed.
StackId profile_stack_append(Profile *p, StackId parent, FrameId frame);
void profile_source_line(Profile *p, StrId file, uint32_t line, Str text);

// States the function and the line of a frame. Called once for a frame by the symboliser; an
// importer that has names but no addresses uses profile_named_frame.
void profile_frame_resolve(Profile *p, FrameId frame, FunctionId function, StrId file,
                           uint32_t line);
// Adds a frame outside `inner` on the same address: the function that `inner`
// was inlined into. Gives the new frame, whose place the caller resolves.
FrameId profile_frame_add_inliner(Profile *p, FrameId inner);
// A frame known by name only; equal ones are shared. inlined_in stays 0.
FrameId profile_named_frame(Profile *p, ModuleId module, uint64_t address, FunctionId function,
                            StrId file, uint32_t line, uint8_t flags);

// Plain adders: always a new row.
ProcessId profile_add_process(Profile *p, uint32_t pid, uint32_t parent_pid, StrId name,
                              int64_t start_ns);
ThreadId profile_add_thread(Profile *p, ProcessId process, uint32_t tid, StrId name,
                            int64_t start_ns);
// Removes all samples from memory but counts them in `samples.dropped`. For a recorder: views of
// this profile would miss them.
void profile_drop_samples(Profile *p);

// Metrics are added before samples or later; samples already there get 0.
MetricId profile_add_metric(Profile *p, Str name, Str unit, MetricKind kind, Str event);
// A sample with 0 in every metric; `profile_sample_set` fills them.
size_t profile_add_sample(Profile *p, int64_t time_ns, ThreadId thread, StackId stack,
                          uint32_t cpu);
// Adds up the samples before `before_ns`, and those without a time: afterwards one sample without a
// time stands for all that had its thread and its stack. For views of running recordings, whose
// memory must not grow with time.
void profile_fold_samples(Profile *p, int64_t before_ns);
static inline void profile_sample_set(Profile *p, size_t sample, MetricId metric, int64_t value)
{
    p->samples.values[metric.v].at[sample] = value;
}

// The columns of a run, for profile_add_run. A zeroed run whose times and status are set to their
// NONE values is a run without any data: see RUN_NOT_KNOWN.
typedef struct RunRow {
    StrId name, command, revision, conditions;
    int64_t start_ns, wall_ns, user_ns, system_ns;
    uint32_t status, round, position;
    uint8_t flags;
} RunRow;

#define RUN_NOT_KNOWN                                                                              \
    ((RunRow){.start_ns = TIME_NONE,                                                               \
              .wall_ns = TIME_NONE,                                                                \
              .user_ns = TIME_NONE,                                                                \
              .system_ns = TIME_NONE,                                                              \
              .status = RUN_STATUS_NONE})

// Appends a run.
RunId profile_add_run(Profile *p, const RunRow *run);
// The row as one value.
RunRow profile_run(const Profile *p, RunId run);
// Appends a value that holds for the whole run.
void profile_add_run_value(Profile *p, RunId run, MetricId metric, double value);
// Appends a counted value; `part` may be the empty string.
void profile_add_run_count(Profile *p, RunId run, MetricId metric, double value,
                           uint64_t enabled_ns, uint64_t running_ns, StrId part);
// Appends a point of a series; `part` may be the empty string. A level has 0 in both times.
void profile_add_point(Profile *p, MetricId metric, int64_t time_ns, double value,
                       uint64_t enabled_ns, uint64_t running_ns, StrId part);
// Appends a span, or a mark when start and end are equal.
void profile_add_interval(Profile *p, ThreadId thread, int64_t start_ns, int64_t end_ns, StrId name,
                          StrId detail);

// Appends a sum of waits whose columns `row` states; returns its number.
typedef struct WaitRow {
    ThreadId thread;
    StackId stack;
    WaitClass state;
    StrId object;
    uint64_t count, blocked_ns, runnable_ns, longest_ns;
} WaitRow;
uint32_t profile_add_wait(Profile *p, const WaitRow *row);
// Appends how many waits of a row of `waits` were in a bucket.
void profile_add_wait_time(Profile *p, uint32_t wait, uint32_t bucket, uint64_t count);

// Appends a single wait; the fields are those of States.
typedef struct StateRow {
    ThreadId thread;
    int64_t start_ns, woken_ns, end_ns;
    WaitClass state;
    StrId object;
    StackId stack;
    uint32_t waker;
    StackId waker_stack;
} StateRow;
void profile_add_state(Profile *p, const StateRow *row);

// Appends a call, whose fields are those of Calls; returns its number.
typedef struct CallRow {
    FrameId frame;
    ThreadId thread;
    int64_t begin_ns, end_ns;
    uint32_t depth;
    uint8_t flags;
} CallRow;
uint32_t profile_add_call(Profile *p, const CallRow *row);
// Appends a value of the newest call, or of an earlier one when no later one has any.
void profile_add_call_value(Profile *p, uint32_t call, StrId name, int64_t value);

// Appends a note. `key` is one of the short stable words that programs look for.
void profile_note(Profile *p, NoteLevel level, Str key, const char *fmt, ...) PRINTF_LIKE(4, 5);
// Whether a metric is an argument of a probe; `*owner` becomes the metric of the probe.
bool metric_is_argument(const Profile *p, MetricId metric, MetricId *owner);
// Whether the values of a metric are texts, so that no sum of them means anything.
bool metric_is_text(const Profile *p, MetricId metric);

// Sets a fact; the last value of a key wins.
void profile_set_fact(Profile *p, Str key, Str value);
// "" when not set.
Str profile_fact(const Profile *p, Str key);
bool profile_fact_u64(const Profile *p, Str key, uint64_t *ret);

// The rows of a table, for loops over it (row 0 included where there is one).
static inline uint32_t profile_frame_count(const Profile *p)
{
    return (uint32_t)p->frames.module.len;
}

// Checks that every reference points at a row of its table, that parents and
// inliners come before or after their children as the format demands (no
// cycles) and that columns of one table are equally long. For profiles that
// came out of a file; the error names table and row.
MUST_CHECK bool profile_check(const Profile *p, Error *err);

#endif // MODEL_PROFILE_H
