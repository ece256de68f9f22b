// SPDX-License-Identifier: Apache-2.0
// Row numbers and addresses as types of their own, so that mixing them up does
// not compile.

#ifndef MODEL_IDS_H
#define MODEL_IDS_H

#include "base/defs.h"

// Rows of the profile's tables. Strings, functions, modules and stacks keep row
// 0 for "none" (see profile.h); NONE below is for links that may be absent.
typedef struct StrId {
    uint32_t v;
} StrId;
typedef struct ModuleId {
    uint32_t v;
} ModuleId;
typedef struct FunctionId {
    uint32_t v;
} FunctionId;
typedef struct FrameId {
    uint32_t v;
} FrameId;
typedef struct StackId {
    uint32_t v;
} StackId;
typedef struct ProcessId {
    uint32_t v;
} ProcessId;
typedef struct ThreadId {
    uint32_t v;
} ThreadId;
typedef struct MetricId {
    uint32_t v;
} MetricId;
typedef struct RunId {
    uint32_t v;
} RunId;

// An address stated in a file (as in symbol tables and DWARF), an address in a running process, and
// an offset into a file.
typedef struct Svma {
    uint64_t v;
} Svma;
typedef struct Avma {
    uint64_t v;
} Avma;
typedef struct FileOff {
    uint64_t v;
} FileOff;

#endif // MODEL_IDS_H
