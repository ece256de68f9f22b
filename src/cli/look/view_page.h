// SPDX-License-Identifier: Apache-2.0
// Data that a page needs beside the recording: source text and instructions, read from the machine.

#ifndef CLI_LOOK_VIEW_PAGE_H
#define CLI_LOOK_VIEW_PAGE_H

#include "cli/look/view_options.h"
#include "cli/recording.h"
#include "export/view/view.h"
#include "symbolise/symbolise.h"

// Source text of all files that the recording touches, if they are unchanged since. Texts
// live in the arena.
void view_page_texts(const Report *report, const SourceOptions *sources, Arena *arena,
                     ViewTextVec *ret);

// Instructions of the functions with the most self value. Functions whose file is not here any more
// are left out.
void view_page_code(const Report *report, const RecordingSearch *search, Arena *arena,
                    ViewInstructionVec *ret);

// A recording of samples for a page: what is taken of it, and what is left out.
typedef struct ViewRecording {
    const SelectionOptions *selection;
    const ShareWords *share;
    const RecordingFiles *files;
    const StrVec *source_paths; // "OLD=NEW"
    bool no_source;
    size_t runs; // recordings that the profile is the sum of: the page shows means; 0: one
    Str title;
} ViewRecording;

// Adds it, with source text and instructions. The profile loses the samples that are not selected,
// and the names that are not shared.
MUST_CHECK bool view_page_add_recording(ViewPage *page, const ViewRecording *o, Profile *p,
                                        Arena *arena, Error *err);

// Adds the coverage that a profile holds, without the text of sources unless `with_source`,
// with the last part alone of every path if `base_names`. `before`: recordings of coverage to
// compare it with, NULL for none.
MUST_CHECK bool view_page_add_counts(const Profile *p, const StrVec *before, bool with_source,
                                     bool base_names, Arena *arena, ViewPage *page, Error *err);
// Adds coverage of any origin: programs with profiles, units, tracefiles, folders of them. Counts
// of several inputs are added up. `before` as above.
MUST_CHECK bool view_page_add_coverage(const StrVec *operands, const StrVec *before,
                                       bool with_source, bool base_names, Arena *arena,
                                       ViewPage *page, Error *err);

#endif // CLI_LOOK_VIEW_PAGE_H
