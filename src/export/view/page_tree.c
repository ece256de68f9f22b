// SPDX-License-Identifier: Apache-2.0
// The tree of calls of a page, and the samples that refer to it.

#include "export/view/view_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "analyse/fit.h"

// Texts have no sum: the summary holds them, the columns none.
uint64_t view_value(const Profile *p, size_t metric, size_t sample)
{
    int64_t value = p->samples.values[metric].at[sample];
    return value < 0 || metric_is_text(p, (MetricId){(uint32_t)metric}) ? 0 : (uint64_t)value;
}

enum { INLINED_MAX = 64 };     // levels at one place
#define NODE_WANTED UINT32_MAX // a stack whose node is not known yet

// ---- Places --------------------------------------------------------------------------

typedef struct PlaceIndex {
    Table table;
    uint32_t *of_frame; // [frame] place + 1; 0: not yet
} PlaceIndex;

static uint8_t place_flags(const Profile *p, uint32_t frame)
{
    uint8_t flags = p->frames.flags.at[frame];
    return (
        uint8_t)((flags & FRAME_KERNEL ? VIEW_KERNEL : 0) | (flags & FRAME_CUT ? VIEW_CUT : 0) |
                 (p->modules.kind.at[p->frames.module.at[frame].v] == MODULE_JIT ? VIEW_JIT : 0) |
                 (p->frames.inlined_in.at[frame].v || flags & FRAME_INLINED ? VIEW_INLINED : 0));
}

static uint32_t place_of(ViewTree *t, PlaceIndex *index, const Profile *p, const Keys *keys,
                         uint32_t frame)
{
    if (index->of_frame[frame])
        return index->of_frame[frame] - 1;
    uint32_t key = keys->of_frame[frame], line = p->frames.line.at[frame];
    StrId file = p->frames.file.at[frame];
    ModuleId module = p->frames.module.at[frame];
    uint8_t flags = place_flags(p, frame);
    uint64_t hash = hash_pair((uint64_t)key << 32 | line,
                              (uint64_t)file.v << 32 | (uint64_t)module.v << 8 | flags);
    uint32_t row, place = UINT32_MAX;
    for (TableProbe probe = table_probe(&index->table, hash);
         table_next(&index->table, &probe, &row);) {
        if (t->key.at[row] == key && t->line.at[row] == line && t->file.at[row].v == file.v &&
            t->module.at[row].v == module.v && t->flags.at[row] == flags) {
            place = row;
            break;
        }
    }
    if (place == UINT32_MAX) {
        place = (uint32_t)t->key.len;
        table_insert(&index->table, hash, place);
        vec_push(NULL, &t->key, key);
        vec_push(NULL, &t->line, line);
        vec_push(NULL, &t->file, file);
        vec_push(NULL, &t->module, module);
        vec_push(NULL, &t->flags, flags);
    }
    index->of_frame[frame] = place + 1;
    return place;
}

// ---- Nodes ---------------------------------------------------------------------------

typedef struct Builder {
    ViewTree *tree;
    const Profile *profile;
    const Keys *keys;
    PlaceIndex places;
    Table index;          // (parent, place) -> node
    U32Vec parent, place; // of nodes in order of appearance
    uint32_t *of_stack;   // [stack] node, NODE_WANTED: not yet; 0: no sample needs it
} Builder;

static uint64_t node_hash(uint32_t parent, uint32_t place)
{
    return hash_u64((uint64_t)parent << 32 | place);
}

static uint32_t enter(Builder *b, uint32_t parent, uint32_t frame)
{
    uint32_t place = place_of(b->tree, &b->places, b->profile, b->keys, frame);
    uint64_t hash = node_hash(parent, place);
    uint32_t row;
    for (TableProbe p = table_probe(&b->index, hash); table_next(&b->index, &p, &row);)
        if (b->parent.at[row] == parent && b->place.at[row] == place)
            return row;
    uint32_t node = (uint32_t)b->parent.len;
    assert(node < NODE_WANTED);
    vec_push(NULL, &b->parent, parent);
    vec_push(NULL, &b->place, place);
    table_insert(&b->index, hash, node);
    return node;
}

// Enters a frame and the calls inlined at it, outermost first.
static uint32_t enter_inlined(Builder *b, uint32_t parent, uint32_t frame)
{
    const FrameId *inlined_in = b->profile->frames.inlined_in.at;
    uint32_t chain[INLINED_MAX];
    size_t depth = 0;
    uint32_t f = frame;
    for (; inlined_in[f].v != 0 && depth < ARRAY_LEN(chain); f = inlined_in[f].v)
        chain[depth++] = f;
    uint32_t node = enter(b, parent, f);
    while (depth > 0)
        node = enter(b, node, chain[--depth]);
    return node;
}

// Asks for the memory of the slot that a stack will be looked up in, if that is known already.
static void fetch_slot(const Builder *b, size_t stack)
{
    const Stacks *stacks = &b->profile->stacks;
    uint32_t parent = b->of_stack[stacks->parent.at[stack].v];
    uint32_t place = b->places.of_frame[stacks->frame.at[stack].v];
    if (b->of_stack[stack] == NODE_WANTED && parent != NODE_WANTED && place && b->index.slots)
        __builtin_prefetch(
            &b->index.slots[table_tag(node_hash(parent, place - 1)) & b->index.mask]);
}

// Sets `of_stack` of each stack that samples refer to, and of those on the way to it. A stack comes
// after the one that it continues, so that one pass in their order reads memory in its order.
static void enter_stacks(Builder *b)
{
    enum { AHEAD = 16 };
    const Profile *p = b->profile;
    const Stacks *stacks = &p->stacks;
    size_t count = stacks->parent.len;
    for (size_t i = 0; i < p->samples.stack.len; i++)
        b->of_stack[p->samples.stack.at[i].v] = NODE_WANTED;
    size_t wanted = 0;
    for (size_t s = count; s-- > 1;) {
        if (b->of_stack[s] != NODE_WANTED)
            continue;
        b->of_stack[stacks->parent.at[s].v] = NODE_WANTED;
        wanted++;
    }
    table_reserve(&b->index, wanted);
    bool has_unknown = false;
    for (size_t i = 0; i < p->samples.stack.len && !has_unknown; i++)
        has_unknown = p->samples.stack.at[i].v == 0;
    b->of_stack[0] = 0;
    for (size_t s = 1; s < count; s++) {
        if (s + AHEAD < count)
            fetch_slot(b, s + AHEAD);
        if (b->of_stack[s] == NODE_WANTED)
            b->of_stack[s] =
                enter_inlined(b, b->of_stack[stacks->parent.at[s].v], stacks->frame.at[s].v);
    }
    // A sample without a stack: an unknown place.
    b->of_stack[0] = has_unknown ? enter(b, 0, 0) : 0;
}

// ---- Numbers depth first -------------------------------------------------------------

typedef struct Child {
    uint64_t total;
    uint32_t node;
} Child;

static int by_total(const void *a, const void *b)
{
    const Child *x = a, *y = b;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return x->node < y->node ? -1 : x->node > y->node;
}

// Sorts siblings by their totals, the greatest first. Most calls have few callees.
static void sort_children(uint32_t *nodes, size_t count, const uint64_t *total, Child *scratch)
{
    enum { FEW = 24 };
    if (count > FEW) {
        for (size_t i = 0; i < count; i++)
            scratch[i] = (Child){total[nodes[i]], nodes[i]};
        qsort(scratch, count, sizeof(Child), by_total);
        for (size_t i = 0; i < count; i++)
            nodes[i] = scratch[i].node;
        return;
    }
    for (size_t i = 1; i < count; i++) { // they stand in their order, which equal totals keep
        uint32_t node = nodes[i];
        size_t at = i;
        for (; at > 0 && total[nodes[at - 1]] < total[node]; at--)
            nodes[at] = nodes[at - 1];
        nodes[at] = node;
    }
}

// Numbers the nodes depth first, greater totals first: `number_of`[node in order of appearance],
// and the parents and places of the tree.
static void number_nodes(const Builder *b, const uint64_t *total, uint32_t *number_of, ViewTree *t)
{
    uint32_t count = (uint32_t)b->parent.len, most = 0;
    uint32_t *first = heap_alloc(((size_t)count + 2) * sizeof(uint32_t));
    uint32_t *children = heap_alloc(((size_t)count + 1) * sizeof(uint32_t));
    for (uint32_t i = 1; i < count; i++)
        first[b->parent.at[i] + 2]++;
    for (uint32_t i = 2; i < count + 2; i++) {
        most = MAX(most, first[i]);
        first[i] += first[i - 1];
    }
    for (uint32_t i = 1; i < count; i++)
        children[first[b->parent.at[i] + 1]++] = i;
    Child *scratch = heap_alloc(((size_t)most + 1) * sizeof(Child));
    U32Vec stack = {0};
    vec_push(NULL, &stack, 0);
    for (uint32_t next = 0; stack.len > 0; next++) {
        uint32_t node = vec_pop(&stack);
        uint32_t from = first[node], to = first[node + 1];
        number_of[node] = next;
        t->place[next] = b->place.at[node];
        t->parent[next] = number_of[b->parent.at[node]];
        if (to - from > 1)
            sort_children(children + from, to - from, total, scratch);
        for (uint32_t i = to; i-- > from;) {
            __builtin_prefetch(&first[children[i]]);
            __builtin_prefetch(&b->place.at[children[i]]);
            vec_push(NULL, &stack, children[i]);
        }
    }
    vec_free(&stack);
    heap_free(scratch);
    heap_free(children);
    heap_free(first);
}

static void add_up(const Builder *b, ViewTree *t)
{
    const Samples *s = &b->profile->samples;
    size_t samples = s->stack.len, count = b->parent.len;
    uint64_t *total = heap_alloc((count + 1) * sizeof(uint64_t));
    if (t->metric_count)
        for (size_t i = 0; i < samples; i++)
            total[t->of_sample[i]] += (uint64_t)MAX(s->values[0].at[i], (int64_t)0);
    for (size_t i = count; i-- > 1;)
        total[b->parent.at[i]] += total[i];
    uint32_t *number_of = heap_alloc((count + 1) * sizeof(uint32_t));
    t->node_count = (uint32_t)count;
    t->parent = heap_alloc((count + 1) * sizeof(uint32_t));
    t->place = heap_alloc((count + 1) * sizeof(uint32_t));
    number_nodes(b, total, number_of, t);
    heap_free(total);
    for (size_t i = 0; i < samples; i++)
        t->of_sample[i] = number_of[t->of_sample[i]];
    heap_free(number_of);
    t->self = heap_alloc((t->metric_count + 1) * sizeof(*t->self));
    for (size_t m = 0; m < t->metric_count; m++) {
        t->self[m] = heap_alloc((count + 1) * sizeof(uint64_t));
        for (size_t i = 0; i < samples; i++)
            t->self[m][t->of_sample[i]] += view_value(b->profile, m, i);
    }
}

void view_tree_init(ViewTree *t, const Profile *p, const Keys *keys)
{
    *t = (ViewTree){.metric_count = p->metrics.name.len};
    Builder b = {.tree = t, .profile = p, .keys = keys};
    size_t stacks = p->stacks.parent.len, samples = p->samples.stack.len;
    b.places.of_frame = heap_alloc((p->frames.module.len + 1) * sizeof(uint32_t));
    b.of_stack = heap_alloc((stacks + 1) * sizeof(uint32_t));
    vec_push(NULL, &b.parent, 0);
    vec_push(NULL, &b.place, 0);
    t->of_sample = heap_alloc((samples + 1) * sizeof(uint32_t));
    enter_stacks(&b);
    for (size_t i = 0; i < samples; i++)
        t->of_sample[i] = b.of_stack[p->samples.stack.at[i].v];
    add_up(&b, t);
    vec_free(&b.parent);
    vec_free(&b.place);
    heap_free(b.of_stack);
    heap_free(b.places.of_frame);
    table_deinit(&b.places.table);
    table_deinit(&b.index);
}

void view_tree_deinit(ViewTree *t)
{
    for (size_t m = 0; t->self && m < t->metric_count; m++)
        heap_free(t->self[m]);
    heap_free(t->self);
    heap_free(t->parent);
    heap_free(t->place);
    heap_free(t->of_sample);
    vec_free(&t->key);
    vec_free(&t->line);
    vec_free(&t->file);
    vec_free(&t->module);
    vec_free(&t->flags);
    *t = (ViewTree){0};
}

// ---- Columns -------------------------------------------------------------------------

// Functions get numbers in order of the places that name them.
typedef struct FunctionNumbers {
    U32Vec keys;      // [function]
    uint32_t *number; // [key] function + 1
} FunctionNumbers;

static void number_functions(FunctionNumbers *f, const ViewTree *t, const Keys *keys)
{
    *f = (FunctionNumbers){.number = heap_alloc((keys->first.len + 1) * sizeof(uint32_t))};
    for (size_t i = 0; i < t->key.len; i++) {
        uint32_t key = t->key.at[i];
        if (f->number[key])
            continue;
        vec_push(NULL, &f->keys, key);
        f->number[key] = (uint32_t)f->keys.len;
    }
}

static void add_functions(ViewBlock *b, const FunctionNumbers *f, const Keys *keys,
                          ViewStrings *strings)
{
    const Profile *p = keys->profile;
    U32Vec columns[5] = {0}; // full, without arguments, short, file, line
    StrBuf name = {0}, shorter = {0};
    for (size_t i = 0; i < f->keys.len; i++) {
        uint32_t key = f->keys.at[i];
        strbuf_clear(&name);
        keys_add_name(keys, key, &name);
        Str full = text_prefix(strbuf_str(&name), NAME_SHOWN_MAX);
        vec_push(NULL, &columns[0], view_string(strings, full));
        const NameLength lengths[] = {NAME_NO_ARGUMENTS, NAME_NO_TEMPLATES};
        for (size_t l = 0; l < ARRAY_LEN(lengths); l++) {
            strbuf_clear(&shorter);
            name_shorten(full, lengths[l], &shorter);
            vec_push(NULL, &columns[1 + l], view_string(strings, strbuf_str(&shorter)));
        }
        StrId file = {0};
        uint32_t line = 0;
        bool is_placed = keys_place(keys, key, &file, &line);
        vec_push(NULL, &columns[3], is_placed ? view_string(strings, profile_text(p, file)) : 0);
        vec_push(NULL, &columns[4], is_placed ? line : 0);
    }
    static const char *const names[] = {"fn.full", "fn.args", "fn.short", "fn.file", "fn.line"};
    for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
        view_column_u32(b, names[i], columns[i].at, columns[i].len);
        vec_free(&columns[i]);
    }
    strbuf_deinit(&name);
    strbuf_deinit(&shorter);
}

static void add_places(ViewBlock *b, const ViewTree *t, const FunctionNumbers *f, const Profile *p,
                       ViewStrings *strings)
{
    size_t places = t->key.len;
    uint32_t *numbers = heap_alloc((places + 1) * sizeof(uint32_t));
    for (size_t i = 0; i < places; i++)
        numbers[i] = f->number[t->key.at[i]] - 1;
    view_column_u32(b, "place.fn", numbers, places);
    for (size_t i = 0; i < places; i++)
        numbers[i] = view_string(strings, profile_text(p, t->file.at[i]));
    view_column_u32(b, "place.file", numbers, places);
    view_column_u32(b, "place.line", t->line.at, t->line.len);
    for (size_t i = 0; i < places; i++) {
        StrId path = p->modules.path.at[t->module.at[i].v];
        numbers[i] = view_string(strings, profile_text(p, path));
    }
    view_column_u32(b, "place.module", numbers, places);
    heap_free(numbers);
    view_column_begin(b);
    for (size_t i = 0; i < t->key.len; i++)
        view_add_u64(b, t->flags.at[i]);
    view_column_end(b, "place.flags", VIEW_U32);
}

void view_add_tree(ViewBlock *b, const ViewTree *t, const Keys *keys, ViewStrings *strings)
{
    FunctionNumbers functions;
    number_functions(&functions, t, keys);
    add_functions(b, &functions, keys, strings);
    add_places(b, t, &functions, keys->profile, strings);
    vec_free(&functions.keys);
    heap_free(functions.number);
    uint32_t nodes = t->node_count - 1; // but the root
    uint32_t *up = heap_alloc(((size_t)nodes + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < nodes; i++)
        up[i] = i + 1 - t->parent[i + 1];
    view_column_u32(b, "node.up", up, nodes);
    heap_free(up);
    view_column_u32(b, "node.place", t->place + 1, nodes);
    for (size_t m = 0; m < t->metric_count; m++) {
        char name[40];
        snprintf(name, sizeof(name), "self.%zu.node", m);
        view_column_begin(b);
        for (uint32_t i = 0; i < t->node_count; i++)
            if (t->self[m][i])
                view_add_delta(b, i);
        view_column_end(b, name, VIEW_DELTA);
        snprintf(name, sizeof(name), "self.%zu.value", m);
        view_column_begin(b);
        for (uint32_t i = 0; i < t->node_count; i++)
            if (t->self[m][i])
                view_add_u64(b, t->self[m][i]);
        view_column_end(b, name, VIEW_U64);
    }
}

// ---- Samples -------------------------------------------------------------------------

// Nodes by how many samples they have: the most frequent ones get the smallest numbers.
typedef struct Ranks {
    uint32_t *of_node; // [node] from 1; 0: no sample
    U32Vec nodes;      // [rank - 1]
} Ranks;

static void rank_nodes(Ranks *r, const ViewTree *t, const Profile *p)
{
    *r = (Ranks){.of_node = heap_alloc(((size_t)t->node_count + 1) * sizeof(uint32_t))};
    for (size_t i = 0; i < p->samples.stack.len; i++)
        r->of_node[t->of_sample[i]]++;
    Child *order = heap_alloc(((size_t)t->node_count + 1) * sizeof(Child));
    size_t count = 0;
    for (uint32_t i = 0; i < t->node_count; i++)
        if (r->of_node[i])
            order[count++] = (Child){r->of_node[i], i};
    if (count)
        qsort(order, count, sizeof(Child), by_total);
    for (size_t i = 0; i < count; i++) {
        vec_push(NULL, &r->nodes, order[i].node);
        r->of_node[order[i].node] = (uint32_t)i + 1;
    }
    heap_free(order);
}

typedef struct TimedRow {
    int64_t time_ns;
    uint32_t row;
} TimedRow;

static int by_time(const void *a, const void *b)
{
    const TimedRow *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

// The samples of all threads that have a time: by thread, then by time. `first` has an element for
// each thread and one more.
static TimedRow *samples_by_thread(const Profile *p, uint32_t *first)
{
    size_t threads = p->threads.tid.len;
    const Samples *s = &p->samples;
    size_t count = 0;
    for (size_t i = 0; i < s->stack.len; i++) {
        if (s->time_ns.at[i] == TIME_NONE)
            continue;
        first[s->thread.at[i].v + 1]++;
        count++;
    }
    for (size_t i = 0; i < threads; i++)
        first[i + 1] += first[i];
    TimedRow *rows = heap_alloc((count + 1) * sizeof(TimedRow));
    uint32_t *next = heap_alloc((threads + 1) * sizeof(uint32_t));
    if (threads)
        memcpy(next, first, threads * sizeof(uint32_t));
    for (size_t i = 0; i < s->stack.len; i++)
        if (s->time_ns.at[i] != TIME_NONE)
            rows[next[s->thread.at[i].v]++] = (TimedRow){s->time_ns.at[i], (uint32_t)i};
    heap_free(next);
    for (size_t t = 0; t < threads; t++) {
        bool sorted = true;
        for (uint32_t i = first[t] + 1; i < first[t + 1] && sorted; i++)
            sorted = rows[i - 1].time_ns <= rows[i].time_ns;
        if (!sorted)
            qsort(rows + first[t], first[t + 1] - first[t], sizeof(TimedRow), by_time);
    }
    return rows;
}

// Times are written in microseconds: a picture shows no less.
static int64_t in_us(int64_t ns)
{
    return ns >= 0 ? ns / 1000 : -((999 - ns) / 1000);
}

// The most frequent distance of neighbours, from a coarse histogram: distances are written as what
// they are more or less than it, which packs well.
static int64_t usual_step(const TimedRow *rows, size_t count)
{
    enum { BINS = 4096 };
    uint32_t *bins = heap_alloc(BINS * sizeof(uint32_t));
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        int64_t step = in_us(rows[i].time_ns) - in_us(rows[i - 1].time_ns);
        if (step >= 0 && step < BINS * 16)
            bins[step / 16]++;
    }
    for (size_t i = 1; i < BINS; i++)
        if (bins[i] > bins[best])
            best = i;
    heap_free(bins);
    return (int64_t)best * 16 + 8;
}

static uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

// The column of distances of neighbours from `step`; `codes` is room for `count` numbers.
static void add_times(ViewBlock *b, const TimedRow *rows, size_t count, int64_t step,
                      uint32_t *codes)
{
    uint64_t most = 0;
    int64_t before = count ? in_us(rows[0].time_ns) : 0;
    view_column_begin(b);
    for (size_t i = 1; i < count; i++) {
        int64_t now = in_us(rows[i].time_ns);
        uint64_t code = zigzag(now - before - step);
        view_add_u64(b, code);
        codes[i - 1] = (uint32_t)code;
        most |= code;
        before = now;
    }
    if (most > UINT8_MAX) {
        view_column_end(b, "time", most <= UINT32_MAX ? VIEW_U32 : VIEW_U64);
        return;
    }
    b->bytes.len = b->column_start; // bytes are enough
    view_column_planes(b, "time", codes, count ? count - 1 : 0);
}

// The columns of `count` samples of one thread.
static void add_thread_samples(ViewBlock *b, const Profile *p, const ViewTree *t, const Ranks *r,
                               const TimedRow *rows, size_t count, JsonWriter *json)
{
    const Samples *s = &p->samples;
    uint32_t *codes = heap_alloc((count + 1) * sizeof(uint32_t)), last = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t rank = r->of_node[t->of_sample[rows[i].row]];
        codes[i] = rank == last ? 0 : rank;
        last = rank;
    }
    view_column_planes(b, "rank", codes, count);
    int64_t step = usual_step(rows, count), before = count ? in_us(rows[0].time_ns) : 0;
    json_i64(json, "start_us", before);
    json_i64(json, "step_us", step);
    add_times(b, rows, count, step, codes);
    heap_free(codes);
    json_begin_array(json, "values"); // of metrics whose samples all have one value
    for (size_t m = 0; m < t->metric_count; m++) {
        const int64_t *values = s->values[m].at;
        bool is_constant = true, is_text = metric_is_text(p, (MetricId){(uint32_t)m});
        for (size_t i = 1; i < count && is_constant && !is_text; i++)
            is_constant = values[rows[i].row] == values[rows[0].row];
        if (is_constant && count) {
            json_u64(json, NULL, view_value(p, m, rows[0].row));
            continue;
        }
        json_null(json, NULL);
        char name[40];
        snprintf(name, sizeof(name), "value.%zu", m);
        view_column_begin(b);
        for (size_t i = 0; i < count; i++)
            view_add_u64(b, (uint64_t)MAX(values[rows[i].row], (int64_t)0));
        view_column_end(b, name, VIEW_U64);
    }
    json_end(json);
}

bool view_add_samples(ViewPage *page, const ViewTree *t, const Profile *p, Error *err)
{
    enum { PER_BLOCK = 1 << 18, LEVEL = 3 };
    size_t threads = p->threads.tid.len;
    uint32_t *first = heap_alloc((threads + 2) * sizeof(uint32_t));
    TimedRow *rows = samples_by_thread(p, first);
    Ranks ranks;
    rank_nodes(&ranks, t, p);
    ViewBlock b = {0};
    StrBuf about = {0};
    bool ok = true, is_first = true;
    for (size_t thread = 0; thread < threads && ok; thread++) {
        for (size_t at = first[thread]; at < first[thread + 1] && ok; at += PER_BLOCK) {
            size_t count = MIN((size_t)PER_BLOCK, (size_t)(first[thread + 1] - at));
            JsonWriter json;
            view_about_begin(&json, &about, page->recordings, "samples");
            json_u64(&json, "thread", thread);
            if (is_first)
                view_column_u32(&b, "rank.node", ranks.nodes.at, ranks.nodes.len);
            is_first = false;
            add_thread_samples(&b, p, t, &ranks, rows + at, count, &json);
            json_end(&json);
            ok = view_block_add(&b, strbuf_str(&about), LEVEL, &page->bulk, err);
        }
    }
    view_block_deinit(&b);
    strbuf_deinit(&about);
    heap_free(ranks.of_node);
    vec_free(&ranks.nodes);
    heap_free(rows);
    heap_free(first);
    return ok;
}
