// SPDX-License-Identifier: Apache-2.0
// CPython: the Python frames of a thread, their functions and lines. Versions from 3.13 on describe
// their data at _PyRuntime (struct _Py_DebugOffsets, Include/internal/pycore_debug_offsets.h);
// those of 3.8 to 3.12 do not change and stand in a table here.

#ifndef RUNTIMES_PYTHON_H
#define RUNTIMES_PYTHON_H

#include "runtimes/process_memory.h"

// Offsets in bytes. PYTHON_NONE: this version has no such field.
#define PYTHON_NONE UINT16_MAX
typedef struct PythonOffsets {
    uint16_t interpreters;                             // of _PyRuntime: the first interpreter
    uint16_t interpreter_next, threads;                // of an interpreter
    uint16_t thread_next, thread_id, thread_native_id; // of a thread state
    uint16_t thread_frame; // the current frame or, with cframe_frame, the object that holds it
    uint16_t cframe_frame; // there: the current frame
    uint16_t frame_previous, frame_code, frame_instruction;
    uint16_t frame_entry; // a byte: `entry_value` marks the frame with which C code began
    uint16_t code_file, code_name, code_first_line, code_lines, code_bytes;
    uint16_t text_ascii, text_wide; // characters of a text, ASCII or not
} PythonOffsets;

typedef enum PythonEntry {
    PYTHON_ENTRY_EACH,  // each frame is one of C code: until 3.10
    PYTHON_ENTRY_FIRST, // the marked frame is the outermost of its C frame: 3.11
    PYTHON_ENTRY_SHIM   // the marked frame stands for no Python code: from 3.12 on
} PythonEntry;

typedef struct Python {
    unsigned minor; // of version 3.x
    PythonOffsets at;
    PythonEntry entry;
    uint8_t entry_value;
    uint64_t code_mask;            // the bits of a frame's code pointer that are address
    uint64_t runtime;              // address of _PyRuntime
    uint64_t code_type;            // address of PyCode_Type
    uint64_t eval_start, eval_end; // of _PyEval_EvalFrameDefault
} Python;

// A Python frame as it was at one moment.
typedef struct PythonFrame {
    uint64_t code;        // address of its code object
    uint64_t instruction; // that it executes: an address, or, until 3.10, a number
    uint64_t entry;       // the word with the mark of PythonEntry in its lowest byte
} PythonFrame;

enum { PYTHON_FRAMES_MAX = 256 };

// Reads the offsets of the program or library at `path`, which is mapped with `bias`. False when it
// is no CPython, an unknown version, or one without a global lock.
bool python_open(const Elf *elf, Str path, uint64_t bias, const ProcessMemory *m, Python *ret);
// Finds the state of a thread. False when Python does not know the thread.
bool python_thread_find(const Python *p, const ProcessMemory *m, uint32_t tid, uint64_t *ret);
// Whether a state that was found is still that of the thread.
bool python_thread_check(const Python *p, const ProcessMemory *m, uint64_t state, uint32_t tid);
// The frames of a thread, innermost first, at most `max`. Their number, 0 when nothing could be
// read.
uint32_t python_frames(const Python *p, const ProcessMemory *m, uint64_t state, PythonFrame *ret,
                       uint32_t max);

// Whether the mark of a frame says that C code began with it.
bool python_is_entry(const Python *p, const PythonFrame *f);

// The objects to which a code object refers: addresses of its objects, which do not change while it
// lives.
typedef struct PythonCode {
    uint64_t name, file, lines;
    uint32_t first_line;
} PythonCode;

// Reads a code object in one read. False for an address that is none.
bool python_code_read(const Python *p, const ProcessMemory *m, uint64_t code, PythonCode *ret);
// Appends the function's qualified name (until 3.10 its name) and its file. False when they cannot
// be read.
bool python_code_name(const Python *p, const ProcessMemory *m, const PythonCode *code, StrBuf *name,
                      StrBuf *file);
// Appends the table of the code's lines. False when it cannot be read.
bool python_code_lines(const ProcessMemory *m, const PythonCode *code, StrBuf *table);
// The line that a frame of the code executes, by the code's table; 0 when it is not known.
uint32_t python_line(const Python *p, const PythonFrame *f, const PythonCode *code, Bytes table);

// The line at `offset`, in bytes of code, of a table of lines as versions 3.11, 3.10 and older
// write it (PEP 657, PEP 626, Objects/lnotab_notes.txt of CPython). 0: none.
uint32_t python_line_in_table(unsigned minor, Bytes table, uint32_t first_line, uint64_t offset);

#endif // RUNTIMES_PYTHON_H
