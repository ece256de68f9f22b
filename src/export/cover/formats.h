// SPDX-License-Identifier: Apache-2.0
// Coverage in the formats of other tools, written file by file so that only one
// file's text is held.

#ifndef EXPORT_COVER_FORMATS_H
#define EXPORT_COVER_FORMATS_H

#include "analyse/cover/change.h"
#include "analyse/cover/totals.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "export/view/view.h"

// The text of a source file, which lasts until the next call; false when there is none.
// Only HTML and coveralls ask for it.
typedef bool CoverSource(void *ctx, Str path, Str *text);

typedef struct CoverWriter {
    const Profile *p;
    const CoverFiles *c;
    StrBuf *out; // may be emptied between the calls
    CoverSource *source;
    void *source_ctx;
    // Totals of each file of `c` for formats that people read (HTML, Markdown): as a report has
    // them, which counts the instances of a template once. NULL: sums of the rows.
    const CoverTotals *totals;
    const CoverChanges *changes; // of HTML: beside a baseline; NULL: there is none
    JsonWriter json;
    // Folder of the project, without a slash at its end. Services find sources by paths
    // that are relative to it: cobertura, coveralls, codecov, sonarqube, jacoco, clover. Empty:
    // none.
    Str root;
    Str title;           // of HTML: the command that was counted; "": it is not known
    uint64_t counted_ns; // when the counts were made, since 1970; 0: not known
    U8Vec done;          // of files: written with another one of its folder
    bool base_names;     // of HTML: of every path the last part alone
    ViewPage *page;      // of HTML
    ViewBlock block;     // of HTML: its buffers, for one file after the other
} CoverWriter;

// One format: begin once, then each file, then end.
typedef struct CoverFormat {
    void (*begin)(CoverWriter *w);
    void (*file)(CoverWriter *w, const CoverFileRows *f);
    void (*end)(CoverWriter *w);
} CoverFormat;

// The formats, by the names that the user gives.
typedef struct CoverFormatName {
    const char *name, *holds;
    const CoverFormat *format; // NULL: llvm-json, which needs data that rows do not hold
} CoverFormatName;

extern const CoverFormatName cover_format_names[];
extern const size_t cover_format_count;

// Adds coverage to a page (export/view/view.h). Asks the writer for sources; its `out` is not used.
MUST_CHECK bool cover_page_add(CoverWriter *w, ViewPage *page, Error *err);

// NULL for another name, and for llvm-json.
const CoverFormat *cover_format_find(Str name);

#endif // EXPORT_COVER_FORMATS_H
