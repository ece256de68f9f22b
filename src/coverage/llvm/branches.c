// SPDX-License-Identifier: Apache-2.0
// The branches of functions and files, those inside macros included.

#include "coverage/llvm/branches.h"

#include "base/table.h"
#include "coverage/rows/std_order.h"

// ---- Of one function -----------------------------------------------------------------------

static void add_branch(CoverBranchLister *b, const CoverRegion *r, uint32_t line)
{
    vec_push(NULL, &b->at,
             ((CoverBranch){.region = r,
                            .line = line,
                            .function = b->function,
                            .is_folded = r->is_folded,
                            .count = r->count,
                            .false_count = r->false_count}));
}

void cover_branches_add_direct(CoverBranchLister *b, CoverRegionRange range)
{
    for (size_t i = 0; i < range.len; i++)
        if (cover_is_branch(&range.at[i]))
            add_branch(b, &range.at[i], range.at[i].line);
}

void cover_branches_add_expanded(CoverBranchLister *b, const CoverData *d, const CoverFunction *f)
{
    b->visited.len = 0;
    vec_extend(NULL, &b->visited, f->file_count);
    b->stack.len = 0;
    uint32_t line = 0;
    b->visited.at[f->main_file] = 1;
    vec_push(NULL, &b->stack, (CoverFileVisit){f->main_file, 0});
    while (b->stack.len) {
        CoverFileVisit *v = &vec_last(&b->stack);
        CoverRegionRange range = cover_regions_of(d, f, v->file);
        while (v->next < range.len && (range.at[v->next].kind != COV_EXPANSION ||
                                       b->visited.at[range.at[v->next].expanded_file]))
            v->next++;
        if (v->next < range.len) {
            const CoverRegion *r = &range.at[v->next++];
            b->visited.at[r->expanded_file] = 1;
            if (b->stack.len == 1)
                line = r->line;
            vec_push(NULL, &b->stack, (CoverFileVisit){r->expanded_file, 0});
            continue;
        }
        for (size_t i = 0; i < range.len && b->stack.len > 1; i++)
            if (cover_is_branch(&range.at[i]))
                add_branch(b, &range.at[i], line);
        b->stack.len--;
    }
}

void cover_branch_lister_free(CoverBranchLister *b)
{
    vec_free(&b->at);
    vec_free(&b->visited);
    vec_free(&b->stack);
}

// ---- Instances of one function ---------------------------------------------------------------

// Where a branch is: in which text, of a function that starts where.
static uint64_t branch_hash(const CoverData *d, const CoverBranch *b)
{
    const CoverFunction *f = &d->functions.at[b->function];
    const CoverRegion *r = b->region;
    uint64_t hash = hash_pair((uint64_t)f->line << 32 | f->column, b->line);
    hash = hash_pair(hash, d->function_files.at[f->files_first + r->file]);
    hash = hash_pair(hash, (uint64_t)r->line << 32 | r->column);
    return hash_pair(hash, (uint64_t)r->end_line << 32 | r->end_column);
}

static bool is_same_branch(const CoverData *d, const CoverBranch *x, const CoverBranch *y)
{
    const CoverFunction *f = &d->functions.at[x->function], *g = &d->functions.at[y->function];
    const CoverRegion *r = x->region, *s = y->region;
    return x->line == y->line && r->line == s->line && r->column == s->column &&
           r->end_line == s->end_line && r->end_column == s->end_column && f->line == g->line &&
           f->column == g->column &&
           d->function_files.at[f->files_first + r->file] ==
               d->function_files.at[g->files_first + s->file];
}

// Branches of the instances of one function (templates, static functions of a header, a source
// that several programs include) become one. A function has several of one place when a line uses
// a macro more than once: the n-th of an instance joins the n-th of the others.
static void unite_branches(const CoverData *d, CoverBranchLister *b)
{
    Table seen = {0};
    size_t kept = 0;
    table_reserve(&seen, b->at.len); // equal hashes stay in order
    for (size_t i = 0; i < b->at.len; i++) {
        CoverBranch *from = &b->at.at[i], *into = NULL;
        uint64_t hash = branch_hash(d, from);
        uint32_t row;
        for (TableProbe p = table_probe(&seen, hash); !into && table_next(&seen, &p, &row);)
            if (b->at.at[row].function != from->function && is_same_branch(d, &b->at.at[row], from))
                into = &b->at.at[row];
        if (!into) {
            table_insert(&seen, hash, (uint32_t)kept);
            b->at.at[kept++] = *from;
            continue;
        }
        // The mapping of an instance may know a condition that another has to evaluate.
        into->region = into->is_folded ? from->region : into->region;
        into->is_folded = into->is_folded && from->is_folded;
        into->function = from->function;
        into->count = cov_united(d->counting, into->count, from->count);
        into->false_count = cov_united(d->counting, into->false_count, from->false_count);
    }
    b->at.len = kept;
    table_deinit(&seen);
}

// Whether two of the functions start at one place.
static bool has_instances(const CoverData *d, const uint32_t *functions, size_t count)
{
    Table starts = {0};
    bool found = false;
    table_reserve(&starts, count);
    for (size_t i = 0; i < count && !found; i++) {
        const CoverFunction *f = &d->functions.at[functions[i]];
        uint64_t hash = hash_u64((uint64_t)f->line << 32 | f->column);
        uint32_t row;
        for (TableProbe p = table_probe(&starts, hash); !found && table_next(&starts, &p, &row);) {
            const CoverFunction *g = &d->functions.at[row];
            found = f->line == g->line && f->column == g->column;
        }
        table_insert(&starts, hash, functions[i]);
    }
    table_deinit(&starts);
    return found;
}

// ---- Of one file ---------------------------------------------------------------------------

void cover_branches_sort(CoverBranch *branches, size_t count)
{
    CoverOrderedVec order = {0};
    Vec(CoverBranch) sorted = {0};
    if (count < 2)
        return;
    vec_reserve(NULL, &order, count);
    vec_reserve(NULL, &sorted, count);
    for (uint32_t i = 0; i < count; i++)
        order.at[i] =
            (CoverOrdered){(uint64_t)branches[i].line << 32 | branches[i].region->column, i};
    cover_std_sort(order.at, count);
    for (size_t i = 0; i < count; i++)
        sorted.at[i] = branches[order.at[i].row];
    memcpy(branches, sorted.at, count * sizeof(branches[0]));
    vec_free(&order);
    vec_free(&sorted);
}

void cover_branches_list(const CoverData *d, const CoverFileIndex *x, uint32_t row,
                         CoverBranchLister *b)
{
    const uint32_t *functions = x->functions.at + x->starts.at[row];
    size_t count = x->starts.at[row + 1] - x->starts.at[row];
    b->at.len = 0;
    for (size_t i = 0; i < count; i++) {
        const CoverFunction *f = &d->functions.at[functions[i]];
        b->function = functions[i];
        // Branches in the text of macros count where the macro is used.
        if (d->function_files.at[f->files_first] == row)
            cover_branches_add_direct(b, cover_regions_of(d, f, 0));
    }
    for (size_t i = 0; i < count; i++) {
        const CoverFunction *f = &d->functions.at[functions[i]];
        b->function = functions[i];
        if (cover_is_written_in(d, f, row))
            cover_branches_add_expanded(b, d, f);
    }
    if (!d->llvm_rules && has_instances(d, functions, count))
        unite_branches(d, b);
    cover_branches_sort(b->at.at, b->at.len);
}
