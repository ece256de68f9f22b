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

# For scripts of tests/nightly that have no part that takes seconds.
nightly_only() { [ -z "${NIGHTLY_SAMPLE:-}" ] || skip_all 'only make nightly runs it'; }

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

# verdict NAME STATUS: passes when the status is 0; what a command left in the files
# out and err is the reason.
verdict() {
    if [ "$2" -eq 0 ]; then
        ok "$1"
    else
        cat out err >verdict.log 2>/dev/null
        not_ok "$1" verdict.log
    fi
}

# status_is STATUS COMMAND…
status_is() {
    local want=$1 got
    shift
    "$@"
    got=$?
    [ "$got" = "$want" ] || { echo "status $got, not $want"; false; }
}

# fails WORDS COMMAND…: status 1 or 2 and an error on stderr that contains WORDS, no
# signal, no sanitizer's report.
fails() {
    local words=$1 status
    shift
    "$@" >out.log 2>err.log </dev/null
    status=$?
    [ $status -eq 1 ] || [ $status -eq 2 ] || { echo "status $status"; cat err.log; return 1; }
    grep '^assay: ' err.log | grep -qi -- "$words" || { echo "does not say '$words':"; cat err.log; return 1; }
    ! grep -qE 'Sanitizer|runtime error|Assertion' err.log || { cat err.log; return 1; }
}

# classes_of_thread FILE TID: what a recording has of the thread's time, as "sleep running" with those that are not 0.
classes_of_thread() {
    rm -f classes.sqlite
    "$ASSAY" export "$1" -f sqlite -o classes.sqlite 2>/dev/null
    python3 -c 'import sqlite3, sys; print(*[r[0] for r in sqlite3.connect("classes.sqlite").execute(
        "SELECT w.class FROM waits w JOIN threads t ON t.id = w.thread_id WHERE t.tid = ? AND w.blocked_ns + w.runnable_ns > 0 ORDER BY 1",
        (sys.argv[1],))])' "$2"
}

# eventually COMMAND…: asks again and again until it is so, for a minute at most.
eventually() {
    for _ in {1..600}; do
        "$@" && return
        sleep 0.1
    done
    return 1
}

# child_used PARENT MS: whether a child of PARENT has used so much processor time.
child_used() {
    local child
    child=$(pgrep -P "$1" | head -n 1)
    [ -n "$child" ] && awk -v ms="$2" '{ sub(/.*\) /, ""); exit ($12 + $13) * 10 < ms }' "/proc/$child/stat" 2>/dev/null
}
gone() { ! kill -0 "$1" 2>/dev/null; }

finish() {
    echo "1..$tap_count"
    exit "$tap_failed"
}

compiler() { command -v "$1-14" || command -v "$1"; }
