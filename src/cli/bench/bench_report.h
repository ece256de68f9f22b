// SPDX-License-Identifier: Apache-2.0
// What a bench amounts to, as text for people and in the formats of files.

#ifndef CLI_BENCH_BENCH_REPORT_H
#define CLI_BENCH_BENCH_REPORT_H

#include "cli/terminal.h"
#include "collect/bench/bench.h"

typedef enum BenchUnit { BENCH_UNIT_AUTO, BENCH_UNIT_US, BENCH_UNIT_MS, BENCH_UNIT_S } BenchUnit;
typedef enum BenchSort { BENCH_SORT_AUTO, BENCH_SORT_COMMAND, BENCH_SORT_MEAN } BenchSort;

typedef struct BenchView {
    BenchUnit unit;
    BenchSort sort;
    BenchMachine machine;
    Str command_line;             // of assay itself
    bool events_asked;            // --event was given: what cannot be had is told
    struct BenchProfile *profile; // of --profile; NULL: none
} BenchView;

// The figures of one command, and of all comparisons.
void bench_report_command(StrBuf *out, const Terminal *t, const Bench *b, const BenchView *v,
                          uint32_t command);
void bench_report_comparisons(StrBuf *out, const Terminal *t, Bench *b, const BenchView *v);
// One comparison with a named command: ratio, interval, verdict. `pair_s` is what
// one more pair would take.
void bench_add_comparison(StrBuf *out, const Terminal *t, Str name, const Comparison *c,
                          double margin, double level, double pair_s);
// Clock, order, warnings: what must be known to trust the figures.
void bench_report_truth(StrBuf *out, const Terminal *t, const Bench *b, const BenchView *v);

// "1.234 ms" in a fitting or the given unit.
void bench_add_time(StrBuf *out, double seconds, BenchUnit unit);

// Files. JSON, CSV and the tables are hyperfine's, with more in the JSON.
void bench_export_json(StrBuf *out, Bench *b, const BenchView *v);
void bench_export_csv(StrBuf *out, Bench *b, const BenchView *v);
void bench_export_markdown(StrBuf *out, Bench *b, const BenchView *v);
void bench_export_asciidoc(StrBuf *out, Bench *b, const BenchView *v);
void bench_export_orgmode(StrBuf *out, Bench *b, const BenchView *v);
// One test case a comparison; slower by more than `limit` (0.05 for 5 %) fails,
// undecided is skipped.
void bench_export_junit(StrBuf *out, Bench *b, const BenchView *v, double limit);

// Pictures: distributions, runs over time, pairs, growth over a parameter.
void bench_export_svg(StrBuf *out, Bench *b, const BenchView *v);
void bench_export_html(StrBuf *out, Bench *b, const BenchView *v);

// Commands in the order of `sort`.
uint32_t *bench_order(Bench *b, BenchSort sort);

// Exit status of --fail-if-slower: 0, 3 slower than the limit, 4 undecided.
int bench_gate(const Bench *b, double limit);

#endif // CLI_BENCH_BENCH_REPORT_H
