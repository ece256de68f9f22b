#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The DWARF reader against llvm-symbolizer at 20,000 addresses of each program.
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
nightly_only # tests/e2e asks for 5000
ORACLE_ADDRESSES=20000 exec "$TOP/tests/e2e/dwarf-oracle.sh"
