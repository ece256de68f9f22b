// SPDX-License-Identifier: Apache-2.0
// The formats that the table of formats.c gathers, and what they share (shared.c).

#ifndef EXPORT_COVER_FORMATS_INTERNAL_H
#define EXPORT_COVER_FORMATS_INTERNAL_H

#include "export/cover/formats.h"

extern const CoverFormat cover_json_format;
extern const CoverFormat cover_gcov_json_format;
extern const CoverFormat cover_codecov_format;
extern const CoverFormat cover_cobertura_format;
extern const CoverFormat cover_sonarqube_format;
extern const CoverFormat cover_jacoco_format;
extern const CoverFormat cover_clover_format;
extern const CoverFormat cover_html_format;
extern const CoverFormat cover_coveralls_format;
extern const CoverFormat cover_markdown_format;

// The totals of a file for formats that people read.
CoverTotals cover_writer_totals(const CoverWriter *w, const CoverFileRows *f);

// Whether there are conditions (MC/DC), for which tables get a column.
bool cover_has_conditions(const CoverWriter *w);

// A percentage to print with two digits: only complete coverage is shown as 100.
double cover_shown_percent(CoverTally t);

// A file's path as services need it: relative to the project's folder if the file is below it.
Str cover_project_path(const CoverWriter *w, const CoverFileRows *f);

// The sum of all files.
CoverTotals cover_all_totals(const CoverWriter *w);

// Formats with a package for each folder write it with the first of its files, and mark the files
// in `w->done`. cover_folders_begin makes room for the marks; the format frees them at its end.
void cover_folders_begin(CoverWriter *w);
// The next file of a folder, at `i` or behind it; the number of files: there is none.
size_t cover_folder_next(const CoverWriter *w, Str folder, size_t i);
// The sum of the files of a folder, of which `first` is the first one.
CoverTotals cover_folder_totals(const CoverWriter *w, Str folder, size_t first);

// One source line with its count and its branches. Equal lines of a file are one.
typedef struct CoverLine {
    uint32_t line;
    uint64_t count;
    uint32_t branches, branches_hit;
} CoverLine;

// Walks the lines of a file, ascending. `at` and `branch` start at 0.
typedef struct CoverLineWalk {
    const CoverWriter *w;
    const CoverFileRows *f;
    uint32_t at, branch;
} CoverLineWalk;

// A walk that starts before the first line.
static inline CoverLineWalk cover_line_walk(const CoverWriter *w, const CoverFileRows *f)
{
    return (CoverLineWalk){w, f, f->lines.first, f->branches.first};
}

// Moves to the next line of the file; false after the last one.
bool cover_line_next(CoverLineWalk *walk, CoverLine *ret);

// JSON documents of one object with one container of files in it: begins both, the object
// with `key` unless that is NULL, and ends both with a line end.
void cover_json_begin(CoverWriter *w, const char *key, const char *value, const char *files,
                      bool by_path);
void cover_json_end(CoverWriter *w);
// A branch as {line, block, branch, count}, into the open array.
void cover_json_branch(CoverWriter *w, uint32_t row);

#endif // EXPORT_COVER_FORMATS_INTERNAL_H
