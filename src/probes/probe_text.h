// SPDX-License-Identifier: Apache-2.0
// The words of a probe: what stands behind -e when the event is a place in a program.
//   ./prog:parse   libc.so.6:malloc size=%di   parse%return $retval   prog:main.c:42 len
//   parse+4   0x1234   sdt_libc:setjmp   './prog:handle_*'

#ifndef PROBES_PROBE_TEXT_H
#define PROBES_PROBE_TEXT_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

typedef enum ProbeKind {
    PROBE_FUNCTION, // by name, which may have wildcards
    PROBE_LINE,     // file and line
    PROBE_ADDRESS,  // as stated in the file
    PROBE_USDT      // provider and name of a marker
} ProbeKind;

typedef struct ProbeText {
    ProbeKind kind;
    Str target; // file, library or program; "": the program that runs
    Str name;   // function, marker, or the source file of a line
    Str provider;
    uint64_t offset; // from the function's first byte
    uint32_t line;
    uint64_t address;
    bool is_return;
    Str point;   // everything in front of the arguments, as written
    StrVec args; // as written
} ProbeText;

// Whether a text behind -e is meant as a probe rather than as an event of perf. `program` is the
// file that runs, "" when there is none.
//
// probe_libc:malloc is an event of the kernel while a probe that perf made has this name; `tracefs`
// is the folder to look in ("": not mounted). Otherwise it means the function malloc of libc.
// ":parse" is always a function of the program.
bool probe_text_is(Str text, Str program, Str tracefs);

// Parses one probe. The parts borrow `text`.
MUST_CHECK bool probe_text_parse(Arena *arena, Str text, ProbeText *ret, Error *err);

#endif // PROBES_PROBE_TEXT_H
