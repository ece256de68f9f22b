// SPDX-License-Identifier: Apache-2.0
// Finding what stands below lines.

#include "coverage/llvm/details.h"

#include <stdlib.h>

#include "coverage/llvm/file_totals_internal.h"

static int compare_details(const void *a, const void *b)
{
    const CoverDetail *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return (x->which > y->which) - (x->which < y->which);
}

static void add_expansions(const CoverData *d, uint32_t function, CoverDetailVec *out)
{
    const CoverFunction *f = &d->functions.at[function];
    CoverRegionRange range = cover_regions_of(d, f, f->main_file);
    for (size_t i = 0; i < range.len; i++)
        if (range.at[i].kind == COV_EXPANSION)
            vec_push(NULL, out,
                     (CoverDetail){range.at[i].line, COVER_DETAIL_EXPANSION, function,
                                   range.at[i].expanded_file});
}

// Those within macros stand where the macro is written.
static void add_decisions(const CoverData *d, uint32_t function, uint32_t file, CoverDetailVec *out)
{
    const CoverFunction *f = &d->functions.at[function];
    for (uint32_t i = 0; i < f->decision_count; i++) {
        uint32_t row = (uint32_t)f->decisions_first + i;
        if (d->function_files.at[f->files_first + d->decisions.at[row].file] == file)
            vec_push(
                NULL, out,
                (CoverDetail){d->decisions.at[row].end_line, COVER_DETAIL_DECISION, function, row});
    }
}

// A function on its way to its group.
typedef struct Placed {
    uint64_t place;
    uint32_t function, end_line;
} Placed;

typedef Vec(Placed) PlacedVec;

static int compare_placed(const void *a, const void *b)
{
    const Placed *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->function > y->function) - (x->function < y->function);
}

static void place_function(const CoverData *d, uint32_t function, PlacedVec *out)
{
    const CoverFunction *f = &d->functions.at[function];
    CoverRegionRange range = cover_regions_of(d, f, f->main_file);
    if (range.len)
        vec_push(NULL, out,
                 (Placed){(uint64_t)range.at[0].line << 32 | range.at[0].column, function,
                          range.at[0].end_line});
}

static void add_instances(const CoverData *d, PlacedVec *placed, CoverDetailVec *out)
{
    if (placed->len)
        qsort(placed->at, placed->len, sizeof(placed->at[0]), compare_placed);
    for (size_t i = 0, end; i < placed->len; i = end) {
        for (end = i + 1; end < placed->len && placed->at[end].place == placed->at[i].place; end++)
            ;
        for (size_t k = i; k < end && end - i > 1; k++)
            vec_push(NULL, out,
                     (CoverDetail){placed->at[i].end_line, COVER_DETAIL_INSTANCE,
                                   placed->at[k].function,
                                   d->functions.at[placed->at[k].function].main_file});
    }
}

void cover_details_find(const CoverData *d, const CoverFileIndex *x, Str path, unsigned kinds,
                        CoverDetailVec *out)
{
    PlacedVec placed = {0};
    uint32_t row;
    out->len = 0;
    if (!intern_find(&d->files, path, &row))
        return;
    for (uint32_t i = x->starts.at[row]; i < x->starts.at[row + 1]; i++) {
        uint32_t function = x->functions.at[i];
        if (kinds & 1 << COVER_DETAIL_DECISION)
            add_decisions(d, function, row, out);
        if (!cover_is_written_in(d, &d->functions.at[function], row))
            continue;
        if (kinds & 1 << COVER_DETAIL_EXPANSION)
            add_expansions(d, function, out);
        if (kinds & 1 << COVER_DETAIL_INSTANCE)
            place_function(d, function, &placed);
    }
    add_instances(d, &placed, out);
    vec_free(&placed);
    if (out->len)
        qsort(out->at, out->len, sizeof(out->at[0]), compare_details);
}

Str cover_detail_lines(const CoverData *d, const CoverDetail *detail, CovLineVec *out)
{
    const CoverFunction *f = &d->functions.at[detail->function];
    CovSpanVec spans = {0};
    CovSegmentVec segments = {0};
    cover_add_spans(cover_regions_of(d, f, detail->which), &spans);
    cov_segments(&spans, &segments);
    cov_lines(&segments, out);
    vec_free(&spans);
    vec_free(&segments);
    return intern_get(&d->files, d->function_files.at[f->files_first + detail->which]);
}

void cover_file_segments(const CoverData *d, const CoverFileIndex *x, Str path, CovSegmentVec *out)
{
    CovSpanVec spans = {0};
    uint32_t row;
    out->len = 0;
    if (!intern_find(&d->files, path, &row))
        return;
    for (uint32_t i = x->starts.at[row]; i < x->starts.at[row + 1]; i++) {
        const CoverFunction *f = &d->functions.at[x->functions.at[i]];
        for (uint32_t id = 0; id < f->file_count; id++)
            if (d->function_files.at[f->files_first + id] == row)
                cover_add_spans(cover_regions_of(d, f, id), &spans);
    }
    cov_segments(&spans, out);
    vec_free(&spans);
}
