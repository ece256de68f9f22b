// SPDX-License-Identifier: Apache-2.0
// The file that is probed: finding it by the words that users write, and its functions.

#ifndef PROBES_PROBE_OBJECT_H
#define PROBES_PROBE_OBJECT_H

#include "os/event.h"
#include "symbolise/module_symbols.h"

// What runs, so that a probe without a file, or with the name of a library, is found.
typedef struct ProbeContext {
    Str program;        // the file of the command; "": none
    const U32Vec *pids; // processes that are observed; NULL: none
    Str library_path;   // $LD_LIBRARY_PATH
    Str tracefs;        // where the kernel's own events are; "": not mounted
    const DebugSearch *debug;
    bool names_each; // events of a pattern have the names of the functions, not that of the pattern
    StrVec *notes;   // what the user should know, appended; in the arena of probes_find
} ProbeContext;

typedef struct ProbeObject {
    Str path; // as it is opened
    SymboliseFiles access;
    MappedFile file;
    ModuleSymbols symbols;
} ProbeObject;

// Finds and opens the object that a probe's target names. The errors say why its functions cannot
// be found: no such file, not an ELF object of 64 bits, a script.
MUST_CHECK bool probe_object_open(Arena *arena, const ProbeContext *context, Str target,
                                  ProbeObject *ret, Error *err);
void probe_object_close(ProbeObject *o);

typedef struct ProbeFunction {
    Str name;            // for people: demangled
    uint64_t start, end; // stated in the file; equal when the size is not known
    bool is_cold;        // the seldom part of a function, which jumps there ("parse.cold")
    bool is_chooser;     // it runs once and chooses the function that the name stands for (IFUNC)
} ProbeFunction;
typedef Vec(ProbeFunction) ProbeFunctions;

// Appends the functions whose name fits: the linkage name, or the demangled name with or without
// its arguments and templates, or its last parts. `name` may have the wildcards * and ?. Each
// address once, ascending.
void probe_object_functions(Arena *arena, const ProbeObject *o, Str name, ProbeFunctions *ret);

// Whether a function's linkage name, or plain name, is what the user wrote; see above.
bool probe_name_fits(Str name, Str wanted);

// Sets the error for a name that no function has: the nearest names, or that the file is stripped.
// Always false.
bool probe_object_unknown(Arena *arena, const ProbeObject *o, Str name, Error *err);

// The names of the libraries that the object needs, as it states them (DT_NEEDED). They lie in the
// arena.
void probe_object_libraries(Arena *arena, const ProbeObject *o, StrVec *ret);

// The offset in the file of a stated address. False when the file does not hold it.
bool probe_object_offset(const ProbeObject *o, uint64_t svma, uint64_t *ret);

// Whether the kernel carries out the instruction at an address itself: pushes of registers, nops,
// direct jumps and calls (arch/x86/kernel/uprobes.c). It single-steps all others, which costs
// several times as much where a hypervisor takes part in it.
bool probe_object_is_emulated(const ProbeObject *o, uint64_t svma);

#endif // PROBES_PROBE_OBJECT_H
