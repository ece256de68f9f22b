#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Go programs: stacks that were switched lead on to the goroutine, and a stripped
# program is named by the tables that its runtime needs. TAP; the truths stand in
# tests/programs/go_garbage.go.
set -u
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"

command -v go >/dev/null || skip_all "no go compiler"
[ "$(uname -m)" = x86_64 ] || skip_all "frames of Go programs are read on x86-64 alone"
need_perf
export GOFLAGS=-mod=mod GOTOOLCHAIN=local XDG_CACHE_HOME=$PWD/cache
GOCACHE=${GOCACHE:-$HOME/.cache/go-build}
export GOCACHE

# build NAME FLAG…
build() {
    local name=$1
    shift
    go build -o "$name" "$@" "$TOP/tests/programs/go_garbage.go" >build.log 2>&1
}

# look FILE: percentages, as assignments: complete stacks, time below main.churn, stacks that
# and of samples with a name, as numbers.
look() {
    "$ASSAY" export -f folded "$1" --force -o folded.txt 2>/dev/null
    awk '{
        weight = $NF; all += weight
        if (/stack cut/) cut += weight
        if (/;main\.churn/) churn += weight
        if (/^[^;]*;runtime\.systemstack/) rootless += weight
        if (/main\.twice[^;]* [0-9]+$/) twice += weight
        if (/;runtime\.main;main\.main;main\.spin/) spin += weight
        n = split($0, frame, ";"); if (frame[n] ~ /unknown|\+0x/) unnamed += weight
    } END {
        printf "complete=%d churn=%d rootless=%d twice=%d spin=%d named=%d\n", 100 - 100 * cut / all,
            100 * churn / all, 100 * rootless / all, 100 * twice / all, 100 * spin / all, 100 - 100 * unnamed / all
    }' folded.txt
}

for kind in plain stripped; do
    flags=()
    [ $kind = plain ] || flags=(-ldflags "-s -w")
    build garbage-$kind "${flags[@]}" || { cat build.log; skip_all "go cannot build here"; }
    "$ASSAY" record -q -f -o $kind.assay -- ./garbage-$kind >out 2>err || { cat err; skip_all "recording is not possible here"; }
    look $kind.assay >seen
    # shellcheck disable=SC1091
    . ./seen
    # shellcheck disable=SC2154
    {
        check "$kind: stacks are complete" test "$complete" -ge 95
        check "$kind: no stack begins at a switch of stacks" test "$rootless" -eq 0
        check "$kind: what makes garbage has its share" test "$churn" -ge 10
        check "$kind: a function stands below its callers" test "$spin" -ge 20
        check "$kind: an inlined call is a frame" test "$twice" -ge 5
        check "$kind: functions have names" test "$named" -ge 98
    }
done

"$ASSAY" report stripped.assay --json >report.json 2>err
check "stripped: files and lines are known" grep -q '"line": *3[0-9]' report.json

if build garbage-pie -buildmode=pie -ldflags "-s -w" && "$ASSAY" record -q -f -o pie.assay -- ./garbage-pie >out 2>err; then
    look pie.assay >seen
    # shellcheck disable=SC1091
    . ./seen
    check "a position-independent program is named, too" test "$named" -ge 98
    check "with its inlined calls" test "$twice" -ge 5
else
    skip "a position-independent program is named, too" "go cannot build one here"
fi

# record --calls: goroutines that move between threads and whose stacks grow while calls begin.
cat >calls.go <<'END'
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
)

// The number of this goroutine, as a trace of its stack states it: "goroutine 18 [running]:".
func number() (n int) {
	var text [64]byte
	runtime.Stack(text[:], false)
	fmt.Sscanf(string(text[:]), "goroutine %d", &n)
	return n
}

//go:noinline
func grow(n int) int {
	var a [64]int
	a[n%64] = n
	if n == 0 {
		return 0
	}
	return grow(n-1) + a[n%64]
}

//go:noinline
func handle(n int) int {
	if n%20 == 0 {
		time.Sleep(3 * time.Millisecond)
	}
	return n * 2
}

func main() {
	var wg sync.WaitGroup
	for w := 0; w < 20; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			grow(50)
			fmt.Fprintln(os.Stdout, number())
			for i := 1; i <= 40; i++ {
				handle(i)
			}
		}()
	}
	wg.Wait()
}
END
if [ "$(id -u)" = 0 ] && go build -o calls calls.go >build.log 2>&1 &&
    "$ASSAY" record --calls 'main.grow' --calls 'main.handle' -q -o calls.assay -- ./calls >numbers.txt 2>err.txt; then
    "$ASSAY" report calls.assay --calls --json --limit 0 >calls.json
    check "each call of a Go function is there once, with its return" python3 -c '
import json
f = {f["function"]: f for f in json.load(open("calls.json"))["functions"]}
grow, handle = f["main.grow"], f["main.handle"]
assert (grow["calls"], grow["not_ended"], grow["without_return"]) == (20 * 51, 0, 0), grow
assert (handle["calls"], handle["not_ended"], handle["without_return"]) == (800, 0, 0), handle
# Each of 20 goroutines slept twice, and no machine makes that shorter.
assert sum(c["duration_ns"] >= 3e6 for c in handle["slowest"]) >= 40, handle["slowest"]'
    check "each call has the number of its goroutine, which is that of Go" python3 -c '
import collections, json
numbers = sorted(int(n) for n in open("numbers.txt"))
f = {f["function"]: f for f in json.load(open("calls.json"))["functions"]}
for name, each in (("main.grow", 51), ("main.handle", 40)):
    found = collections.Counter(c["values"]["goroutine"] for c in f[name]["slowest"])
    assert sorted(found) == numbers and set(found.values()) == {each}, (name, found, numbers)
    assert all(c["values"].get("end_thread") != c["tid"] for c in f[name]["slowest"])'
    "$ASSAY" report calls.assay --slow '>2.5ms' >slow.txt
    check "a slow call whose goroutine sleeps is parked in its steps" grep -q 'the goroutine is parked, or runs unseen' slow.txt
    "$ASSAY" record -e main.grow -q -o hits.assay -- ./calls >/dev/null 2>err.txt
    "$ASSAY" report hits.assay --json >hits.json
    check "a probe counts each call once, though the stack grows in some" python3 -c '
import json
r = json.load(open("hits.json"))
assert r["metric"]["total"] + r["truth"]["samples_lost"] == 20 * 51, (r["metric"], r["truth"], open("err.txt").read())'
else
    skip "each call of a Go function is there once" "calls are not recorded here: $(tail -n 1 err.txt 2>/dev/null)"
fi
finish
