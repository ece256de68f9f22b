// SPDX-License-Identifier: Apache-2.0
// The instructions of an annotated function, each with its share and its line.

#ifndef CLI_LOOK_ANNOTATE_CODE_H
#define CLI_LOOK_ANNOTATE_CODE_H

#include "analyse/annotate.h"
#include "cli/recording.h"
#include "disasm/disasm.h"

typedef struct CodeLine {
    DisasmInstruction instruction;
    Str target_name; // of a call or jump: "memcpy", "hot+0x1c"; "" when not known
    Str file;        // as the function itself, not what is inlined there, has it
    uint32_t line;
    Str inlined;    // the innermost inlined function here, "" for none
    uint64_t *self; // [metric]
    uint64_t *total;
} CodeLine;

typedef struct Code {
    Arena arena;
    ModuleSymbols symbols;
    Disasm *disasm;
    Vec(CodeLine) lines; // by address
    Str function;        // linkage name of the symbol
    uint64_t start, end; // stated addresses of the shown code
    uint64_t left_out;   // value of the first metric at addresses of the target elsewhere
} Code;

// Reads the stretch of machine code with most of the target's value from the
// module's file, which must be the one that was recorded. `search` outlives it.
MUST_CHECK bool code_init(Code *c, const Annotation *a, const RecordingSearch *search, Error *err);
// Releases the files that code_init opened.
void code_deinit(Code *c);

#endif // CLI_LOOK_ANNOTATE_CODE_H
