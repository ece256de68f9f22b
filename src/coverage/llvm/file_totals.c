// SPDX-License-Identifier: Apache-2.0
// Files out of functions.

#include "coverage/llvm/file_totals.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/sort.h"
#include "coverage/llvm/branches.h"

// ---- Functions by file ---------------------------------------------------------------

typedef struct NamedFile {
    Str path;
    uint32_t row;
} NamedFile;

static int compare_named(const void *a, const void *b)
{
    return str_compare(((const NamedFile *)a)->path, ((const NamedFile *)b)->path);
}

// Marks files as they come: `stamp[file]` is the last function that named it, + 1.
void cover_index_files(const CoverData *d, const CoverProject *how, CoverFileIndex *x)
{
    size_t files = d->files.texts.len;
    U32Vec stamp = {0};
    vec_extend(NULL, &stamp, files);
    vec_extend(NULL, &x->starts, files + 1);
    for (int pass = 0; pass < 2; pass++) {
        memset(stamp.at, 0, files * sizeof(stamp.at[0]));
        for (size_t i = 0; i < d->functions.len; i++) {
            const CoverFunction *f = &d->functions.at[i];
            for (uint32_t k = 0; k < f->file_count; k++) {
                uint32_t file = d->function_files.at[f->files_first + k];
                if (stamp.at[file] == i + 1)
                    continue;
                stamp.at[file] = (uint32_t)(i + 1);
                if (pass == 0)
                    x->starts.at[file + 1]++;
                else
                    x->functions.at[x->starts.at[file]++] = (uint32_t)i;
            }
        }
        if (pass == 0) {
            for (size_t k = 1; k <= files; k++)
                x->starts.at[k] += x->starts.at[k - 1];
            vec_extend(NULL, &x->functions, x->starts.at[files]);
        }
    }
    // The second pass moved each start to the next one's place.
    for (size_t k = files; k > 0; k--)
        x->starts.at[k] = x->starts.at[k - 1];
    x->starts.at[0] = 0;
    vec_free(&stamp);

    Vec(NamedFile) named = {0};
    for (uint32_t row = 0; row < files; row++) {
        Str path = intern_get(&d->files, row);
        if (x->starts.at[row] != x->starts.at[row + 1] &&
            (!how->keep || how->keep(how->keep_ctx, path)))
            vec_push(NULL, &named, (NamedFile){path, row});
    }
    if (named.len)
        qsort(named.at, named.len, sizeof(named.at[0]), compare_named);
    for (size_t i = 0; i < named.len; i++)
        vec_push(NULL, &x->order, named.at[i].row);
    vec_free(&named);
}

void cover_index_free(CoverFileIndex *x)
{
    vec_free(&x->order);
    vec_free(&x->starts);
    vec_free(&x->functions);
}

void cover_filling_init(CoverFilling *x, const CoverData *d, const CoverProject *how, Profile *into)
{
    *x = (CoverFilling){.d = d, .how = how, .into = into};
    cover_index_files(d, how, &x->index);
    vec_extend(NULL, &x->functions, d->functions.len);
    vec_extend(NULL, &x->files, d->files.texts.len);
}

void cover_filling_deinit(CoverFilling *x)
{
    cover_index_free(&x->index);
    vec_free(&x->functions);
    vec_free(&x->files);
    strbuf_deinit(&x->name);
}

FunctionId cover_filling_function(CoverFilling *x, uint32_t function)
{
    const CoverFunction *f = &x->d->functions.at[function];
    uint32_t *known = &x->functions.at[function];
    if (*known == 0) {
        uint32_t file = x->d->function_files.at[f->files_first];
        StrId *path = &x->files.at[file];
        if (path->v == 0)
            *path = profile_str(x->into, intern_get(&x->d->files, file));
        strbuf_clear(&x->name);
        if (x->how->demangle)
            x->how->demangle(x->how->demangle_ctx, f->name, &x->name);
        StrId linkage_name = profile_str(x->into, f->name);
        StrId name = x->name.len ? profile_str(x->into, strbuf_str(&x->name)) : linkage_name;
        *known = profile_function_of(x->into, name, linkage_name, *path, f->line).v + 1;
    }
    return (FunctionId){*known - 1};
}

// ---- Regions of one function ------------------------------------------------------------

void cover_add_spans(CoverRegionRange range, CovSpanVec *out)
{
    vec_reserve(NULL, out, range.len);
    for (size_t i = 0; i < range.len; i++) {
        const CoverRegion *r = &range.at[i];
        if (!cover_is_branch(r))
            out->at[out->len++] = (CovSpan){
                r->line, r->column, r->end_line, r->end_column, (CovRegionKind)r->kind, r->count};
    }
}

// ---- Totals of parts ------------------------------------------------------------------------

static CoverTally tally_branches(const CoverBranchLister *b, const CoverExclusions *e)
{
    CoverTally t = {0};
    for (size_t i = 0; i < b->at.len; i++) {
        const CoverBranch *branch = &b->at.at[i];
        if (branch->is_folded || cover_excludes_branch(e, branch->line))
            continue;
        t.count += 2;
        t.covered += (branch->count > 0) + (branch->false_count > 0);
    }
    return t;
}

// ---- Totals --------------------------------------------------------------------------------

// The regions of one function in one file.
typedef struct Piece {
    uint64_t place; // of the first
    CoverRegionRange range;
} Piece;

typedef Vec(Piece) PieceVec;

static int compare_pieces(const void *a, const void *b)
{
    uint64_t x = ((const Piece *)a)->place, y = ((const Piece *)b)->place;
    return (x > y) - (x < y);
}

typedef struct Scratch {
    bool regions_only; // the rest is left to the rows
    CovSpanVec spans;
    PieceVec pieces;
    CovSweep sweep;
    CovSegmentVec segments;
    CovLineVec lines;
    CoverBranchLister branches;
    U8Vec ran;
} Scratch;

static void free_scratch(Scratch *s)
{
    vec_free(&s->spans);
    vec_free(&s->pieces);
    cov_sweep_deinit(&s->sweep);
    vec_free(&s->segments);
    vec_free(&s->lines);
    cover_branch_lister_free(&s->branches);
    vec_free(&s->ran);
}

static CoverTally tally_lines(const CovLineVec *lines, const CoverExclusions *e)
{
    CoverTally t = {.count = lines->len};
    for (size_t i = 0; i < lines->len; i++) {
        bool excluded = cover_excludes_line(e, lines->at[i].line);
        t.count -= excluded;
        t.covered += lines->at[i].count > 0 && !excluded;
    }
    return t;
}

// Decisions within macros count for their own file only in listings.
static CoverTally tally_conditions(const CoverData *d, const CoverFunction *f,
                                   const CoverExclusions *e)
{
    CoverTally t = {0};
    for (uint32_t i = 0; i < f->decision_count; i++) {
        const CoverDecision *decision = &d->decisions.at[f->decisions_first + i];
        if (decision->file != f->main_file || cover_excludes_branch(e, decision->line))
            continue;
        for (uint32_t k = 0; k < decision->condition_count; k++) {
            const CoverCondition *c = &d->conditions.at[decision->conditions_first + k];
            t.count += !c->is_folded;
            t.covered += c->pair[0] != 0;
        }
    }
    return t;
}

// Counts the code regions of a function and, of the instances of one function that have the same
// regions, those that ran in any: `ran` has a byte for each region, and is the first one's.
static void tally_regions(const CoverFunction *f, CoverRegionRange all, const CoverExclusions *e,
                          const U8Vec *ran, CoverTally *ret)
{
    for (size_t i = 0; i < all.len; i++) {
        if (all.at[i].kind != COV_CODE ||
            (e && all.at[i].file == f->main_file && cover_excludes_line(e, all.at[i].line)))
            continue;
        ret->count++;
        ret->covered += ran->len ? ran->at[i] : all.at[i].count != 0;
    }
}

static bool has_same_regions(const CoverData *d, const CoverFunction *f, const CoverFunction *g)
{
    CoverRegionRange a = cover_all_regions(d, f), b = cover_all_regions(d, g);
    bool same = a.len == b.len && f->file_count == g->file_count;
    for (size_t i = 0; same && i < f->file_count; i++)
        same = d->function_files.at[f->files_first + i] == d->function_files.at[g->files_first + i];
    for (size_t i = 0; same && i < a.len; i++)
        same = a.at[i].line == b.at[i].line && a.at[i].column == b.at[i].column &&
               a.at[i].end_line == b.at[i].end_line && a.at[i].end_column == b.at[i].end_column &&
               a.at[i].file == b.at[i].file && a.at[i].kind == b.at[i].kind;
    return same;
}

// `e` is of the file that the function is written in.
static CoverTotals summarise_function(const CoverData *d, const CoverFunction *f,
                                      const CoverExclusions *e, Scratch *s)
{
    CoverTotals t = {.of[COVER_FUNCTIONS] = {f->count > 0, 1}};
    tally_regions(f, cover_all_regions(d, f), e, &(U8Vec){0}, &t.of[COVER_REGIONS]);
    if (s->regions_only)
        return t;
    s->spans.len = 0;
    cover_add_spans(cover_regions_of(d, f, f->main_file), &s->spans);
    cov_segments_of(&s->spans, d->counting, &s->sweep, &s->segments);
    cov_lines_of(&s->segments, d->counting, &s->lines);
    t.of[COVER_LINES] = tally_lines(&s->lines, e);
    s->branches.at.len = 0;
    cover_branches_add_direct(&s->branches, cover_regions_of(d, f, f->main_file));
    cover_branches_add_expanded(&s->branches, d, f);
    t.of[COVER_BRANCHES] = tally_branches(&s->branches, e);
    t.of[COVER_CONDITIONS] = tally_conditions(d, f, e);
    return t;
}

// One function at one place of the file; equal places are instantiations.
typedef struct Placed {
    uint64_t place;
    uint32_t function;
} Placed;

static int compare_placed(const void *a, const void *b)
{
    const Placed *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->function > y->function) - (x->function < y->function);
}

// The largest of each, but for instantiations, which add up.
static void join_instance(CoverTotals *into, const CoverTotals *t)
{
    for (int i = 0; i < COVER_CRITERION_COUNT; i++) {
        into->of[i].covered = MAX(into->of[i].covered, t->of[i].covered);
        into->of[i].count = MAX(into->of[i].count, t->of[i].count);
    }
}

// Marks the regions of `f` that ran.
static void mark_regions(const CoverData *d, const CoverFunction *f, U8Vec *ran)
{
    CoverRegionRange all = cover_all_regions(d, f);
    for (size_t i = 0; i < all.len; i++)
        ran->at[i] |= all.at[i].count != 0;
}

// The regions of the instances [placed, end) of one function as one: those of instances with the
// regions of the first. Of others (a condition may be known when a template is instantiated)
// `group` has the largest total.
static void unite_regions(const CoverData *d, const Placed *placed, const Placed *end, Scratch *s,
                          const CoverExclusions *e, CoverTotals *group)
{
    const CoverFunction *first = &d->functions.at[placed->function];
    CoverTotals t = {0};
    CoverRegionRange all = cover_all_regions(d, first);
    s->ran.len = 0;
    vec_extend(NULL, &s->ran, all.len);
    mark_regions(d, first, &s->ran);
    for (const Placed *p = placed + 1; p < end; p++)
        if (has_same_regions(d, first, &d->functions.at[p->function]))
            mark_regions(d, &d->functions.at[p->function], &s->ran);
    tally_regions(first, all, e, &s->ran, &t.of[COVER_REGIONS]);
    join_instance(group, &t);
}

static void summarise_file(const CoverData *d, const CoverFileIndex *x, uint32_t row, Scratch *s,
                           const CoverExclusions *e, CoverTotals *ret)
{
    Vec(Placed) placed = {0};
    bool sorted = true;
    for (uint32_t i = x->starts.at[row]; i < x->starts.at[row + 1]; i++) {
        const CoverFunction *f = &d->functions.at[x->functions.at[i]];
        if (f->main_file == COVER_NO_FILE ||
            d->function_files.at[f->files_first + f->main_file] != row)
            continue;
        CoverRegionRange main = cover_regions_of(d, f, f->main_file);
        for (size_t k = 0; k < main.len; k++) {
            if (cover_is_branch(&main.at[k]))
                continue;
            uint64_t place = (uint64_t)main.at[k].line << 32 | main.at[k].column;
            if (cover_excludes_line(e, main.at[k].line))
                break;
            sorted &= placed.len == 0 || vec_last(&placed).place <= place;
            vec_push(NULL, &placed, (Placed){place, x->functions.at[i]});
            break;
        }
    }
    if (!sorted)
        qsort(placed.at, placed.len, sizeof(placed.at[0]), compare_placed);
    for (size_t i = 0, end; i < placed.len; i = end) {
        CoverTotals group = {0};
        for (end = i; end < placed.len && placed.at[end].place == placed.at[i].place; end++) {
            CoverTotals t = summarise_function(d, &d->functions.at[placed.at[end].function], e, s);
            ret->of[COVER_INSTANTIATIONS].count++;
            ret->of[COVER_INSTANTIATIONS].covered += t.of[COVER_FUNCTIONS].covered;
            join_instance(&group, &t);
        }
        if (s->regions_only && end > i + 1)
            unite_regions(d, &placed.at[i], &placed.at[end], s, e, &group);
        cover_totals_add(ret, &group);
    }
    vec_free(&placed);
}

void cover_files_summarise(const CoverData *d, const CoverProject *how, const CoverFileIndex *x,
                           bool regions_only, CoverTotalsVec *ret)
{
    Scratch s = {.regions_only = regions_only};
    for (size_t i = 0; i < x->order.len; i++) {
        uint32_t row = x->order.at[i];
        CoverTotals totals = {0};
        const CoverExclusions *e = cover_exclusions_of(how, intern_get(&d->files, row));
        summarise_file(d, x, row, &s, e, &totals);
        vec_push(NULL, ret, totals);
    }
    free_scratch(&s);
}

// ---- Rows of totals ---------------------------------------------------------------------------

// `criteria`: those that are stated, a bit each.
static void fill_totals(Profile *into, StrId file, FunctionId function, const CoverTotals *t,
                        unsigned criteria)
{
    CoverTotalRows *to = &into->cover_totals;
    for (int i = 0; i < COVER_CRITERION_COUNT; i++) {
        if (!(criteria & 1u << i))
            continue;
        vec_push(&into->arena, &to->file, file);
        vec_push(&into->arena, &to->function, function);
        vec_push(&into->arena, &to->criterion, (uint8_t)i);
        vec_push(&into->arena, &to->covered, t->of[i].covered);
        vec_push(&into->arena, &to->count, t->of[i].count);
    }
}

enum {
    ALL_CRITERIA = (1u << COVER_CRITERION_COUNT) - 1,
    OF_REGIONS = 1u << COVER_REGIONS | 1u << COVER_INSTANTIATIONS
};

// llvm-cov's totals or, without its rules, those of which there may be no rows: every view then has
// the sums of the rows, in which instances of one function are one.
static void fill_file_totals(const CoverFilling *x)
{
    const CoverData *d = x->d;
    CoverTotalsVec totals = {0};
    cover_files_summarise(d, x->how, &x->index, !d->llvm_rules, &totals);
    for (size_t i = 0; i < totals.len; i++)
        fill_totals(x->into, profile_str(x->into, intern_get(&d->files, x->index.order.at[i])),
                    (FunctionId){0}, &totals.at[i], d->llvm_rules ? ALL_CRITERIA : OF_REGIONS);
    vec_free(&totals);
}

// The functions that are written in a file, in the order of the objects.
static void fill_totals_of_functions(CoverFilling *x, uint32_t row, Scratch *s)
{
    const CoverData *d = x->d;
    const CoverFileIndex *index = &x->index;
    Str path = intern_get(&d->files, row);
    StrId file = profile_str(x->into, path);
    const CoverExclusions *e = cover_exclusions_of(x->how, path);
    for (uint32_t k = index->starts.at[row]; k < index->starts.at[row + 1]; k++) {
        uint32_t function = index->functions.at[k];
        const CoverFunction *f = &d->functions.at[function];
        if (!cover_is_written_in(d, f, row) || cover_excludes_line(e, f->line))
            continue;
        CoverTotals t = summarise_function(d, f, e, s);
        t.of[COVER_INSTANTIATIONS] = t.of[COVER_FUNCTIONS];
        fill_totals(x->into, file, cover_filling_function(x, function), &t, ALL_CRITERIA);
    }
}

// Columns that grow are copied each time.
static void reserve_totals(const CoverFilling *x, unsigned wants)
{
    CoverTotalRows *to = &x->into->cover_totals;
    Arena *arena = &x->into->arena;
    size_t subjects = (wants & COVER_WANT_FILE_TOTALS ? x->index.order.len : 0) +
                      (wants & COVER_WANT_FUNCTION_TOTALS ? x->d->functions.len : 0);
    vec_reserve(arena, &to->file, COVER_CRITERION_COUNT * subjects);
    vec_reserve(arena, &to->function, COVER_CRITERION_COUNT * subjects);
    vec_reserve(arena, &to->criterion, COVER_CRITERION_COUNT * subjects);
    vec_reserve(arena, &to->covered, COVER_CRITERION_COUNT * subjects);
    vec_reserve(arena, &to->count, COVER_CRITERION_COUNT * subjects);
}

void cover_totals_fill(CoverFilling *x, unsigned wants)
{
    Scratch s = {0};
    reserve_totals(x, wants);
    if (wants & COVER_WANT_FILE_TOTALS)
        fill_file_totals(x);
    for (size_t i = 0; i < x->index.order.len && wants & COVER_WANT_FUNCTION_TOTALS; i++)
        fill_totals_of_functions(x, x->index.order.at[i], &s);
    free_scratch(&s);
}

// ---- Rows of the model -----------------------------------------------------------------------

static void fill_branches(const CoverData *d, const CoverFileIndex *x, uint32_t row, StrId file,
                          Scratch *s, Profile *into)
{
    CoverBranchLister *b = &s->branches;
    cover_branches_list(d, x, row, b);
    uint32_t line = 0, pair = 0;
    BranchCounts *to = &into->branch_counts;
    for (size_t i = 0; i < b->at.len; i++) {
        const CoverBranch *branch = &b->at.at[i];
        if (branch->is_folded)
            continue;
        if (branch->line != line) {
            line = branch->line;
            pair = 0;
        }
        for (uint32_t side = 0; side < 2; side++) {
            vec_push(&into->arena, &to->file, file);
            vec_push(&into->arena, &to->line, line);
            vec_push(&into->arena, &to->column, branch->region->column);
            vec_push(&into->arena, &to->block, pair);
            vec_push(&into->arena, &to->branch, 2 * pair + side);
            vec_push(&into->arena, &to->count, side ? branch->false_count : branch->count);
        }
        pair++;
    }
}

// ---- Conditions of decisions (MC/DC) --------------------------------------------------------

// A condition in a source file, with the key by which rows are put together.
typedef struct PlacedCondition {
    uint32_t line, group, index; // of the decision
    uint32_t at_line, at_column;
    uint64_t count;
} PlacedCondition;

typedef Vec(PlacedCondition) PlacedConditionVec;

static int compare_conditions(const void *a, const void *b)
{
    const PlacedCondition *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    uint64_t p = (uint64_t)x->at_line << 32 | x->at_column;
    uint64_t q = (uint64_t)y->at_line << 32 | y->at_column;
    return (p > q) - (p < q);
}

static void collect_conditions(const CoverData *d, const CoverDecision *decision,
                               PlacedConditionVec *out)
{
    const CoverCondition *at = d->conditions.at + decision->conditions_first;
    uint32_t group = 0, index = 0;
    for (uint32_t i = 0; i < decision->condition_count; i++)
        group += !at[i].is_folded;
    for (uint32_t i = 0; i < decision->condition_count; i++)
        if (!at[i].is_folded)
            vec_push(NULL, out,
                     (PlacedCondition){decision->line, group, index++, at[i].line, at[i].column,
                                       at[i].pair[0] != 0});
}

// A pair of runs shows a condition with both senses. Instantiations of a template,
// and decisions of one size on one line, are put together as lcov does.
static void fill_conditions(const CoverData *d, const CoverFileIndex *x, uint32_t row, StrId file,
                            Profile *into)
{
    PlacedConditionVec all = {0};
    for (uint32_t i = x->starts.at[row]; i < x->starts.at[row + 1]; i++) {
        const CoverFunction *f = &d->functions.at[x->functions.at[i]];
        for (uint32_t k = 0; k < f->decision_count; k++) {
            const CoverDecision *decision = &d->decisions.at[f->decisions_first + k];
            if (d->function_files.at[f->files_first + decision->file] == row)
                collect_conditions(d, decision, &all);
        }
    }
    if (all.len)
        qsort(all.at, all.len, sizeof(all.at[0]), compare_conditions);
    ConditionCounts *to = &into->condition_counts;
    char place[32];
    for (size_t i = 0, end; i < all.len; i = end) {
        const PlacedCondition *c = &all.at[i];
        uint64_t count = 0;
        for (end = i; end < all.len && all.at[end].line == c->line &&
                      all.at[end].group == c->group && all.at[end].index == c->index;
             end++)
            count += all.at[end].count;
        snprintf(place, sizeof(place), "%u:%u", c->at_line, c->at_column);
        StrId expression = profile_str(into, str_from_c(place));
        for (int sense = 1; sense >= 0; sense--) {
            vec_push(&into->arena, &to->file, file);
            vec_push(&into->arena, &to->line, c->line);
            vec_push(&into->arena, &to->group, c->group);
            vec_push(&into->arena, &to->index, c->index);
            vec_push(&into->arena, &to->sense, (uint8_t)sense);
            vec_push(&into->arena, &to->expression, expression);
            vec_push(&into->arena, &to->count, count);
        }
    }
    vec_free(&all);
}

static void fill_regions(const CoverData *d, const CoverFunction *f, uint32_t row,
                         FunctionId function, StrId file, Profile *into)
{
    RegionCounts *to = &into->region_counts;
    for (uint32_t id = 0; id < f->file_count; id++) {
        if (d->function_files.at[f->files_first + id] != row)
            continue;
        CoverRegionRange range = cover_regions_of(d, f, id);
        for (size_t i = 0; i < range.len; i++) {
            const CoverRegion *r = &range.at[i];
            if (cover_is_branch(r))
                continue;
            vec_push(&into->arena, &to->function, function);
            vec_push(&into->arena, &to->file, file);
            vec_push(&into->arena, &to->line, r->line);
            vec_push(&into->arena, &to->column, r->column);
            vec_push(&into->arena, &to->end_line, r->end_line);
            vec_push(&into->arena, &to->end_column, r->end_column);
            vec_push(&into->arena, &to->kind, r->kind);
            vec_push(&into->arena, &to->count, r->count);
        }
    }
}

static void fill_functions(CoverFilling *x, uint32_t row, StrId file, bool with_regions)
{
    const CoverData *d = x->d;
    Profile *into = x->into;
    for (uint32_t i = x->index.starts.at[row]; i < x->index.starts.at[row + 1]; i++) {
        uint32_t at = x->index.functions.at[i];
        const CoverFunction *f = &d->functions.at[at];
        // A function belongs to the first of its files; it may have text in others.
        bool is_own = d->function_files.at[f->files_first] == row;
        if (!is_own && !with_regions)
            continue;
        FunctionId function = cover_filling_function(x, at);
        if (is_own) {
            vec_push(&into->arena, &into->function_counts.function, function);
            vec_push(&into->arena, &into->function_counts.count, f->count);
            vec_push(&into->arena, &into->function_counts.hash, f->hash);
            vec_push(&into->arena, &into->function_counts.column, d->llvm_rules ? 0 : f->column);
        }
        if (with_regions)
            fill_regions(d, f, row, function, file, into);
    }
}

// By place, stable.
static void sort_pieces(Scratch *s)
{
    enum { FEW = 256 }; // for which numbering and passes over all digits do not pay
    size_t n = s->pieces.len;
    if (n < FEW) {
        qsort(s->pieces.at, n, sizeof(s->pieces.at[0]), compare_pieces);
        return;
    }
    Vec(SortRow) rows = {0};
    PieceVec sorted = {0};
    vec_reserve(NULL, &rows, 2 * n);
    vec_reserve(NULL, &sorted, n);
    for (size_t i = 0; i < n; i++)
        rows.at[i] = (SortRow){s->pieces.at[i].place, (uint32_t)i};
    const SortRow *order = sort_rows(rows.at, rows.at + n, n);
    for (size_t i = 0; i < n; i++)
        sorted.at[i] = s->pieces.at[order[i].row];
    memcpy(s->pieces.at, sorted.at, n * sizeof(sorted.at[0]));
    vec_free(&rows);
    vec_free(&sorted);
}

// Uses of one macro and instantiations of one template have the same spans. Those of
// one become counts of the other; false when they are not the same.
static bool unite_pieces(CovSpan *into, size_t len, const CovSpan *piece, size_t piece_len,
                         CovCounting counting)
{
    if (len != piece_len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (into[i].line != piece[i].line || into[i].column != piece[i].column ||
            into[i].end_line != piece[i].end_line || into[i].end_column != piece[i].end_column ||
            into[i].kind != piece[i].kind)
            return false;
    for (size_t i = 0; i < len; i++)
        into[i].count = cov_united(counting, into[i].count, piece[i].count);
    return true;
}

// The spans of a file, from all of its functions, in the order that sorting them
// would give as far as functions do not interleave.
static void collect_spans(const CoverData *d, const CoverFileIndex *x, uint32_t row, Scratch *s)
{
    s->spans.len = s->pieces.len = 0;
    bool sorted = true;
    for (uint32_t i = x->starts.at[row]; i < x->starts.at[row + 1]; i++) {
        const CoverFunction *f = &d->functions.at[x->functions.at[i]];
        for (uint32_t id = 0; id < f->file_count; id++) {
            CoverRegionRange range = cover_regions_of(d, f, id);
            if (range.len == 0 || d->function_files.at[f->files_first + id] != row)
                continue;
            Piece piece = {(uint64_t)range.at[0].line << 32 | range.at[0].column, range};
            sorted &= s->pieces.len == 0 || vec_last(&s->pieces).place <= piece.place;
            vec_push(NULL, &s->pieces, piece);
        }
    }
    if (!sorted)
        sort_pieces(s);
    size_t last = 0; // the first span of the last piece that is there
    for (size_t i = 0; i < s->pieces.len; i++) {
        size_t first = s->spans.len;
        cover_add_spans(s->pieces.at[i].range, &s->spans);
        if (unite_pieces(s->spans.at + last, first - last, s->spans.at + first,
                         s->spans.len - first, d->counting))
            s->spans.len = first;
        else
            last = first;
    }
}

static void fill_lines(const CovLineVec *lines, StrId file, Profile *into)
{
    LineCounts *to = &into->line_counts;
    vec_reserve(&into->arena, &to->file, lines->len);
    vec_reserve(&into->arena, &to->line, lines->len);
    vec_reserve(&into->arena, &to->count, lines->len);
    for (size_t i = 0; i < lines->len; i++) {
        to->file.at[to->file.len++] = file;
        to->line.at[to->line.len++] = lines->at[i].line;
        to->count.at[to->count.len++] = lines->at[i].count;
    }
}

static void fill_file(CoverFilling *x, uint32_t row, bool with_regions, Scratch *s)
{
    const CoverData *d = x->d;
    StrId file = profile_str(x->into, intern_get(&d->files, row));
    bool only_lines = d->counting == COV_SETS;
    if (!only_lines)
        fill_functions(x, row, file, with_regions);
    collect_spans(d, &x->index, row, s);
    cov_segments_of(&s->spans, d->counting, &s->sweep, &s->segments);
    cov_lines_of(&s->segments, d->counting, &s->lines);
    fill_lines(&s->lines, file, x->into);
    if (only_lines)
        return;
    fill_branches(d, &x->index, row, file, s, x->into);
    fill_conditions(d, &x->index, row, file, x->into);
}

// Columns that grow are copied each time; most of the room they need is known.
static void reserve_rows(const CoverData *d, Profile *into)
{
    size_t branches = 0;
    for (size_t i = 0; i < d->regions.len; i++)
        branches += cover_is_branch(&d->regions.at[i]);
    BranchCounts *to = &into->branch_counts;
    vec_reserve(&into->arena, &to->file, 2 * branches);
    vec_reserve(&into->arena, &to->line, 2 * branches);
    vec_reserve(&into->arena, &to->column, 2 * branches);
    vec_reserve(&into->arena, &to->block, 2 * branches);
    vec_reserve(&into->arena, &to->branch, 2 * branches);
    vec_reserve(&into->arena, &to->count, 2 * branches);
    vec_reserve(&into->arena, &into->function_counts.function, d->functions.len);
    vec_reserve(&into->arena, &into->function_counts.count, d->functions.len);
    vec_reserve(&into->arena, &into->function_counts.hash, d->functions.len);
    vec_reserve(&into->arena, &into->function_counts.column, d->functions.len);
}

void cover_files_fill(CoverFilling *x, bool with_regions)
{
    Scratch s = {0};
    if (x->d->counting != COV_SETS)
        reserve_rows(x->d, x->into);
    for (size_t i = 0; i < x->index.order.len; i++)
        fill_file(x, x->index.order.at[i], with_regions, &s);
    free_scratch(&s);
}
