// SPDX-License-Identifier: Apache-2.0
// HotSpot, the Java virtual machine of OpenJDK: which method a piece of its generated code belongs
// to, and where that code's caller is. The machine describes its own data, for debuggers: tables of
// types, fields and their offsets, at the symbols gHotSpotVMStructs and gHotSpotVMTypes of
// libjvm.so (src/hotspot/share/runtime/vmStructs.hpp of OpenJDK). Versions 8 to 25.

#ifndef RUNTIMES_HOTSPOT_H
#define RUNTIMES_HOTSPOT_H

#include "runtimes/process_memory.h"

// Fields of HotSpot's types, by the names that the machine gives them.
typedef enum HotspotField {
    HOTSPOT_CODE_CACHE_HEAPS,
    HOTSPOT_CODE_CACHE_HEAP, // of Java 8, which has one
    HOTSPOT_ARRAY_LENGTH,
    HOTSPOT_ARRAY_DATA,
    HOTSPOT_HEAP_MEMORY,
    HOTSPOT_HEAP_SEGMENTS,
    HOTSPOT_HEAP_SEGMENT_SHIFT,
    HOTSPOT_SPACE_LOW,
    HOTSPOT_SPACE_HIGH,
    HOTSPOT_BLOCK_USED,
    HOTSPOT_BLOB_NAME,
    HOTSPOT_BLOB_SIZE,
    HOTSPOT_BLOB_FRAME_COMPLETE,
    HOTSPOT_BLOB_FRAME_SIZE,
    HOTSPOT_BLOB_CODE_BEGIN,
    HOTSPOT_BLOB_CODE_OFFSET,
    HOTSPOT_NMETHOD_METHOD,
    HOTSPOT_METHOD_CONST,
    HOTSPOT_CONST_CONSTANTS,
    HOTSPOT_CONST_NAME_INDEX,
    HOTSPOT_POOL_HOLDER,
    HOTSPOT_POOL_SOURCE_INDEX,
    HOTSPOT_POOL_LENGTH,
    HOTSPOT_KLASS_NAME,
    HOTSPOT_SYMBOL_LENGTH,
    HOTSPOT_SYMBOL_BODY,
    HOTSPOT_FIELD_COUNT
} HotspotField;

typedef struct HotspotFieldPlace {
    uint64_t offset; // of a static field its address
    uint8_t size;    // bytes; 0: this version has no such field
} HotspotFieldPlace;

typedef struct Hotspot {
    HotspotFieldPlace field[HOTSPOT_FIELD_COUNT];
    uint64_t block_size; // of the header before each piece of code
    uint64_t pool_size;  // of a ConstantPool, behind which its entries lie
} Hotspot;

typedef enum HotspotKind {
    HOTSPOT_COMPILED,    // a method, compiled
    HOTSPOT_INTERPRETER, // code of the interpreter; its frames name the method
    HOTSPOT_STUB         // code that the machine made for itself
} HotspotKind;

// A piece of generated code.
typedef struct HotspotCode {
    HotspotKind kind;
    uint64_t start, end;     // of its machine code
    uint64_t frame_complete; // address from which on its frame is made
    uint32_t frame_words;    // size of the frame with the return address; 0: not known
    uint64_t method;         // of compiled code; 0: none
    char name[64];           // the name of a stub, such as "StubRoutines"
} HotspotCode;

// Reads the tables of the libjvm.so that is mapped with `bias`. False when they are not there, or
// not yet.
bool hotspot_open(const Elf *libjvm, uint64_t bias, const ProcessMemory *m, Hotspot *ret);
// Finds the code at `pc`. False when there is none, or it is being changed.
bool hotspot_code_find(const Hotspot *h, const ProcessMemory *m, uint64_t pc, HotspotCode *ret);
// Appends "package.Class.method"; `file` gets the name of the source, "" where it is not known.
// False for anything that is no method.
bool hotspot_method_name(const Hotspot *h, const ProcessMemory *m, uint64_t method, StrBuf *name,
                         StrBuf *file);

// Where a frame of compiled code keeps the state of its caller.
typedef struct HotspotFrame {
    uint64_t cfa_words; // from sp to the caller's sp; the return address lies one word below
    bool saves_fp;      // the caller's frame pointer lies two words below
} HotspotFrame;

// The frame at `pc` in `code`. `exact`: the program was interrupted there, perhaps before the frame
// was made, or after it was removed; else it is a return address. False when it is not known, or
// the code cannot be read.
bool hotspot_frame(const HotspotCode *code, const ProcessMemory *m, uint64_t pc, bool exact,
                   HotspotFrame *ret);

// Offsets from the frame pointer of an interpreted frame, in bytes (frame_x86.hpp).
enum { HOTSPOT_INTERPRETED_SENDER_SP = -8, HOTSPOT_INTERPRETED_METHOD = -24 };

#endif // RUNTIMES_HOTSPOT_H
