#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every rule of `assay bench` that stops or judges, over every family of noise: 10,000 simulated
# experiments each, and 200 of real programs. The bounds are in bench/stats_simulation.c and bench/bench.sh.
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
nightly_only
check "wrong verdicts and coverage in simulation" bash "$TOP/bench/bench.sh" simulation
check "wrong verdicts on real programs" bash "$TOP/bench/bench.sh" families
finish
