#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Python programs as they are: Python's functions stand in the stacks where the interpreter's C
# function was, with right shares and lines. TAP. TEST_PYTHONS names further interpreters.
set -u
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "frames of Python are read on x86-64 alone"
need_perf
cp "$TOP/tests/programs/shares.py" .

# look FILE: percentages of the samples below spend, as assignments, and whether the interpreter's
# own function still stands there.
look() {
    "$ASSAY" export -f folded "$1" --force -o folded.txt 2>/dev/null
    awk '{
        weight = $NF; all += weight
        if (!/spend/) next
        main += weight
        if (/outer.*;heavy/) heavy += weight
        if (/outer.*;light/) light += weight
        if (/;by_c;.*;heavy/) inner += weight
        if (/_PyEval_EvalFrameDefault/) raw += weight
        n = split($0, frame, ";")
    } END {
        printf "share=%d heavy=%d light=%d inner=%d raw=%d\n", 100 * main / all, main ? 100 * heavy / main : 0,
            main ? 100 * light / main : 0, main ? 100 * inner / main : 0, main ? 100 * raw / main : 100
    }' folded.txt
}

near() { [ $(($1 - $2)) -ge -"$3" ] && [ $(($1 - $2)) -le "$3" ]; }

exact=$([ "$(id -u)" = 0 ] && echo yes)
for python in $(for name in python3 python3.8 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14; do
    "$name" -c 'import os, sys; print(os.path.realpath(sys.executable))' 2>/dev/null
done | sort -u) ${TEST_PYTHONS:-}; do
    version=$("$python" -c 'import sys; print("3.%d" % sys.version_info[1] if sys.version_info >= (3, 8) else "")')
    [ -n "$version" ] || continue
    for threads in "" threads; do
        name="$python ${threads}"
        # shellcheck disable=SC2086
        "$ASSAY" record -q -f -o p.assay -- "$python" shares.py 700 $threads >out 2>err || { cat err; skip_all "recording is not possible here"; }
        check "$name: the program prints what it prints alone" eval 'echo done | cmp - out'
        look p.assay >seen
        cat seen
        # shellcheck disable=SC1091
        . ./seen
        # shellcheck disable=SC2154
        if [ -n "$exact" ]; then
            check "$name: Python's frames stand in the stacks ($share %)" test "$share" -ge 85
            check "$name: shares are right: heavy $heavy, light $light" eval "near $heavy 74 6 && near $light 25 6"
            check "$name: a call through C stands where it was ($inner)" near "$inner" 25 6
            check "$name: no frame of the interpreter is left ($raw %)" test "$raw" -le 3
        fi
    done
    "$ASSAY" report p.assay >lines.txt 2>err
    check "$name: lines have their text" grep -q 's = (s \* 31 + i) % 1000003' lines.txt
    "$ASSAY" report --lines p.assay >lines.txt 2>err
    check "$name: --lines, too" grep -q 'shares.py:13 .* s = (s \* 31 + i) % 1000003' lines.txt
done
"$ASSAY" record -q -f --no-runtimes -o none.assay -- python3 shares.py 200 >out 2>err
"$ASSAY" export -f folded none.assay --force -o folded.txt 2>/dev/null
check "--no-runtimes reads none of it" eval '! grep -q ";heavy" folded.txt'
finish
