// SPDX-License-Identifier: Apache-2.0
// The decisions (MC/DC) of a source file as the coverage page shows them.

#ifndef CLI_COVER_COVER_DECISIONS_H
#define CLI_COVER_COVER_DECISIONS_H

#include "cli/cover/cover_inputs.h"
#include "export/cover/formats.h"

typedef struct CoverDecisionFinder {
    CoverResult *r;       // of LLVM's counts alone
    CoverFileIndex index; // made when it is first asked for
} CoverDecisionFinder;

// A CoverFindDecisions; `ctx` is a CoverDecisionFinder. What is found is the arena's of the
// result. What marks in the sources exclude is left out.
void cover_find_decisions(void *ctx, Str path, CoverShownDecisionVec *ret);
void cover_decision_finder_deinit(CoverDecisionFinder *f);

#endif // CLI_COVER_COVER_DECISIONS_H
