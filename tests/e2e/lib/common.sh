# SPDX-License-Identifier: Apache-2.0
# Sourced by e2e tests: skipping, TAP, building test programs. tests/run gives
# TOP, ASSAY and a scratch folder as the working directory.
# shellcheck shell=bash

tap_count=0
tap_failed=0

skip_all() {
    echo "$*"
    exit 77
}

# What has no perf events cannot be recorded.
need_perf() {
    local reason
    reason=$("$TOP/tests/e2e/lib/perf_allowed.py") || skip_all "$reason"
}

ok() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $*"
}

# not_ok NAME [FILE]: with the file's end as the reason.
not_ok() {
    tap_count=$((tap_count + 1))
    tap_failed=1
    echo "not ok $tap_count - $1"
    if [ $# -gt 1 ] && [ -s "$2" ]; then tail -n 30 "$2" | sed 's/^/# /'; fi
}

skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

# check NAME COMMAND…: passes when the command does; its output is the reason.
check() {
    local name=$1 log=check.log
    shift
    if "$@" >"$log" 2>&1; then ok "$name"; else not_ok "$name" "$log"; fi
}

finish() {
    echo "1..$tap_count"
    exit "$tap_failed"
}

compiler() { command -v "$1-14" || command -v "$1"; }
