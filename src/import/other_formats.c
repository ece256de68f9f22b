// SPDX-License-Identifier: Apache-2.0
// Formats that are known and not read: the message names each, and a command that converts it to a
// format that assay reads.

#include "import/other_formats_internal.h"

typedef struct OtherFormat {
    const char *name;
    const char *begin; // the first bytes, or
    size_t begin_len;
    const char *within; // a text in the beginning
    const char *hint;
} OtherFormat;

#define BEGINS(text) (text), sizeof(text) - 1, NULL
#define HOLDS(text)  NULL, 0, (text)

static const OtherFormat formats[] = {
    {"a trace of trace-cmd", BEGINS("\x17\x08\x44tracing"), "use: perf script or trace-cmd report"},
    {"packed by lz4", BEGINS("\x04\x22\x4d\x18"), "unpack it: lz4 -dc FILE | assay report -"},
    {"a zip archive", BEGINS("PK\3\4"), "unpack it first: unzip FILE"},
    {"a program",
     BEGINS("\x7f"
            "ELF"),
     "record it: assay record -- ./PROGRAM"},
    {"a SQLite database", BEGINS("SQLite format 3"), "ask it with: sqlite3 FILE"},
    {"Parquet", BEGINS("PAR1"), "ask it with: duckdb -c \"SELECT … FROM 'FILE'\""},
    {"a recording of Hotspot's perfparser", BEGINS("QPERFSTREAM"),
     "give the perf.data that it was made from"},
    {"V8's log", BEGINS("v8-version,"), "record a .cpuprofile instead: node --cpu-prof SCRIPT"},
    {"a counter file of coverage", BEGINS("\x81rforpl\xff"),
     "use: assay cover report PROGRAM FILE"},
    {"a counter file of coverage", BEGINS("\xfflprofr\x81"),
     "use: assay cover report PROGRAM FILE"},
    {"V8's log as JSON", HOLDS("\"type\": \"SHARED_LIB\""),
     "record a .cpuprofile instead: node --cpu-prof SCRIPT"},
    {"a coverage profile", BEGINS("\xfflprofi\x81"), "use: assay cover report PROGRAM FILE"},
    {"lcov's tracefile", BEGINS("TN:"), "use: assay cover report FILE"},
    {"lcov's tracefile", BEGINS("SF:"), "use: assay cover report FILE"},
    {"Go's counts of lines", BEGINS("mode: "), "use: assay cover report FILE"},
    {"gcc's counts of lines", BEGINS("adcg"), "use: assay cover report FOLDER"},
    {"gcc's notes of lines", BEGINS("oncg"), "use: assay cover report FOLDER"},
    {"an execution trace of Go", BEGINS("go 1."),
     "take a profile out of it: go tool trace -pprof=sched FILE >sched.pprof"},
    {"an event trace of .NET", BEGINS("Nettrace"),
     "convert it: dotnet-trace convert --format speedscope FILE"},
    {"simpleperf's report", BEGINS("SIMPLEPERF"), "give the perf.data that it was made from"},
    {"text in UTF-16", BEGINS("\xff\xfe"),
     "convert it: iconv -f UTF-16 -t UTF-8 FILE | assay report -"},
    {"text in UTF-16", BEGINS("\xfe\xff"),
     "convert it: iconv -f UTF-16 -t UTF-8 FILE | assay report -"},
    {"a text of the kernel's tracer", BEGINS("# tracer: "),
     "record the events themselves: assay record -e SYSTEM:EVENT"},
    {"the text of perf report", HOLDS("# To display the perf.data header info"),
     "give the perf.data that it was made from"},
    {"GHC's profile", HOLDS("Time and Allocation Profiling Report"),
     "convert it: inferno-collapse-ghcprof FILE | assay report -"},
    {"a heap profile of V8", HOLDS("\"selfSize\""), "open it in Chrome's DevTools"},
    {"a list of gperftools' threads", BEGINS("--- threadz "),
     "convert it: pprof -proto FILE >FILE.pb.gz"},
    {"a heap profile of Java in pprof's old form", BEGINS("--- heapz 1 ---\nformat = java"),
     "convert it: pprof -proto FILE >FILE.pb.gz"},
    {"goroutines with the text of their states", BEGINS("goroutine "), "get them with ?debug=1"},
    {"a document of assay without a recording", HOLDS("\"assay-"),
     "write the recording itself: assay export -f json"},
};

// ---- Fields of tracepoints ---------------------------------------------------------------

// "8", or "8,1" as the numbers of a device.
static bool is_number(Str word)
{
    bool has_digit = false;
    for (size_t i = 0; i < word.len; i++) {
        bool digit = word.ptr[i] >= '0' && word.ptr[i] <= '9';
        if (!digit && !(word.ptr[i] == ',' && has_digit))
            return false;
        has_digit = true;
    }
    return has_digit;
}

static bool is_name(Str word)
{
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i && c >= '0' && c <= '9'))
            return false;
    }
    return word.len != 0;
}

static bool is_hex(Str word)
{
    uint64_t value;
    return str_starts_with(word, STR("0x")) &&
           str_parse_u64(str_slice(word, 2, word.len), 16, &value);
}

// "prev_pid=5". No name of a function: those of C++ have "operator==".
static bool is_pair(Str word)
{
    Str name, value;
    return str_split(word, '=', &name, &value) && is_name(name) && value.len && value.ptr[0] != '=';
}

// "(401136)", as probes begin their fields.
static bool is_place(Str word)
{
    uint64_t value;
    return word.len > 5 && word.ptr[0] == '(' && word.ptr[word.len - 1] == ')' &&
           str_parse_u64(str_slice(word, 1, word.len - 1), 16, &value);
}

typedef struct TraceWords {
    unsigned pairs;
    bool is_counted;  // "NR 0 = 832", "dev 8,1 ino 12 … ret 4"
    bool is_declared; // "fd: 0x3", "(401136)", a value alone: "0x340"
} TraceWords;

static TraceWords trace_words(Str line)
{
    TraceWords t = {0};
    Str word, before = {0};
    while (str_next_part(&line, ' ', &word)) {
        if (word.len == 0)
            continue;
        t.pairs += is_pair(word);
        t.is_counted |= (str_equal(before, STR("NR")) || str_equal(before, STR("dev"))) &&
                        is_number(word) && line.len;
        bool is_declared = before.len > 1 && before.ptr[before.len - 1] == ':' &&
                           is_name(str_slice(before, 0, before.len - 1)) &&
                           str_starts_with(word, STR("0x"));
        t.is_declared |= is_declared || is_place(word) || (is_hex(word) && line.len == 0);
        before = word;
    }
    return t;
}

bool trace_fields_alone(Str text, bool like_counts)
{
    enum { LINES_MAX = 64 };
    bool is_sure = false, is_whole = str_ends_with(text, STR("\n"));
    size_t lines = 0;
    for (Str line; lines < LINES_MAX && str_next_line(&text, &line);) {
        bool is_frame = line.len && line.ptr[0] == '\t';
        line = str_trim(line);
        if (line.len == 0 || is_frame)
            continue;
        if (text.len == 0 && lines && !is_whole) // the last line is cut
            break;
        TraceWords t = trace_words(line);
        if (!t.is_counted && (like_counts || !(t.pairs || t.is_declared)))
            return false;
        is_sure |= t.is_counted || t.is_declared || t.pairs > 1;
        lines++;
    }
    return is_sure;
}

// ---- The table -----------------------------------------------------------------------------

static bool is_of(const OtherFormat *f, Bytes head)
{
    if (f->begin)
        return head.len >= f->begin_len && memcmp(head.ptr, f->begin, f->begin_len) == 0;
    return str_find(str_from_bytes(bytes_slice(head, 0, 64 << 10)), str_from_c(f->within)) !=
           SIZE_MAX;
}

bool other_format_is_known(Bytes head, Error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        if (!is_of(&formats[i], head))
            continue;
        (void)error_set(err, ERROR_UNSUPPORTED, "this is %s, which assay does not read",
                        formats[i].name);
        (void)error_hint(err, "%s", formats[i].hint);
        return true;
    }
    if (!trace_fields_alone(str_from_bytes(bytes_slice(head, 0, 64 << 10)), false))
        return false;
    (void)error_set(err, ERROR_UNSUPPORTED,
                    "this looks like perf script's field 'trace' without the field 'event': assay "
                    "cannot read it");
    (void)error_hint(err, TRACE_FIELDS_HINT);
    return true;
}
