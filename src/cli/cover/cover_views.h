// SPDX-License-Identifier: Apache-2.0
// The details that 'assay cover show' prints below source lines.

#ifndef CLI_COVER_COVER_VIEWS_H
#define CLI_COVER_COVER_VIEWS_H

#include "analyse/cover/file_rows.h"
#include "base/strbuf.h"
#include "cli/option.h"
#include "coverage/source_text.h"

typedef struct CoverViewOptions {
    Str branches; // "count", "percent" or ""
    bool regions, expansions, instantiations, decisions;
} CoverViewOptions;

#define COVER_VIEW_OPTIONS(S, field)                                                               \
    OPT_CHOICE(0, "show-branches", S, field.branches, "HOW", "count|percent",                      \
               "the branches of each line, and how often each side was taken"),                    \
        OPT_FLAG(0, "show-regions", S, field.regions,                                              \
                 "mark where regions start whose count is not the line's"),                        \
        OPT_FLAG(0, "show-expansions", S, field.expansions, "the text of macros, with counts"),    \
        OPT_FLAG(0, "show-instantiations", S, field.instantiations,                                \
                 "each instance of a template separately"),                                        \
        OPT_FLAG(0, "show-mcdc", S, field.decisions,                                               \
                 "the conditions of decisions and what of them ran (MC/DC)")

// The details below the lines of one file. Release with cover_views_deinit.
typedef struct CoverViews {
    const CoverViewOptions *o;
    const Profile *p;
    const CoverFiles *c;
    const CoverFileRows *f;
    uint32_t branch, site, segment, excerpt, decision; // the next ones of the file
    CoverSources sources;                              // of macros' text
    U64Vec starts;                                     // offsets of the lines of `text`
    Str path, text;
} CoverViews;

// The rows that the views show: COVER_WANT_*.
unsigned cover_views_wants(const CoverViewOptions *o);

// Turns to a file of the listing.
void cover_views_begin(CoverViews *v, const CoverFileRows *f);
// Adds the details below a line; lines come ascending. `indent` is where the
// source's text starts, `count` the line's.
void cover_views_add(CoverViews *v, uint32_t line, uint64_t count, size_t indent, StrBuf *out);
// Frees the memory of the views.
void cover_views_deinit(CoverViews *v);

#endif // CLI_COVER_COVER_VIEWS_H
