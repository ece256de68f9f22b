#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# All pairs of 14 fields of `perf script -F`, with stacks and without.
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
nightly_only # tests/e2e has a part of it
PART=0/1 exec "$TOP/tests/e2e/perf_script_fields.sh"
