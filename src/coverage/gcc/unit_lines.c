// SPDX-License-Identifier: Apache-2.0
// Flow graphs -> lines. A line ran as often as control entered its blocks from
// outside, plus as often as it went round loops that lie on the line alone. Before gcc 8
// a line's count is the sum of its blocks.

#include "coverage/gcc/unit_lines.h"

#include <stdlib.h>

#include "coverage/gcc/unit_lines_internal.h"

// Loops on one line are enumerated; a line of a generated program can have more
// of them than can be followed.
enum { CIRCUIT_DEPTH_MAX = 4000, CIRCUIT_STEPS_MAX = 200000, NONE = GCOV_NO_BLOCK };

// ---- One translation unit ------------------------------------------------------

void gcov_unit_index(GcovUnit *u)
{
    GcovNotes *n = u->n;
    u->block_count = 0;
    for (uint32_t i = u->first; i < u->end; i++) {
        u->base.at[i] = u->block_count;
        u->block_count += n->functions.at[i].block_count;
    }
    u->out_first = arena_array(u->arena, uint32_t, u->block_count + 1);
    uint32_t block = 0;
    for (uint32_t i = u->first; i < u->end; i++) {
        const GcovFunction *f = &n->functions.at[i];
        for (size_t k = f->arcs_first; k < f->arcs_first + f->arc_count; k++)
            while (block <= u->base.at[i] + n->arcs.at[k].from)
                u->out_first[block++] = (uint32_t)k;
    }
    while (block <= u->block_count)
        u->out_first[block++] = (uint32_t)n->arcs.len;
    u->marks = arena_array(u->arena, GcovMark, u->block_count);
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
                const GcovArc *a = &u->n->arcs.at[k];
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

// The first of the functions listed that starts on f's line, at its column too where
// that is asked; UINT32_MAX when there is none, and f is listed then.
static uint32_t find_start(const GcovUnit *u, Table *starts, uint32_t function, bool same_column)
{
    const GcovFunction *f = &u->n->functions.at[function];
    uint64_t hash = hash_pair(f->file, (uint64_t)f->line << 32 | (same_column ? f->column : 0));
    uint32_t row;
    for (TableProbe p = table_probe(starts, hash); table_next(starts, &p, &row);) {
        const GcovFunction *g = &u->n->functions.at[row];
        if (g->file == f->file && g->line == f->line && (!same_column || g->column == f->column))
            return row;
    }
    table_insert(starts, hash, function);
    return UINT32_MAX;
}

void gcov_unit_find_groups(GcovUnit *u)
{
    GcovNotes *n = u->n;
    Table lines = {0}, places = {0};
    table_reserve(&lines, n->functions.len);
    // Before gcc 8 the notes have no columns, and gcov knew no groups.
    for (uint32_t i = 0; i < n->functions.len && n->version >= 800; i++) {
        if (n->functions.at[i].is_artificial)
            continue;
        (void)gcov_function_file(n, &n->functions.at[i]);
        uint32_t first = find_start(u, &lines, i, false);
        if (first == UINT32_MAX)
            continue;
        if (u->group.at[first] == GCOV_ALONE) {
            u->group.at[first] = GCOV_ON_ONE_LINE;
            (void)find_start(u, &places, first, true);
        }
        u->group.at[i] = GCOV_ON_ONE_LINE;
        uint32_t same = find_start(u, &places, i, true);
        if (same != UINT32_MAX)
            u->group.at[same] = u->group.at[i] = GCOV_AT_ONE_PLACE;
    }
    table_deinit(&lines);
    table_deinit(&places);
}

void gcov_unit_list_files(GcovUnit *u)
{
    while (u->files.len < u->n->files.len) {
        Str name = u->n->files.at[u->files.len];
        vec_push(NULL, &u->files, gcov_sum_file(u->sum, u->n->folder, name));
    }
}

static uint32_t new_line(GcovUnit *u, GcovUnitLine line)
{
    line.first_block = line.last_block = NONE;
    vec_push(NULL, &u->lines, line);
    return (uint32_t)u->lines.len - 1;
}

// In a document functions that count apart have lines of their own.
static uint32_t document_line(GcovUnit *u, GcovUnitLine line)
{
    uint64_t hash = hash_pair(hash_pair(line.file, line.line), line.apart);
    uint32_t row;
    for (TableProbe p = table_probe(&u->index, hash); table_next(&u->index, &p, &row);) {
        const GcovUnitLine *l = &u->lines.at[row];
        if (l->file == line.file && l->line == line.line && l->apart == line.apart)
            return row;
    }
    row = new_line(u, line);
    table_insert(&u->index, hash, row);
    return row;
}

bool gcov_unit_is_apart(const GcovUnit *u, uint32_t function, const GcovPlace *place)
{
    const GcovFunction *f = &u->n->functions.at[function];
    return u->group.at[function] != GCOV_ALONE && place->file == f->file &&
           place->line >= f->line && place->line <= f->end_line;
}

static uint32_t line_row(GcovUnit *u, uint32_t function, StrId file, const GcovPlace *place)
{
    GcovUnitLine l = {
        .file = place->file, .line = place->line, .row = gcov_sum_row(u->sum, file, place->line)};
    if (gcov_unit_is_apart(u, function, place))
        l.apart = function + 1;
    if (u->sum->take)
        return document_line(u, l);
    GcovLine *sum = &u->sum->lines.at[l.row];
    if (sum->round != u->sum->round) {
        sum->round = u->sum->round;
        sum->round_line = new_line(u, l);
    }
    return sum->round_line;
}

static void add_block(GcovUnit *u, uint32_t row, GcovLineBlock block)
{
    uint32_t at = (uint32_t)u->line_blocks.len;
    vec_push(NULL, &u->line_blocks, block);
    GcovUnitLine *l = &u->lines.at[row];
    if (l->first_block == NONE)
        l->first_block = at;
    else
        u->line_blocks.at[l->last_block].next = at;
    l->last_block = at;
}

size_t gcov_unit_branch_place(const GcovUnit *u, const GcovPlace *places, size_t count)
{
    size_t found = 0;
    for (size_t i = 1; i < count; i++)
        if (u->n->is_of_llvm || places[i].line >= places[found].line)
            found = i;
    return found;
}

// Adds one block's places in one file. It counts for each of the lines. For gcov it
// belongs to the largest of them, for llvm-cov to all.
static void place_run(GcovUnit *u, uint32_t function, const GcovPlace *places, size_t count)
{
    const GcovFunction *f = &u->n->functions.at[function];
    uint32_t block = places[0].block;
    StrId file = gcov_unit_file(u, places[0].file)->id;
    if (file.v == 0)
        return;
    size_t branches = gcov_unit_branch_place(u, places, count);
    bool has_block = gcov_unit_has_block(u, function, block);
    for (size_t i = 0; i < count; i++) {
        // However often a line is listed, it ran once when the block did.
        bool again = false;
        for (size_t k = i; k > 0 && i - k < 64 && !again; k--)
            again = places[k - 1].line == places[i].line;
        if (again && !(u->n->is_of_llvm && u->sum->repeats_lines))
            continue;
        uint32_t at = line_row(u, function, file, &places[i]);
        bool has_branches = places[i].line == places[branches].line;
        u->lines.at[at].count += f->blocks[block];
        if (f->blocks[block] == 0 && u->is_exceptional &&
            !u->is_exceptional[u->base.at[function] + block])
            u->lines.at[at].has_unexecuted = true;
        if (has_block && (has_branches || u->n->is_of_llvm))
            add_block(u, at, (GcovLineBlock){function, block, NONE, has_branches});
    }
}

size_t gcov_places_run(const GcovPlace *places, size_t count)
{
    size_t end = 1;
    while (end < count && places[end].block == places[0].block &&
           places[end].file == places[0].file)
        end++;
    return end;
}

// Where gcov before gcc 8 lists the branches of the next block: the line that it met last.
typedef struct LastLine {
    uint32_t row;   // of GcovUnit.lines; NONE before the first, and in a file that is left out
    uint32_t block; // the first block that is not placed yet
} LastLine;

static void place_branches(GcovUnit *u, uint32_t function, LastLine *last, uint32_t end)
{
    for (; last->block < end; last->block++)
        if (last->row != NONE && gcov_unit_has_block(u, function, last->block))
            add_block(u, last->row, (GcovLineBlock){function, last->block, NONE, true});
}

// gcov before gcc 8: each time that a block lists a line it adds its count. Branches stand on the
// line that was listed last, be it by an earlier block.
static void place_sums(GcovUnit *u, uint32_t function)
{
    const GcovFunction *f = &u->n->functions.at[function];
    LastLine last = {.row = NONE};
    for (size_t i = 0; i < f->place_count; i++) {
        const GcovPlace *place = &u->n->places.at[f->places_first + i];
        place_branches(u, function, &last, place->block);
        StrId file = gcov_unit_file(u, place->file)->id;
        last.row = file.v ? line_row(u, function, file, place) : NONE;
        if (file.v)
            u->lines.at[last.row].count += f->blocks[place->block];
    }
    place_branches(u, function, &last, f->block_count);
}

void gcov_unit_place(GcovUnit *u, uint32_t function)
{
    const GcovFunction *f = &u->n->functions.at[function];
    if (u->n->sums_blocks) {
        place_sums(u, function);
        return;
    }
    for (size_t i = 0, run; i < f->place_count; i += run) {
        const GcovPlace *places = u->n->places.at + f->places_first + i;
        run = gcov_places_run(places, f->place_count - i);
        place_run(u, function, places, run);
    }
}

// ---- Loops on one line (Johnson's circuits, as gcov does it) -----------------------

// An arc between two blocks of the line.
typedef struct Step {
    uint32_t to;   // position on the line
    uint64_t left; // what is left to go round
} Step;

// Blocks are told by their position on the line.
typedef struct Circuits {
    U32Vec blocks;     // their numbers, counted over all functions
    U32Vec first_step; // of `steps`; one more entry than blocks
    Vec(Step) steps;
    uint32_t start; // position
    U32Vec path;    // steps
    U8Vec blocked;
    U32Vec waiting_next; // lists of blocks to unblock: {next, block}
    U32Vec waiting_block;
    U32Vec waiting_first; // NONE
    uint64_t total;
    uint32_t tries;
    bool too_many;
} Circuits;

static void handle_cycle(Circuits *c)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < c->path.len; i++)
        least = MIN(least, c->steps.at[c->path.at[i]].left);
    c->total += least;
    for (size_t i = 0; i < c->path.len; i++)
        c->steps.at[c->path.at[i]].left -= least;
}

static bool path_is_used_up(const Circuits *c)
{
    for (size_t i = 0; i < c->path.len; i++)
        if (c->steps.at[c->path.at[i]].left == 0)
            return true;
    return false;
}

static void unblock(Circuits *c, uint32_t block, unsigned depth)
{
    if (!c->blocked.at[block])
        return;
    c->blocked.at[block] = 0;
    uint32_t entry = c->waiting_first.at[block];
    c->waiting_first.at[block] = NONE;
    for (; entry != NONE; entry = c->waiting_next.at[entry])
        if (depth < CIRCUIT_DEPTH_MAX)
            unblock(c, c->waiting_block.at[entry], depth + 1);
        else
            c->too_many = true;
}

static bool can_step(const Circuits *c, uint32_t step)
{
    const Step *s = &c->steps.at[step];
    return s->left != 0 && c->blocks.at[s->to] >= c->blocks.at[c->start];
}

static bool circuit(Circuits *c, uint32_t block, unsigned depth)
{
    bool found = false;
    if (depth >= CIRCUIT_DEPTH_MAX || ++c->tries > CIRCUIT_STEPS_MAX) {
        c->too_many = true;
        return false;
    }
    c->blocked.at[block] = 1;
    for (uint32_t i = c->first_step.at[block]; i < c->first_step.at[block + 1]; i++) {
        uint32_t to = c->steps.at[i].to;
        if (!can_step(c, i))
            continue;
        vec_push(NULL, &c->path, i);
        if (to == c->start) {
            handle_cycle(c);
            found = true;
        } else if (!path_is_used_up(c) && !c->blocked.at[to]) {
            found |= circuit(c, to, depth + 1);
        }
        c->path.len--;
    }
    if (found) {
        unblock(c, block, 0);
        return true;
    }
    for (uint32_t i = c->first_step.at[block]; i < c->first_step.at[block + 1]; i++) {
        if (!can_step(c, i))
            continue;
        uint32_t to = c->steps.at[i].to;
        vec_push(NULL, &c->waiting_block, block);
        vec_push(NULL, &c->waiting_next, c->waiting_first.at[to]);
        c->waiting_first.at[to] = (uint32_t)c->waiting_next.len - 1;
    }
    return false;
}

static void free_circuits(Circuits *c)
{
    vec_free(&c->blocks);
    vec_free(&c->first_step);
    vec_free(&c->steps);
    vec_free(&c->path);
    vec_free(&c->blocked);
    vec_free(&c->waiting_next);
    vec_free(&c->waiting_block);
    vec_free(&c->waiting_first);
}

// ---- Counts of lines -----------------------------------------------------------------

static uint32_t base_of(const GcovUnit *u, const GcovLineBlock *b)
{
    return u->base.at[b->function];
}

// The blocks of the line and the arcs between them; all are marked.
static void enter_line(GcovUnit *u, const GcovUnitLine *l, Circuits *c)
{
    c->blocks.len = c->first_step.len = c->steps.len = 0;
    for (uint32_t i = l->first_block; i != NONE; i = u->line_blocks.at[i].next) {
        uint32_t block = base_of(u, &u->line_blocks.at[i]) + u->line_blocks.at[i].block;
        u->marks[block].last = (uint32_t)c->blocks.len;
        vec_push(NULL, &c->blocks, block);
    }
    for (uint32_t i = l->first_block; i != NONE; i = u->line_blocks.at[i].next) {
        uint32_t base = base_of(u, &u->line_blocks.at[i]);
        uint32_t block = base + u->line_blocks.at[i].block;
        vec_push(NULL, &c->first_step, (uint32_t)c->steps.len);
        for (uint32_t k = u->out_first[block]; k < u->out_first[block + 1]; k++) {
            const GcovArc *a = &u->n->arcs.at[k];
            const GcovMark *to = &u->marks[base + a->to];
            if (to->line == u->marks[block].line)
                vec_push(NULL, &c->steps, ((Step){to->last, a->count}));
        }
    }
    vec_push(NULL, &c->first_step, (uint32_t)c->steps.len);
}

// How often control went round within the line.
static uint64_t count_circuits(GcovUnit *u, const GcovUnitLine *l, Circuits *c)
{
    enter_line(u, l, c);
    uint32_t blocks = (uint32_t)c->blocks.len;
    c->total = 0;
    c->tries = 0;
    c->too_many = false;
    c->blocked.len = c->waiting_first.len = 0;
    vec_extend(NULL, &c->blocked, blocks);
    vec_extend(NULL, &c->waiting_first, blocks);
    for (uint32_t i = 0; i < blocks && !c->too_many; i++) {
        c->start = u->marks[c->blocks.at[i]].last;
        memset(c->blocked.at, 0, blocks);
        memset(c->waiting_first.at, 0xff, blocks * sizeof(uint32_t));
        c->waiting_next.len = c->waiting_block.len = c->path.len = 0;
        circuit(c, c->start, 0);
    }
    u->sum->approximate += c->too_many;
    return c->total;
}

static void mark_line(GcovUnit *u, const GcovUnitLine *l, uint32_t mark)
{
    for (uint32_t i = l->first_block; i != NONE; i = u->line_blocks.at[i].next) {
        GcovMark *m = &u->marks[base_of(u, &u->line_blocks.at[i]) + u->line_blocks.at[i].block];
        m->times = m->line == mark ? m->times + 1 : 1;
        m->line = mark;
        m->last = i;
    }
}

// What arrives at the line's blocks, less what comes from the line itself, plus what
// goes round there. A way round leads back to an earlier block, or to the same.
static void count_line(GcovUnit *u, uint32_t row, Circuits *c)
{
    GcovUnitLine *l = &u->lines.at[row];
    bool leads_back = false;
    if (l->first_block == NONE)
        return;
    mark_line(u, l, row + 1);
    l->count = 0;
    for (uint32_t i = l->first_block; i != NONE; i = u->line_blocks.at[i].next) {
        const GcovLineBlock *b = &u->line_blocks.at[i];
        uint32_t base = base_of(u, b), block = base + b->block;
        l->count += u->n->functions.at[b->function].arrivals[b->block];
        if (u->marks[block].last != i)
            continue;
        for (uint32_t k = u->out_first[block]; k < u->out_first[block + 1]; k++) {
            const GcovArc *a = &u->n->arcs.at[k];
            const GcovMark *to = &u->marks[base + a->to];
            if (to->line != row + 1)
                continue;
            l->count -= a->count * to->times;
            leads_back |= a->to <= b->block && a->count != 0;
        }
    }
    if (leads_back)
        l->count += count_circuits(u, l, c);
}

void gcov_unit_count(GcovUnit *u)
{
    Circuits c = {0};
    for (uint32_t i = 0; i < u->lines.len && !u->n->sums_blocks; i++)
        count_line(u, i, &c);
    free_circuits(&c);
}
