// SPDX-License-Identifier: Apache-2.0
// Which source files and lines the cover commands count, and where the sources
// are: filters on paths, other prefixes, exclusion marks.

#ifndef CLI_COVER_COVER_FILTER_H
#define CLI_COVER_COVER_FILTER_H

#include <regex.h>

#include "base/intern.h"
#include "cli/cover/cover_source.h"
#include "cli/option.h"
#include "coverage/llvm/file_totals.h"
#include "coverage/rows/selection.h"

typedef struct CoverFilterOptions {
    StrVec include, exclude; // globs on source paths
    Str ignore_regex;
    StrVec prefix_maps, equivalences; // "OLD=NEW", "OLD,NEW"
    StrVec source_folders;
    bool no_exclusions;
    Str patterns[COVER_PATTERN_COUNT]; // marks of the user's
    bool all_sources;                  // also what a run left out
} CoverFilterOptions;

#define COVER_FILTER_OPTIONS(S, field)                                                             \
    OPT_LIST(0, "include", S, field.include, "GLOB", "only source files whose path matches"),      \
        OPT_LIST(0, "exclude", S, field.exclude, "GLOB", "no source files whose path matches"),    \
        OPT_TEXT(0, "ignore-filename-regex", S, field.ignore_regex, "REGEX",                       \
                 "no source files whose path matches the extended regular expression"),            \
        OPT_LIST(0, "prefix-map", S, field.prefix_maps, "OLD=NEW",                                 \
                 "source paths below OLD are below NEW"),                                          \
        OPT_LIST(0, "path-equivalence", S, field.equivalences, "OLD,NEW",                          \
                 "the same, as llvm-cov has it"),                                                  \
        OPT_LIST('I', "source-dir", S, field.source_folders, "DIR", "search sources here too"),    \
        OPT_FLAG(0, "no-exclusions", S, field.no_exclusions,                                       \
                 "count what LCOV_EXCL_, GCOVR_EXCL_ and GRCOV_EXCL_ marks leave out"),            \
        OPT_TEXT(0, "excl-line", S, field.patterns[COVER_PATTERN_LINE], "REGEX",                   \
                 "leave out lines that match the extended regular expression"),                    \
        OPT_TEXT(0, "excl-start", S, field.patterns[COVER_PATTERN_START], "REGEX",                 \
                 "leave out the lines from one that matches, it included"),                        \
        OPT_TEXT(0, "excl-stop", S, field.patterns[COVER_PATTERN_STOP], "REGEX",                   \
                 "up to one that matches this, or the end of the file"),                           \
        OPT_TEXT(0, "excl-br-line", S, field.patterns[COVER_PATTERN_BR_LINE], "REGEX",             \
                 "the same as --excl-line for branches only"),                                     \
        OPT_TEXT(0, "excl-br-start", S, field.patterns[COVER_PATTERN_BR_START], "REGEX",           \
                 "the same as --excl-start for branches only"),                                    \
        OPT_TEXT(0, "excl-br-stop", S, field.patterns[COVER_PATTERN_BR_STOP], "REGEX",             \
                 "the same as --excl-stop for branches only"),                                     \
        OPT_FLAG(0, "all-sources", S, field.all_sources,                                           \
                 "of a folder of 'cover run', also the sources that the run left out")

typedef struct CoverPathMap {
    Str from, to;
} CoverPathMap;

typedef Vec(CoverSelection) CoverSelectionVec;

typedef struct CoverFilter {
    const CoverFilterOptions *o;
    bool has_regex;
    regex_t regex;
    regex_t pattern_regexes[COVER_PATTERN_COUNT];
    CoverPatterns patterns; // of the above, those that are given
    bool has_patterns;
    // Whether a source has other lines here than when it was counted: its marks are not
    // those of the counts. NULL: none has.
    bool (*is_changed)(void *ctx, Str path);
    void *is_changed_ctx;
    Vec(CoverPathMap) maps;
    CoverSources sources;
    Intern paths; // files whose marks were looked for
    Vec(CoverExclusions *) found;
    CoverSelectionVec selections; // of the runs whose results are read
    Intern left_out;              // sources that no run counts
    Arena arena;
} CoverFilter;

// Zero-initialised before; release with cover_filter_deinit, also on false.
// `o` must last as long.
MUST_CHECK bool cover_filter_init(CoverFilter *f, const CoverFilterOptions *o, Error *err);
void cover_filter_deinit(CoverFilter *f);

// What CoverProject asks for; `ctx` is a CoverFilter.
bool cover_filter_keep(void *ctx, Str path);
Str cover_filter_map(void *ctx, Str path);
CoverExclusions *cover_filter_exclusions(void *ctx, Str path);
// Whether a source that was asked for has marks.
bool cover_filter_has_marks(const CoverFilter *f);
// Only sources that this run or another one counts are kept. Its globs follow the
// maps of prefixes; --include takes the place of those that it includes.
void cover_filter_select(CoverFilter *f, const CoverSelection *s);
// How many sources were left out because no run counts them.
size_t cover_filter_left_out(const CoverFilter *f);
// To be called once, when the functions of all sources are known to their marks.
void cover_filter_settle(CoverFilter *f);

#endif // CLI_COVER_COVER_FILTER_H
