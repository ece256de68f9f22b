// SPDX-License-Identifier: Apache-2.0
// The regions of one function.

#ifndef COVERAGE_LLVM_FUNCTION_REGIONS_H
#define COVERAGE_LLVM_FUNCTION_REGIONS_H

#include "coverage/llvm/functions.h"

// Regions of one function, or of one of its files.
typedef struct CoverRegionRange {
    const CoverRegion *at;
    size_t len;
} CoverRegionRange;

// The regions of a file id of the function.
static inline CoverRegionRange cover_regions_of(const CoverData *d, const CoverFunction *f,
                                                uint32_t file)
{
    const uint32_t *starts = d->region_starts.at + f->starts_first;
    return (CoverRegionRange){d->regions.at + f->regions_first + starts[file],
                              starts[file + 1] - starts[file]};
}

// The regions of all of its file ids.
static inline CoverRegionRange cover_all_regions(const CoverData *d, const CoverFunction *f)
{
    const uint32_t *starts = d->region_starts.at + f->starts_first;
    return (CoverRegionRange){d->regions.at + f->regions_first, starts[f->file_count]};
}

// Whether the region has two counts: one for each side.
static inline bool cover_is_branch(const CoverRegion *r)
{
    return r->kind == COV_BRANCH || r->kind == COV_MCDC_BRANCH;
}

// Whether the function is written in the file, and has not only macros from it.
static inline bool cover_is_written_in(const CoverData *d, const CoverFunction *f, uint32_t row)
{
    return f->main_file != COVER_NO_FILE &&
           d->function_files.at[f->files_first + f->main_file] == row;
}

// Appends all regions that are no branches, for cov_segments.
void cover_add_spans(CoverRegionRange range, CovSpanVec *out);

#endif // COVERAGE_LLVM_FUNCTION_REGIONS_H
