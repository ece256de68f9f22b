// SPDX-License-Identifier: Apache-2.0
// Which single line of a program to look at first, and why.

#ifndef ANALYSE_SURVEY_FIRST_LINE_H
#define ANALYSE_SURVEY_FIRST_LINE_H

#include "analyse/flat.h"
#include "analyse/survey/line_costs.h"

typedef enum FirstReason {
    FIRST_NOTHING,  // no line is known: `function` of FirstLine is what there is
    FIRST_CPU,      // the line takes the most CPU time
    FIRST_WAIT,     // threads wait the most at the line
    FIRST_ALLOCATOR // blocks that are allocated again and again at the line take more than any line
} FirstReason;

typedef struct FirstLine {
    FirstReason reason;
    LineCost line;   // of FIRST_ALLOCATOR perhaps without CPU time of its own
    double share;    // of CPU time and waits together that the line, or the advice, accounts for
    bool stands_out; // else no line has much, and it is the hottest of the hottest function
    double function_share;    // of the line's function, over all its lines
    ShareInterval interval;   // 95 %, of the share of CPU time, by its number of samples
    const HeapAdvice *advice; // that is about the line, or names it; NULL: none
    double next_share;        // of the line with the next most
} FirstLine;

// Chooses from costs that are finished. `advice` may be empty; rows of `v` (may be NULL) are those
// that the advice is about.
FirstLine first_line_choose(LineCosts *c, const HeapView *v, const HeapAdviceVec *advice);

#endif // ANALYSE_SURVEY_FIRST_LINE_H
