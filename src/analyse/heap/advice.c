// SPDX-License-Identifier: Apache-2.0
// Finds improvements for the allocations of a program.

#include "analyse/heap/advice.h"

#include "analyse/keys.h"

#include <math.h>
#include <stdlib.h>

enum {
    BLOCKS_LEAST = 100, // of a finding
    TURNS_LEAST = 100,  // of a loop
    LEAK_BYTES = 1024,  // below it, and below LEAK_BLOCKS, libraries keep as much
    LEAK_BLOCKS = 100,
    SMALL_BLOCK = 256, // above it a block's overhead does not matter
    GLIBC_HEAD = 8,    // bytes before each block,
    GLIBC_GRAIN = 16,  // and what sizes are rounded up to
    GLIBC_LEAST = 32,
};
static const double share_least = 0.01; // of the whole, for a finding
static const double soon = 0.9;         // of blocks that are freed within the threshold

const char *heap_advice_word(HeapAdviceKind kind)
{
    static const char *const words[HEAP_ADVICE_KINDS] = {"leak",
                                                         "per turn",
                                                         "grows by realloc",
                                                         "grows by new blocks",
                                                         "freed in the same frame",
                                                         "short-lived",
                                                         "one size"};
    return words[kind];
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? MIN((double)part / (double)whole, 1.0) : 0;
}

// ---- Loops -----------------------------------------------------------------------------------

typedef Vec(uint32_t) Path; // functions from the outermost to the user's place
typedef struct LoopSite {
    const HeapRow *row; // a stack
    Path path;
    U32Vec frames; // of the path
    bool taken, in_loop;
} LoopSite;
typedef Vec(LoopSite) LoopSites;

static bool is_start(const Profile *p, uint32_t frame)
{
    uint32_t function = p->frames.function.at[frame].v;
    return user_code_is_start(profile_text(p, p->functions.name.at[function]));
}

static void path_of(const Profile *p, LoopSite *s)
{
    bool inside = false;
    for (uint32_t at = s->row->stack.v; at; at = p->stacks.parent.at[at].v)
        for (uint32_t f = p->stacks.frame.at[at].v; f; f = p->frames.inlined_in.at[f].v) {
            inside |= f == s->row->place.frame.v;
            if (inside && !is_start(p, f)) {
                vec_push(NULL, &s->path, p->frames.function.at[f].v);
                vec_push(NULL, &s->frames, f);
            }
        }
    for (size_t i = 0, j = s->path.len; i + 1 < j; i++) {
        j--;
        uint32_t function = s->path.at[i], frame = s->frames.at[i];
        s->path.at[i] = s->path.at[j];
        s->frames.at[i] = s->frames.at[j];
        s->path.at[j] = function;
        s->frames.at[j] = frame;
    }
}

// Whether the blocks come and go, with few of them at one time.
static bool comes_and_goes(const HeapView *v, const HeapRow *row)
{
    const uint64_t *x = row->value;
    if (!v->has[HEAP_FREED] || !v->has[HEAP_MAX_BLOCKS] || !v->has[HEAP_SHORT_LIVED])
        return false;
    return x[HEAP_BLOCKS] >= TURNS_LEAST && x[HEAP_MAX_BLOCKS] &&
           x[HEAP_BLOCKS] / x[HEAP_MAX_BLOCKS] >= TURNS_LEAST &&
           x[HEAP_END_BLOCKS] <= x[HEAP_MAX_BLOCKS] &&
           (double)x[HEAP_SHORT_LIVED] >= soon * (double)x[HEAP_FREED];
}

static size_t common_length(const LoopSite *a, const LoopSite *b)
{
    size_t n = 0;
    while (n < a->path.len && n < b->path.len && a->path.at[n] == b->path.at[n])
        n++;
    return n;
}

// The site that is most surely allocated once a turn: the one of which fewest are live at once.
static LoopSite *anchor_of(const LoopSites *sites)
{
    LoopSite *best = NULL;
    for (size_t i = 0; i < sites->len; i++) {
        LoopSite *s = &sites->at[i];
        if (s->taken)
            continue;
        uint64_t live = s->row->value[HEAP_MAX_BLOCKS], blocks = s->row->value[HEAP_BLOCKS];
        uint64_t best_live = best ? best->row->value[HEAP_MAX_BLOCKS] : 0;
        if (!best || live < best_live ||
            (live == best_live && blocks > best->row->value[HEAP_BLOCKS]))
            best = s;
    }
    return best;
}

// How often the turn runs, by its anchor.
static uint64_t turns_of(const HeapRow *anchor)
{
    return anchor->value[HEAP_BLOCKS] / anchor->value[HEAP_MAX_BLOCKS];
}

// Whether the site belongs to the turns: it does not run more rarely, and what is live of it at
// once is no more than a few turns allocate.
static bool joins(const LoopSite *anchor, const LoopSite *s, uint64_t turns)
{
    const uint64_t *x = s->row->value;
    uint64_t each = (x[HEAP_BLOCKS] + turns - 1) / turns;
    enum { FEW_TURNS = 4, FEW_BLOCKS = 8 };
    size_t depth = anchor->path.len ? anchor->path.len - 1 : 0;
    return x[HEAP_BLOCKS] >= turns / 2 && x[HEAP_MAX_BLOCKS] <= each * FEW_TURNS + FEW_BLOCKS &&
           common_length(anchor, s) >= depth;
}

// A loop of one site whose blocks are freed in its own frame is left to find_short.
static bool is_loop(const HeapView *v, const HeapAdvice *a)
{
    const uint64_t *x = a->row->value;
    return a->sites > 1 || !v->has[HEAP_IN_FRAME] ||
           (double)x[HEAP_IN_FRAME] < soon * (double)x[HEAP_BLOCKS];
}

static void take_loop(const HeapView *v, LoopSites *sites, LoopSite *anchor, HeapAdviceVec *out)
{
    HeapAdvice a = {.kind = ADVICE_TURNS, .row = anchor->row};
    uint64_t turns = a.turns = turns_of(anchor->row);
    size_t shared = anchor->path.len;
    double lifetime = 0;
    uint64_t freed = 0, calls = 0;
    anchor->taken = anchor->in_loop = true;
    for (size_t i = 0; i < sites->len; i++) {
        LoopSite *s = &sites->at[i];
        if (s != anchor && (s->taken || !joins(anchor, s, turns)))
            continue;
        s->taken = s->in_loop = true;
        shared = MIN(shared, common_length(anchor, s));
        const uint64_t *x = s->row->value;
        a.blocks += x[HEAP_BLOCKS];
        a.bytes += x[HEAP_BYTES];
        a.live += x[HEAP_MAX_BLOCKS];
        calls += x[HEAP_BLOCKS];
        lifetime += (double)x[HEAP_LIFETIME];
        freed += x[HEAP_FREED];
        a.sites++;
    }
    a.frame.v = shared ? anchor->frames.at[shared - 1] : anchor->row->place.frame.v;
    // Otherwise one turn need not be what is live at once.
    if (anchor->row->value[HEAP_MAX_BLOCKS] > 1)
        a.turns = 0;
    a.lifetime = freed ? lifetime / (double)freed : NAN;
    a.saved_blocks = calls > a.live ? calls - a.live : 0;
    a.weight = share(a.saved_blocks, v->total[HEAP_BLOCKS]);
    if (!is_loop(v, &a))
        anchor->in_loop = false;
    else if (a.weight >= share_least)
        vec_push(NULL, out, a);
}

static void find_loops(const HeapView *v, uint8_t *in_loop, HeapAdviceVec *out)
{
    // Sites that are few in a recording of many cannot be worth a line.
    LoopSites sites = {0};
    uint64_t least = v->total[HEAP_BLOCKS] / 2000;
    for (size_t i = 0; i < v->stacks.len; i++) {
        const HeapRow *row = &v->stacks.at[i];
        if (row->value[HEAP_BLOCKS] < least || !comes_and_goes(v, row))
            continue;
        vec_push(NULL, &sites, (LoopSite){.row = row});
        path_of(v->p, &vec_last(&sites));
    }
    for (LoopSite *anchor; (anchor = anchor_of(&sites));)
        take_loop(v, &sites, anchor, out);
    for (size_t i = 0; i < sites.len; i++) {
        if (sites.at[i].in_loop)
            in_loop[sites.at[i].row->first] = 1;
        vec_free(&sites.at[i].path);
        vec_free(&sites.at[i].frames);
    }
    vec_free(&sites);
}

// ---- Places ----------------------------------------------------------------------------------

static uint64_t one_size(const HeapView *v, const uint64_t *x)
{
    bool known = v->has[HEAP_SMALLEST] && v->has[HEAP_LARGEST];
    return known && x[HEAP_SMALLEST] == x[HEAP_LARGEST] ? x[HEAP_LARGEST] : 0;
}

static HeapAdvice advice_of(const HeapView *v, const HeapRow *row, HeapAdviceKind kind)
{
    const uint64_t *x = row->value;
    return (HeapAdvice){.kind = kind,
                        .row = row,
                        .frame = row->place.frame,
                        .blocks = x[HEAP_BLOCKS],
                        .bytes = x[HEAP_BYTES],
                        .live = x[HEAP_MAX_BLOCKS],
                        .each = one_size(v, x),
                        .lifetime = heap_mean_lifetime(v, x),
                        .sites = row->first};
}

// Whether nearly all blocks are freed where they are allocated, and fit there.
static bool is_in_frame(const HeapView *v, const uint64_t *x)
{
    enum { FITS_STACK = 64 << 10 };
    return v->has[HEAP_IN_FRAME] && x[HEAP_LARGEST] <= FITS_STACK &&
           (double)x[HEAP_IN_FRAME] >= soon * (double)x[HEAP_BLOCKS];
}

static void find_leak(const HeapView *v, const HeapRow *row, HeapAdviceVec *out)
{
    const uint64_t *x = row->value;
    bool matters = x[HEAP_END_BYTES] >= LEAK_BYTES || x[HEAP_END_BLOCKS] >= LEAK_BLOCKS;
    // The user cannot free memory that a library keeps.
    if (!v->has[HEAP_END_BYTES] || !matters || !row->place.is_user || row->place.is_kept_by_library)
        return;
    HeapAdvice a = advice_of(v, row, ADVICE_LEAK);
    a.blocks = x[HEAP_END_BLOCKS];
    a.bytes = a.saved_bytes = x[HEAP_END_BYTES];
    a.weight = share(a.bytes, MAX(v->total[HEAP_PEAK_BYTES], v->total[HEAP_END_BYTES]));
    // A block that is kept once for the whole run is seldom a mistake.
    if (a.blocks == 1)
        a.weight /= 4;
    if (a.weight >= share_least)
        vec_push(NULL, out, a);
}

// The findings of a place by its stacks.
typedef struct PlaceStacks {
    uint64_t grown;         // blocks of stacks whose blocks grow by realloc, without the growth
    const HeapRow *at_peak; // the stack with the most blocks at the peak
} PlaceStacks;

static PlaceStacks *look_at_stacks(const HeapView *v)
{
    PlaceStacks *ret = heap_alloc((v->places.len + 1) * sizeof(*ret));
    for (size_t i = 0; i < v->stacks.len; i++) {
        const HeapRow *row = &v->stacks.at[i];
        PlaceStacks *of = &ret[row->first];
        uint64_t blocks = row->value[HEAP_BLOCKS], reallocs = row->value[HEAP_REALLOCS];
        if (reallocs)
            of->grown += blocks > reallocs ? blocks - reallocs : 1;
        if (!of->at_peak || row->value[HEAP_PEAK_BLOCKS] > of->at_peak->value[HEAP_PEAK_BLOCKS])
            of->at_peak = row;
    }
    return ret;
}

static void find_growth(const HeapView *v, const HeapRow *row, const PlaceStacks *stacks,
                        HeapAdviceVec *out)
{
    const uint64_t *x = row->value;
    StrBuf via = {0};
    if (v->has[HEAP_REALLOCS] && x[HEAP_REALLOCS] >= BLOCKS_LEAST / 10) {
        HeapAdvice a = advice_of(v, row, ADVICE_GROWS);
        a.reallocs = a.saved_blocks = x[HEAP_REALLOCS];
        a.bytes = a.saved_bytes = x[HEAP_COPIED];
        a.turns = stacks->grown;
        a.weight =
            MAX(share(a.reallocs, v->total[HEAP_BLOCKS]), share(a.bytes, v->total[HEAP_BYTES]));
        if (a.weight >= share_least)
            vec_push(NULL, out, a);
        return;
    }
    if (row->place.via.v)
        frame_add_function_name(v->p, row->place.via, &via);
    Str name = strbuf_str(&via);
    bool grows = str_find(name, STR("::_M_realloc_")) != SIZE_MAX ||
                 str_find(name, STR("::push_back")) != SIZE_MAX ||
                 str_find(name, STR("::emplace_back")) != SIZE_MAX;
    if (grows && str_find(name, STR("vector<")) != SIZE_MAX && x[HEAP_BLOCKS] >= BLOCKS_LEAST &&
        one_size(v, x) == 0) {
        HeapAdvice a = advice_of(v, row, ADVICE_GROWS_NEW);
        a.saved_blocks = x[HEAP_BLOCKS] - MIN(x[HEAP_BLOCKS], x[HEAP_MAX_BLOCKS]);
        a.weight = share(a.saved_blocks, v->total[HEAP_BLOCKS]);
        if (a.weight >= share_least)
            vec_push(NULL, out, a);
    }
    strbuf_deinit(&via);
}

static void find_short(const HeapView *v, const HeapRow *row, HeapAdviceVec *out)
{
    const uint64_t *x = row->value;
    if (!v->has[HEAP_SHORT_LIVED] || x[HEAP_FREED] < BLOCKS_LEAST ||
        (double)x[HEAP_SHORT_LIVED] < soon * (double)x[HEAP_BLOCKS])
        return;
    HeapAdvice a = advice_of(v, row, is_in_frame(v, x) ? ADVICE_IN_FRAME : ADVICE_SHORT);
    a.saved_blocks = a.blocks - MIN(a.blocks, MAX(a.live, (uint64_t)1));
    a.weight = share(a.saved_blocks, v->total[HEAP_BLOCKS]);
    if (a.weight >= share_least)
        vec_push(NULL, out, a);
}

// The bytes that glibc needs for a block beyond its size.
static uint64_t overhead(uint64_t size)
{
    uint64_t taken = (size + GLIBC_HEAD + GLIBC_GRAIN - 1) / GLIBC_GRAIN * GLIBC_GRAIN;
    return MAX(taken, (uint64_t)GLIBC_LEAST) - size;
}

static void find_one_size(const HeapView *v, const HeapRow *row, const PlaceStacks *stacks,
                          HeapAdviceVec *out)
{
    // Another stack of the place may have other sizes, as a vector has beside its elements.
    const uint64_t *x = stacks->at_peak ? stacks->at_peak->value : row->value;
    uint64_t size = one_size(v, x), live = x[HEAP_PEAK_BLOCKS];
    if (size == 0 || size > SMALL_BLOCK || live < 10 * BLOCKS_LEAST)
        return;
    HeapAdvice a = advice_of(v, row, ADVICE_ONE_SIZE);
    a.live = live;
    a.each = size;
    a.blocks = x[HEAP_BLOCKS];
    a.bytes = x[HEAP_BYTES];
    a.saved_bytes = live * overhead(size);
    // A pool that gets a page of them at a time calls malloc once for each page.
    uint64_t in_page = 4096 / size;
    a.saved_blocks = a.blocks - a.blocks / MAX(in_page, (uint64_t)1);
    a.weight = share(a.saved_bytes, v->total[HEAP_PEAK_BYTES]);
    if (a.weight >= share_least)
        vec_push(NULL, out, a);
}

// Time in malloc and free of the calls that would be saved, by the mean of all calls.
static uint64_t saved_ns(const HeapView *v, const HeapAdvice *a)
{
    double calls = (double)v->total[HEAP_BLOCKS];
    double ns = (double)v->total[HEAP_MALLOC_NS] + (double)v->total[HEAP_FREE_NS];
    return v->has[HEAP_MALLOC_NS] && calls > 0 ? (uint64_t)(ns / calls * (double)a->saved_blocks)
                                               : 0;
}

static int compare_advice(const void *left, const void *right)
{
    const HeapAdvice *a = left, *b = right;
    if (a->weight > b->weight || a->weight < b->weight)
        return a->weight > b->weight ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

HeapAdviceVec heap_advice_find(const HeapView *v)
{
    HeapAdviceVec out = {0};
    uint8_t *in_loop = heap_alloc(v->places.len + 1);
    PlaceStacks *stacks = look_at_stacks(v);
    find_loops(v, in_loop, &out);
    for (size_t i = 0; i < v->places.len; i++) {
        const HeapRow *row = &v->places.at[i];
        find_leak(v, row, &out);
        find_growth(v, row, &stacks[i], &out);
        find_one_size(v, row, &stacks[i], &out);
        if (!in_loop[i])
            find_short(v, row, &out);
    }
    for (size_t i = 0; i < out.len; i++)
        out.at[i].saved_ns = saved_ns(v, &out.at[i]);
    if (out.len)
        qsort(out.at, out.len, sizeof(*out.at), compare_advice);
    heap_free(stacks);
    heap_free(in_loop);
    return out;
}
