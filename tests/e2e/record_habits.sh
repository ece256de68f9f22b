#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What users of perf type by habit works, or one line says what to type; recordings with bounds, and
# without the arguments of programs.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
gcc -g -O2 -pthread -o spin "$TOP/tests/programs/spin.c" || exit 1

record() { "$ASSAY" record "$@" >out 2>err.log || { cat err.log; return 1; }; }
# shellcheck disable=SC2120
burns() { "$ASSAY" report "$@" >seen 2>&1 && grep -q ' burn ' seen || { cat seen; return 1; }; }

bare_g() {
    record -f -g -- ./spin 50 && burns && record -f -g ./spin 50 && burns && record -f -fg ./spin 50 && burns
}
check 'record -g takes no argument from the command' bare_g
g_with_mode() {
    record -f -g fp ./spin 50 && "$ASSAY" report | grep -q 'frame pointers' &&
        record -f -gnone ./spin 50 && "$ASSAY" report | grep -q 'no stacks' &&
        record -f -g dwarf,4096 ./spin 50 && burns
}
check 'and a mode, when one follows' g_with_mode
check 'record -R, as perf probe prints it, adds nothing' "$ASSAY" record -f -q -R -o raw.assay -- true
check 'report -i FILE --stdio --no-children is report FILE' burns -i profile.assay --stdio --no-children
says() { # WORDS COMMAND…
    local words=$1
    shift
    fails "no option" "$@" && grep -q -- "$words" err.log || { cat err.log; return 1; }
}
check 'record -u says what to type' says 'hint: assay record -p .*pgrep' "$ASSAY" record -u root -- true
check 'record -G says what to type' says 'hint: assay record -p .*cgroup.procs' "$ASSAY" record -G web -- true
check 'record -r says what to type' says 'hint: .*chrt' "$ASSAY" record --realtime 5 -- true
check 'report -v says what to type' says 'hint: assay report --notes' "$ASSAY" report -v

older_files_stay() {
    rm -f profile.assay* flame.svg*
    record -q ./spin 20 && cp profile.assay first.assay && record -q ./spin 20 && record -q ./spin 20 || return 1
    [ "$(echo profile.assay*)" = 'profile.assay profile.assay.old' ] || { ls; return 1; }
    record -q -o named.assay ./spin 20 && fails 'exists and is not replaced' "$ASSAY" record -o named.assay ./spin 20 || return 1
    "$ASSAY" flame 2>/dev/null && cp flame.svg was.svg && "$ASSAY" flame 2>/dev/null && cmp was.svg flame.svg.old
}
check 'the file of a default name is kept as .old' older_files_stay
old_is_no_door() {
    rm -f profile.assay* && record -q ./spin 20 && mkdir profile.assay.old || return 1
    fails 'profile.assay.old' "$ASSAY" record -q ./spin 20 && [ -f profile.assay.part ] && "$ASSAY" report profile.assay >seen
}
check 'what is not a regular file is not replaced by it' old_is_no_door
rm -rf profile.assay*

arguments_stay_out() {
    record -q -f --no-args -o secret.assay -- sh -c './spin 50; : --password=hunter2' || return 1
    ! "$ASSAY" export -f json secret.assay | grep -q hunter2 || return 1
    record -q -f -o open.assay -- sh -c './spin 50; : --password=hunter2' &&
        "$ASSAY" export -f json open.assay | grep -q hunter2
}
check '--no-args keeps arguments out of the recording' arguments_stay_out
bounded_size() {
    record -q -f --max-size 4k -o small.assay -F 5000 -- ./spin 3000 || return 1
    "$ASSAY" report --json small.assay >small.json || return 1
    python3 -c 'import json; r = json.load(open("small.json")); n = r["truth"]["samples"]; print(n); assert 0 < n < 12500'
}
check '--max-size ends the recording, not the program' bounded_size
bounded_time() {
    record -q -f --duration 0.2 -o short.assay -- ./spin 1500 && "$ASSAY" report --json short.assay >short.json &&
        python3 -c 'import json; n = json.load(open("short.json"))["truth"]["samples"]; print(n); assert 0 < n < 1200'
}
check '--duration does, too' bounded_time
finish
