// SPDX-License-Identifier: Apache-2.0
// Unwind rules of a large module before it has a table: each address is looked up in the module's
// own search table. A table of all rules of a compiler or of LLVM takes 0.1 to 0.3 s, and many
// recordings see few of its functions.

#ifndef REPLAY_RULE_SEARCH_H
#define REPLAY_RULE_SEARCH_H

#include "elf/elf.h"
#include "unwind/frame_search.h"

enum { RULE_CACHE_SIZE = 4096 };

// Rules found so far, of all modules and processes. All zero is a valid empty cache.
typedef struct RuleCache {
    struct {
        uint64_t key; // of module and address; 0: empty
        UnwindAction action;
    } at[RULE_CACHE_SIZE];
} RuleCache;

// The key by which a module is searched. It refers to the bytes of the module's file.
typedef struct RuleSearch {
    FrameSections sections;
    uint64_t bias; // address of a section's bytes minus its stated address
    uint32_t left; // searches until a table is cheaper; 0: this module is not searched
} RuleSearch;

// Sets up the search in a module; `ret->left` becomes 0 where the module is small, or has no search
// table that fits its .eh_frame. `elf` must outlive the search.
void rule_search_init(const Elf *elf, UnwindArch arch, RuleSearch *ret);

// The rule at an address of module number `module`. False: only a table of the module can say.
MUST_CHECK bool rule_search_find(RuleSearch *s, RuleCache *cache, uint32_t module, uint64_t svma,
                                 UnwindAction *ret);

#endif // REPLAY_RULE_SEARCH_H
