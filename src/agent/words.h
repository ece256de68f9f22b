// SPDX-License-Identifier: Apache-2.0
// Reads memory of this process that may not be there: the kernel copies it, and fails where a
// load would be SIGSEGV. process_vm_readv(2) where it is allowed, else /proc/self/mem.

#ifndef AGENT_WORDS_H
#define AGENT_WORDS_H

#include "base/defs.h"

enum { WORDS_PAGE = 4096, WORDS_PAGES = 4 };

// The pages of a stack that one walk has read.
typedef struct WordPages {
    uint64_t at[WORDS_PAGES]; // addresses; 0: empty
    uint32_t next;            // the one to replace
    int memory_fd;            // of /proc/self/mem; -1: not open
    uint32_t pid;             // of this process; 0: not asked yet
    uint8_t bytes[WORDS_PAGES][WORDS_PAGE];
} WordPages;

// Copies `size` bytes from an address. False when not all of them can be read.
bool words_copy(uint64_t addr, void *to, size_t size);

void words_begin(WordPages *p); // before a walk
void words_end(WordPages *p);   // after it
// UnwindMemory.read, with the pages as its context.
bool words_read(void *pages, uint64_t addr, uint64_t *ret);

#endif // AGENT_WORDS_H
