// SPDX-License-Identifier: Apache-2.0
// Files out of functions.

#include "collect/cover/summary.h"

#include <stdlib.h>

void cover_file_add(CoverFile *into, const CoverFile *more)
{
    CoverTally *to[] = {&into->regions, &into->functions, &into->instantiations, &into->lines,
                        &into->branches};
    const CoverTally *from[] = {&more->regions, &more->functions, &more->instantiations,
                                &more->lines, &more->branches};
    for (size_t i = 0; i < ARRAY_LEN(to); i++) {
        to[i]->covered += from[i]->covered;
        to[i]->count += from[i]->count;
    }
}

// ---- Functions by file ---------------------------------------------------------------

typedef struct FileIndex {
    U32Vec order;  // rows of CoverData.files, sorted by path, only those kept
    U32Vec starts; // file row -> first of `functions`; one more entry than files
    U32Vec functions;
} FileIndex;

typedef struct NamedFile {
    Str path;
    uint32_t row;
} NamedFile;

static int compare_named(const void *a, const void *b)
{
    return str_compare(((const NamedFile *)a)->path, ((const NamedFile *)b)->path);
}

// Marks files as they come: `stamp[file]` is the last function that named it, + 1.
static void index_files(const CoverData *d, const CoverProject *how, FileIndex *x)
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

static void free_index(FileIndex *x)
{
    vec_free(&x->order);
    vec_free(&x->starts);
    vec_free(&x->functions);
}

// ---- Regions of one function ------------------------------------------------------------

typedef struct RegionRange {
    const CoverRegion *at;
    size_t len;
} RegionRange;

static RegionRange regions_of(const CoverData *d, const CoverFunction *f, uint32_t file)
{
    const uint32_t *starts = d->region_starts.at + f->starts_first;
    return (RegionRange){d->regions.at + f->regions_first + starts[file],
                         starts[file + 1] - starts[file]};
}

static RegionRange all_regions(const CoverData *d, const CoverFunction *f)
{
    const uint32_t *starts = d->region_starts.at + f->starts_first;
    return (RegionRange){d->regions.at + f->regions_first, starts[f->file_count]};
}

static bool is_branch(const CoverRegion *r)
{
    return r->kind == COV_BRANCH || r->kind == COV_MCDC_BRANCH;
}

static void add_spans(RegionRange range, CovSpanVec *out)
{
    vec_reserve(NULL, out, range.len);
    for (size_t i = 0; i < range.len; i++) {
        const CoverRegion *r = &range.at[i];
        if (!is_branch(r))
            out->at[out->len++] = (CovSpan){
                r->line, r->column, r->end_line, r->end_column, (CovRegionKind)r->kind, r->count};
    }
}

// ---- Branches, those inside macros included ------------------------------------------------

// A branch and the way to it: the places of the expansions it is in, outermost
// first, or its own place when it is in none.
typedef struct Branch {
    const CoverRegion *region;
    size_t path_first;
    uint32_t path_len;
    uint32_t position;
} Branch;

// One expanded file on the walk's way: the next region to look at.
typedef struct Visit {
    uint32_t file;
    size_t next;
} Visit;

typedef struct Branches {
    Vec(Branch) at;
    U64Vec paths;
    U64Vec path;   // where the walk is
    U8Vec visited; // file ids of the present function
    Vec(Visit) stack;
} Branches;

static void add_branch(Branches *b, const CoverRegion *r, const uint64_t *path, size_t len)
{
    size_t first = b->paths.len;
    vec_reserve(NULL, &b->paths, len);
    memcpy(b->paths.at + first, path, len * sizeof(*path));
    b->paths.len += len;
    vec_push(NULL, &b->at, (Branch){r, first, (uint32_t)len, (uint32_t)b->at.len});
}

static void add_direct(Branches *b, RegionRange range)
{
    for (size_t i = 0; i < range.len; i++) {
        const CoverRegion *r = &range.at[i];
        uint64_t at = (uint64_t)r->line << 32 | r->column;
        if (is_branch(r))
            add_branch(b, r, &at, 1);
    }
}

// Branches of all that the main file's macros expand to: inner expansions before
// the branches of their own level. Each file id is entered once.
static void add_expanded(Branches *b, const CoverData *d, const CoverFunction *f)
{
    b->visited.len = 0;
    vec_extend(NULL, &b->visited, f->file_count);
    b->stack.len = b->path.len = 0;
    b->visited.at[f->main_file] = 1;
    vec_push(NULL, &b->stack, (Visit){f->main_file, 0});
    while (b->stack.len) {
        Visit *v = &vec_last(&b->stack);
        RegionRange range = regions_of(d, f, v->file);
        while (v->next < range.len && (range.at[v->next].kind != COV_EXPANSION ||
                                       b->visited.at[range.at[v->next].expanded_file]))
            v->next++;
        if (v->next < range.len) {
            const CoverRegion *r = &range.at[v->next++];
            b->visited.at[r->expanded_file] = 1;
            vec_push(NULL, &b->path, (uint64_t)r->line << 32 | r->column);
            vec_push(NULL, &b->stack, (Visit){r->expanded_file, 0});
            continue;
        }
        if (b->stack.len > 1) {
            for (size_t i = 0; i < range.len; i++)
                if (is_branch(&range.at[i]))
                    add_branch(b, &range.at[i], b->path.at, b->path.len);
            b->path.len--;
        }
        b->stack.len--;
    }
}

static void clear_branches(Branches *b)
{
    b->at.len = b->paths.len = 0;
}

static void free_branches(Branches *b)
{
    vec_free(&b->at);
    vec_free(&b->paths);
    vec_free(&b->path);
    vec_free(&b->visited);
    vec_free(&b->stack);
}

static CoverTally tally_branches(const Branches *b)
{
    CoverTally t = {0};
    for (size_t i = 0; i < b->at.len; i++) {
        const CoverRegion *r = b->at.at[i].region;
        if (r->is_folded)
            continue;
        t.count += 2;
        t.covered += (r->count > 0) + (r->false_count > 0);
    }
    return t;
}

// ---- Totals --------------------------------------------------------------------------------

// The regions of one function in one file.
typedef struct Piece {
    uint64_t place; // of the first
    RegionRange range;
} Piece;

static int compare_pieces(const void *a, const void *b)
{
    uint64_t x = ((const Piece *)a)->place, y = ((const Piece *)b)->place;
    return (x > y) - (x < y);
}

typedef struct Scratch {
    CovSpanVec spans;
    Vec(Piece) pieces;
    CovSegmentVec segments;
    CovLineVec lines;
    Branches branches;
} Scratch;

static void free_scratch(Scratch *s)
{
    vec_free(&s->spans);
    vec_free(&s->pieces);
    vec_free(&s->segments);
    vec_free(&s->lines);
    free_branches(&s->branches);
}

static CoverTally tally_lines(const CovLineVec *lines)
{
    CoverTally t = {.count = lines->len};
    for (size_t i = 0; i < lines->len; i++)
        t.covered += lines->at[i].count > 0;
    return t;
}

static CoverFile summarise_function(const CoverData *d, const CoverFunction *f, Scratch *s)
{
    CoverFile t = {.functions = {f->count > 0, 1}};
    RegionRange all = all_regions(d, f);
    for (size_t i = 0; i < all.len; i++) {
        t.regions.count += all.at[i].kind == COV_CODE;
        t.regions.covered += all.at[i].kind == COV_CODE && all.at[i].count != 0;
    }
    s->spans.len = 0;
    add_spans(regions_of(d, f, f->main_file), &s->spans);
    cov_segments(&s->spans, &s->segments);
    cov_lines(&s->segments, &s->lines);
    t.lines = tally_lines(&s->lines);
    clear_branches(&s->branches);
    add_direct(&s->branches, regions_of(d, f, f->main_file));
    add_expanded(&s->branches, d, f);
    t.branches = tally_branches(&s->branches);
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

static void largest(CoverTally *into, CoverTally t)
{
    into->covered = MAX(into->covered, t.covered);
    into->count = MAX(into->count, t.count);
}

static void summarise_file(const CoverData *d, const FileIndex *x, uint32_t row, Scratch *s,
                           CoverFile *ret)
{
    Vec(Placed) placed = {0};
    for (uint32_t i = x->starts.at[row]; i < x->starts.at[row + 1]; i++) {
        const CoverFunction *f = &d->functions.at[x->functions.at[i]];
        if (f->main_file == COVER_NO_FILE ||
            d->function_files.at[f->files_first + f->main_file] != row)
            continue;
        RegionRange main = regions_of(d, f, f->main_file);
        for (size_t k = 0; k < main.len; k++) {
            if (is_branch(&main.at[k]))
                continue;
            uint64_t place = (uint64_t)main.at[k].line << 32 | main.at[k].column;
            vec_push(NULL, &placed, (Placed){place, x->functions.at[i]});
            break;
        }
    }
    if (placed.len)
        qsort(placed.at, placed.len, sizeof(placed.at[0]), compare_placed);
    for (size_t i = 0, end; i < placed.len; i = end) {
        CoverFile group = {0};
        for (end = i; end < placed.len && placed.at[end].place == placed.at[i].place; end++) {
            CoverFile t = summarise_function(d, &d->functions.at[placed.at[end].function], s);
            ret->instantiations.count++;
            ret->instantiations.covered += t.functions.covered;
            largest(&group.functions, t.functions);
            largest(&group.regions, t.regions);
            largest(&group.lines, t.lines);
            largest(&group.branches, t.branches);
        }
        cover_file_add(ret, &group);
    }
    vec_free(&placed);
}

void cover_files_summarise(Arena *arena, const CoverData *d, const CoverProject *how,
                           CoverFileVec *ret)
{
    FileIndex x = {0};
    Scratch s = {0};
    index_files(d, how, &x);
    for (size_t i = 0; i < x.order.len; i++) {
        CoverFile file = {.path = intern_get(&d->files, x.order.at[i])};
        summarise_file(d, &x, x.order.at[i], &s, &file);
        vec_push(arena, ret, file);
    }
    free_scratch(&s);
    free_index(&x);
}

// ---- Rows of the model -----------------------------------------------------------------------

static int compare_branches(const void *a, const void *b, void *ctx)
{
    const Branch *x = a, *y = b;
    const uint64_t *paths = ((Branches *)ctx)->paths.at;
    uint32_t len = MIN(x->path_len, y->path_len);
    for (uint32_t i = 0; i < len; i++) {
        uint64_t p = paths[x->path_first + i], q = paths[y->path_first + i];
        if (p != q)
            return p < q ? -1 : 1;
    }
    if (x->path_len != y->path_len)
        return x->path_len < y->path_len ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

static void sort_branches(Branches *b)
{
    for (size_t i = 1; i < b->at.len; i++) {
        if (compare_branches(&b->at.at[i - 1], &b->at.at[i], b) <= 0)
            continue;
        qsort_r(b->at.at, b->at.len, sizeof(b->at.at[0]), compare_branches, b);
        return;
    }
}

static void fill_branches(const CoverData *d, const FileIndex *x, uint32_t row, StrId file,
                          Scratch *s, Profile *into)
{
    Branches *b = &s->branches;
    clear_branches(b);
    for (uint32_t i = x->starts.at[row]; i < x->starts.at[row + 1]; i++) {
        const CoverFunction *f = &d->functions.at[x->functions.at[i]];
        // Branches in the text of macros count where the macro is used.
        if (d->function_files.at[f->files_first] == row)
            add_direct(b, regions_of(d, f, 0));
    }
    for (uint32_t i = x->starts.at[row]; i < x->starts.at[row + 1]; i++) {
        const CoverFunction *f = &d->functions.at[x->functions.at[i]];
        if (f->main_file != COVER_NO_FILE &&
            d->function_files.at[f->files_first + f->main_file] == row)
            add_expanded(b, d, f);
    }
    sort_branches(b);
    uint32_t line = 0, pair = 0;
    BranchCounts *to = &into->branch_counts;
    for (size_t i = 0; i < b->at.len; i++) {
        const CoverRegion *r = b->at.at[i].region;
        uint64_t place = b->paths.at[b->at.at[i].path_first];
        if (r->is_folded)
            continue;
        if ((uint32_t)(place >> 32) != line) {
            line = (uint32_t)(place >> 32);
            pair = 0;
        }
        for (uint32_t side = 0; side < 2; side++) {
            vec_push(&into->arena, &to->file, file);
            vec_push(&into->arena, &to->line, line);
            vec_push(&into->arena, &to->column, (uint32_t)place);
            vec_push(&into->arena, &to->block, pair);
            vec_push(&into->arena, &to->branch, 2 * pair + side);
            vec_push(&into->arena, &to->count, side ? r->false_count : r->count);
        }
        pair++;
    }
}

static FunctionId model_function(const CoverProject *how, Profile *into, const CoverFunction *f,
                                 Str path, StrBuf *name)
{
    strbuf_clear(name);
    if (how->demangle)
        how->demangle(how->demangle_ctx, f->name, name);
    Str shown = name->len ? strbuf_str(name) : f->name;
    return profile_function(into, shown, f->name, path, f->line);
}

static void fill_regions(const CoverData *d, const CoverFunction *f, uint32_t row,
                         FunctionId function, StrId file, Profile *into)
{
    RegionCounts *to = &into->region_counts;
    for (uint32_t id = 0; id < f->file_count; id++) {
        if (d->function_files.at[f->files_first + id] != row)
            continue;
        RegionRange range = regions_of(d, f, id);
        for (size_t i = 0; i < range.len; i++) {
            const CoverRegion *r = &range.at[i];
            if (is_branch(r))
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

static void fill_functions(const CoverData *d, const FileIndex *x, uint32_t row, StrId file,
                           const CoverProject *how, StrBuf *name, Profile *into)
{
    for (uint32_t i = x->starts.at[row]; i < x->starts.at[row + 1]; i++) {
        const CoverFunction *f = &d->functions.at[x->functions.at[i]];
        // A function belongs to the first of its files; it may have text in others.
        uint32_t own = d->function_files.at[f->files_first];
        if (own != row && how->without_regions)
            continue;
        FunctionId function = model_function(how, into, f, intern_get(&d->files, own), name);
        if (own == row) {
            vec_push(&into->arena, &into->function_counts.function, function);
            vec_push(&into->arena, &into->function_counts.count, f->count);
            vec_push(&into->arena, &into->function_counts.hash, f->hash);
        }
        if (!how->without_regions)
            fill_regions(d, f, row, function, file, into);
    }
}

// The spans of a file, from all of its functions, in the order that sorting them
// would give as far as functions do not interleave.
static void collect_spans(const CoverData *d, const FileIndex *x, uint32_t row, Scratch *s)
{
    s->spans.len = s->pieces.len = 0;
    bool sorted = true;
    for (uint32_t i = x->starts.at[row]; i < x->starts.at[row + 1]; i++) {
        const CoverFunction *f = &d->functions.at[x->functions.at[i]];
        for (uint32_t id = 0; id < f->file_count; id++) {
            RegionRange range = regions_of(d, f, id);
            if (range.len == 0 || d->function_files.at[f->files_first + id] != row)
                continue;
            Piece piece = {(uint64_t)range.at[0].line << 32 | range.at[0].column, range};
            sorted &= s->pieces.len == 0 || vec_last(&s->pieces).place <= piece.place;
            vec_push(NULL, &s->pieces, piece);
        }
    }
    if (!sorted)
        qsort(s->pieces.at, s->pieces.len, sizeof(s->pieces.at[0]), compare_pieces);
    for (size_t i = 0; i < s->pieces.len; i++)
        add_spans(s->pieces.at[i].range, &s->spans);
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

static void fill_file(const CoverData *d, const FileIndex *x, uint32_t row, const CoverProject *how,
                      Scratch *s, StrBuf *name, Profile *into)
{
    StrId file = profile_str(into, intern_get(&d->files, row));
    fill_functions(d, x, row, file, how, name, into);
    collect_spans(d, x, row, s);
    cov_segments(&s->spans, &s->segments);
    cov_lines(&s->segments, &s->lines);
    fill_lines(&s->lines, file, into);
    fill_branches(d, x, row, file, s, into);
}

// Columns that grow are copied each time; most of the room they need is known.
static void reserve_rows(const CoverData *d, Profile *into)
{
    size_t branches = 0;
    for (size_t i = 0; i < d->regions.len; i++)
        branches += is_branch(&d->regions.at[i]);
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
}

void cover_files_fill(const CoverData *d, const CoverProject *how, Profile *into)
{
    FileIndex x = {0};
    Scratch s = {0};
    StrBuf name = {0};
    index_files(d, how, &x);
    reserve_rows(d, into);
    for (size_t i = 0; i < x.order.len; i++)
        fill_file(d, &x, x.order.at[i], how, &s, &name, into);
    strbuf_deinit(&name);
    free_scratch(&s);
    free_index(&x);
}

// ---- Totals of a profile -----------------------------------------------------------------------

static CoverFile *file_of(Arena *arena, CoverFileVec *files, U32Vec *rows, const Profile *p,
                          StrId file)
{
    if (rows->at[file.v] == 0) {
        vec_push(arena, files, (CoverFile){.path = profile_text(p, file)});
        rows->at[file.v] = (uint32_t)files->len;
    }
    return &files->at[rows->at[file.v] - 1];
}

static int compare_files(const void *a, const void *b)
{
    return str_compare(((const CoverFile *)a)->path, ((const CoverFile *)b)->path);
}

static void tally(CoverTally *t, uint64_t count)
{
    t->count++;
    t->covered += count > 0;
}

void cover_profile_summarise(Arena *arena, const Profile *p, CoverFileVec *ret)
{
    U32Vec rows = {0};
    vec_extend(NULL, &rows, p->strings.texts.len);
    for (size_t i = 0; i < p->line_counts.line.len; i++)
        tally(&file_of(arena, ret, &rows, p, p->line_counts.file.at[i])->lines,
              p->line_counts.count.at[i]);
    for (size_t i = 0; i < p->branch_counts.line.len; i++)
        tally(&file_of(arena, ret, &rows, p, p->branch_counts.file.at[i])->branches,
              p->branch_counts.count.at[i]);
    for (size_t i = 0; i < p->function_counts.count.len; i++) {
        FunctionId function = p->function_counts.function.at[i];
        CoverFile *f = file_of(arena, ret, &rows, p, p->functions.file.at[function.v]);
        tally(&f->functions, p->function_counts.count.at[i]);
        tally(&f->instantiations, p->function_counts.count.at[i]);
    }
    for (size_t i = 0; i < p->region_counts.count.len; i++)
        if (p->region_counts.kind.at[i] == COV_CODE)
            tally(&file_of(arena, ret, &rows, p, p->region_counts.file.at[i])->regions,
                  p->region_counts.count.at[i]);
    if (ret->len)
        qsort(ret->at, ret->len, sizeof(ret->at[0]), compare_files);
    vec_free(&rows);
}
