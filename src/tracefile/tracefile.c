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

TracefileKind tracefile_kind(Bytes head)
{
    Str text = str_slice(str_from_bytes(head), 0, 4096);
    return is_lcov(text)        ? TRACEFILE_LCOV
           : is_cobertura(text) ? TRACEFILE_COBERTURA
           : is_llvm_json(text) ? TRACEFILE_LLVM_JSON
                                : TRACEFILE_NONE;
}

const char *tracefile_name(TracefileKind kind)
{
    static const char *const names[] = {"none", "lcov tracefile", "Cobertura report",
                                        "llvm-cov export"};
    return names[kind];
}

bool tracefile_read(CoverSet *into, Bytes file, Error *err)
{
    switch (tracefile_kind(file)) {
    case TRACEFILE_LCOV:
        return tracefile_read_lcov(into, file, err);
    case TRACEFILE_COBERTURA:
        return tracefile_read_cobertura(into, file, err);
    case TRACEFILE_LLVM_JSON:
        return tracefile_read_llvm_json(into, file, err);
    case TRACEFILE_NONE:
        break;
    }
    return error_set(err, ERROR_FORMAT, "no coverage of a kind that is known");
}
