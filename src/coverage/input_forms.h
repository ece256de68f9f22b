// SPDX-License-Identifier: Apache-2.0
// The kinds of files that the cover commands read. Inputs are recognised by this table, and
// 'assay cover formats' prints it.

#ifndef COVERAGE_INPUT_FORMS_H
#define COVERAGE_INPUT_FORMS_H

#include "base/format_versions.h"
#include "base/str.h"

typedef enum CoverFormKind {
    COVER_FORM_UNIT,    // of a translation unit of gcc
    COVER_FORM_PROFILE, // LLVM's counts
    COVER_FORM_OBJECT,  // with LLVM's coverage mapping
    COVER_FORM_LINES,   // counts of lines, by any tool
} CoverFormKind;

typedef struct CoverForm {
    const char *name;  // "raw profile"
    const char *files; // ".profraw"
    CoverFormKind kind;
    bool (*is)(Bytes file);
    bool by_start;                  // the first 8 bytes are enough
    const FormatVersions *versions; // NULL: it has none, or only one
    const char *about;              // who writes it; what is taken of it
    const char *joined;             // with what it makes counts of lines
    const char *written;            // the command that writes it, NULL: none
} CoverForm;

extern const CoverForm cover_forms[];
extern const size_t cover_form_count;

// The first kind that recognises the file, NULL: none. Counts of lines may be packed by gzip. With
// `by_start` only the kinds for which the first bytes of a file are enough.
const CoverForm *cover_form_find(Bytes file, bool by_start);

#endif // COVERAGE_INPUT_FORMS_H
