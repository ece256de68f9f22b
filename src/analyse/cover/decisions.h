// SPDX-License-Identifier: Apache-2.0
// The decisions (MC/DC) of a file, those of instances that show the same are combined.

#ifndef ANALYSE_COVER_DECISIONS_H
#define ANALYSE_COVER_DECISIONS_H

#include "analyse/cover/file_rows.h"

// Equal decisions at one place: of instances of a template, or of copies in several objects.
typedef struct CoverDecisionGroup {
    uint32_t row;   // of Profile.decisions: the first of them
    uint32_t more;  // how many more show the same
    bool is_shared; // several functions have a decision here
} CoverDecisionGroup;

typedef Vec(CoverDecisionGroup) CoverDecisionGroupVec;

// Appends the decisions of a file by place. Those that marks in the source exclude are left out.
// `ret` is the heap's.
void cover_decisions_group(const Profile *p, const CoverFiles *c, const CoverFileRows *f,
                           CoverDecisionGroupVec *ret);

// The rows of Profile.decision_conditions of a decision.
CoverRows cover_decision_conditions(const Profile *p, uint32_t decision);

#endif // ANALYSE_COVER_DECISIONS_H
