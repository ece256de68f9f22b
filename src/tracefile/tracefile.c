// SPDX-License-Identifier: Apache-2.0
// Which reader a file is for.

#include "tracefile/tracefile.h"

static bool is_lcov(Str head)
{
    Str line;
    while (str_next_line(&head, &line)) {
        if (line.len == 0 || line.ptr[0] == '#')
            continue;
        return str_starts_with(line, STR("TN:")) || str_starts_with(line, STR("SF:"));
    }
    return false;
}

// An XML document whose first element is <coverage>, but not SonarQube's, which has
// <file> in it and no line-rate.
static bool is_cobertura(Str head)
{
    head = str_trim(head);
    if (str_starts_with(head, STR("\xef\xbb\xbf")))
        head = str_slice(head, 3, head.len);
    return str_starts_with(head, STR("<")) && str_find(head, STR("<coverage")) != SIZE_MAX &&
           str_find(head, STR("line-rate")) != SIZE_MAX;
}

static bool is_llvm_json(Str head)
{
    head = str_trim(head);
    return str_starts_with(head, STR("{")) && str_find(head, STR("\"data\"")) != SIZE_MAX &&
           (str_find(head, STR("\"files\"")) != SIZE_MAX ||
            str_find(head, STR("\"functions\"")) != SIZE_MAX);
}

// gcovr's JSON has "gcovr/format_version".
static bool is_gcov_json(Str head)
{
    return str_starts_with(str_trim(head), STR("{")) &&
           (str_find(head, STR("\"format_version\"")) != SIZE_MAX ||
            str_find(head, STR("\"gcc_version\"")) != SIZE_MAX);
}

static bool is_go_cover(Str head)
{
    return str_starts_with(head, STR("mode: "));
}

typedef struct Form {
    TracefileKind kind;
    const char *name;
    bool (*is)(Str head);
    bool (*read)(CoverSet *into, Bytes file, Error *err);
} Form;

static const Form forms[] = {
    {TRACEFILE_LCOV, "lcov tracefile", is_lcov, tracefile_read_lcov},
    {TRACEFILE_COBERTURA, "Cobertura report", is_cobertura, tracefile_read_cobertura},
    {TRACEFILE_LLVM_JSON, "llvm-cov export", is_llvm_json, tracefile_read_llvm_json},
    {TRACEFILE_GCOV_JSON, "gcov's JSON", is_gcov_json, tracefile_read_gcov_json},
    {TRACEFILE_GO_COVER, "Go profile", is_go_cover, tracefile_read_go_cover},
};

static const Form *form_of(Bytes head)
{
    Str text = str_slice(str_from_bytes(head), 0, 4096);
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (forms[i].is(text))
            return &forms[i];
    return NULL;
}

TracefileKind tracefile_kind(Bytes head)
{
    const Form *form = form_of(head);
    return form ? form->kind : TRACEFILE_NONE;
}

// Told by two marks in the first bytes; a first mark that begins with '^' is their start.
const TracefileForeign tracefile_foreign[] = {
    {"<coverage", "lineToCover", "a report for SonarQube",
     "it says whether lines ran, but not how often: give the data that it was made of"},
    {"<coverage", "<project", "a Clover report",
     "give the lcov or Cobertura form, which its writer has too"},
    {"<report", "sourcefile", "a JaCoCo report", "give the lcov or Cobertura form of it"},
    {"<CoverageSession", "", "an OpenCover report", "give the lcov or Cobertura form of it"},
    {"\"schema\"", "assay-cover/", "this program's own JSON",
     "'assay cover export' without --format writes a tracefile, which is read"},
    {"\"gcovr/format_version\"", "", "gcovr's JSON",
     "'gcovr --add-tracefile FILE --lcov' makes a tracefile of it"},
    {"{\"coverage\"", "", "a report for Codecov", "give the data that it was made of"},
    {"^SQLite format 3", "", "a database, as coverage.py keeps one",
     "'coverage lcov' makes a tracefile of it"},
    {"^\x1f\x8b", "", "compressed by gzip",
     "only counts of lines are read while packed: unpack other files first"},
    {"^!<thin>\n", "", "a thin archive", "give the objects that it names"},
    {"^\x81rforpm\xff", "", "a raw memory profile of LLVM",
     "llvm-profdata joins it with a profile of counts, which is read"},
    {"^PERFILE2", "", "a recording of perf", "'assay report' reads it"},
};
const size_t tracefile_foreign_count = ARRAY_LEN(tracefile_foreign);

const char *tracefile_foreign_name(Bytes head, const char **hint)
{
    Str text = str_slice(str_from_bytes(head), 0, 4096);
    for (size_t i = 0; i < tracefile_foreign_count; i++) {
        Str mark = str_from_c(tracefile_foreign[i].mark);
        bool found = str_starts_with(mark, STR("^"))
                         ? str_starts_with(text, str_slice(mark, 1, mark.len))
                         : str_find(text, mark) != SIZE_MAX;
        if (!found || str_find(text, str_from_c(tracefile_foreign[i].second)) == SIZE_MAX)
            continue;
        *hint = tracefile_foreign[i].hint;
        return tracefile_foreign[i].name;
    }
    return NULL;
}

bool tracefile_read(CoverSet *into, Bytes file, Error *err)
{
    const Form *form = form_of(file);
    if (!form)
        return error_set(err, ERROR_FORMAT, "no coverage of a kind that is known");
    return form->read(into, file, err);
}
