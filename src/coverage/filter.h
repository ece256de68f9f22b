// SPDX-License-Identifier: Apache-2.0
// Which source files and lines the cover commands count, and where the sources
// are: filters on paths, other prefixes, exclusion marks.

#ifndef COVERAGE_FILTER_H
#define COVERAGE_FILTER_H

#include <regex.h>

#include "base/intern.h"
#include "coverage/rows/project.h"
#include "coverage/rows/selection.h"
#include "coverage/source_paths.h"
#include "coverage/source_text.h"
#include "model/profile.h"

typedef struct CoverFilterOptions {
    StrVec include, exclude; // globs on source paths
    Str ignore_regex;
    StrVec prefix_maps, equivalences; // "OLD=NEW", "OLD,NEW"
    StrVec source_folders;
    bool no_exclusions;
    Str patterns[COVER_PATTERN_COUNT]; // marks of the user's
    bool all_sources;                  // also what a run left out
} CoverFilterOptions;

typedef struct CoverPathMap {
    Str from, to;
} CoverPathMap;

typedef struct CoverFilter {
    const CoverFilterOptions *o;
    Profile *profile; // gets the notes
    bool has_regex;
    regex_t regex;
    regex_t pattern_regexes[COVER_PATTERN_COUNT];
    CoverPatterns patterns; // of the above, those that are given
    bool has_patterns;
    // Whether the source file has changed since it was counted: its marks then stand on other
    // lines, so that they are not read. NULL: no file has.
    bool (*is_changed)(void *ctx, Str path);
    void *is_changed_ctx;
    Vec(CoverPathMap) maps;
    StrVec chosen;       // real paths of sources and folders of sources; empty: all are kept
    StrVec chosen_names; // the same as the user wrote them
    bool keep_spelling;  // paths stay as the compiler wrote them, maps aside
    CoverSourcePaths source_paths;
    CoverSources sources;
    Intern paths; // files whose marks were looked for
    Vec(CoverExclusions *) found;
    CoverSelectionVec selections; // of the runs whose results are read
    Intern left_out;              // sources that no run counts
    Arena arena;
} CoverFilter;

// Zero-initialised before; release with cover_filter_deinit, also on false.
// `o` and `profile`, which gets the notes, must last as long.
MUST_CHECK bool cover_filter_init(CoverFilter *f, const CoverFilterOptions *o, Profile *profile,
                                  Error *err);
void cover_filter_deinit(CoverFilter *f);

// The callbacks of CoverProject; `ctx` is a CoverFilter.
bool cover_filter_keep(void *ctx, Str path);
Str cover_filter_map(void *ctx, Str path);
CoverExclusions *cover_filter_exclusions(void *ctx, Str path);
// Whether marks were found in some source.
bool cover_filter_has_marks(const CoverFilter *f);
// Adds the selection of a run: sources that no run counts are left out. The globs follow the maps
// of prefixes. Where the user gives --include, it replaces the globs of sources to include.
void cover_filter_select(CoverFilter *f, const CoverSelection *s);
// Keeps only the sources that are, or lie below, one of the paths.
void cover_filter_choose(CoverFilter *f, const StrVec *paths);
// How many sources were left out because no run counts them.
size_t cover_filter_left_out(const CoverFilter *f);
// Turns marks of functions into ranges of lines. To be called once, after all functions are added.
void cover_filter_settle(CoverFilter *f);

#endif // COVERAGE_FILTER_H
