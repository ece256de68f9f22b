// SPDX-License-Identifier: Apache-2.0
// The calls of one call tree in another: matched by the names on the way from the root, so that
// they match across builds.

#ifndef ANALYSE_DIFF_TREE_CHANGE_H
#define ANALYSE_DIFF_TREE_CHANGE_H

#include "analyse/call_tree.h"

// For each node of `now` the total of the same call in `other`; 0: it is not there. In the arena.
uint64_t *tree_totals_of_other(Arena *arena, const CallTree *now, const CallTree *other);

#endif // ANALYSE_DIFF_TREE_CHANGE_H
