#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay cover run: programs of clang and gcc, below make and shells, forked,
# killed and interrupted; the folder of results; the child's status.
# beside others: 5 s
set -u
cd "$SCRATCH" || exit 1
# shellcheck source=lib/cover.sh
. "$TOP/tests/e2e/lib/cover.sh"
cover() { # cover ARGS...: output in out and err, status in $status
    "$ASSAY" cover run "$@" >out 2>err
    status=$?
}
lines() { # lines OBJECT PROFILE...: DA rows
    "$ASSAY" cover export "$@" 2>/dev/null | grep -E '^(SF|DA):'
}

for compiler in clang-14 clang-16 clang-19 gcc; do
    # shellcheck disable=SC2046 # flags are words
    if ! command -v $compiler >/dev/null ||
        ! $compiler -w $("$ASSAY" cover flags ${compiler%-*}) -o life "$TOP/tests/programs/cover_life.c" 2>build.log; then
        skip "$compiler" "no $compiler with its profile runtime"
        continue
    fi
    # clang's runtime lets a forked child count what its parent did before.
    forked=110
    [ $compiler = gcc ] && forked=60
    rm -rf res .assay
    cover -o res -- ./life status
    verdict "$compiler: the status is the program's" $((status != 7))
    verdict "$compiler: a line's count" "$([ "$(count_of res '// work')" = 10 ]; echo $?)"
    cover -o res -- ./life status
    verdict "$compiler: results that are there are kept" "$([ $status -eq 1 ] && grep -q -- --merge err; echo $?)"
    cover -o res --merge -- ./life exit
    verdict "$compiler: --merge adds" "$([ $status -eq 0 ] && [ "$(count_of res '// work')" = 20 ]; echo $?)"
    cover -f -o res -- ./life fork
    verdict "$compiler: forked children count" "$([ "$(count_of res '// child')" = 5 ] && [ "$(count_of res '// work')" = $forked ]; echo $?)"
    cover -f -o res -- ./life exec
    # gcc's runtime writes before exec, clang's does not.
    verdict "$compiler: exec" "$([ $status -eq 7 ] && [ "$(count_of res '// work')" -ge 10 ]; echo $?)"
    cover -f -o res -- ./life kill
    verdict "$compiler: a killed program is named as the reason" "$([ $status -eq 137 ] && grep -q 'signal 9' err; echo $?)"
    cover -f -o res -- sh -c './life exit; (cd / && "$OLDPWD"/life exit); ./life kill; ./life status'
    verdict "$compiler: below a shell" "$([ $status -eq 7 ] && [ "$(count_of res '// work')" = 30 ]; echo $?)"
    printf 'test:\n\t./life exit\n\t./life fork\n' >Makefile
    cover -f -o res -- make -s test
    verdict "$compiler: below make" "$([ $status -eq 0 ] && [ "$(count_of res '// work')" = $((forked + 10)) ]; echo $?)"
    verdict "$compiler: no raw profile is left" "$([ -z "$(find . -name '*.profraw*')" ]; echo $?)"
    "$ASSAY" cover run -f -o res -- ./life wait >out 2>err &
    pid=$!
    eventually grep -q waiting out
    kill -TERM $pid
    wait $pid
    status=$?
    verdict "$compiler: a signal reaches the program, which reports" "$([ $status -eq 55 ] && [ "$(count_of res '// on_signal')" = 1 ]; echo $?)"
    PROFOPTS=dir=elsewhere,msg=n cover -- ./life exit
    verdict "$compiler: PROFOPTS" "$([ $status -eq 0 ] && [ ! -s err ] && [ "$(count_of elsewhere '// work')" = 10 ]; echo $?)"
    rm -rf elsewhere
    PROFOPTS=file=named,dir=elsewhere,msg=n cover -- ./life exit
    verdict "$compiler: PROFOPTS with a name" "$([ $status -eq 0 ] && [ "$(count_of elsewhere/named '// work')" = 10 ]; echo $?)"
    rm -rf elsewhere
    cover -o elsewhere --exclude '*cover_life*' -- ./life exit
    "$ASSAY" cover report elsewhere >later 2>later.err
    verdict "$compiler: sources that a run leaves out stay out, and it is said" "$(! grep -q cover_life out later && grep -q -- --all-sources later.err; echo $?)"
    cover -o elsewhere --merge -- ./life exit
    "$ASSAY" cover export ./elsewhere ./elsewhere 2>later.err | grep ^SF >later
    verdict "$compiler: also from two runs together" "$(! grep -q cover_life later; echo $?)"
    rm -rf elsewhere
    cover --fail-under 99 -- ./life exit
    verdict "$compiler: --fail-under" $((status != 3))
done

# A file that is made and not yet opened by its writer is not taken for an empty one.
late_writer='
import os, sys, time
profile, pool = open(sys.argv[1], "rb").read(), os.environ["LLVM_PROFILE_FILE"]
path = os.path.join(os.path.dirname(pool), "1-late.profraw")
# Held before it has the name under which it is found, and taken, at once.
os.mknod(path + ".new", 0o100644)
inode = os.open(path + ".new", os.O_PATH)
os.link(path + ".new", path)
os.unlink(path + ".new")
time.sleep(0.3)
with open(f"/proc/self/fd/{inode}", "wb") as out:
    out.write(profile)
'
# shellcheck disable=SC2046 # flags are words
if compiler=$(compiler clang) && "$compiler" -w $("$ASSAY" cover flags clang) -o life "$TOP/tests/programs/cover_life.c" 2>build.log &&
    LLVM_PROFILE_FILE=late.profraw ./life exit; then
    cover -f -o res --object life -- python3 -c "$late_writer" late.profraw
    verdict "a file that its writer has not opened yet" "$([ "$(count_of res '// work')" = 10 ]; echo $?)"
else
    skip "a file that its writer has not opened yet" 'no clang with its profile runtime'
fi

# Programs that end otherwise than by exit, under compilers whose counters can lie in the file.
for compiler in clang-14 clang-16 clang-19; do
    # shellcheck disable=SC2046 # flags are words
    if ! command -v $compiler >/dev/null ||
        ! $compiler -w $("$ASSAY" cover flags --continuous clang) -o life "$TOP/tests/programs/cover_life.c" 2>build.log; then
        skip "$compiler: --continuous" "no $compiler with its profile runtime"
        continue
    fi
    for how in kill _exit; do
        cover -f -o res --continuous -- ./life $how
        verdict "$compiler: --continuous: counts until $how" "$([ "$(count_of res '// work')" = 10 ]; echo $?)"
    done
    cover -f -o res --continuous -- ./life fork
    verdict "$compiler: --continuous: forked children" "$([ "$(count_of res '// work')" = 60 ]; echo $?)"
    # shellcheck disable=SC2046
    $compiler -w $("$ASSAY" cover flags clang) -o life "$TOP/tests/programs/cover_life.c"
    cover -f -o res -- ./life kill
    verdict "$compiler: without it, what would keep them" "$(grep -q -e '--continuous keeps' err; echo $?)"
    cover -f -o res --continuous -- ./life kill
    verdict "$compiler: not compiled for it: with what" "$(grep -q 'cover flags --continuous' err; echo $?)"
    $compiler -w -fprofile-instr-generate -fcoverage-mapping -o outlive "$TOP/tests/programs/cover_outlive.c"
    rm -f go
    cover -f -o res -- ./outlive daemon go
    verdict "$compiler: a daemon that still runs is said" "$(grep -q -e '1 process .*--wait' err; echo $?)"
    touch go
    has_later() { [ "$(count_of res '// later')" = 1 ]; }
    eventually has_later
    verdict "$compiler: what it writes later is in the results" $?
    rm go
    { sleep 0.5; touch go; } &
    cover -f -o res --wait 60s -- ./outlive daemon go
    wait
    verdict "$compiler: --wait waits for it" "$([ $status -eq 0 ] && [ "$(count_of res '// later')" = 1 ]; echo $?)"
    if [ "$(id -u)" = 0 ]; then
        cover -f -o /tmp/assay-uid.$$ -- ./outlive nobody
        verdict "$compiler: a child that became somebody else counts" "$([ "$(count_of /tmp/assay-uid.$$ '// nobody')" = 1 ]; echo $?)"
        rm -r /tmp/assay-uid.$$
    else
        skip "$compiler: a child that became somebody else" "not root"
    fi
done
verdict "gcc has no such mode" "$("$ASSAY" cover flags --continuous gcc 2>/dev/null; [ $? -eq 2 ]; echo $?)"

# Whatever else lies in a folder of results stays.
if gcc -w --coverage -o counted "$TOP/tests/programs/cover_life.c"; then
    mkdir mine
    touch mine/my.gcno mine/my.profraw
    cover -f -o mine -- ./counted exit
    verdict "-f removes a run's files only" "$([ -f mine/my.gcno ] && [ -f mine/my.profraw ]; echo $?)"
fi
# A file that is not a profile is kept under another name; a pipe holds nobody.
# shellcheck disable=SC2016 # of the inner shell
cover -f -o res -- sh -c 'echo junk >"${LLVM_PROFILE_FILE%/*}/1-1.profraw"; mkfifo "${LLVM_PROFILE_FILE%/*}/2-2.profraw"; sleep 0.2'
verdict "what is not a profile is kept and named" "$(grep -q 'left out: .*1-1.profraw' err && grep -q junk res/raw/*1-1.profraw.refused; echo $?)"

if command -v clang-14 >/dev/null && [ -x life ]; then
    clang-14 -w -fprofile-instr-generate -fcoverage-mapping -o life "$TOP/tests/programs/cover_life.c"
    LLVM_PROFILE_FILE=one.profraw ./life exit && cp one.profraw kept.profraw
    "$ASSAY" cover merge -f -o ./one.profraw one.profraw 2>err
    verdict "merge: a raw profile among the inputs is not replaced" "$([ $? -eq 2 ] && cmp -s one.profraw kept.profraw && grep -q 'among the inputs' err; echo $?)"
    mkdir pool
    "$ASSAY" cover merge --watch pool -o watched.profdata 2>watched.err &
    pid=$!
    eventually grep -q watching watched.err
    LLVM_PROFILE_FILE=pool/%p.profraw ./life exit
    eventually test -s watched.profdata
    kill -KILL $pid
    wait $pid 2>/dev/null
    verdict "merge --watch: what was deleted is in the file, should the watch be killed" "$([ -z "$(ls pool)" ] && [ "$("$ASSAY" cover show -I "$TOP" ./life watched.profdata | awk '/\/\/ work/ { print $1 }')" = 10 ]; echo $?)"
    "$ASSAY" cover merge -o sums.profdata one.profraw && "$ASSAY" cover merge -f -o sums.profdata sums.profdata one.profraw
    verdict "merge: sums are added to in place" "$([ "$("$ASSAY" cover show -I "$TOP" ./life sums.profdata | awk '/\/\/ work/ { print $1 }')" = 20 ]; echo $?)"
    clang-14 -w -fprofile-instr-generate -fcoverage-mapping -o life "$TOP/tests/programs/cover_life.c"
    LLVM_PROFILE_FILE=by_hand.profraw ./life fork
    cover -f -o res --keep-raw -- ./life fork
    verdict "the sums are those of the raw file" "$(diff <(lines ./life by_hand.profraw) <(lines res) >/dev/null; echo $?)"
    verdict "--keep-raw keeps a file of each process" "$([ "$(find res/raw -name '*.kept' | wc -l)" -ge 1 ]; echo $?)"
    cover -f -o res -- ./life exit
    sed 's/exit("/EXIT("/; s/work(10);/work(11), work(1);/' "$TOP/tests/programs/cover_life.c" >changed.c
    clang-14 -w -fprofile-instr-generate -fcoverage-mapping -O1 -o life changed.c
    "$ASSAY" cover report res >out 2>err
    verdict "a program built again since is named" "$(grep -q 'built again' err; echo $?)"
    rm life
    "$ASSAY" cover report res >out 2>err
    status=$?
    verdict "a missing object is named" "$([ $status -ne 0 ] && grep -q "life" err; echo $?)"
    # Deleted when it has run: the copy that is kept serves.
    cover -f -o res -- sh -c 'clang-14 -w -fprofile-instr-generate -fcoverage-mapping -o gone "$TOP/tests/programs/cover_life.c"; ./gone fork; rm gone'
    if ls res/object-* >/dev/null 2>&1; then
        verdict "a deleted program is kept" "$([ "$(count_of res '// work')" = 110 ]; echo $?)"
    else
        verdict "a deleted program that was missed is said" "$(grep -q -e '--object' err; echo $?)"
    fi
fi

gcc -w -o plain "$TOP/tests/programs/cover_life.c"
cover -- ./plain status
verdict "a program without flags: why, and its status" "$([ $status -eq 7 ] && grep -q 'cover flags' err; echo $?)"
cover -- ./plain exit
verdict "nothing counted is a failure" $((status != 1))
cover -- ./no-such-program
verdict "no such program" "$([ $status -eq 127 ]; echo $?)"
cover
verdict "nothing to run" $((status != 2))
PROFOPTS=pid=perhaps cover -- ./plain exit
verdict "PROFOPTS that is not known" "$([ $status -eq 2 ] && grep -q PROFOPTS err; echo $?)"
finish
