#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay loop: a change of a source is built, measured and compared with the last program; a signal ends it.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
cp "$TOP/tests/programs/survey_plant.c" plant.c
printf 'plant: plant.c\n\t$(CC) -g -O1 -fno-builtin -o $@ $<\n' >Makefile
loop=
begin() { # OPTION…: starts a loop and waits for its first round
    rm -rf .assay out err
    "$ASSAY" loop "$@" >out 2>err </dev/null &
    loop=$!
    eventually waits
}
waits() { grep -qs "waiting for changes" err || ! kill -0 "$loop" 2>/dev/null; }
rounds() { [ "$(grep -c '^-- round' out)" -ge "$1" ] && [ "$(grep -c '^first ' out)" -ge "$1" ]; }
ends() { # SIGNAL
    kill "-$1" "$loop"
    wait "$loop"
    status=$?
    loop=
    [ $status -eq 0 ] || { echo "status $status"; cat err; return 1; }
}
trap '[ -z "$loop" ] || kill "$loop"' EXIT

begin --steps cpu -- ./plant hot
check 'it builds with the Makefile that it finds' grep -q "to build with 'make'" err
check 'the first round names a line' grep -q '^first .*plant.c:' out
sed -i -e 's/30000000u/12000000u/' -e '1i /* three lines more: */\n/* those of the last program */\n/* are known by its own text */' plant.c
check 'a changed source is built and measured' eventually rounds 2
# The old program's lines keep their text, though the new source has others at their numbers.
check '… and what changed stands line by line' grep -q 'faster  .*hot \*/' out
check '… with the reason of the round' grep -q '^-- round 2.*plant.c changed, built in' out
echo '/* no more code */' >>plant.c
touch Makefile
the_same() { grep -q 'the program is the same as before' err; }
# A comment at the end changes nothing in the program; gcc's build-id agrees.
check 'a build that changes nothing is not measured' eventually the_same
echo 'not C' >>plant.c
failed() { grep -q "'make' failed with status" err; }
check 'a build that fails is said, and waited out' eventually failed
check 'nothing was measured then' eval '[ "$(grep -c "^-- round" out)" -eq 2 ]'
check 'a signal ends it' ends TERM
check 'the copy of the last program is gone' eval '[ ! -e .assay/loop/old ]'
check 'the last survey is there' eval '"$ASSAY" report .assay/loop/now | grep -q "^first "'

# A program that others build, renamed into its place.
sed -i '/not C/d' plant.c && make >make.log 2>&1 || { cat make.log; exit 1; }
touch plant.c
begin --no-build --steps cpu -- ./plant allocate
check 'a source that is newer than the program is said' grep -q "older than '.*plant.c': the source lines" err
sed 's/blocks\[16\]/blocks[8]/; s/i < 16/i < 8/' plant.c >other.c && gcc -g -O1 -fno-builtin -o new other.c && mv new plant
check 'a program that is replaced is measured' eventually rounds 2
check '… and is not built' eval '! grep -q "^gcc" err'
check 'Ctrl-C ends it' ends INT

# A script has no copy: recordings are compared.
cat >t.py <<'PY'
def work(n):
    return sum(i * i for i in range(n))
work(600000)
PY
if command -v python3 >/dev/null; then
    begin --no-build --steps cpu --rounds 2 -- python3 t.py
    sed -i 's/600000/200000/' t.py
    check 'a script is measured when it changes' eventually rounds 2
    check '… against its last recording' grep -q 'cpu time by' out
    check 'it ends after --rounds' eventually gone "$loop"
    loop=
fi
check 'no program' fails 'cannot run' "$ASSAY" loop --no-build -- ./nothing
check 'no command' fails 'no command' "$ASSAY" loop
check 'a build that fails at the start' fails 'failed with status 3' "$ASSAY" loop --build 'exit 3' -- ./plant
finish
