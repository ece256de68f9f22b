// SPDX-License-Identifier: Apache-2.0
// The driver of the Rust benchmarks beside it: see include/assay/bench.rs.
#define ASSAY_BENCH_IMPLEMENTATION
#include <assay/bench.h>
