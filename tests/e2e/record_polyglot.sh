#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# examples/polyglot: one recording of a shell script shows the functions of every language. TAP.
set -u
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "runtimes are read on x86-64 alone"
command -v python3 >/dev/null || skip_all "no python3"
need_perf
export XDG_CACHE_HOME=$PWD/cache
GOCACHE=${GOCACHE:-$HOME/.cache/go-build}
export GOCACHE
cp -r "$TOP/examples/polyglot" app
app/build >build.log 2>&1 || { cat build.log; skip_all "the example cannot be built here"; }

"$ASSAY" record -q -f -o all.assay -- app/run 700 >out 2>err || { cat err; skip_all "recording is not possible here"; }
"$ASSAY" export -f folded all.assay --force -o folded.txt 2>err
check "it runs to its end" grep -q 'python: done' out
check "C, called from Python, has its name" grep -q ';mix_words ' folded.txt
if [ "$(id -u)" = 0 ]; then
    check "Python's functions stand above C's" grep -q ';read_files;mix_in_c;.*;mix_words ' folded.txt
    check "and beside them" grep -q ';read_files;count_words' folded.txt
else
    check "Python's functions have their names" grep -q ';read_files;' folded.txt
fi
if [ -x app/sorting ]; then check "Go's functions" grep -q ';main.sortAll;main.sortNumbers' folded.txt; else skip "Go's functions" "no go"; fi
if command -v node >/dev/null; then check "JavaScript's functions" grep -q ';parseAll' folded.txt; else skip "JavaScript's functions" "no node"; fi
if [ -e app/Counting.class ]; then check "Java's functions" grep -q ';Counting.main;Counting.countPrimes' folded.txt; else skip "Java's functions" "no javac"; fi
cut=$(awk '{ all += $NF; if (/stack cut/) cut += $NF } END { printf "%d", 1000 * cut / all }' folded.txt)
check "stacks are complete ($cut of 1000 cut)" test "$cut" -le 30
check "they are one flame graph" eval '"$ASSAY" flame all.assay -o all.svg --force && grep -q mix_words all.svg'
finish
