// SPDX-License-Identifier: Apache-2.0
// The lines with which the samples of perf script's text begin.

#ifndef IMPORT_PERF_SCRIPT_HEADER_INTERNAL_H
#define IMPORT_PERF_SCRIPT_HEADER_INTERNAL_H

#include "base/error.h"
#include "base/str.h"

enum { SCRIPT_HEAD_BYTES = 64 << 10 }; // the part of a text in which its form is looked for

// The fields that a line holds, by the names of perf script's -F.
enum {
    SCRIPT_COMM = 1 << 0,
    SCRIPT_IDS = 1 << 1, // pid, tid or both
    SCRIPT_CPU = 1 << 2,
    SCRIPT_MISC = 1 << 3,
    SCRIPT_TIME = 1 << 4,
    SCRIPT_PERIOD = 1 << 5,
    SCRIPT_EVENT = 1 << 6,
    SCRIPT_PLACE = 1 << 7, // ip, sym, dso behind the fields above: no stack follows
    SCRIPT_ADDR = 1 << 8,  // the address of the data, which is not imported
    SCRIPT_RECORD = 1 << 9 // not a sample but another record, such as PERF_RECORD_MMAP2
};

typedef struct ScriptHeader {
    unsigned fields;   // SCRIPT_*
    Str comm;          // "" without SCRIPT_COMM
    uint32_t pid, tid; // 0 without SCRIPT_IDS; equal when the text has only one of them
    uint32_t cpu;      // UINT32_MAX without SCRIPT_CPU
    int64_t time_ns;   // INT64_MIN without SCRIPT_TIME
    uint64_t period;   // 1 without SCRIPT_PERIOD
    Str event;         // "" without SCRIPT_EVENT
    Str place;         // "address symbol+0xoffset (object)" with SCRIPT_PLACE
} ScriptHeader;

// Properties of all lines of a text.
typedef struct ScriptForm {
    bool has_comm;
    // Lines have neither time, event, CPU nor pid/tid: they are known by their columns alone.
    bool is_weak;
    unsigned weak_fields; // the fields of each line then
    bool has_tab_frames;  // frames begin with a tab, as perf writes them
    bool has_places;      // SCRIPT_PLACE: there are no stacks
    bool has_objects;     // frames end in "(object)"
    bool is_anonymous;    // samples begin with an empty line
} ScriptForm;

// Finds the form from the beginning of a text. False when it is not perf script's; `err` (may be
// NULL) then says which field is not read, if one is the reason, else its kind is ERROR_NOT_FOUND.
bool script_form_find(Str head, ScriptForm *ret, Error *err);

// Reads the line that begins a sample, unchanged, with the spaces in front of it.
bool script_header_parse(const ScriptForm *form, Str line, ScriptHeader *ret);

// Whether a line may follow a sample and holds nothing that is imported: registers,
// branches, instructions, the text of a source line.
bool script_is_passed_over(Str line);

// Splits "symbol+0x12 (object)"; false when there is no object.
bool script_split_object(Str text, Str *symbol, Str *object);

// Whether an event is a tracepoint, "system:name", each occurrence of which counts 1.
bool script_is_tracepoint(Str event);

#endif // IMPORT_PERF_SCRIPT_HEADER_INTERNAL_H
