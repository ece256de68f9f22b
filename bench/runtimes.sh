#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Java, Node.js and Python without preparation: complete stacks, names, shares, and what the recorder
# spends on a sample.
# shellcheck source=lib/common.sh
. "$TOP/bench/lib/common.sh"

cp "$TOP"/tests/programs/{Shares.java,shares.js,shares.py} . || exit 1
command -v javac >/dev/null && javac Shares.java

# measure FUNCTION COMMAND…: what was recorded of it; shares are those below FUNCTION.
measure() {
    local function=$1 stats
    shift
    stats=$("$ASSAY" record --self-stats -f -o r.assay -- "$@" 2>&1 >/dev/null)
    us=$(sed -n 's/.*CPU, \([0-9.]*\) us a sample.*/\1/p' <<<"$stats")
    "$ASSAY" export -f folded r.assay --force -o folded.txt 2>/dev/null
    read -r complete named error < <(awk -v below_what="$function" '{
        all += $NF
        if (/stack cut/) cut += $NF
        n = split($0, frame, ";")
        if ($0 !~ below_what) next
        below += $NF
        if (frame[n] ~ /\[unknown|code of V8/) unnamed += $NF
        if (/;[A-Za-z.]*heavy/) heavy += $NF
        if (/;[A-Za-z.]*light/) light += $NF
    } END { d = 100 * heavy / (heavy + light) - 75; printf "%.1f %.1f %.1f\n", 100 - 100 * cut / all, 100 - 100 * unnamed / below, d < 0 ? -d : d }' folded.txt)
    plain=$("$ASSAY" record --no-runtimes --self-stats -f -o r.assay -- "$@" 2>&1 >/dev/null |
        sed -n 's/.*CPU, \([0-9.]*\) us a sample.*/\1/p')
}

# report WHAT PEER COMMAND
report() {
    row "$1, nothing prepared: complete stacks, names, error of a share of 75 %" "$2" '≥ 99 %, ≥ 98 %, ≤ 2 points' \
        "$complete %, $named %, $error points" "$3"
    row "$1: recorder CPU per sample, with and without reading the runtime" '' '≤ 10 µs more' "$us µs, $plain µs" "$3"
}

if [ -e Shares.class ]; then
    measure Shares.outer java -cp . Shares 3000
    report Java 'perf 7 %, 6 %' 'assay record -- java -cp . Shares 3000'
fi
if command -v node >/dev/null; then
    measure ';outer;' node shares.js 3000
    report Node.js 'perf 100 %, 28 %' 'assay record -- node shares.js 3000'
fi
if command -v python3 >/dev/null; then
    measure ';outer;' python3 shares.py 3000
    report Python 'py-spy: shares off by 8 to 20 points' 'assay record -- python3 shares.py 3000'
fi
