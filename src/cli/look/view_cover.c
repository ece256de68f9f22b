// SPDX-License-Identifier: Apache-2.0
// Coverage for a page of several recordings.

#include "cli/look/view_page.h"

#include "cli/cover/cover_export.h"
#include "cli/cover/cover_load.h"

bool view_page_add_counts(const Profile *p, const StrVec *before, bool with_source, bool base_names,
                          Arena *arena, ViewPage *page, Error *err)
{
    CoverExportOptions o = {.format = STR("html")};
    for (size_t i = 0; before && i < before->len; i++)
        vec_push(arena, &o.baseline.inputs, before->at[i]);
    return cover_export_to_page(p, &o, with_source, base_names, arena, page, err);
}

bool view_page_add_coverage(const StrVec *operands, const StrVec *before, bool with_source,
                            bool base_names, Arena *arena, ViewPage *page, Error *err)
{
    const CoverRequest request = {
        .wants = COVER_WANT_ROWS | COVER_WANT_FILE_TOTALS | COVER_WANT_DECISIONS, .demangle = true};
    Profile p;
    bool ok = cover_load(&request, operands, &p, err);
    if (ok) {
        cover_print_notes(&p);
        ok = view_page_add_counts(&p, before, with_source, base_names, arena, page, err);
    }
    profile_deinit(&p);
    return ok;
}
