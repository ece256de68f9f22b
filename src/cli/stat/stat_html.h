// SPDX-License-Identifier: Apache-2.0
// The page of `assay stat --html`: the counts as a table, and a picture for each event, over
// the runs or over time.

#ifndef CLI_STAT_STAT_HTML_H
#define CLI_STAT_STAT_HTML_H

#include "analyse/counted_runs.h"
#include "base/strbuf.h"

// Appends the whole page. The machine is that of the profile's facts.
void stat_html(StrBuf *out, Arena *scratch, const Counts *c, bool each_run);

#endif // CLI_STAT_STAT_HTML_H
