// SPDX-License-Identifier: Apache-2.0
// The table of formats.

#include "export/cover/formats.h"

#include "export/cover/formats_internal.h"
#include "export/cover/lcov.h"

static void nothing(CoverWriter *w)
{
    (void)w;
}

static void lcov_file(CoverWriter *w, const CoverFileRows *f)
{
    cover_lcov_file(w->p, w->c, f, w->out);
}

static const CoverFormat lcov_format = {nothing, lcov_file, nothing};

const CoverFormatName cover_format_names[] = {
    {"lcov", "lines, functions, branches and conditions, for genhtml and editors", &lcov_format},
    {"llvm-json", "all that llvm-cov export -format=text has, byte for byte", NULL},
    {"gcov-json", "what gcov --json-format has, byte for byte of gcc's units",
     &cover_gcov_json_format},
    {"json", "lines, functions, branches and conditions, short", &cover_json_format},
    {"html", "one page with the sources, to search and sort", &cover_html_format},
    {"cobertura", "Cobertura's XML: lines and branches", &cover_cobertura_format},
    {"coveralls", "the JSON of Coveralls: lines and branches", &cover_coveralls_format},
    {"codecov", "the JSON of Codecov: lines, and branches that were taken in part",
     &cover_codecov_format},
    {"sonarqube", "the generic XML of SonarQube: lines and branches", &cover_sonarqube_format},
    {"jacoco", "JaCoCo's XML: lines, branches and functions", &cover_jacoco_format},
    {"clover", "Clover's XML: lines, branches and functions", &cover_clover_format},
    {"markdown", "a table of files with the lines that did not run", &cover_markdown_format},
};
const size_t cover_format_count = ARRAY_LEN(cover_format_names);

const CoverFormat *cover_format_find(Str name)
{
    for (size_t i = 0; i < cover_format_count; i++)
        if (str_equal(name, str_from_c(cover_format_names[i].name)))
            return cover_format_names[i].format;
    return NULL;
}
