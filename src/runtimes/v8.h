// SPDX-License-Identifier: Apache-2.0
// V8, the JavaScript engine of Node.js: which function a frame belongs to. Programs with V8
// describe their objects for debuggers, by constants of the names v8dbg_*
// (tools/gen-postmortem-metadata.py of V8). Node.js 12 to 24.

#ifndef RUNTIMES_V8_H
#define RUNTIMES_V8_H

#include "runtimes/process_memory.h"

typedef struct V8 V8;

// The constants that are read; V8_NONE where a version has none.
typedef enum V8Constant {
    V8_FP_FUNCTION,
    V8_FP_CONTEXT,
    V8_OBJECT_MAP,
    V8_MAP_TYPE,
    V8_FUNCTION_SHARED,
    V8_SHARED_NAME,
    V8_SHARED_SCRIPT,
    V8_SCRIPT_NAME,
    V8_STRING_LENGTH,
    V8_ONE_BYTE_CHARS,
    V8_TWO_BYTE_CHARS,
    V8_CONS_FIRST,
    V8_CONS_SECOND,
    V8_THIN_ACTUAL,
    V8_TYPE_SHARED,
    V8_TYPE_SCRIPT,
    V8_TYPE_SCOPE_INFO,
    V8_FIRST_NONSTRING,
    V8_REPRESENTATION_MASK,
    V8_ENCODING_MASK,
    V8_ONE_BYTE_TAG,
    V8_SEQ_TAG,
    V8_CONS_TAG,
    V8_THIN_TAG,
    V8_SCOPE_FIRST_VARS,
    V8_SCOPE_LOCALS,
    V8_CONSTANT_COUNT
} V8Constant;

struct V8 {
    int32_t constant[V8_CONSTANT_COUNT];
    uint32_t scope_header; // bytes before the fields of a ScopeInfo
};

// Reads the constants of a program or library. False when it is not V8.
bool v8_open(const Elf *elf, V8 *ret);

// The function of the frame whose frame pointer is `fp`: a tagged pointer that names it as long as
// no collection moves it. `stack` reads the stack. False for frames that are no function's.
bool v8_frame_function(const V8 *v, const ProcessMemory *stack, uint64_t fp, uint64_t *ret);
// Appends the name of a function and that of its script. False when the memory is no function, or
// one that V8 itself brings.
bool v8_function_name(const V8 *v, const ProcessMemory *m, uint64_t function, StrBuf *name,
                      StrBuf *script);

#endif // RUNTIMES_V8_H
