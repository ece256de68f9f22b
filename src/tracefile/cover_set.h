// SPDX-License-Identifier: Apache-2.0
// Counts of lines, branches, functions and conditions by source file, whatever
// format they were read from, summed. Each list is sorted and holds a key once,
// so that sets are added, and compared, by merging lists.

#ifndef TRACEFILE_COVER_SET_H
#define TRACEFILE_COVER_SET_H

#include "base/arena.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/vec.h"

typedef struct CoverSetLine {
    uint32_t line;
    uint64_t count;
} CoverSetLine;

typedef struct CoverSetBranch {
    uint32_t line, block;
    uint32_t branch;   // its number; of branches with an expression 0
    Str expression;    // what lcov 2 may have in place of the number, else ""
    bool is_exception; // taken by throwing only
    bool is_reached;   // its decision was evaluated, which is not the same as taken
    uint64_t count;
} CoverSetBranch;

typedef struct CoverSetFunction {
    Str name;                // linkage name
    uint32_t line, end_line; // 0 when not known
    uint64_t count;          // entries
} CoverSetFunction;

// One condition of a decision, in one sense: whether it alone has decided the
// outcome by being true, or by being false (MC/DC).
typedef struct CoverSetCondition {
    uint32_t line;
    uint32_t group; // how many conditions the decision has
    uint32_t index; // of the condition
    bool sense;
    Str expression; // "" when not known
    uint64_t count;
} CoverSetCondition;

typedef struct CoverSetFile {
    Str path;
    Vec(CoverSetLine) lines;           // by line
    Vec(CoverSetBranch) branches;      // by line, block, branch, expression
    Vec(CoverSetFunction) functions;   // by line, name
    Vec(CoverSetCondition) conditions; // by line, group, index, sense, expression
} CoverSetFile;

typedef struct CoverSet {
    Arena *arena; // of texts and lists
    // Applied to every path that is read; NULL: they stay as they are.
    Str (*map_path)(void *ctx, Str path);
    void *map_ctx;
    Intern texts;            // names and expressions
    Vec(CoverSetFile) files; // in order of first appearance
    Table index;             // of files by path
    StrVec notes;            // what was clamped or left out, for the user
    uint64_t clamped;        // counts below zero, taken as zero
    bool is_hits;            // a count of 1 says that something ran, not how often
} CoverSet;

// An empty set, whose texts and lists lie in `arena`. The caller sets `map_path` afterwards.
void cover_set_init(CoverSet *s, Arena *arena);
void cover_set_deinit(CoverSet *s); // frees the tables; texts and lists belong to the arena

// A copy that the set keeps; equal texts are kept once.
static inline Str cover_set_text(CoverSet *s, Str text)
{
    return intern_get(&s->texts, intern_add(&s->texts, text));
}

// The file of that path, made when absent. Valid until the next call.
CoverSetFile *cover_set_file(CoverSet *s, Str path);

// Sorts the lists of a file that was filled in any order and sums equal keys,
// saturating. A function known without a line joins the one of its name.
void cover_set_file_normalise(CoverSetFile *f);

// into += from, both normalised. Texts of `from` are kept, not copied.
void cover_set_file_add(Arena *arena, CoverSetFile *into, const CoverSetFile *from);

// The same for all files, notes and what was clamped, of sets with one arena.
void cover_set_add(CoverSet *into, const CoverSet *from);
// Multiplies every count, up to 2^64 - 1.
void cover_set_scale(CoverSet *s, uint64_t weight);

// Operations on sets of rows. Rows are compared by their keys, without their counts.
typedef enum CoverSetOperation {
    COVER_SET_INTERSECT, // what both have, with the counts of both summed
    COVER_SET_SUBTRACT   // what the first has and the other has not
} CoverSetOperation;

// Keeps of `s` what the operation says. Texts of `by` may be kept, not copied.
void cover_set_restrict(CoverSet *s, const CoverSet *by, CoverSetOperation op);
// Drops rows whose count is 0, so that what ran is the set.
void cover_set_drop_zeros(CoverSet *s);
// Drops files without any row.
void cover_set_drop_empty_files(CoverSet *s);

#endif // TRACEFILE_COVER_SET_H
