// SPDX-License-Identifier: Apache-2.0
// A recording as one HTML page that shows everything in it and needs nothing else: a summary in
// plain HTML, the viewer (viewer/, built), and the data in columns. Format: docs/formats/view.md.

#ifndef EXPORT_VIEW_VIEW_H
#define EXPORT_VIEW_VIEW_H

#include "analyse/report.h"
#include "base/table.h"
#include "export/view/block.h"

// The source text of one file that the page may show.
typedef struct ViewText {
    StrId file;
    Str text;            // "" when there is none
    const char *trouble; // why there is no text, or why it may be wrong; NULL: nothing
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
    size_t runs; // recordings that the report's one is the sum of: the page shows means; 0: one
} ViewOptions;

// A source text that stands in a page: hashes of its path, and of the text and what is said of it.
typedef struct ViewWritten {
    uint64_t path, content;
} ViewWritten;
typedef Vec(ViewWritten) ViewWrittenVec;

// A page that is being made of one or more recordings. Zero-initialised is a valid empty page;
// release with view_page_deinit.
typedef struct ViewPage {
    StrBuf summary;      // plain HTML, a part for each recording
    StrBuf first;        // blocks that the page shows at once
    StrBuf second;       // overviews of which a preview is in `first`
    StrBuf bulk;         // blocks that it reads afterwards
    uint32_t recordings; // added so far
    Table written_index; // hash of a path -> row of `written`
    ViewWrittenVec written;
} ViewPage;

// Adds a recording of samples. Its report was made by function and with lines.
MUST_CHECK bool view_page_add_report(ViewPage *page, const Report *report,
                                     const ViewOptions *options, Error *err);
// Appends the whole page: frame, summary, viewer, blocks.
void view_page_write(const ViewPage *page, Str title, StrBuf *out);
// Frees what a page holds.
void view_page_deinit(ViewPage *page);

// Appends text from outside to a page's HTML: escaped, with control and bidirectional characters
// made visible, cut to `columns` at its end, or with `keep_end` at its start.
void view_add_shown(StrBuf *out, Str text, size_t columns, bool keep_end);

// The files that the samples and counts of a recording touch, in order of their self value in the
// report's metric, at most `max`. Heap memory: vec_free.
StrIdVec view_touched_files(const Report *report, size_t max);

#endif // EXPORT_VIEW_VIEW_H
