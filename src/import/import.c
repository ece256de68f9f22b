// SPDX-License-Identifier: Apache-2.0
// The table of formats: how each is recognised by its first bytes, and who reads it.

#include "import/import.h"

#include "base/strbuf.h"
#include "import/gzip_internal.h"
#include "perfdata/perfdata.h"

// "… 12" at the end of its line, as folded stacks have it.
static bool ends_in_count(Str line)
{
    size_t space = str_find_last_char(line, ' ');
    double count;
    return space != SIZE_MAX && space > 0 &&
           str_parse_double(str_slice(line, space + 1, line.len), &count) && count >= 0;
}

static bool contains(Str text, const char *part)
{
    return str_find(text, str_from_c(part)) != SIZE_MAX;
}

static Str beginning(Bytes head)
{
    return str_from_bytes(bytes_slice(head, 0, 64 << 10));
}

static bool is_json(Str text)
{
    return str_starts_with(str_trim(text), STR("{"));
}

// The beginning of a text that is not JSON; empty otherwise.
static Str plain_text(Bytes head)
{
    Str text = beginning(head);
    return is_json(text) ? (Str){0} : text;
}

static bool is_firefox(Bytes head)
{
    Str text = beginning(head);
    return is_json(text) && (contains(text, "\"preprocessedProfileVersion\"") ||
                             contains(text, "\"stackTable\"") || contains(text, "\"meta\""));
}

static bool is_speedscope(Bytes head)
{
    Str text = beginning(head);
    if (!is_json(text))
        return false;
    if (contains(text, "speedscope") || contains(text, "\"activeProfileIndex\""))
        return true;
    return !is_firefox(head) && (contains(text, "\"profiles\"") || contains(text, "\"frames\""));
}

// Its mark, or its first lines: "version: 1", "creator: callgrind-3.19".
static bool is_callgrind(Bytes head)
{
    Str text = plain_text(head);
    if (str_starts_with(text, STR("# callgrind format")))
        return true;
    Str line;
    for (unsigned i = 0; i < 100 && str_next_line(&text, &line); i++)
        if (str_starts_with(line, STR("events:")))
            return true;
    return false;
}

// The first line that says something, without the spaces around it; empty when there is none or
// when it is not text.
static Str first_line(Bytes head)
{
    Str text = plain_text(head), line;
    while (str_next_line(&text, &line)) {
        Str trimmed = str_trim(line);
        if (trimmed.len && trimmed.ptr[0] != '#')
            return memchr(line.ptr, '\0', line.len) ? (Str){0} : trimmed;
    }
    return (Str){0};
}

// A header of perf script ends in "event:"; the frames below it are indented.
static bool is_perf_script(Bytes head)
{
    return str_ends_with(first_line(head), STR(":"));
}

static bool is_folded(Bytes head)
{
    return ends_in_count(first_line(head));
}

// A plain profile.proto begins with its first sample type, a short message of
// two small numbers.
static bool is_pprof(Bytes head)
{
    return head.len > 4 && head.ptr[0] == 0x0a && head.ptr[1] >= 2 && head.ptr[1] <= 12 &&
           head.ptr[2] == 0x08 && head.ptr[3] < 0x80;
}

// Formats that a mark tells stand before those that are guessed from a line of text.
const ImportFormat import_formats[] = {
    {"perf.data", "perf record", perfdata_is, NULL, .read_with_files = import_perf_data},
    {"pprof", "Go, gperftools, Pyroscope, Parca", is_pprof, import_pprof, NULL},
    {"speedscope", "speedscope, py-spy, rbspy", is_speedscope, import_speedscope, NULL},
    {"Firefox profile", "the Firefox Profiler, samply", is_firefox, import_firefox, NULL},
    {"callgrind", "valgrind --tool=callgrind", is_callgrind, import_callgrind, NULL},
    {"perf script", "perf script (text)", is_perf_script, import_perf_script, NULL},
    {"folded stacks", "stackcollapse scripts, inferno, async-profiler", is_folded, import_folded,
     NULL},
};
const size_t import_format_count = ARRAY_LEN(import_formats);

static const ImportFormat *format_find(Bytes head)
{
    for (size_t i = 0; i < import_format_count; i++)
        if (import_formats[i].is(head))
            return &import_formats[i];
    return NULL;
}

bool import_is_known(Bytes head)
{
    return gzip_is(head) || format_find(head);
}

static bool unknown_format(Error *err)
{
    StrBuf names = {0};
    for (size_t i = 0; i < import_format_count; i++)
        strbuf_printf(&names, "%s%s", i ? ", " : "", import_formats[i].name);
    error_set(err, ERROR_FORMAT, "not a recording of a known format");
    error_hint(err, "assay reads its own .assay files, and: %" STR_FMT,
               STR_ARG(strbuf_str(&names)));
    strbuf_deinit(&names);
    return false;
}

// gzip holds one of the other formats. A pprof file may begin with any of its parts, and it is
// the usual file in gzip: what is not known there is read as pprof.
static const ImportFormat *format_in_gzip(Bytes unpacked)
{
    const ImportFormat *known = format_find(unpacked);
    for (size_t i = 0; !known; i++)
        if (import_formats[i].read == import_pprof)
            known = &import_formats[i];
    return known;
}

bool import_bytes(Bytes file, const ImportOptions *options, Profile *p, const ImportFormat **format,
                  Error *err)
{
    Arena unpacked = {0};
    size_t input_bytes = file.len;
    bool ok = true;
    *format = NULL;
    if (gzip_is(file)) {
        ok = gzip_unpack(&unpacked, file, &file, err);
        *format = ok ? format_in_gzip(file) : NULL;
    } else {
        *format = format_find(file);
        ok = *format || unknown_format(err);
    }
    const ImportFormat *f = *format;
    if (ok && f->read == import_pprof)
        ok = import_pprof_unpacked(file, input_bytes, p, err);
    else
        ok = ok && (f->read ? f->read(file, p, err) : f->read_with_files(file, options, p, err));
    arena_deinit(&unpacked);
    return ok;
}
