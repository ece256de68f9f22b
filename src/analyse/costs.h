// SPDX-License-Identifier: Apache-2.0
// What two programs spend where, out of recordings of both: which functions and
// lines account for the difference between them.

#ifndef ANALYSE_COSTS_H
#define ANALYSE_COSTS_H

#include "base/table.h"
#include "model/profile.h"

// A function or a line, known by its name, file and line, so that recordings of
// different builds compare.
typedef struct CostRow {
    Str name;       // of the function, in full; of a line: the function it is in
    Str file;       // "" when not known
    uint32_t line;  // of a function: where it is declared; 0 when not known
    Str text;       // of a line, when a recording carries it
    uint64_t value; // self
    uint64_t samples;
    uint64_t total; // of a function: with all it calls
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
    uint64_t value, samples; // all of them, also where no function is known
    uint32_t recordings;
} Costs;

void costs_deinit(Costs *c);

// Adds a recording's values in its first metric. The profile may go then.
MUST_CHECK bool costs_add(Costs *c, const Profile *p, Error *err);

// A row of both programs. Seconds are shares of the samples times the CPU time
// of a run, so that programs that were recorded a different number of times, or
// at events that are no time, compare.
typedef struct CostChange {
    const CostRow *before, *after; // NULL: not seen there
    double before_s, after_s;
    double error_s; // standard error of after_s - before_s from the numbers of samples
} CostChange;
typedef Vec(CostChange) CostChangeVec;

typedef enum CostBy {
    COST_FUNCTION, // self
    COST_CALLER,   // functions with all they call
    COST_LINE      // self
} CostBy;

// All rows, those that changed most first. `before_s` and `after_s` are the CPU
// times of a run.
CostChangeVec costs_compare(Arena *arena, const Costs *before, double before_s, const Costs *after,
                            double after_s, CostBy by);

// The row that a change is named by: that of the later program when it has one.
static inline const CostRow *cost_change_row(const CostChange *c)
{
    return c->after ? c->after : c->before;
}

#endif // ANALYSE_COSTS_H
