// SPDX-License-Identifier: Apache-2.0
// A recording as one HTML page that shows everything in it and needs nothing else: a summary in
// plain HTML, the viewer (viewer/, built), and the data in columns. Format: docs/formats/view.md.

#ifndef EXPORT_VIEW_VIEW_H
#define EXPORT_VIEW_VIEW_H

#include "analyse/report.h"

// The source text of one file that the page may show.
typedef struct ViewText {
    StrId file;
    Str text;            // "" when there is none
    const char *trouble; // why there is no text, or what is doubtful about it; NULL: nothing
} ViewText;
typedef Vec(ViewText) ViewTextVec;

// An instruction of a function, with its values over the whole recording.
typedef struct ViewInstruction {
    Str function; // the linkage name of the symbol that it belongs to
    Str file;     // of the source line that it belongs to
    uint32_t line;
    uint64_t address;
    Str text;
    Str inlined; // the innermost inlined function; "" for none
    uint64_t self;
} ViewInstruction;
typedef Vec(ViewInstruction) ViewInstructionVec;

typedef struct ViewOptions {
    Str title;
    const ViewTextVec *texts;               // NULL: none
    const ViewInstructionVec *instructions; // NULL: none
    bool no_source;                         // the user asked for a page without source text
} ViewOptions;

// Everything that one page shows. A recording's samples come from `report`, which was made by
// function and with lines.
MUST_CHECK bool view_add_page(StrBuf *out, const Report *report, const ViewOptions *options,
                              Error *err);

// The files that the samples and counts of a recording touch, in order of their self value in the
// report's metric, at most `max`. Heap memory: vec_free.
StrIdVec view_touched_files(const Report *report, size_t max);

#endif // EXPORT_VIEW_VIEW_H
