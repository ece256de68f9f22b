// SPDX-License-Identifier: Apache-2.0
// Medians of runs for services that follow a project's speed over its commits.
// Formats: github-action-benchmark, tool "customSmallerIsBetter" (README, "Custom benchmarks");
// Bencher Metric Format (bencher.dev, reference, "Bencher Metric Format").

#ifndef EXPORT_RUN_SERVICES_H
#define EXPORT_RUN_SERVICES_H

#include "analyse/run_summary.h"

// One benchmark as such a service stores it.
typedef struct ServiceRow {
    Str name;
    double median_s;
    Interval interval; // 95 %, of the median; NaN or infinite ends: none
    size_t runs;
    uint64_t peak_bytes; // 0: not known
} ServiceRow;
typedef Vec(ServiceRow) ServiceRowVec;

// The commands that have runs; of functions those of this build. The rows live in the arena of the
// first bench.
ServiceRowVec service_rows(const RunFamilies *all);

// Each appends one whole file.
void service_rows_github(StrBuf *out, const ServiceRowVec *rows);
// Of rows of one name the first is taken, because names are members there.
void service_rows_bencher(StrBuf *out, const ServiceRowVec *rows);

#endif // EXPORT_RUN_SERVICES_H
