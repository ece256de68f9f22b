#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Java programs as they are: complete stacks and names of methods, compiled and interpreted, read
# from the virtual machine's own tables. TAP. TEST_JAVAS names further java programs.
set -u
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"

{ command -v java && command -v javac; } >/dev/null || skip_all "no java compiler"
[ "$(uname -m)" = x86_64 ] || skip_all "frames of Java are read on x86-64 alone"
need_perf
export ASSAY="${ASSAY:?}"
cp "$TOP/tests/programs/Shares.java" . && javac --release 11 -d . Shares.java >build.log 2>&1 ||
    javac -d . Shares.java >build.log 2>&1 || { cat build.log; skip_all "javac cannot build here"; }

# look FILE: percentages of the samples of the thread main, as assignments.
look() {
    "$ASSAY" export -f folded "$1" --force -o folded.txt 2>/dev/null
    awk '/Shares\.main/ || /stack cut/ {
        weight = $NF; all += weight
        if (/stack cut/) cut += weight; else main += weight
        n = split($0, frame, ";"); leaf = frame[n]
        if (/unknown|\+0x/) unnamed += weight
        if (/Shares\.heavy/) heavy += weight
        if (/Shares\.light/) light += weight
        if (/Shares\.main;.*Shares\.outer;.*Shares\.heavy/) below += weight
    } END {
        printf "complete=%d named=%d heavy=%d light=%d below=%d\n", 100 - 100 * cut / all, 100 - 100 * unnamed / all,
            100 * heavy / main, 100 * light / main, 100 * below / (heavy ? heavy : 1)
    }' folded.txt
}

# heavy has three times the time of light.
# shellcheck disable=SC2154
shares_hold() { [ $((heavy - 3 * light)) -ge -16 ] && [ $((heavy - 3 * light)) -le 16 ]; }
for java in "$(command -v java)" ${TEST_JAVAS:-}; do
    for mode in "" -Xint; do
        name="$("$java" -version 2>&1 | sed -n '1s/[^"]*"\([0-9]*\).*/Java \1/p') ${mode:-compiled}"
        # shellcheck disable=SC2086
        "$ASSAY" record -q -f -o j.assay -- "$java" $mode -cp . Shares 500 >out 2>err ||
            { cat err; skip_all "recording is not possible here"; }
        # shellcheck disable=SC2086
        "$java" $mode -cp . Shares 50 >plain.out 2>plain.err
        check "$name: the program prints what it prints alone" cmp out plain.out
        check "$name: and no more on stderr" cmp err plain.err
        look j.assay >seen
        cat seen
        # shellcheck disable=SC1091
        . ./seen
        # 500 samples: one recording of thirty has other shares by chance, three in a row have them by a mistake.
        for _ in 1 2; do
            shares_hold && break
            # shellcheck disable=SC2086
            "$ASSAY" record -q -f -o j.assay -- "$java" $mode -cp . Shares 500 >again.out 2>&1 && look j.assay >seen && . ./seen
        done
        # shellcheck disable=SC2154
        {
            check "$name: stacks are complete ($complete %)" test "$complete" -ge 97
            check "$name: frames have names ($named %)" test "$named" -ge 97
            check "$name: shares are right: heavy $heavy, light $light" shares_hold
            check "$name: a method stands below its callers" test "$below" -ge 97
        }
    done
done

"$ASSAY" record -q -f --no-runtimes -o none.assay -- java -cp . Shares 300 >out 2>err
"$ASSAY" export -f folded none.assay --force -o folded.txt 2>/dev/null
check "--no-runtimes reads none of it" eval '! grep -q Shares.heavy folded.txt'

java -cp . Shares 3000 >out 2>err &
pid=$!
sleep 0.7
"$ASSAY" record -q -f --duration 0.7 -o late.assay -p $pid 2>err
kill $pid 2>/dev/null
wait $pid 2>/dev/null
look late.assay >seen
# shellcheck disable=SC1091
. ./seen
check "a running one is named, too ($named %)" test "$named" -ge 97
check "with complete stacks ($complete %)" test "$complete" -ge 97
finish
