// SPDX-License-Identifier: Apache-2.0
// Flow graphs -> lines. A line ran as often as control entered its blocks from
// outside, plus as often as it went round loops that lie on the line alone.

#include "collect/cover/gcov_lines.h"

#include <stdlib.h>

#include "collect/cover/gcov_lines_internal.h"

// Loops on one line are enumerated; a line of a generated program can have more
// of them than can be followed.
enum { CIRCUIT_DEPTH_MAX = 4000, CIRCUIT_STEPS_MAX = 200000, NONE = GCOV_NO_BLOCK };

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

void gcov_unit_index(GcovUnit *u)
{
    GcovNotes *n = u->n;
    u->block_count = 0;
    for (uint32_t i = u->first; i < u->end; i++) {
        u->base.at[i] = u->block_count;
        u->block_count += n->functions.at[i].block_count;
    }
    u->out_first = arena_array(u->arena, uint32_t, u->block_count + 2);
    u->in_first = arena_array(u->arena, uint32_t, u->block_count + 2);
    u->out = arena_array(u->arena, uint32_t, n->arcs.len);
    u->in = arena_array(u->arena, uint32_t, n->arcs.len);
    // Counted one place further, so that filling leaves the starts right.
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = u->first; i < u->end; i++) {
            const GcovFunction *f = &n->functions.at[i];
            for (size_t k = f->arcs_first; k < f->arcs_first + f->arc_count; k++) {
                uint32_t from = u->base.at[i] + n->arcs.at[k].from,
                         to = u->base.at[i] + n->arcs.at[k].to;
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
void gcov_unit_find_exceptional(GcovUnit *u)
{
    U32Vec work = {0};
    u->is_exceptional = arena_array(u->arena, uint8_t, u->block_count);
    for (uint32_t i = u->first; i < u->end; i++) {
        const GcovFunction *f = &u->n->functions.at[i];
        const GcovArc *arcs = u->n->arcs.at + f->arcs_first;
        bool catches = false;
        for (size_t k = 0; k < f->arc_count && !catches; k++)
            catches = arcs[k].is_throw;
        if (!catches)
            continue;
        memset(u->is_exceptional + u->base.at[i], 1, f->block_count);
        u->is_exceptional[u->base.at[i]] = 0;
        vec_push(NULL, &work, u->base.at[i]);
        while (work.len) {
            uint32_t block = vec_pop(&work);
            for (uint32_t k = u->out_first[block]; k < u->out_first[block + 1]; k++) {
                const GcovArc *a = &u->n->arcs.at[u->out[k]];
                uint32_t to = u->base.at[i] + a->to;
                if ((a->flags & GCOV_ARC_FAKE) || a->is_throw || !u->is_exceptional[to])
                    continue;
                u->is_exceptional[to] = 0;
                vec_push(NULL, &work, to);
            }
        }
    }
    vec_free(&work);
}

// The program has these functions; of the others some other unit's copy was linked.
bool gcov_is_counted(const GcovFunction *f)
{
    return !f->is_artificial && f->has_counts;
}

// Functions that start at the same place are instances of one template. gcov's own
// listing holds all apart that start on the same line.
void gcov_unit_find_groups(GcovUnit *u)
{
    GcovNotes *n = u->n;
    Table places = {0};
    for (uint32_t i = 0; i < n->functions.len; i++) {
        GcovFunction *f = &n->functions.at[i];
        if (!gcov_is_counted(f))
            continue;
        uint64_t hash = hash_pair(gcov_function_file(n, f), f->line);
        uint32_t row;
        bool known = false;
        for (TableProbe p = table_probe(&places, hash); table_next(&places, &p, &row);) {
            const GcovFunction *g = &n->functions.at[row];
            if (g->file == f->file && g->line == f->line &&
                (u->sum->documents || g->column == f->column)) {
                u->is_group.at[row] = u->is_group.at[i] = 1;
                known = true;
                break;
            }
        }
        if (!known)
            table_insert(&places, hash, i);
    }
    table_deinit(&places);
    // Before gcc 8 the notes have no columns, and gcov knew no groups.
    if (n->version < 800 && u->is_group.len)
        memset(u->is_group.at, 0, n->functions.len);
}

const GcovFile *gcov_unit_file(GcovUnit *u, uint32_t file)
{
    while (u->files.len <= file) {
        Str name = u->n->files.at[u->files.len];
        vec_push(NULL, &u->files, gcov_sum_file(u->sum, u->n->folder, name));
    }
    return &u->sum->files.at[u->files.at[file]];
}

static uint32_t new_line(GcovUnit *u, GcovUnitLine line)
{
    line.first_block = line.last_block = NONE;
    vec_push(NULL, &u->lines, line);
    return (uint32_t)u->lines.len - 1;
}

// In a document instances have lines of their own.
static uint32_t document_line(GcovUnit *u, GcovUnitLine line)
{
    uint64_t hash = hash_pair(hash_pair(line.file, line.line), line.instance);
    uint32_t row;
    for (TableProbe p = table_probe(&u->index, hash); table_next(&u->index, &p, &row);) {
        const GcovUnitLine *l = &u->lines.at[row];
        if (l->file == line.file && l->line == line.line && l->instance == line.instance)
            return row;
    }
    row = new_line(u, line);
    table_insert(&u->index, hash, row);
    return row;
}

static uint32_t line_row(GcovUnit *u, uint32_t function, uint32_t file, uint32_t line)
{
    const GcovFunction *f = &u->n->functions.at[function];
    GcovUnitLine l = {
        .file = file, .line = line, .row = gcov_sum_row(u->sum, gcov_unit_file(u, file)->id, line)};
    if (u->is_group.at[function] && file == f->file && line >= f->line && line <= f->end_line)
        l.instance = function + 1;
    if (u->sum->documents)
        return document_line(u, l);
    GcovLine *sum = &u->sum->lines.at[l.row];
    if (sum->round != u->sum->round) {
        sum->round = u->sum->round;
        sum->round_line = new_line(u, l);
    }
    return sum->round_line;
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
    if (gcov_unit_file(u, places[0].file)->id.v == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        // However often a line is listed, it counts once.
        bool again = false;
        for (size_t k = i; k > 0 && i - k < 64 && !again; k--)
            again = places[k - 1].line == places[i].line;
        if (again)
            continue;
        uint32_t at = line_row(u, function, places[i].file, places[i].line);
        u->lines.at[at].count += f->blocks[block];
        if (f->blocks[block] == 0 && !u->is_exceptional[u->base.at[function] + block])
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

void gcov_unit_place(GcovUnit *u, uint32_t function)
{
    const GcovFunction *f = &u->n->functions.at[function];
    if (f->place_count == 0) // nor may there be any at all
        return;
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
        uint32_t block = u->base.at[u->line_blocks.at[i].function] + u->line_blocks.at[i].block;
        u->marked[block] = row + 1;
        u->position[block] = blocks++;
    }
    uint64_t count = 0;
    for (uint32_t i = l->first_block; i != NONE; i = u->line_blocks.at[i].next) {
        uint32_t base = u->base.at[u->line_blocks.at[i].function];
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
        c->base = u->base.at[u->line_blocks.at[i].function];
        c->start = c->base + u->line_blocks.at[i].block;
        memset(c->blocked.at, 0, blocks);
        memset(c->waiting_first.at, 0xff, blocks * sizeof(uint32_t));
        c->waiting_next.len = c->waiting_block.len = c->path.len = 0;
        circuit(c, c->start, 0);
    }
    u->sum->approximate += c->too_many;
    l->count = count + c->total;
}

void gcov_unit_count(GcovUnit *u)
{
    Circuits c = {0};
    for (uint32_t i = 0; i < u->lines.len; i++)
        count_line(u, i, &c);
    free_circuits(&c);
}
