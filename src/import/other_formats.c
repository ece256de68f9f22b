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
    {"V8's log", BEGINS("v8-version,"), "convert it: node --prof-process --preprocess FILE"},
    {"a counter file of coverage", BEGINS("\x81rforpl\xff"),
     "use: assay cover report PROGRAM FILE"},
    {"a counter file of coverage", BEGINS("\xfflprofr\x81"),
     "use: assay cover report PROGRAM FILE"},
    {"a coverage profile", BEGINS("\xfflprofi\x81"), "use: assay cover report PROGRAM FILE"},
    {"lcov's tracefile", BEGINS("TN:"), "use: assay cover report FILE"},
    {"goroutines with the text of their states", BEGINS("goroutine "), "get them with ?debug=1"},
    {"a document of assay without a recording", HOLDS("\"assay-"),
     "write the recording itself: assay export -f json"},
};

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
        (void)error_set(err, ERROR_UNSUPPORTED, "this is %s, which is not read", formats[i].name);
        (void)error_hint(err, "%s", formats[i].hint);
        return true;
    }
    return false;
}
