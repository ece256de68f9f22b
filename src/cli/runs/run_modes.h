// SPDX-License-Identifier: Apache-2.0
// The remarks of a report on times with several modes, whose median and mean differ.

#ifndef CLI_RUNS_RUN_MODES_H
#define CLI_RUNS_RUN_MODES_H

#include "analyse/run_summary.h"

// Lines for the commands whose times have two modes or more, with their shares, and for the
// comparisons in which the mean says something else than typical runs. None where there are none.
void run_add_modes(StrBuf *out, RunSummaries *s, size_t columns);

#endif // CLI_RUNS_RUN_MODES_H
