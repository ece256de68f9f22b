// SPDX-License-Identifier: Apache-2.0
// Adds up samples to weights, the values of distinct stacks. Only this step looks at every
// sample; trees, tables and pictures are made from the weights.

#ifndef ANALYSE_WEIGHTS_H
#define ANALYSE_WEIGHTS_H

#include "base/strbuf.h"
#include "model/profile.h"

// The property by which samples are put into groups.
typedef enum Group {
    GROUP_NONE,
    GROUP_THREAD,
    GROUP_PROCESS,
    GROUP_COMM // by thread name
} Group;

// The samples that a view is made of. Initialise it with selection_init.
typedef struct Selection {
    MetricId metric;
    int64_t from_ns;     // samples with from_ns <= time < to_ns; a sample without
    int64_t to_ns;       // time is kept only when both ends are open
    const U32Vec *pids;  // NULL: all
    const U32Vec *tids;  // NULL: all
    const StrVec *comms; // NULL: all; thread names, or the names of their processes
    // POSIX extended regular expressions on function names (in full). A stack is
    // kept when one of its functions matches `focus` and none matches `ignore`.
    const char *focus;  // NULL: all
    const char *ignore; // NULL: none
} Selection;

// Selects everything in the first metric.
void selection_init(Selection *s);

// True when the selection leaves samples out because of their time.
static inline bool selection_has_time(const Selection *s)
{
    return s->from_ns != INT64_MIN || s->to_ns != INT64_MAX;
}

// One group: a thread, a process, or all threads of one name.
typedef struct WeightGroup {
    StrId name;
    uint32_t pid; // 0 for GROUP_COMM and GROUP_NONE
    uint32_t tid; // 0 but for GROUP_THREAD
    uint64_t value;
    uint64_t samples;
    size_t first_row; // its rows: [first_row, first_row + row_count)
    size_t row_count;
} WeightGroup;

// A distinct stack of a group.
typedef struct WeightRow {
    StackId stack;
    uint32_t samples; // with a value in the metric
    uint64_t value;
} WeightRow;

typedef struct Weights {
    const Profile *profile;
    Selection selection;
    Group grouping;
    Vec(WeightGroup) groups;  // in order of first appearance
    Vec(WeightRow) rows;      // by group, within it in order of first appearance
    uint64_t value;           // over all rows
    uint64_t samples;         // kept samples with a value in the metric
    uint64_t samples_outside; // samples with a value that the selection left out
    // [reason why the stack is incomplete]: samples; STACK_CUT_NONE: complete.
    uint64_t cut_samples[STACK_CUT_COUNT];
    uint64_t samples_without_stack; // the empty stack; in no cut_samples
    uint64_t kernel_value;          // of samples whose innermost frame is the kernel's
    uint64_t unnamed_value;         // of samples whose innermost frame has no function
    bool clamped;                   // values were reduced so that their sum fits 64 bits
    // [stack] the stack that gets its self value in tables; NULL: the stack itself. Heap memory.
    // Set by weights_count_for_program.
    uint32_t *self_stacks;
} Weights;

// Computes the weights of a profile, which must outlive them; free them with weights_deinit.
// Metric values below 0 count as 0. Fails only on a bad regular expression (ERROR_USAGE); nothing
// is to be freed then.
MUST_CHECK bool weights_init(Weights *w, const Profile *p, const Selection *s, Group grouping,
                             Error *err);
void weights_deinit(Weights *w);

// From here on, tables count a sample that ended in the kernel as self of the program's innermost
// frame. Nothing changes for other metrics than those of metric_counts_kernel_events, and without
// samples in the kernel.
void weights_count_for_program(Weights *w);

// The stack whose innermost frame gets the self value of `stack`.
static inline StackId weights_self_stack(const Weights *w, StackId stack)
{
    return w->self_stacks ? (StackId){w->self_stacks[stack.v]} : stack;
}

// Appends a group's name from the profile and the number of its thread or process: "worker 4711".
void weight_group_add_name(const Weights *w, uint32_t group, StrBuf *out);

// The numbers of the selected samples, in the order of the recording. A sample needs a value in
// the selected metric, or with `any_metric` in any. `ret` is heap memory: vec_free. Fails as
// weights_init does.
MUST_CHECK bool selection_samples(const Profile *p, const Selection *s, bool any_metric,
                                  U32Vec *ret, Error *err);

// [thread] 1 for threads that the selection keeps, whether they have samples or not; heap memory.
uint8_t *selection_threads(const Profile *p, const Selection *s);

// The first metric that a sample has a value in; the first one when none has.
MetricId metric_with_samples(const Profile *p);

// Finds a metric by its name, its event, or its number ("0", "1" …).
MUST_CHECK bool metric_find(const Profile *p, Str name, MetricId *ret, Error *err);

#endif // ANALYSE_WEIGHTS_H
