#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Scripts that judge the user who runs them, as a user without rights: root has run them before.
# The others of tests/hostile are other users themselves. Three run at a time, as far as they may run beside
# others (tests/run). The sample takes two.
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'only root can be other users'
as() { setpriv --reuid 65533 --regid 65533 --clear-groups "$@"; }
chmod 755 .
mkdir bin && cp "$ASSAY" bin/assay && chmod 755 bin bin/assay
as test -r "$TOP/tests/e2e/lib/common.sh" && as test -x "$TOOLS/fault" || skip_all "other users cannot read $TOP and $TOOLS"
# Those that take longest first.
scripts=(fault/sweep fault/record_full hostile/bombs e2e/hostile_names fault/damaged hostile/sources fault/outputs
    fault/probes_tracer fault/cover_tracer fault/cover_killed e2e/trouble e2e/programs_32bit hostile/second_signal)
[ -z "${NIGHTLY_SAMPLE:-}" ] || scripts=(hostile/sources e2e/hostile_names)
top=$PWD
run() { # SCRIPT: in a folder of its own, which gets its output and its status
    local folder=$top/${1##*/}
    mkdir -p "$folder/tmp" && chown -R 65533:65533 "$folder" && cd "$folder" || return
    as env -u XDG_CACHE_HOME HOME="$folder" TMPDIR="$folder/tmp" PATH="$top/bin:$PATH" ASSAY="$top/bin/assay" bash "$TOP/tests/$1.sh" >"$folder.out" 2>"$folder.err"
    echo $? >"$folder.status"
}
verdict_of() { # SCRIPT
    local folder=$top/${1##*/} status
    status=$(cat "$folder.status" 2>/dev/null)
    case $status in
    0) ok "$1: $(grep -c '^ok' "$folder.out") checks" ;;
    77) skip "$1" "$(tail -n 1 "$folder.out")" ;;
    *) not_ok "$1: status ${status:-unknown}" <(grep -A 6 '^not ok' "$folder.out"; tail -n 5 "$folder.err") ;;
    esac
}
at_once=3 running=0 alone=()
for script in "${scripts[@]}"; do
    grep -q '^# beside others: ' "$TOP/tests/$script.sh" || { alone+=("$script"); continue; }
    [ $running -lt $at_once ] || wait -n
    [ $running -eq $at_once ] || running=$((running + 1))
    run "$script" &
done
wait
for script in "${alone[@]}"; do (run "$script"); done
for script in "${scripts[@]}"; do verdict_of "$script"; done
finish
