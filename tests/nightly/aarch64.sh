#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay for aarch64, built by the cross-compiler: its unit tests, golden tests and replays of fuzzed files under QEMU.
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
nightly_only
command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null ||
    skip_all 'no cross-compiler for aarch64 or no QEMU (tools/install-deps --aarch64)'
check 'the tests of aarch64 pass' make -C "$TOP" --no-print-directory aarch64
finish
