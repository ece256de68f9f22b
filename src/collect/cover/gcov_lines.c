// SPDX-License-Identifier: Apache-2.0
// Flow graphs -> lines. A line ran as often as control entered its blocks from
// outside, plus as often as it went round loops that lie on the line alone.

#include "collect/cover/gcov_lines.h"

#include <stdlib.h>

#include "collect/cover/gcov_lines_internal.h"

// Loops on one line are enumerated; a line of a generated program can have more
// of them than can be followed.
enum { CIRCUIT_DEPTH_MAX = 4000, CIRCUIT_STEPS_MAX = 200000, NONE = GCOV_NO_BLOCK };

void gcov_sum_init(GcovSum *s, Profile *profile, const CoverProject *how)
{
    *s = (GcovSum){.profile = profile, .how = how};
}

void gcov_sum_deinit(GcovSum *s)
{
    vec_free(&s->lines);
    vec_free(&s->branches);
    vec_free(&s->functions);
    table_deinit(&s->line_index);
    arena_deinit(&s->scratch);
}

// ---- One translation unit ------------------------------------------------------

static int compare_ways(const void *a, const void *b, void *ctx)
{
    const GcovArc *arcs = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (arcs[x].to != arcs[y].to)
        return arcs[x].to < arcs[y].to ? -1 : 1;
    return (x > y) - (x < y);
}

// gcov lists the ways out of a block by where they lead.
static void sort_ways(const GcovNotes *n, uint32_t *arcs, size_t count)
{
    enum { FEW = 16 };
    if (count > FEW) { // a switch
        qsort_r(arcs, count, sizeof(arcs[0]), compare_ways, n->arcs.at);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        uint32_t arc = arcs[i];
        size_t to = i;
        for (; to > 0 && compare_ways(&arcs[to - 1], &arc, n->arcs.at) > 0; to--)
            arcs[to] = arcs[to - 1];
        arcs[to] = arc;
    }
}

static void index_arcs(GcovUnit *u)
{
    GcovNotes *n = u->n;
    u->base = arena_array(u->arena, uint32_t, n->functions.len + 1);
    for (size_t i = 0; i < n->functions.len; i++) {
        u->base[i] = u->block_count;
        u->block_count += n->functions.at[i].block_count;
    }
    u->out_first = arena_array(u->arena, uint32_t, u->block_count + 2);
    u->in_first = arena_array(u->arena, uint32_t, u->block_count + 2);
    u->out = arena_array(u->arena, uint32_t, n->arcs.len);
    u->in = arena_array(u->arena, uint32_t, n->arcs.len);
    // Counted one place further, so that filling leaves the starts right.
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n->functions.len; i++) {
            const GcovFunction *f = &n->functions.at[i];
            for (size_t k = f->arcs_first; k < f->arcs_first + f->arc_count; k++) {
                uint32_t from = u->base[i] + n->arcs.at[k].from, to = u->base[i] + n->arcs.at[k].to;
                if (pass == 0) {
                    u->out_first[from + 2]++;
                    u->in_first[to + 2]++;
                } else {
                    u->out[u->out_first[from + 1]++] = (uint32_t)k;
                    u->in[u->in_first[to + 1]++] = (uint32_t)k;
                }
            }
        }
        for (uint32_t b = 2; pass == 0 && b < u->block_count + 2; b++) {
            u->out_first[b] += u->out_first[b - 1];
            u->in_first[b] += u->in_first[b - 1];
        }
    }
    for (uint32_t b = 0; b < u->block_count; b++)
        sort_ways(n, u->out + u->out_first[b], u->out_first[b + 1] - u->out_first[b]);
    u->marked = arena_array(u->arena, uint32_t, u->block_count);
    u->position = arena_array(u->arena, uint32_t, u->block_count);
    u->left = arena_array(u->arena, uint64_t, n->arcs.len);
}

// Blocks that only exceptions lead to, in functions that catch or clean up.
static void find_exceptional(GcovUnit *u)
{
    U32Vec work = {0};
    u->is_exceptional = arena_array(u->arena, uint8_t, u->block_count);
    for (size_t i = 0; i < u->n->functions.len; i++) {
        const GcovFunction *f = &u->n->functions.at[i];
        const GcovArc *arcs = u->n->arcs.at + f->arcs_first;
        bool catches = false;
        for (size_t k = 0; k < f->arc_count && !catches; k++)
            catches = arcs[k].is_throw;
        if (!catches)
            continue;
        memset(u->is_exceptional + u->base[i], 1, f->block_count);
        u->is_exceptional[u->base[i]] = 0;
        vec_push(NULL, &work, u->base[i]);
        while (work.len) {
            uint32_t block = vec_pop(&work);
            for (uint32_t k = u->out_first[block]; k < u->out_first[block + 1]; k++) {
                const GcovArc *a = &u->n->arcs.at[u->out[k]];
                uint32_t to = u->base[i] + a->to;
                if ((a->flags & GCOV_ARC_FAKE) || a->is_throw || !u->is_exceptional[to])
                    continue;
                u->is_exceptional[to] = 0;
                vec_push(NULL, &work, to);
            }
        }
    }
    vec_free(&work);
}

// Functions that start at the same place are instances of one template. gcov's own
// listing holds all apart that start on the same line.
static void find_groups(GcovUnit *u)
{
    GcovNotes *n = u->n;
    Table places = {0};
    u->is_group = arena_alloc(u->arena, n->functions.len, 1);
    for (uint32_t i = 0; i < n->functions.len; i++) {
        const GcovFunction *f = &n->functions.at[i];
        if (f->is_artificial)
            continue;
        uint64_t hash = hash_pair(f->file, f->line);
        uint32_t row;
        bool known = false;
        for (TableProbe p = table_probe(&places, hash); table_next(&places, &p, &row);) {
            const GcovFunction *g = &n->functions.at[row];
            if (g->file == f->file && g->line == f->line &&
                (u->sum->documents || g->column == f->column)) {
                u->is_group[row] = u->is_group[i] = 1;
                known = true;
                break;
            }
        }
        if (!known)
            table_insert(&places, hash, i);
    }
    table_deinit(&places);
    // Before gcc 8 the notes have no columns, and gcov knew no groups.
    if (n->version < 800)
        memset(u->is_group, 0, n->functions.len);
}

static uint32_t line_row(GcovUnit *u, uint32_t function, uint32_t file, uint32_t line)
{
    const GcovFunction *f = &u->n->functions.at[function];
    uint32_t instance =
        u->is_group[function] && file == f->file && line >= f->line && line <= f->end_line
            ? function + 1
            : 0;
    uint64_t hash = hash_pair(hash_pair(file, line), instance);
    uint32_t row;
    for (TableProbe p = table_probe(&u->index, hash); table_next(&u->index, &p, &row);) {
        const GcovUnitLine *l = &u->lines.at[row];
        if (l->file == file && l->line == line && l->instance == instance)
            return row;
    }
    row = (uint32_t)u->lines.len;
    vec_push(NULL, &u->lines, (GcovUnitLine){file, line, instance, 0, false, NONE, NONE});
    table_insert(&u->index, hash, row);
    return row;
}

static void add_block(GcovUnit *u, uint32_t row, uint32_t function, uint32_t block)
{
    uint32_t at = (uint32_t)u->line_blocks.len;
    vec_push(NULL, &u->line_blocks, (GcovLineBlock){function, block, NONE});
    GcovUnitLine *l = &u->lines.at[row];
    if (l->first_block == NONE)
        l->first_block = at;
    else
        u->line_blocks.at[l->last_block].next = at;
    l->last_block = at;
}

// Adds one block's places in one file. It counts for each of the lines, and
// belongs to the largest of them.
static void place_run(GcovUnit *u, uint32_t function, const GcovPlace *places, size_t count)
{
    const GcovFunction *f = &u->n->functions.at[function];
    uint32_t block = places[0].block, row = NONE, last = 0;
    for (size_t i = 0; i < count; i++) {
        // However often a line is listed, it counts once.
        bool again = false;
        for (size_t k = i; k > 0 && i - k < 64 && !again; k--)
            again = places[k - 1].line == places[i].line;
        if (again)
            continue;
        uint32_t at = line_row(u, function, places[i].file, places[i].line);
        u->lines.at[at].count += f->blocks[block];
        if (f->blocks[block] == 0 && !u->is_exceptional[u->base[function] + block])
            u->lines.at[at].has_unexecuted = true;
        if (places[i].line >= last) {
            last = places[i].line;
            row = at;
        }
    }
    // gcov leaves out the entry and, since exits moved to the front, whichever
    // block is the last.
    if (block != 0 && block + 1 != f->block_count)
        add_block(u, row, function, block);
}

static void place_function(GcovUnit *u, uint32_t function)
{
    const GcovFunction *f = &u->n->functions.at[function];
    const GcovPlace *places = u->n->places.at + f->places_first;
    for (size_t i = 0, end; i < f->place_count; i = end) {
        for (end = i + 1; end < f->place_count && places[end].block == places[i].block &&
                          places[end].file == places[i].file;
             end++)
            ;
        place_run(u, function, places + i, end - i);
    }
}

// ---- Loops on one line (Johnson's circuits, as gcov does it) -----------------------

typedef struct Circuits {
    GcovUnit *u;
    uint32_t mark;       // lines row + 1
    uint32_t start;      // block, counted over all functions
    uint32_t base;       // of the present function
    U32Vec path;         // arcs
    U8Vec blocked;       // by position on the line
    U32Vec waiting_next; // lists of blocks to unblock: {next, block}
    U32Vec waiting_block;
    U32Vec waiting_first; // by position, NONE
    uint64_t total;
    uint32_t steps;
    bool too_many;
} Circuits;

static void handle_cycle(Circuits *c)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < c->path.len; i++)
        least = MIN(least, c->u->left[c->path.at[i]]);
    c->total += least;
    for (size_t i = 0; i < c->path.len; i++)
        c->u->left[c->path.at[i]] -= least;
}

static bool path_is_used_up(const Circuits *c)
{
    for (size_t i = 0; i < c->path.len; i++)
        if (c->u->left[c->path.at[i]] == 0)
            return true;
    return false;
}

static void unblock(Circuits *c, uint32_t block, unsigned depth)
{
    uint32_t at = c->u->position[block];
    if (!c->blocked.at[at])
        return;
    c->blocked.at[at] = 0;
    uint32_t entry = c->waiting_first.at[at];
    c->waiting_first.at[at] = NONE;
    for (; entry != NONE; entry = c->waiting_next.at[entry])
        if (depth < CIRCUIT_DEPTH_MAX)
            unblock(c, c->waiting_block.at[entry], depth + 1);
        else
            c->too_many = true;
}

static bool is_step(const Circuits *c, uint32_t arc, uint32_t *to)
{
    *to = c->base + c->u->n->arcs.at[arc].to;
    return *to >= c->start && c->u->left[arc] != 0 && c->u->marked[*to] == c->mark;
}

static bool circuit(Circuits *c, uint32_t block, unsigned depth)
{
    GcovUnit *u = c->u;
    bool found = false;
    uint32_t to;
    if (depth >= CIRCUIT_DEPTH_MAX || ++c->steps > CIRCUIT_STEPS_MAX) {
        c->too_many = true;
        return false;
    }
    c->blocked.at[u->position[block]] = 1;
    for (uint32_t i = u->out_first[block]; i < u->out_first[block + 1]; i++) {
        if (!is_step(c, u->out[i], &to))
            continue;
        vec_push(NULL, &c->path, u->out[i]);
        if (to == c->start) {
            handle_cycle(c);
            found = true;
        } else if (!path_is_used_up(c) && !c->blocked.at[u->position[to]]) {
            found |= circuit(c, to, depth + 1);
        }
        c->path.len--;
    }
    if (found) {
        unblock(c, block, 0);
        return true;
    }
    for (uint32_t i = u->out_first[block]; i < u->out_first[block + 1]; i++) {
        if (!is_step(c, u->out[i], &to))
            continue;
        uint32_t at = u->position[to];
        vec_push(NULL, &c->waiting_block, block);
        vec_push(NULL, &c->waiting_next, c->waiting_first.at[at]);
        c->waiting_first.at[at] = (uint32_t)c->waiting_next.len - 1;
    }
    return false;
}

static void free_circuits(Circuits *c)
{
    vec_free(&c->path);
    vec_free(&c->blocked);
    vec_free(&c->waiting_next);
    vec_free(&c->waiting_block);
    vec_free(&c->waiting_first);
}

// ---- Counts of lines -----------------------------------------------------------------

static void count_line(GcovUnit *u, uint32_t row, Circuits *c)
{
    GcovUnitLine *l = &u->lines.at[row];
    if (l->first_block == NONE)
        return;
    uint32_t blocks = 0;
    for (uint32_t i = l->first_block; i != NONE; i = u->line_blocks.at[i].next) {
        uint32_t block = u->base[u->line_blocks.at[i].function] + u->line_blocks.at[i].block;
        u->marked[block] = row + 1;
        u->position[block] = blocks++;
    }
    uint64_t count = 0;
    for (uint32_t i = l->first_block; i != NONE; i = u->line_blocks.at[i].next) {
        uint32_t base = u->base[u->line_blocks.at[i].function];
        uint32_t block = base + u->line_blocks.at[i].block;
        for (uint32_t k = u->in_first[block]; k < u->in_first[block + 1]; k++)
            if (u->marked[base + u->n->arcs.at[u->in[k]].from] != row + 1)
                count += u->n->arcs.at[u->in[k]].count;
        for (uint32_t k = u->out_first[block]; k < u->out_first[block + 1]; k++)
            u->left[u->out[k]] = u->n->arcs.at[u->out[k]].count;
    }
    c->u = u;
    c->mark = row + 1;
    c->total = 0;
    c->steps = 0;
    c->too_many = false;
    c->blocked.len = c->waiting_first.len = 0;
    vec_extend(NULL, &c->blocked, blocks);
    vec_extend(NULL, &c->waiting_first, blocks);
    for (uint32_t i = l->first_block; i != NONE && !c->too_many; i = u->line_blocks.at[i].next) {
        c->base = u->base[u->line_blocks.at[i].function];
        c->start = c->base + u->line_blocks.at[i].block;
        memset(c->blocked.at, 0, blocks);
        memset(c->waiting_first.at, 0xff, blocks * sizeof(uint32_t));
        c->waiting_next.len = c->waiting_block.len = c->path.len = 0;
        circuit(c, c->start, 0);
    }
    u->sum->approximate += c->too_many;
    l->count = count + c->total;
}

// ---- Into the sums ---------------------------------------------------------------------

static Str full_path(GcovSum *s, const GcovNotes *n, uint32_t file)
{
    Str name = n->files.at[file];
    if (n->folder.len == 0 || (name.len && name.ptr[0] == '/'))
        return name;
    return arena_printf(&s->scratch, "%" STR_FMT "/%" STR_FMT, STR_ARG(n->folder), STR_ARG(name));
}

static uint32_t sum_row(GcovSum *s, StrId file, uint32_t line)
{
    uint64_t hash = hash_pair(file.v, line);
    uint32_t row;
    for (TableProbe p = table_probe(&s->line_index, hash); table_next(&s->line_index, &p, &row);)
        if (s->lines.at[row].file.v == file.v && s->lines.at[row].line == line)
            return row;
    row = (uint32_t)s->lines.len;
    vec_push(NULL, &s->lines, (GcovLine){file, line, 0, 0});
    table_insert(&s->line_index, hash, row);
    return row;
}

// The branch behind `before` on the line of `row`, or the first; made when absent.
static uint32_t next_branch(GcovSum *s, uint32_t row, uint32_t before)
{
    uint32_t next = before ? s->branches.at[before - 1].next : s->lines.at[row].first_branch;
    if (next)
        return next;
    uint32_t order = before ? s->branches.at[before - 1].order + 1 : 0;
    vec_push(NULL, &s->branches, (GcovBranch){row, order, 0, 0, false});
    next = (uint32_t)s->branches.len;
    if (before)
        s->branches.at[before - 1].next = next;
    else
        s->lines.at[row].first_branch = next;
    return next;
}

// The marks of a unit's sources, and what they must know of it.
static void find_marks(GcovUnit *u, const StrId *files)
{
    const CoverProject *how = u->sum->how;
    u->marks = arena_array(u->arena, CoverExclusions *, u->n->files.len);
    for (uint32_t i = 0; i < u->n->files.len && how->exclusions; i++)
        if (files[i].v)
            u->marks[i] =
                how->exclusions(how->exclusions_ctx, profile_text(u->sum->profile, files[i]));
    for (size_t i = 0; i < u->n->functions.len; i++) {
        const GcovFunction *f = &u->n->functions.at[i];
        if (u->marks[f->file] && !f->is_artificial)
            cover_exclusions_add_function(
                u->marks[f->file],
                (CoverFunctionPlace){f->line, f->column, f->end_line, f->end_column});
    }
    for (size_t i = 0; i < u->lines.len; i++) {
        const GcovUnitLine *l = &u->lines.at[i];
        if (!cover_excludes_source(u->marks[l->file], l->line))
            continue;
        if (!u->is_source)
            u->is_source = arena_array(u->arena, uint8_t, u->block_count);
        for (uint32_t k = l->first_block; k != NONE; k = u->line_blocks.at[k].next)
            u->is_source[u->base[u->line_blocks.at[k].function] + u->line_blocks.at[k].block] = 1;
    }
}

static void add_branches(GcovUnit *u, const GcovUnitLine *l, uint32_t row)
{
    uint32_t branch = 0;
    bool no_exceptions = cover_excludes_exception(u->marks[l->file], l->line);
    for (uint32_t i = l->first_block; i != NONE; i = u->line_blocks.at[i].next) {
        uint32_t base = u->base[u->line_blocks.at[i].function];
        uint32_t block = base + u->line_blocks.at[i].block;
        for (uint32_t k = u->out_first[block]; k < u->out_first[block + 1]; k++) {
            const GcovArc *a = &u->n->arcs.at[u->out[k]];
            if (a->is_unconditional || a->is_call)
                continue;
            branch = next_branch(u->sum, row, branch);
            u->sum->branches.at[branch - 1].count += a->count;
            u->sum->branches.at[branch - 1].is_left_out |=
                (no_exceptions && a->is_throw) || (u->is_source && u->is_source[base + a->to]);
        }
    }
}

static void add_functions(GcovUnit *u, const StrId *files)
{
    GcovSum *s = u->sum;
    StrBuf name = {0};
    for (size_t i = 0; i < u->n->functions.len; i++) {
        const GcovFunction *f = &u->n->functions.at[i];
        if (f->is_artificial || !f->has_counts || files[f->file].v == 0)
            continue;
        strbuf_clear(&name);
        if (s->how->demangle)
            s->how->demangle(s->how->demangle_ctx, f->name, &name);
        FunctionId id =
            profile_function(s->profile, name.len ? strbuf_str(&name) : f->name, f->name,
                             profile_text(s->profile, files[f->file]), f->line);
        if (id.v >= s->functions.len)
            vec_extend(NULL, &s->functions, id.v + 1 - s->functions.len);
        uint64_t *count = &s->functions.at[id.v];
        *count += (f->block_count ? f->blocks[0] : 0) + (*count == 0);
    }
    strbuf_deinit(&name);
}

static void add_lines(GcovUnit *u, const StrId *files)
{
    for (size_t i = 0; i < u->lines.len; i++) {
        const GcovUnitLine *l = &u->lines.at[i];
        if (files[l->file].v == 0)
            continue;
        uint32_t row = sum_row(u->sum, files[l->file], l->line);
        u->sum->lines.at[row].count += l->count;
        add_branches(u, l, row);
    }
}

bool gcov_sum_add(GcovSum *s, GcovNotes *n, Str data_file, Error *err)
{
    Arena arena = {0};
    GcovUnit u = {.n = n, .arena = &arena, .sum = s};
    bool ok = true;
    for (size_t i = 0; i < n->functions.len && ok; i++)
        ok = gcov_solve(&arena, n, &n->functions.at[i], err);
    if (ok) {
        index_arcs(&u);
        find_exceptional(&u);
        find_groups(&u);
        for (uint32_t i = 0; i < n->functions.len; i++)
            if (!n->functions.at[i].is_artificial && n->functions.at[i].has_counts)
                place_function(&u, i);
        Circuits c = {0};
        for (uint32_t i = 0; i < u.lines.len; i++)
            count_line(&u, i, &c);
        free_circuits(&c);
        // 0 stands for files that the filters leave out.
        StrId *files = arena_array(&arena, StrId, n->files.len);
        for (uint32_t i = 0; i < n->files.len; i++) {
            Str path = full_path(s, n, i);
            if (s->how->map_path)
                path = s->how->map_path(s->how->map_ctx, path);
            if (!s->how->keep || s->how->keep(s->how->keep_ctx, path))
                files[i] = profile_str(s->profile, path);
        }
        find_marks(&u, files);
        add_lines(&u, files);
        add_functions(&u, files);
        if (s->documents)
            gcov_json_add(&u, s->documents, data_file, files);
        s->unit_count++;
    }
    vec_free(&u.lines);
    vec_free(&u.line_blocks);
    table_deinit(&u.index);
    arena_deinit(&arena);
    return ok;
}

// ---- Into the profile ----------------------------------------------------------------------

typedef struct Sorted {
    Str path;
    uint32_t line, row;
} Sorted;

static int compare_sorted(const void *a, const void *b)
{
    const Sorted *x = a, *y = b;
    int order = x->path.ptr == y->path.ptr ? 0 : str_compare(x->path, y->path);
    if (order)
        return order;
    return (x->line > y->line) - (x->line < y->line);
}

static int compare_branches(const void *a, const void *b)
{
    const GcovBranch *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

void gcov_sum_finish(GcovSum *s)
{
    Profile *p = s->profile;
    Vec(Sorted) sorted = {0};
    U32Vec rank = {0};
    for (uint32_t i = 0; i < s->lines.len; i++)
        vec_push(NULL, &sorted,
                 (Sorted){profile_text(p, s->lines.at[i].file), s->lines.at[i].line, i});
    if (sorted.len)
        qsort(sorted.at, sorted.len, sizeof(sorted.at[0]), compare_sorted);
    vec_extend(NULL, &rank, s->lines.len);
    for (uint32_t i = 0; i < sorted.len; i++) {
        const GcovLine *l = &s->lines.at[sorted.at[i].row];
        rank.at[sorted.at[i].row] = i;
        vec_push(&p->arena, &p->line_counts.file, l->file);
        vec_push(&p->arena, &p->line_counts.line, l->line);
        vec_push(&p->arena, &p->line_counts.count, l->count);
    }
    for (size_t i = 0; i < s->branches.len; i++)
        s->branches.at[i].row = rank.at[s->branches.at[i].row];
    if (s->branches.len)
        qsort(s->branches.at, s->branches.len, sizeof(s->branches.at[0]), compare_branches);
    BranchCounts *to = &p->branch_counts;
    for (size_t i = 0; i < s->branches.len; i++) {
        const GcovBranch *b = &s->branches.at[i];
        const GcovLine *l = &s->lines.at[sorted.at[b->row].row];
        if (b->is_left_out)
            continue;
        vec_push(&p->arena, &to->file, l->file);
        vec_push(&p->arena, &to->line, l->line);
        vec_push(&p->arena, &to->column, 0);
        vec_push(&p->arena, &to->block, 0);
        vec_push(&p->arena, &to->branch, b->order);
        vec_push(&p->arena, &to->count, b->count);
    }
    for (uint32_t id = 0; id < s->functions.len; id++) {
        if (s->functions.at[id] == 0)
            continue;
        vec_push(&p->arena, &p->function_counts.function, (FunctionId){id});
        vec_push(&p->arena, &p->function_counts.count, s->functions.at[id] - 1);
        vec_push(&p->arena, &p->function_counts.hash, 0);
    }
    vec_free(&sorted);
    vec_free(&rank);
}
