// SPDX-License-Identifier: Apache-2.0
// Adds the places of LLVM's functions to the marks in the sources.

#include "coverage/llvm/file_totals.h"
#include "coverage/llvm/function_regions.h"

// rustc's first region is the head of the function only: from the first start to the
// last end.
static CoverFunctionPlace place_of(CoverRegionRange regions)
{
    const CoverRegion *r = regions.at;
    CoverFunctionPlace p = {r->line, r->column, r->end_line, r->end_column};
    for (size_t i = 1; i < regions.len; i++) {
        r = &regions.at[i];
        if (r->line < p.line || (r->line == p.line && r->column < p.column)) {
            p.line = r->line;
            p.column = r->column;
        }
        if (r->end_line > p.end_line ||
            (r->end_line == p.end_line && r->end_column > p.end_column)) {
            p.end_line = r->end_line;
            p.end_column = r->end_column;
        }
    }
    return p;
}

void cover_data_place_functions(const CoverData *d, const CoverProject *how)
{
    CoverFileIndex x = {0};
    if (!how->exclusions)
        return;
    cover_index_files(d, how, &x);
    for (size_t i = 0; i < x.order.len; i++) {
        uint32_t row = x.order.at[i];
        CoverExclusions *e = how->exclusions(how->exclusions_ctx, intern_get(&d->files, row));
        for (uint32_t k = x.starts.at[row]; k < x.starts.at[row + 1] && e; k++) {
            const CoverFunction *f = &d->functions.at[x.functions.at[k]];
            if (e->function_marks.len == 0 || !cover_is_written_in(d, f, row))
                continue;
            CoverRegionRange regions = cover_regions_of(d, f, f->main_file);
            if (regions.len)
                cover_exclusions_add_function(e, place_of(regions));
        }
    }
    cover_index_free(&x);
}
