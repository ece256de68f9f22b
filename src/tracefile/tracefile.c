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

TracefileKind tracefile_kind(Bytes head)
{
    Str text = str_slice(str_from_bytes(head), 0, 4096);
    return is_lcov(text) ? TRACEFILE_LCOV : TRACEFILE_NONE;
}

const char *tracefile_name(TracefileKind kind)
{
    static const char *const names[] = {"none", "lcov tracefile"};
    return names[kind];
}

bool tracefile_read(CoverSet *into, Bytes file, Error *err)
{
    switch (tracefile_kind(file)) {
    case TRACEFILE_LCOV:
        return tracefile_read_lcov(into, file, err);
    case TRACEFILE_NONE:
        break;
    }
    return error_set(err, ERROR_FORMAT, "no coverage of a kind that is known");
}
