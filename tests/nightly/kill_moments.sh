#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 at 200 moments of each command that writes: the older file is whole, or the new
# one is, or a .part that opens; no other file and no process is left. The sample takes 4.
# KILLS_ONLY=PATTERN takes the commands of that name.
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ "$(uname -m)" = x86_64 ] || skip_all 'system calls of x86-64 only'
[ -x "$TOOLS/fault" ] || skip_all "no $TOOLS/fault: run make dev"
"$TOOLS/fault" any=KILL 0 count true || skip_all 'one process may not trace another here'
moments=200
[ -z "${NIGHTLY_SAMPLE:-}" ] || moments=4

"$TOOLS/make_profile" plain in.assay && "$TOOLS/make_profile" two-metrics other.assay || exit 1
printf 'main;work;hot 7\nmain;idle 1\n' >in.folded
cp "$TOP"/tests/golden/cover/cover.{covmapping,proftext} .
cp "$TOP"/tests/fuzz/corpus/tracefile/lcov1 in.info
cp "$TOP/tests/fuzz/corpus/import/dtrace.txt.bz2" in.dtrace.bz2
cp "$TOP/tests/fuzz/corpus/import/flight.jfr" in.jfr
cp "$TOP/tests/fuzz/corpus/tracefile/go-cover" in.out
echo 'int main(int argc, char **argv) { (void)argv; return argc > 1; }' >counted.c
cat >allocates.c <<'C'
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    for (;;) {
        free(malloc(64));
        usleep(1000);
    }
}
C
gcc -g -o plain counted.c && gcc -g -O0 -fno-builtin -o allocates allocates.c || exit 1
# Where names are cached, and where bench keeps the programs of its database.
mkdir cache programs
inputs=(*)
# Commands run side by side, each in a folder of its own; one that ends early leaves its place to the next.
at_once=$(($(nproc) + 1)) running=0 names=()
kills() { # NAME OUTPUT COMMAND…
    local folder=$PWD/kills${#names[@]}
    # shellcheck disable=SC2053 # a pattern
    [[ $1 == ${KILLS_ONLY:-*} ]] || return 0
    names+=("$1")
    [ $running -lt $at_once ] || wait -n
    [ $running -eq $at_once ] || running=$((running + 1))
    (
        mkdir "$folder" && cp -R "${inputs[@]}" "$folder" && cd "$folder" || exit 1
        export XDG_CACHE_HOME=$PWD/cache TMPDIR=$PWD
        "$TOP/tests/tools/kill_moments.py" "$moments" "$TOOLS/fault" "$2" "$ASSAY" "${@:3}" >../"${folder##*/}.log" 2>&1
        echo $? >../"${folder##*/}.status"
    ) &
    jobs+=($!)
}
all_killed() { # their verdicts, in order
    local i
    wait "${jobs[@]}" 2>/dev/null
    for ((i = judged; i < ${#names[@]}; i++)); do
        if [ "$(cat "kills$i.status" 2>/dev/null)" = 0 ]; then
            ok "${names[i]}, killed at $moments moments"
        else
            not_ok "${names[i]}, killed at $moments moments" "kills$i.log"
        fi
        rm -rf "kills$i"
    done
    judged=$i running=0 jobs=()
}
jobs=() judged=0
kills report out.json report in.assay --json --force -o out.json
kills annotate out.txt annotate in.assay --force -o out.txt
kills flame out.svg flame in.assay --force -o out.svg
kills 'export to pprof' out.gz export in.assay --format pprof --force -o out.gz
kills 'export to a database' out.db export in.assay --format sqlite --force -o out.db
kills import out.assay import in.folded -f -o out.assay
kills 'cover export' out.info cover export cover.covmapping cover.proftext --format lcov -f -o out.info
kills 'cover export as a page' out.html cover export in.info --format html -f -o out.html
kills 'cover merge' out.proftext cover merge -f -o out.proftext cover.proftext
kills 'cover merge to a recording' out.assay cover merge -f -o out.assay cover.covmapping cover.proftext
kills 'cover add' out.info cover add in.info in.info -f -o out.info
kills bench out.json bench -N --warmup 0 --runs 3 --export-json out.json true
kills 'bench to a recording' out.assay bench -N --warmup 0 --runs 3 --force --recording out.assay true
kills 'bench to a database' out.db bench -N --warmup 0 --runs 3 --save x --db out.db true
kills heap out.assay heap -q -f -o out.assay -- ./plain
kills 'import of a packed file' out.assay import in.dtrace.bz2 -f -o out.assay
kills 'import of a flight recording' out.assay import in.jfr -f -o out.assay
kills 'cover export of Go blocks' out.xml cover export in.out --format jacoco -f -o out.xml
kills 'heap against a limit' out.assay heap -q -f --sample 64k --max-peak 100M -o out.assay -- ./plain
kills 'diff of two formats' out.txt diff in.assay in.folded --force -o out.txt
kills 'view to a page' out.html view in.assay --no-open --force --html out.html
kills 'diff to a page' out.html diff in.assay other.assay --force --html out.html
kills merge out.assay merge in.assay other.assay -f -o out.assay
kills survey out.survey survey -q -f --no-html --steps time,heap --max-time 0.01 -o out.survey -- ./plain
kills loop out.loop loop --no-build --rounds 1 --steps heap -o out.loop -- ./plain
# The program that it attaches to lives on.
./allocates >alive &
target=$!
if [ "$(uname -m)" = x86_64 ] && "$ASSAY" heap -q -f -p $target --duration 0.01 -o out.assay 2>err; then
    rm out.assay
    kills 'heap, attached' out.assay heap -q -f -p $target --duration 0.01 -o out.assay
    all_killed
    check 'the program that it attached to goes on' kill $target
else
    kill $target
    skip 'heap, attached' "$(head -n 1 err)"
fi
kills stat out.txt stat -o out.txt true
if reason=$("$TOP/tests/e2e/lib/perf_allowed.py"); then
    kills record out.assay record -q -f -o out.assay -- true
    kills 'record with the heap' out.assay record -q -f --heap -o out.assay -- ./plain
    if "$ASSAY" record -q -f --wait -o waits.assay -- true 2>err; then
        rm waits.assay
        kills 'record of waits' out.assay record -q -f --wait -o out.assay -- true
    fi
    if "$ASSAY" record -q -f --calls ./plain:main -o calls.assay -- ./plain 2>err; then
        rm calls.assay
        kills 'record of calls' out.assay record -q -f --calls ./plain:main -o out.assay -- ./plain
    fi
    kills 'record as a flight recorder' out.assay record -q -f --flight -p $$ --duration 0.02 -o out.assay
    kills 'record, attached' out.assay record -q -f -p $$ --duration 0.02 -o out.assay
else
    skip record "$reason"
fi
all_killed
finish
