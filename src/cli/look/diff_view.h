// SPDX-License-Identifier: Apache-2.0
// A comparison of recordings as the user sees it: on the terminal, as a Markdown table, as JSON,
// and judged by limits.

#ifndef CLI_LOOK_DIFF_VIEW_H
#define CLI_LOOK_DIFF_VIEW_H

#include "analyse/diff/diff_changes.h"
#include "base/strbuf.h"
#include "cli/terminal.h"

typedef struct DiffView {
    ProfileDiff d;
    DiffChanges changes;
    size_t metric;         // of d.metrics: the one that is shown
    Str label[DIFF_SIDES]; // the files of each side, as the user named them
    Str by;                // the word of --by
    Terminal terminal;
    bool wide;
    size_t limit; // rows to show; 0: all
} DiffView;

extern const char *const diff_side_names[DIFF_SIDES];

// "faster", "slower" for times, "less", "more" for other units, "same", "unsure".
const char *diff_verdict_word(const DiffView *v, const RowChange *change);

// Appends a value: "-" where it is 0, "?" where no recording of the side has the metric.
void diff_add_amount(StrBuf *out, uint64_t value, const DiffMetric *m, bool known);
// Appends the change in percent; with a judged row the one without what all rows share, and how far
// the interval reaches to the wider side: "+5.0% ±1.2".
void diff_add_percentage(StrBuf *out, uint64_t was, uint64_t is, const RowChange *change);

// Sets `ret` to the metrics whose totals are shown: of recordings of the heap four metrics, and
// the one that the rows have. Gives how many they are.
enum { DIFF_SUMS_MAX = 5 };
size_t diff_sums(const DiffView *v, size_t ret[DIFF_SUMS_MAX]);

// Appends the comparison for the terminal: totals, the rows that changed, how sure that is.
void diff_add_text(StrBuf *out, const DiffView *v);
// Appends totals and rows as a table in Markdown.
void diff_add_markdown(StrBuf *out, const DiffView *v);
// Appends all rows as docs/formats/diff-json.md describes.
void diff_add_json(StrBuf *out, const DiffView *v);

// Judges limits such as "total > +5%", "parse > +2 ms", "any > +10%" and prints a line for each
// that is missed or cannot be decided. `*ret_missed` and `*ret_undecided` become their numbers.
// Fails on a limit that cannot be read or that names no row.
MUST_CHECK bool diff_judge_limits(const DiffView *v, const StrVec *limits, size_t *ret_missed,
                                  size_t *ret_undecided, Error *err);

#endif // CLI_LOOK_DIFF_VIEW_H
