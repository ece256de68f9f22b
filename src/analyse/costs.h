// SPDX-License-Identifier: Apache-2.0
// Compares two programs by recordings of both: which functions and lines account for the
// difference of their times.

#ifndef ANALYSE_COSTS_H
#define ANALYSE_COSTS_H

#include "base/table.h"
#include "model/profile.h"

// A function or a source line. It is identified by name, file and line and not by address, so
// that recordings of different builds can be compared.
typedef struct CostRow {
    Str name;       // the function in full; for a line the function that contains it
    Str file;       // "" when not known
    uint32_t line;  // for a function the line of its declaration; 0 when not known
    Str text;       // for a line its source text, when a recording has it
    uint64_t value; // self
    uint64_t samples;
    uint64_t total; // for a function: with everything that it calls
    uint64_t total_samples;
} CostRow;

typedef struct CostTable {
    Vec(CostRow) rows; // in order of first appearance
    Table index;
    bool by_line;
} CostTable;

// Costs of one program over any number of recordings. Zero-initialise.
typedef struct Costs {
    Arena arena;
    CostTable functions, lines;
    uint64_t value, samples; // sums over all samples, also those without a known function
    uint32_t recordings;
} Costs;

// Frees all rows; `c` may be used again after zeroing it.
void costs_deinit(Costs *c);

// Adds a recording's values in its first metric. Texts are copied: the profile may be freed.
MUST_CHECK bool costs_add(Costs *c, const Profile *p, Error *err);

// A function or line of both programs. Seconds are its share of the samples times the CPU time of
// a run. So the programs can be compared although they were recorded a different number of times,
// or by an event that does not count time.
typedef struct CostChange {
    const CostRow *before, *after; // NULL: the program has no samples there
    double before_s, after_s;
    double error_s; // standard error of after_s - before_s from the numbers of samples
} CostChange;
typedef Vec(CostChange) CostChangeVec;

typedef enum CostBy {
    COST_FUNCTION, // self
    COST_CALLER,   // functions with all they call
    COST_LINE      // self
} CostBy;

// All rows of one kind, the greatest changes first. `before_s` and `after_s` are the CPU times of
// a run of each program. The changes point into `before` and `after`.
CostChangeVec costs_compare(Arena *arena, const Costs *before, double before_s, const Costs *after,
                            double after_s, CostBy by);

// The row whose name, file and line a change is shown with: that of the later program, if any.
static inline const CostRow *cost_change_row(const CostChange *c)
{
    return c->after ? c->after : c->before;
}

#endif // ANALYSE_COSTS_H
