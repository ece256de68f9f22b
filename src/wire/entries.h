// SPDX-License-Identifier: Apache-2.0
// Functions of the observed program at whose entry the agent puts a jump: allocators that are
// linked into it, and the program's own (--alloc-fn). The collector reads the program's file, and
// says in the file WIRE_ENTRIES_FILE of the session's folder what to write; the agent finds the
// place in memory.

#ifndef WIRE_ENTRIES_H
#define WIRE_ENTRIES_H

#include "base/defs.h"

enum {
    WIRE_ENTRIES_MAX = 96,
    WIRE_ENTRY_JUMP = 5,   // bytes of the jump that is written
    WIRE_ENTRY_MOVED = 20, // at most so many bytes have to make room for it
    WIRE_ENTRY_CODE = 40,  // at most so many they are at another place
    WIRE_ENTRY_FIXES = 5,  // of these, parts that depend on the place
    WIRE_ENTRY_NAME = 96,  // of the function, with its NUL
    WIRE_ENTRY_ARGS = 6,   // numbers of arguments count from 1
};

#define WIRE_ENTRIES_MAGIC 0x7274656579617361ull // "asayeetr"
#define WIRE_ENTRIES_FILE  "entries"

typedef enum WireEntryKind {
    WIRE_ENTRY_ALLOC,   // gives out a block
    WIRE_ENTRY_FREE,    // takes one back
    WIRE_ENTRY_REALLOC, // both
    WIRE_ENTRY_POSIX,   // stores the block where its first argument points to; 0: done
} WireEntryKind;

// 4 bytes at `at` of the moved code that hold the distance from `end` to a target.
typedef struct WireFix {
    uint8_t at, end;
    int64_t target; // from the entry on
} WireFix;

typedef struct WireEntry {
    uint64_t offset; // of the entry, in the file
    uint8_t kind;    // WireEntryKind
    // Numbers of the arguments that say how large the block is: their product; 0: none.
    uint8_t size_arg, count_arg;
    uint8_t block_arg; // the block to free
    uint8_t moved;     // bytes at the entry that the jump destroys, whole instructions
    uint8_t code_size;
    uint8_t fix_count;
    uint8_t before[WIRE_ENTRY_MOVED]; // what is there
    uint8_t code[WIRE_ENTRY_CODE];    // does the same elsewhere
    WireFix fix[WIRE_ENTRY_FIXES];
} WireEntry;

typedef struct WireEntries {
    uint64_t magic;
    uint32_t version; // WIRE_VERSION
    uint32_t count;
    uint64_t inode; // of the program's file
    WireEntry at[WIRE_ENTRIES_MAX];
} WireEntries;

#endif // WIRE_ENTRIES_H
