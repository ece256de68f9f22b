#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Verdicts of assay diff on sets of five recordings: how often a function of an unchanged program is
# called changed, and how often a change of 5 % in a function is found. PAIRS=N (20) comparisons of
# each kind; TURNS=N (2200) is the length of a run, 2200 being 30 s for the ten recordings. Identical
# programs run for SAME_TURNS=N (733): a false verdict needs no long run.
# shellcheck source=lib/common.sh
. "$TOP/bench/lib/common.sh"
pairs=${PAIRS:-20} turns=${TURNS:-2200} same_turns=${SAME_TURNS:-733}
gcc -O1 -g -o old "$TOP/bench/programs/diff_shares.c"
gcc -O1 -g -DPERCENT_MORE=5 -o new "$TOP/bench/programs/diff_shares.c"

# compare COMMAND TURNS: prints "how many functions changed, the verdict on 'changes', that on the sum".
compare() {
    "$ASSAY" record -q -f --repeat 5 -o set.assay --against "./old $2" -- "$1" "$2" >/dev/null 2>&1
    "$ASSAY" diff -a set.old.*.assay -b set.new.*.assay --json | python3 -c 'import json, sys
d = json.load(sys.stdin)
verdict = {r["name"]: r["change"]["verdict"] for r in d["rows"]}
print(sum(v in ("faster", "slower") for v in verdict.values()), verdict["changes"], d["judged"]["change"]["verdict"])'
}
for ((i = 0; i < pairs; i++)); do
    compare ./old "$same_turns" >>same.txt
    compare ./new "$turns" >>changed.txt
done
row "assay diff, five recordings of each side in turns, identical programs, $pairs comparisons (load $(cut -d' ' -f1 /proc/loadavg)): with a function called changed" \
    'no peer tests' '≤ 1 in 20' "$(awk '$1 > 0' same.txt | wc -l); the sum called changed in $(awk '$3 != "unsure" && $3 != "same"' same.txt | wc -l)" 'make bench BENCH=diff'
row "the same, 5 % more work in a function of 40 %: found, and others called changed" \
    'no peer tests' '≥ 90 %' "$(grep -c ' slower ' changed.txt) of $pairs; others in $(awk '$1 > ($2 == "slower")' changed.txt | wc -l)" 'make bench BENCH=diff'
