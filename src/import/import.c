// SPDX-License-Identifier: Apache-2.0
// The table of formats: how each is recognised by its first bytes, and who reads it.

#include "import/import.h"

#include "base/decoded.h"
#include "base/strbuf.h"
#include "import/chrome_trace_internal.h"
#include "import/flight_recording_internal.h"
#include "import/gperftools_internal.h"
#include "import/heap/heap_files.h"
#include "import/legacy_pprof_internal.h"
#include "import/other_formats_internal.h"
#include "import/otlp_internal.h"
#include "import/own_json_internal.h"
#include "import/packed_internal.h"
#include "import/perf_script_header_internal.h"
#include "import/stackprof_internal.h"
#include "import/stacks/ruby_marshal.h"
#include "import/stacks/stacks.h"
#include "jfr/jfr.h"
#include "os/memory_limit.h"
#include "perfdata/perfdata.h"

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

// Whether it begins with characters that no text has.
static bool is_binary(Str text)
{
    enum { LOOK = 256 };
    for (size_t i = 0; i < MIN(text.len, (size_t)LOOK); i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c < 0x20 && (c < '\t' || c > '\r') && c != 0x1b)
            return true;
    }
    return false;
}

// The beginning of a text that is not JSON; empty otherwise.
static Str plain_text(Bytes head)
{
    Str text = beginning(head);
    return is_json(text) || is_binary(text) ? (Str){0} : text;
}

// Lists of Firefox's developer tools before a profile, whose "meta" may come later than the head.
static bool is_of_developer_tools(Str text)
{
    return contains(text, "\"ticks\"") && contains(text, "\"allocations\"") &&
           contains(text, "\"profile\"");
}

static bool is_firefox(Bytes head)
{
    Str text = beginning(head);
    return is_json(text) &&
           (contains(text, "\"preprocessedProfileVersion\"") || contains(text, "\"stackTable\"") ||
            contains(text, "\"meta\"") || is_of_developer_tools(text));
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

// An object with events, or a list of them.
static bool is_chrome_trace(Bytes head)
{
    Str text = beginning(head);
    if (str_starts_with(str_trim(text), STR("[")))
        return contains(text, "\"ph\"") && contains(text, "\"pid\"");
    return is_json(text) && contains(text, "\"traceEvents\"");
}

// Nodes with a call frame, or the nested tree of old files.
static bool is_cpuprofile(Bytes head)
{
    Str text = beginning(head);
    return is_json(text) && ((contains(text, "\"nodes\"") && contains(text, "\"callFrame\"")) ||
                             (contains(text, "\"head\"") && contains(text, "\"hitCount\"")));
}

// JSON, or the dump that StackProf.run writes.
static bool is_stackprof(Bytes head)
{
    if (ruby_marshal_is(head) && head.len > 2 && head.ptr[2] == '{')
        return true;
    Str text = beginning(head);
    return is_json(text) && contains(text, "\"mode\"") && contains(text, "\"interval\"") &&
           contains(text, "\"missed_samples\"");
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

// The text of the kernel's tracer, whose lines resemble perf script's and folded stacks.
static bool is_kernel_trace(Str text)
{
    return str_starts_with(text, STR("# tracer: "));
}

// The text of perf script, also such that has a field which is not read: the reader names it.
static bool is_perf_script(Bytes head)
{
    ScriptForm form;
    Error err = {0};
    Str text = plain_text(head);
    return text.len && !is_kernel_trace(text) &&
           (script_form_find(text, &form, &err) || err.kind == ERROR_FORMAT);
}

static bool is_folded(Bytes head)
{
    // A first line may be longer than what is looked at of others.
    Str text = beginning(head);
    if (text.len && str_find_char(text, '\n') == SIZE_MAX && str_find_char(text, ';') != SIZE_MAX) {
        Str rest = str_from_bytes(head), line;
        return str_next_line(&rest, &line) && folded_is(bytes_from_str(line));
    }
    return !is_json(text) && !is_kernel_trace(text) && folded_is(bytes_from_str(text)) &&
           !trace_fields_alone(text, true);
}

// A plain profile.proto begins with its first sample type, a short message of two small numbers, or
// with any other of its parts.
static bool is_pprof(Bytes head)
{
    return (head.len > 4 && head.ptr[0] == 0x0a && head.ptr[1] >= 2 && head.ptr[1] <= 12 &&
            head.ptr[2] == 0x08 && head.ptr[3] < 0x80) ||
           pprof_is(head, true);
}

// Formats that a mark tells stand before those that are guessed from a line of text.
const ImportFormat import_formats[] = {
    {"perf.data", "perf record", perfdata_is, .read_with_files = import_perf_data},
    {"assay's JSON", "assay export -f json", own_json_is, .read_counted = import_own_json},
    {"OTLP", "OpenTelemetry profiles", otlp_is, .read_counted = import_otlp},
    {"pprof", "Go, pprof -proto, Pyroscope, Parca", is_pprof, .read_counted = import_pprof},
    {"gperftools", "gperftools: CPUPROFILE=FILE", gperftools_is,
     .read_with_files = import_gperftools},
    {"pprof's text", "gperftools: HEAPPROFILE=FILE, Go: /debug/pprof/heap?debug=1", legacy_pprof_is,
     .read_with_files = import_legacy_pprof},
    {"Java Flight Recording", "java -XX:StartFlightRecording, async-profiler", jfr_is,
     .read = import_flight_recording},
    {"DHAT", "valgrind --tool=dhat, dhat-rs", dhat_is, .read = import_dhat},
    {"massif", "valgrind --tool=massif", massif_is, .read = import_massif},
    {"heaptrack", "heaptrack", heaptrack_is, .read = import_heaptrack},
    {"Chrome trace", "Chrome DevTools, chrome://tracing", is_chrome_trace,
     .read = import_chrome_trace},
    {"cpuprofile", "node --cpu-prof, Chrome DevTools", is_cpuprofile, .read = import_cpuprofile},
    {"sample", "sample, of macOS", sample_report_is, .read = import_sample_report},
    {"Instruments", "Instruments, of macOS: Deep Copy", instruments_is, .read = import_instruments},
    {"VTune CSV", "vtune -report top-down -format csv", vtune_is, .read = import_vtune},
    {"austin", "austin (text)", austin_is, .read = import_austin},
    {"stackprof", "stackprof of Ruby: its dump, or stackprof --json", is_stackprof,
     .read = import_stackprof},
    {"Safari timelines", "Safari's Web Inspector", safari_is, .read = import_safari},
    {"speedscope", "speedscope, py-spy, rbspy", is_speedscope, .read = import_speedscope},
    {"Firefox profile", "the Firefox Profiler, Firefox, samply, simpleperf", is_firefox,
     .read = import_firefox},
    {"callgrind", "valgrind --tool=callgrind", is_callgrind, .read = import_callgrind},
    {"bpftrace", "bpftrace: @[kstack, ustack] = count()", bpftrace_is, .read = import_bpftrace},
    {"perf script", "perf script (text)", is_perf_script, .read = import_perf_script},
    {"DTrace", "dtrace: @[ustack()] = count()", dtrace_is, .read = import_dtrace},
    {"folded stacks", "stackcollapse scripts, inferno, async-profiler", is_folded,
     .read = import_folded},
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
    return packed_is(head) || format_find(head) || pprof_is(head, false);
}

bool import_unknown_format(Bytes file, Error *err)
{
    if (other_format_is_known(file, err))
        return false;
    StrBuf names = {0};
    for (size_t i = 0; i < import_format_count; i++)
        strbuf_printf(&names, "%s%s", i ? ", " : "", import_formats[i].name);
    error_set(err, ERROR_FORMAT, "not a recording of a known format");
    error_hint(err, "assay reads its own .assay files, and: %" STR_FMT,
               STR_ARG(strbuf_str(&names)));
    strbuf_deinit(&names);
    return false;
}

// Unpacks the file and reads it by its format. Ends the limit where programs are read for names:
// their size has nothing to do with the file's.
static bool unpack_and_read(Bytes file, const ImportOptions *options, MemoryLimit *limit,
                            Profile *p, const ImportFormat **format, Error *err)
{
    Arena unpacked = {0};
    size_t input_bytes = file.len;
    bool ok = true;
    *format = NULL;
    if (packed_is(file))
        ok = packed_unpack(&unpacked, file, &file, err);
    if (ok) {
        *format = format_find(file);
        ok = *format || import_unknown_format(file, err);
    }
    const ImportFormat *f = *format;
    if (ok && f->read_with_files) {
        memory_limit_end(limit);
        ok = f->read_with_files(file, options, p, err);
    } else if (ok) {
        ok = f->read ? f->read(file, p, err) : f->read_counted(file, input_bytes, p, err);
    }
    arena_deinit(&unpacked);
    return ok;
}

bool import_bytes(Bytes file, const ImportOptions *options, Profile *p, const ImportFormat **format,
                  Error *err)
{
    Arena arena = {0};
    MemoryLimit limit = {0};
    if (options && options->limited_name.len) {
        unsigned long long most = decoded_memory_limit(file.len);
        Str message = arena_printf(&arena,
                                   "cannot read '%" STR_FMT "': it takes more than the limit of "
                                   "%llu bytes of memory for an input of %zu (give " DECODED_OPTION
                                   " SIZE to allow three times SIZE)",
                                   STR_ARG(options->limited_name), most, file.len);
        limit = memory_limit_begin(most, message.ptr);
    }
    bool ok = unpack_and_read(file, options, &limit, p, format, err);
    memory_limit_end(&limit);
    arena_deinit(&arena);
    return ok;
}
