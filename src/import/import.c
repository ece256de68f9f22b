// SPDX-License-Identifier: Apache-2.0
// Telling foreign recordings apart by their first bytes, and reading those that
// need nothing but the bytes.

#include "import/import.h"

#include "import/gzip_internal.h"
#include "perfdata/perfdata.h"

const char *import_format_name(ImportFormat format)
{
    static const char *const names[IMPORT_FORMAT_COUNT] = {
        [IMPORT_UNKNOWN] = "unknown",       [IMPORT_GZIP] = "gzip",
        [IMPORT_PERF_DATA] = "perf.data",   [IMPORT_PERF_SCRIPT] = "perf script",
        [IMPORT_FOLDED] = "folded stacks",  [IMPORT_PPROF] = "pprof",
        [IMPORT_SPEEDSCOPE] = "speedscope", [IMPORT_FIREFOX] = "Firefox profile",
        [IMPORT_CALLGRIND] = "callgrind",
    };
    return names[format < IMPORT_FORMAT_COUNT ? format : IMPORT_UNKNOWN];
}

// "… 12" at the end of its line, as folded stacks have it.
static bool ends_in_count(Str line)
{
    size_t space = str_find_last_char(line, ' ');
    double count;
    return space != SIZE_MAX && space > 0 &&
           str_parse_double(str_slice(line, space + 1, line.len), &count) && count >= 0;
}

static bool contains(Str text, Str part)
{
    return str_find(text, part) != SIZE_MAX;
}

static ImportFormat format_of_json(Str text)
{
    if (contains(text, STR("speedscope")) || contains(text, STR("\"activeProfileIndex\"")))
        return IMPORT_SPEEDSCOPE;
    if (contains(text, STR("\"preprocessedProfileVersion\"")) ||
        contains(text, STR("\"stackTable\"")) || contains(text, STR("\"meta\"")))
        return IMPORT_FIREFOX;
    if (contains(text, STR("\"profiles\"")) || contains(text, STR("\"frames\"")))
        return IMPORT_SPEEDSCOPE;
    return IMPORT_UNKNOWN;
}

// Its mark, or its first lines: "version: 1", "creator: callgrind-3.19".
static bool looks_like_callgrind(Str text)
{
    if (str_starts_with(text, STR("# callgrind format")))
        return true;
    Str line;
    for (unsigned i = 0; i < 100 && str_next_line(&text, &line); i++)
        if (str_starts_with(line, STR("events:")))
            return true;
    return false;
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

// A plain profile.proto begins with its first sample type, a short message of
// two small numbers.
static bool looks_like_pprof(Bytes head)
{
    return head.len > 4 && head.ptr[0] == 0x0a && head.ptr[1] >= 2 && head.ptr[1] <= 12 &&
           head.ptr[2] == 0x08 && head.ptr[3] < 0x80;
}

ImportFormat import_format(Bytes head)
{
    Str text = str_from_bytes(bytes_slice(head, 0, 64 << 10));
    if (perfdata_is(head))
        return IMPORT_PERF_DATA;
    if (gzip_is(head))
        return IMPORT_GZIP;
    if (looks_like_pprof(head))
        return IMPORT_PPROF;
    if (str_starts_with(str_trim(text), STR("{")))
        return format_of_json(text);
    if (looks_like_callgrind(text))
        return IMPORT_CALLGRIND;
    return format_of_text(text);
}

static bool read_plain(Bytes file, const ImportOptions *options, ImportFormat format, Profile *p,
                       Error *err)
{
    switch (format) {
    case IMPORT_PERF_DATA:
        return import_perf_data(file, options, p, err);
    case IMPORT_PERF_SCRIPT:
        return import_perf_script(file, p, err);
    case IMPORT_FOLDED:
        return import_folded(file, p, err);
    case IMPORT_PPROF:
        return import_pprof(file, p, err);
    case IMPORT_SPEEDSCOPE:
        return import_speedscope(file, p, err);
    case IMPORT_FIREFOX:
        return import_firefox(file, p, err);
    case IMPORT_CALLGRIND:
        return import_callgrind(file, p, err);
    default:
        error_set(err, ERROR_FORMAT, "not a recording of a known format");
        return error_hint(err,
                          "assay reads its own .assay files, perf.data, perf script text, folded "
                          "stacks, pprof, speedscope, Firefox profiles and callgrind");
    }
}

bool import_bytes(Bytes file, const ImportOptions *options, Profile *p, ImportFormat *format,
                  Error *err)
{
    Arena unpacked = {0};
    *format = import_format(file);
    bool ok = *format != IMPORT_GZIP || gzip_unpack(&unpacked, file, &file, err);
    if (ok && *format == IMPORT_GZIP) {
        *format = import_format(file);
        // A pprof file may begin with any of its parts, and is the usual one in gzip.
        if (*format == IMPORT_UNKNOWN)
            *format = IMPORT_PPROF;
    }
    ok = ok && read_plain(file, options, *format, p, err);
    arena_deinit(&unpacked);
    return ok;
}
