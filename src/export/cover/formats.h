// SPDX-License-Identifier: Apache-2.0
// Coverage in the formats of other tools, written file by file so that only one
// file's text is held.

#ifndef EXPORT_COVER_FORMATS_H
#define EXPORT_COVER_FORMATS_H

#include "analyse/cover/file_rows.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "base/vec.h"

// The text of a source file, which lasts until the next call; false when there is none.
// Only HTML and coveralls ask for it.
typedef bool CoverSource(void *ctx, Str path, Str *text);

// A condition of a decision (MC/DC).
typedef struct CoverShownCondition {
    uint32_t line, column, end_line, end_column;
    bool is_elsewhere; // its text is that of a macro: not to be found in the decision's file
    bool is_folded;    // the compiler knew it: not to be covered
    uint32_t pair[2];  // the vectors, from 1, that show it to decide alone; 0: not shown
} CoverShownCondition;

// A decision with what of it ran.
typedef struct CoverShownDecision {
    uint32_t line, column, end_line, end_column;
    const CoverShownCondition *conditions;
    uint32_t condition_count;
    // condition_count + 1 letters for each vector that ran: T, F, - (not evaluated) or C
    // (known) of each condition, then the outcome.
    Str vectors;
    // Of several functions with this decision (instances of a template, copies in several
    // objects): one that this is of, and how many more show the same. Empty: there is one.
    Str function;
    uint32_t more;
} CoverShownDecision;

typedef Vec(CoverShownDecision) CoverShownDecisionVec;

// Appends the decisions of a source file, by place; what they hold lasts as long as the
// profile. Only HTML asks for it.
typedef void CoverFindDecisions(void *ctx, Str path, CoverShownDecisionVec *ret);

typedef struct CoverWriter {
    const Profile *p;
    const CoverFiles *c;
    StrBuf *out; // may be emptied between the calls
    CoverSource *source;
    void *source_ctx;
    CoverFindDecisions *decisions; // NULL: rows are all that is known
    void *decisions_ctx;
    // Of each file of `c`, for people to read (HTML, Markdown): those of a report, which
    // counts the instances of a template once. NULL: those of the rows.
    const CoverTotals *totals;
    JsonWriter json;
    // Folder of the project, without a slash at its end. Services find sources by paths
    // that are relative to it: cobertura, coveralls, codecov, sonarqube. Empty: none.
    Str root;
    U8Vec done;                           // of files: cobertura wrote it with another of its folder
    struct libdeflate_compressor *packer; // of HTML
} CoverWriter;

// One format: begin once, then each file, then end.
typedef struct CoverFormat {
    void (*begin)(CoverWriter *w);
    void (*file)(CoverWriter *w, const CoverFileRows *f);
    void (*end)(CoverWriter *w);
} CoverFormat;

// What is written, by the names that the user gives.
typedef struct CoverFormatName {
    const char *name, *holds;
    const CoverFormat *format; // NULL: llvm-json, which needs what rows do not hold
} CoverFormatName;

extern const CoverFormatName cover_format_names[];
extern const size_t cover_format_count;

// NULL for another name, and for llvm-json.
const CoverFormat *cover_format_find(Str name);

#endif // EXPORT_COVER_FORMATS_H
