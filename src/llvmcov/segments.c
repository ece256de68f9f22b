// SPDX-License-Identifier: Apache-2.0
// Turns regions to segments, and segments to counts of lines.

#include "llvmcov/segments.h"

static inline uint64_t location(uint32_t line, uint32_t column)
{
    return (uint64_t)line << 32 | column;
}

static inline uint64_t start_of(const CovSpan *s)
{
    return location(s->line, s->column);
}

static inline uint64_t end_of(const CovSpan *s)
{
    return location(s->end_line, s->end_column);
}

static inline bool is_before(const CovSpan *x, const CovSpan *y)
{
    if (start_of(x) != start_of(y))
        return start_of(x) < start_of(y);
    if (end_of(x) != end_of(y)) // of two with the same start the outer one comes first
        return end_of(x) > end_of(y);
    return x->kind < y->kind;
}

// Merges [lo, mid) and [mid, hi), which are sorted.
static void merge_runs(CovSpan *at, size_t lo, size_t mid, size_t hi, CovSpanVec *spare)
{
    // Skips what is in place already in the left run.
    for (size_t end = mid; lo < end;) {
        size_t middle = lo + (end - lo) / 2;
        if (is_before(&at[mid], &at[middle]))
            end = middle;
        else
            lo = middle + 1;
    }
    size_t left = mid - lo;
    if (left == 0)
        return;
    spare->len = 0;
    vec_reserve(NULL, spare, left);
    memcpy(spare->at, at + lo, left * sizeof(at[0]));
    for (size_t i = 0, k = mid, to = lo; i < left; to++)
        at[to] = k < hi && is_before(&at[k], &spare->at[i]) ? at[k++] : spare->at[i++];
}

// Stable merge sort of runs that are sorted already: compilers write the regions of a function in
// order, or nearly so, and the functions of a file follow each other.
static void sort_spans(CovSpanVec *spans, CovSweep *s)
{
    s->starts.len = 0;
    for (size_t i = 1; i < spans->len; i++)
        if (is_before(&spans->at[i], &spans->at[i - 1]))
            vec_push(NULL, &s->starts, i);
    while (s->starts.len) {
        size_t kept = 0;
        for (size_t i = 0; i < s->starts.len; i += 2) {
            size_t lo = i ? s->starts.at[i - 1] : 0;
            size_t hi = i + 1 < s->starts.len ? s->starts.at[i + 1] : spans->len;
            merge_runs(spans->at, lo, s->starts.at[i], hi, &s->spare);
            if (i + 1 < s->starts.len)
                s->starts.at[kept++] = hi;
        }
        s->starts.len = kept;
    }
}

// Joins equal spans; their counts are added when they have the kind of the first.
static void combine(CovSpanVec *spans, CovCounting counting)
{
    size_t last = 0;
    for (size_t i = 1; i < spans->len; i++) {
        CovSpan *to = &spans->at[last];
        const CovSpan *from = &spans->at[i];
        if (start_of(to) != start_of(from) || end_of(to) != end_of(from))
            spans->at[++last] = *from;
        else if (to->kind == from->kind)
            to->count = cov_united(counting, to->count, from->count);
    }
    if (spans->len)
        spans->len = last + 1;
}

typedef struct Builder {
    CovSegmentVec *out;
    CovSweep *s;
    uint64_t first_end; // no active region ends before this
} Builder;

static void start_segment(Builder *b, const CovSpan *s, uint64_t at, bool is_entry, bool skipped)
{
    bool has_count = !skipped && s->kind != COV_SKIPPED;
    if (b->out->len && !is_entry && !skipped) {
        const CovSegment *last = &vec_last(b->out);
        if (last->has_count == has_count && last->count == s->count && !last->is_entry)
            return;
    }
    vec_push(NULL, b->out,
             (CovSegment){.line = (uint32_t)(at >> 32),
                          .column = (uint32_t)at,
                          .count = has_count ? s->count : 0,
                          .has_count = has_count,
                          .is_entry = is_entry,
                          .is_gap = has_count && s->kind == COV_GAP});
}

// Sorts by end; equal ones keep their order. Few regions end at the same place, and most runs are
// sorted already.
static void sort_done(Builder *b)
{
    size_t n = b->s->done.len;
    bool sorted = true, reversed = true;
    for (size_t i = 1; i < n; i++) {
        sorted &= end_of(b->s->done.at[i - 1]) <= end_of(b->s->done.at[i]);
        reversed &= end_of(b->s->done.at[i - 1]) > end_of(b->s->done.at[i]);
    }
    if (sorted)
        return;
    if (reversed) {
        for (size_t i = 0; i < n / 2; i++) {
            const CovSpan *t = b->s->done.at[i];
            b->s->done.at[i] = b->s->done.at[n - 1 - i];
            b->s->done.at[n - 1 - i] = t;
        }
        return;
    }
    // Bottom-up merge sort.
    const CovSpan **from = b->s->done.at;
    const CovSpan **to = heap_alloc(n * sizeof(*to)), **spare = to;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t lo = 0; lo < n; lo += 2 * width) {
            size_t mid = MIN(lo + width, n), hi = MIN(lo + 2 * width, n), i = lo, k = mid;
            for (size_t w = lo; w < hi; w++)
                to[w] = i < mid && (k >= hi || end_of(from[i]) <= end_of(from[k])) ? from[i++]
                                                                                   : from[k++];
        }
        const CovSpan **t = from;
        from = to;
        to = t;
    }
    if (from != b->s->done.at)
        memcpy(b->s->done.at, from, n * sizeof(*from));
    heap_free(spare);
}

// Ends the regions in `done`; those in `active` continue. `next` is the start of the next region,
// UINT64_MAX for none.
static void complete(Builder *b, uint64_t next)
{
    sort_done(b);
    size_t n = b->s->done.len;
    for (size_t i = 1; i < n; i++) {
        uint64_t at = end_of(b->s->done.at[i - 1]);
        if (at == next)
            break;
        if (at == end_of(b->s->done.at[i]))
            continue;
        // The last one of those with the same end.
        size_t same = i;
        while (same + 1 < n && end_of(b->s->done.at[same + 1]) == end_of(b->s->done.at[i]))
            same++;
        start_segment(b, b->s->done.at[same], at, false, false);
    }
    const CovSpan *last = b->s->done.at[n - 1];
    if (b->s->active.len && end_of(last) != next)
        start_segment(b, vec_last(&b->s->active), end_of(last), false, false);
    else if (!b->s->active.len && end_of(last) != next)
        start_segment(b, last, end_of(last), false, true);
    b->s->done.len = 0;
}

static void drop_ended(Builder *b, uint64_t at)
{
    if (b->s->active.len == 0 || at < b->first_end)
        return;
    size_t kept = 0;
    b->first_end = UINT64_MAX;
    for (size_t i = 0; i < b->s->active.len; i++) {
        if (end_of(b->s->active.at[i]) <= at)
            vec_push(NULL, &b->s->done, b->s->active.at[i]);
        else {
            b->first_end = MIN(b->first_end, end_of(b->s->active.at[i]));
            b->s->active.at[kept++] = b->s->active.at[i];
        }
    }
    b->s->active.len = kept;
    if (b->s->done.len)
        complete(b, at);
}

void cov_segments_of(CovSpanVec *spans, CovCounting counting, CovSweep *sweep, CovSegmentVec *out)
{
    out->len = sweep->active.len = sweep->done.len = 0;
    sort_spans(spans, sweep);
    combine(spans, counting);
    Builder b = {.out = out, .s = sweep};
    for (size_t i = 0; i < spans->len; i++) {
        const CovSpan *s = &spans->at[i];
        uint64_t at = start_of(s);
        bool is_last = i + 1 == spans->len;
        drop_ended(&b, at);
        bool is_gap = s->kind == COV_GAP;
        if (at == end_of(s)) {
            // Regions of length 0 never become active.
            bool skipped = is_last || s->kind == COV_SKIPPED;
            start_segment(&b, sweep->active.len ? vec_last(&sweep->active) : s, at, !is_gap,
                          skipped);
            if (skipped && sweep->active.len)
                start_segment(&b, vec_last(&sweep->active), at, false, false);
            continue;
        }
        if (is_last || at != start_of(&spans->at[i + 1]))
            start_segment(&b, s, at, !is_gap, false);
        b.first_end = sweep->active.len ? MIN(b.first_end, end_of(s)) : end_of(s);
        vec_push(NULL, &sweep->active, s);
    }
    for (size_t i = 0; i < sweep->active.len; i++)
        vec_push(NULL, &sweep->done, sweep->active.at[i]);
    sweep->active.len = 0;
    if (sweep->done.len)
        complete(&b, UINT64_MAX);
}

void cov_sweep_deinit(CovSweep *s)
{
    vec_free(&s->active);
    vec_free(&s->done);
    vec_free(&s->spare);
    vec_free(&s->starts);
}

// The count of a line, and whether it has one. `wrapped` is the segment that continues into the
// line.
static bool line_count(const CovSegment *wrapped, const CovSegment *first, size_t n,
                       CovCounting counting, uint64_t *ret)
{
    bool any_start = false, any_entry = false;
    uint64_t count = wrapped ? wrapped->count : 0;
    for (size_t i = 0; i < n; i++) {
        const CovSegment *s = &first[i];
        any_entry |= s->is_entry && s->has_count && counting != COV_COUNTS_BEFORE_18;
        if (!s->is_gap && s->has_count && s->is_entry) {
            any_start = true;
            count = counting == COV_SETS ? count | s->count : MAX(count, s->count);
        }
    }
    bool starts_skipped = n && !first->has_count && first->is_entry;
    *ret = count;
    return any_entry || (!starts_skipped && ((wrapped && wrapped->has_count) || any_start));
}

void cov_lines_of(const CovSegmentVec *segments, CovCounting counting, CovLineVec *out)
{
    out->len = 0;
    const CovSegment *wrapped = NULL;
    for (size_t i = 0, end; i < segments->len; i = end) {
        uint32_t line = segments->at[i].line;
        for (end = i; end < segments->len && segments->at[end].line == line; end++)
            ;
        uint64_t count;
        if (line_count(wrapped, &segments->at[i], end - i, counting, &count))
            vec_push(NULL, out, (CovLine){line, count});
        wrapped = &segments->at[end - 1];
        // Lines up to the next segment have the count of the segment that continues into them.
        if (end < segments->len && wrapped->has_count) {
            uint32_t next = segments->at[end].line;
            for (uint32_t between = line + 1; between < next; between++)
                vec_push(NULL, out, (CovLine){between, wrapped->count});
        }
    }
}
