#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `assay bench --bisect` names the right one of 64 commits, which makes a program 3 % slower, in 38 of 40
# histories at least, with at most 9 builds.
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
nightly_only
command -v git >/dev/null || skip_all "there is no git"
HYPERFINE="" TRIES=40 bash "$TOP/bench/bisect.sh" >row 2>tries || { cat tries; exit 1; }
check "right in 95 % of 40 tries" eval 'cat tries; n=$(sed -n "s/.*| \([0-9]*\) of 40 right.*/\1/p" row); [ "$n" -ge 38 ]'
check "with 9 builds at most" eval 'n=$(sed -n "s/.*at most \([0-9]*\) builds, [0-9]* s each | .*/\1/p" row); [ "$n" -le 9 ]'
finish
