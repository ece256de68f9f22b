// SPDX-License-Identifier: Apache-2.0
// What each line of a program's own source costs, joined from the recordings of a survey: CPU time,
// waits, blocks of the heap, executions.

#ifndef ANALYSE_SURVEY_LINE_COSTS_H
#define ANALYSE_SURVEY_LINE_COSTS_H

#include "analyse/heap/advice.h"
#include "base/intern.h"

// What happens below a line of user code: in functions that have no such line themselves.
enum LineBelow {
    BELOW_NOTHING,   // in the line itself
    BELOW_ALLOCATOR, // in malloc, free and what else gives out and takes back blocks
    BELOW_LIBRARY,   // in another function of a library
    BELOW_KERNEL,
    BELOW_COUNT,
};

// A line of user code. A sample in the C library, in the standard library of C++ or Rust, in an
// interpreter or in the kernel counts for the line of user code that called there. Texts are the
// recordings'.
typedef struct LineCost {
    Str file;
    uint32_t line;
    Str function; // in which the line is, inlined functions included
    Str text;     // of the line; "" when no recording has it
    uint64_t cpu; // ns, after line_costs_finish
    uint64_t cpu_samples;
    uint64_t cpu_below[BELOW_COUNT]; // the same, by where the samples ended
    Str callee;                      // the function below the line with the most of it; "" for none
    uint64_t callee_cpu;
    uint64_t wait_ns;     // blocked, without threads that have no work
    WaitClass wait_state; // of the longest wait
    Str wait_object;      // of it; "" when not known
    uint64_t wait_longest_ns;
    uint64_t blocks, bytes;
    uint64_t executions;
    bool is_counted; // `executions` is known
} LineCost;

enum { TOP_FUNCTIONS = 4 };

typedef struct TopFunction {
    Str name;     // "": there are no more
    uint64_t cpu; // as LineCost.cpu
} TopFunction;

typedef struct LineCosts {
    Arena arena;
    Intern names;       // "FILE:LINE"; the number less 1 is the row
    Vec(LineCost) rows; // heap memory
    // Of all samples, with those that have no line of user code; ns, after line_costs_finish.
    uint64_t cpu, cpu_samples, cpu_without_line, cpu_in_allocator;
    // The functions with the most self value among samples without a line of user code.
    TopFunction top_functions[TOP_FUNCTIONS];
    uint64_t cpu_ns;  // CPU time of the recorded run, in any case
    uint64_t wait_ns; // blocked, over all threads, without idle ones
    uint64_t blocks, bytes;
} LineCosts;

// Starts without rows. Free with line_costs_deinit.
void line_costs_init(LineCosts *c);
void line_costs_deinit(LineCosts *c);

// Each adds what one recording holds; the profile must outlive the costs.
MUST_CHECK bool line_costs_add_cpu(LineCosts *c, const Profile *p, Error *err);
void line_costs_add_waits(LineCosts *c, const Profile *p);
void line_costs_add_heap(LineCosts *c, const HeapView *v);
// Gives the rows that are there their executions.
void line_costs_add_counts(LineCosts *c, const Profile *p);

// The row of a line; NULL when nothing is known of it.
const LineCost *line_costs_find(LineCosts *c, Str file, uint32_t line);

// When all is added: makes nanoseconds of all CPU values, and sorts the rows by CPU time and waits
// together, the greatest first. Nothing can be added then.
void line_costs_finish(LineCosts *c);

#endif // ANALYSE_SURVEY_LINE_COSTS_H
