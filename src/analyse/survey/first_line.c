// SPDX-License-Identifier: Apache-2.0
// The choice of the line to look at first. The measure is time: CPU time of the line and of the
// libraries that it calls, and the time for which threads are blocked there. Blocks count by the
// time in malloc and free that fewer of them would save.

#include "analyse/survey/first_line.h"

// With less than this share no line stands out, and the hottest function is taken first.
#define STANDS_OUT 0.1
// Advice about blocks must save this share of the CPU time to come before a line.
#define ADVICE_LEAST 0.1

static uint64_t cost_of(const LineCost *row)
{
    return row->cpu + row->wait_ns;
}

static uint64_t all_of(const LineCosts *c)
{
    return c->cpu + c->wait_ns;
}

static double share_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

// The sum over the lines of a function.
static uint64_t function_cost(const LineCosts *c, const LineCost *of)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < c->rows.len; i++)
        if (str_equal(c->rows.at[i].function, of->function) &&
            str_equal(c->rows.at[i].file, of->file))
            sum += cost_of(&c->rows.at[i]);
    return sum;
}

// Rows in which the function is searched when no line stands out: the others have less still.
enum { LINES_LOOKED_AT = 50 };

// The row to take: the first, or the hottest one of the function with the most.
static size_t hottest_row(const LineCosts *c)
{
    size_t best = 0;
    uint64_t most = 0;
    if (share_of(cost_of(&c->rows.at[0]), all_of(c)) >= STANDS_OUT)
        return 0;
    for (size_t i = 0; i < c->rows.len && i < LINES_LOOKED_AT; i++) {
        uint64_t cost = function_cost(c, &c->rows.at[i]);
        if (cost > most) {
            most = cost;
            best = i;
        }
    }
    return best;
}

// Where in the source advice points to: the line of its frame. False: it has none.
static bool line_of_advice(LineCosts *c, const HeapView *v, const HeapAdvice *a, LineCost *ret)
{
    const Profile *p = v->p;
    const Frames *f = &p->frames;
    FrameId frame = a->frame.v ? a->frame : a->row->place.frame;
    Str file = profile_text(p, f->file.at[frame.v]);
    uint32_t line = f->line.at[frame.v];
    if (file.len == 0 || line == 0)
        return false;
    const LineCost *known = line_costs_find(c, file, line);
    *ret = known ? *known : (LineCost){.file = file, .line = line};
    if (ret->function.len == 0)
        ret->function = profile_text(p, p->functions.name.at[f->function.at[frame.v].v]);
    return true;
}

// Advice on how to allocate less comes first when it saves more time than the best line has.
static bool take_advice(LineCosts *c, const HeapView *v, const HeapAdviceVec *advice,
                        FirstLine *first)
{
    if (!v || advice->len == 0)
        return false;
    const HeapAdvice *a = &advice->at[0];
    double blocks = v->total[HEAP_BLOCKS] ? (double)v->total[HEAP_BLOCKS] : 1;
    double saved = MIN(1.0, (double)a->saved_blocks / blocks);
    double share = saved * share_of(c->cpu_in_allocator, all_of(c));
    LineCost line;
    if (share < ADVICE_LEAST || share < first->share || !line_of_advice(c, v, a, &line))
        return false;
    *first = (FirstLine){.reason = FIRST_ALLOCATOR,
                         .line = line,
                         .share = share,
                         .stands_out = true,
                         .function_share = first->function_share,
                         .next_share = first->share,
                         .advice = a};
    return true;
}

static void find_advice(const HeapView *v, const HeapAdviceVec *advice, FirstLine *first)
{
    const Frames *f = v ? &v->p->frames : NULL;
    for (size_t i = 0; v && i < advice->len && !first->advice; i++) {
        FrameId frame =
            advice->at[i].frame.v ? advice->at[i].frame : advice->at[i].row->place.frame;
        if (f->line.at[frame.v] == first->line.line &&
            str_equal(profile_text(v->p, f->file.at[frame.v]), first->line.file))
            first->advice = &advice->at[i];
    }
}

FirstLine first_line_choose(LineCosts *c, const HeapView *v, const HeapAdviceVec *advice)
{
    FirstLine first = {.reason = FIRST_NOTHING};
    if (c->rows.len && cost_of(&c->rows.at[0])) {
        size_t best = hottest_row(c);
        const LineCost *row = &c->rows.at[best];
        uint64_t all = all_of(c);
        first.line = *row;
        first.reason = row->wait_ns > row->cpu ? FIRST_WAIT : FIRST_CPU;
        first.share = share_of(cost_of(row), all);
        first.stands_out = first.share >= STANDS_OUT;
        first.function_share = share_of(function_cost(c, row), all);
        first.interval = share_interval(row->cpu_samples, c->cpu_samples);
        if (c->rows.len > 1)
            first.next_share = share_of(cost_of(&c->rows.at[best == 0]), all);
    }
    if (!take_advice(c, v, advice, &first))
        find_advice(v, advice, &first);
    return first;
}
