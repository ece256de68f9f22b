// SPDX-License-Identifier: Apache-2.0
// Telling foreign recordings apart by their first bytes.

#include "import/import.h"

#include "import/gzip_internal.h"
#include "perfdata/perfdata.h"

const char *import_format_name(ImportFormat format)
{
    switch (format) {
    case IMPORT_PERF_DATA:
        return "perf.data";
    case IMPORT_PERF_SCRIPT:
        return "perf script";
    case IMPORT_FOLDED:
        return "folded stacks";
    case IMPORT_PPROF:
        return "pprof";
    case IMPORT_UNKNOWN:
        break;
    }
    return "unknown";
}

// "… 12" at the end of its line, as folded stacks have it.
static bool ends_in_count(Str line)
{
    size_t space = str_find_last_char(line, ' ');
    double count;
    return space != SIZE_MAX && space > 0 &&
           str_parse_double(str_slice(line, space + 1, line.len), &count) && count >= 0;
}

// A header of perf script ends in "event:" and its frames are indented.
static ImportFormat format_of_text(Str text)
{
    Str line;
    while (str_next_line(&text, &line)) {
        Str trimmed = str_trim(line);
        if (trimmed.len == 0 || trimmed.ptr[0] == '#')
            continue;
        if (memchr(line.ptr, '\0', line.len))
            return IMPORT_UNKNOWN;
        if (str_ends_with(trimmed, STR(":")))
            return IMPORT_PERF_SCRIPT;
        return ends_in_count(trimmed) ? IMPORT_FOLDED : IMPORT_UNKNOWN;
    }
    return IMPORT_UNKNOWN;
}

// Go and gperftools write gzip; a plain profile.proto begins with its first
// sample type, a short message of two small numbers.
static bool looks_like_pprof(Bytes head)
{
    return gzip_is(head) || (head.len > 4 && head.ptr[0] == 0x0a && head.ptr[1] >= 2 &&
                             head.ptr[1] <= 12 && head.ptr[2] == 0x08 && head.ptr[3] < 0x80);
}

ImportFormat import_format(Bytes head)
{
    if (perfdata_is(head))
        return IMPORT_PERF_DATA;
    if (looks_like_pprof(head))
        return IMPORT_PPROF;
    return format_of_text(str_from_bytes(bytes_slice(head, 0, 64 << 10)));
}
