#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 before every change that a coverage command makes to a folder (rename, unlink, fsync,
# rmdir): the counts are the old ones or the new ones, never none, and no raw profile is lost.
# beside others: 5 s
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ "$(uname -m)" = x86_64 ] || skip_all 'calls are counted on x86-64 only'
[ -x "$TOOLS/fault" ] || skip_all "no $TOOLS/fault: run make dev"
"$TOOLS/fault" read=EIO 0 count true || skip_all 'one process may not trace another here'
clang=$(compiler clang)
# shellcheck disable=SC2046 # flags are words
"$clang" -w $("$ASSAY" cover flags clang) -o life "$TOP/tests/programs/cover_life.c" 2>build.log || skip_all 'no clang with its profile runtime'
"$(compiler gcc)" -w --coverage -O0 -o glife "$TOP/tests/programs/cover_life.c" || exit 1
count_of() { "$ASSAY" cover show -I "$TOP" "$@" 2>show.err | grep -F '// work' | awk '{ print $1; exit }'; }
cover() { "$ASSAY" cover run -q "$@" >out.log 2>err.log </dev/null; }

# survives_run PROGRAM OPTION OLD NEW: counts of work before and after the run.
survives_run() {
    local program=$1 option=$2 old=$3 new=$4 n=1 got fired=0 whole=0
    rm -rf base && cover -o base -- "./$program" exit && [ "$(count_of base)" = "$old" ] || { cat err.log; count_of base; return 1; }
    while :; do
        rm -rf res && cp -a base res
        timeout -k 5 60 "$TOOLS/fault" change=KILL $n result "$ASSAY" cover run -q "$option" -o res -- "./$program" exit exit >out.log 2>err.log </dev/null
        got=$(count_of res)
        [ "$got" = "$old" ] || [ "$got" = "$new" ] || { echo "killed before change $n: '$got', neither $old nor $new"; find res; cat show.err; return 1; }
        [ "$(cat result)" = fired ] || break
        fired=$((fired + 1))
        [ "$got" != "$new" ] || whole=$((whole + 1))
        # The next run is as if there had been none.
        if [ $((n % 4)) = 0 ]; then
            cover "$option" -o res -- "./$program" exit || { cat err.log; return 1; }
            got=$(count_of res)
            [ "$option" != --force ] || [ "$got" = "$old" ] || { echo "after change $n: '$got'"; find res; return 1; }
        fi
        n=$((n + 1))
    done
    [ "$got" = "$new" ] && [ $fired -ge 5 ] || { echo "$fired kills, then '$got'"; return 1; }
}
cover -o probe -- ./life exit
once=$(count_of probe)
check 'cover run --force of clang' survives_run life --force "$once" "$once"
check 'cover run --merge of clang' survives_run life --merge "$once" $((2 * once))
check 'cover run --force of gcc' survives_run glife --force "$once" "$once"
check 'cover run --merge of gcc' survives_run glife --merge "$once" $((2 * once))

# Eight raw profiles: those that the output does not have are in the folder still.
survives_watch() {
    local n=1 watch fired=0
    LLVM_PROFILE_FILE=one.profraw ./life exit || return 1
    while :; do
        rm -rf watched sums.profdata && mkdir watched
        for i in 1 2 3 4; do cp one.profraw watched/$i-0.profraw; done
        timeout -k 5 30 "$TOOLS/fault" change=KILL $n result "$ASSAY" cover merge --watch watched --force -o sums.profdata >out.log 2>err.log </dev/null &
        watch=$!
        { eventually grep -q watching err.log; sleep 0.5; pkill -INT -P "$(pgrep -P $watch)"; } 2>/dev/null
        wait $watch
        # What is left goes in by a second watch; what the first wrote stands beside it.
        [ "$(cat result)" = fired ] || break
        fired=$((fired + 1))
        rm -f rest.profdata
        [ -z "$(find watched -name '*.profraw')" ] || {
            "$ASSAY" cover merge --watch watched --force -o rest.profdata >out.log 2>err.log </dev/null &
            watch=$!
            left() { [ -z "$(find watched -name '[0-9]*.profraw')" ]; }
            eventually left && sleep 0.3 && kill -INT $watch && wait $watch || { cat err.log; return 1; }
        }
        at_least $((4 * once)) || { echo "killed before change $n: counts are lost"; find watched; return 1; }
        [ -z "$(find watched -name '*.profraw')" ] || { echo "killed before change $n: files are left"; find watched; return 1; }
        n=$((n + 1))
    done
    [ $fired -ge 8 ] && [ "$(count_of life sums.profdata)" = $((4 * once)) ] || { echo "$fired kills"; return 1; }
}
at_least() { # COUNT, in sums.profdata and rest.profdata: what both have was summed twice, nothing is lost
    local all
    # shellcheck disable=SC2046 # none, one or both
    all=$(count_of life $(ls sums.profdata rest.profdata 2>/dev/null))
    [ -n "$all" ] && [ "$all" -ge "$1" ]
}
check 'cover merge --watch' survives_watch
finish
