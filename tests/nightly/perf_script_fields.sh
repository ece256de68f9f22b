#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# All pairs of 14 fields of `perf script -F`, with stacks and without.
PART=0/1 exec "$TOP/tests/e2e/perf_script_fields.sh"
