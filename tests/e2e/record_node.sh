#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Node.js programs as they are, started by a shell: complete stacks and names of functions, read
# from V8's own constants. TAP. TEST_NODES names further node programs.
set -u
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"

command -v node >/dev/null || skip_all "no node"
[ "$(uname -m)" = x86_64 ] || skip_all "frames of Node.js are read on x86-64 alone"
need_perf
unset NODE_OPTIONS
cp "$TOP/tests/programs/shares.js" .

# look FILE: percentages, as assignments: complete stacks; of the samples below outer those with a
# name, those in the two functions, and those that stand below their callers.
# Where the file with V8 is stripped, as Debian's, its own code has no name: then the function that this code runs for must
# have one.
look() {
    "$ASSAY" export -f folded "$1" --force -o folded.txt 2>/dev/null
    awk -v stripped="$stripped" '{
        weight = $NF; all += weight
        if (/stack cut/) cut += weight
        n = split($0, frame, ";")
        if (/;outer;/) {
            main += weight
            if (stripped && frame[n] ~ /^\[unknown in (lib)?node/) n--
            if (frame[n] ~ /unknown|\+0x|code of V8/) unnamed += weight
        }
        if (/;heavy/) heavy += weight
        if (/;light/) light += weight
        if (/;outer;heavy/) below += weight
    } END {
        printf "complete=%d named=%d heavy=%d light=%d below=%d\n", 100 - 100 * cut / all,
            main ? 100 - 100 * unnamed / main : 0, main ? 100 * heavy / main : 0, main ? 100 * light / main : 0,
            heavy ? 100 * below / heavy : 0
    }' folded.txt
}

# The program says which part of the processor time of both functions it spent in heavy. The recording may differ by three
# standard deviations of its 400 samples or more, and by two points for the functions that measure.
# shellcheck disable=SC2154
shares_hold() {
    awk -v heavy="$heavy" -v light="$light" '{
        off = heavy / (heavy + light) - $1
        exit !(off * off <= (0.02 + 3 * sqrt($1 * (1 - $1) / 400)) ^ 2)
    }' truth
}
# Maps of the programs that were recorded, whose numbers stand in pids.
maps() { while read -r pid; do find /tmp -maxdepth 1 -name "perf-$pid.map" -newer shares.js; done <pids | wc -l; }
: >pids
for node in "$(command -v node)" ${TEST_NODES:-}; do
    library=$(ldd "$node" 2>/dev/null | sed -n 's/.*=> \(.*libnode[^ ]*\).*/\1/p')
    stripped=$(readelf -SW "$(readlink -f "${library:-$node}")" | grep -qw '\.symtab'; echo $?)
    [ "$stripped" != 0 ] || stripped=
    for mode in "" --jitless; do
        name="node $("$node" --version) ${mode:-compiled}"
        # shellcheck disable=SC2086
        "$node" $mode shares.js 20 >plain.out 2>plain.err || { skip "$name" "does not run"; continue; }
        SHARES_TRUTH=truth "$ASSAY" record -q -f -o n.assay -- sh -c '"$@" & echo $! >>pids; wait $!; exit 3' sh "$node" $mode shares.js 500 >out 2>err
        check "$name: the status is the program's" test $? -eq 3
        check "$name: the program prints what it prints alone" cmp out plain.out
        check "$name: and no more on stderr" cmp err plain.err
        look n.assay >seen
        cat seen
        # shellcheck disable=SC1091
        . ./seen
        # shellcheck disable=SC2154
        {
            check "$name: stacks are complete ($complete %)" test "$complete" -ge 97
            check "$name: frames have names ($named %)" test "$named" -ge 97
            check "$name: shares are right: heavy $heavy, light $light, truth $(cat truth)" shares_hold
            check "$name: a function stands below its callers ($below %)" test "$below" -ge 95
        }
    done
done
check "a note says what inlining does to shares" eval '"$ASSAY" report --notes n.assay | grep -q no-turbo-inlining'
check "no map is left in /tmp" eval '[ -s pids ] && [ "$(maps)" = 0 ]'

"$ASSAY" record -q -f --no-runtimes -o none.assay -- node shares.js 200 >out 2>err
"$ASSAY" export -f folded none.assay --force -o folded.txt 2>/dev/null
check "--no-runtimes reads none of it" eval '! grep -q ";heavy" folded.txt'

node shares.js 3000 >out 2>err &
pid=$!
# Node starts for 0.2 s of processor time, which may take long on a busy machine.
for _ in $(seq 200); do
    [ "$(awk '{ print $14 + $15 }' /proc/$pid/stat)" -lt 60 ] || break
    sleep 0.1
done
"$ASSAY" record -q -f --duration 0.7 -o late.assay -p $pid 2>err
kill $pid 2>/dev/null
wait $pid 2>/dev/null
look late.assay >seen
# shellcheck disable=SC1091
. ./seen
check "a running one is named, too ($named %)" test "$named" -ge 97
check "with complete stacks ($complete %)" test "$complete" -ge 97
finish
