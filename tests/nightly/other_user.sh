#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Scripts that judge the user who runs them, as a user without rights: root has run them before.
# The others of tests/hostile are other users themselves. The sample takes two.
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'only root can be other users'
as() { setpriv --reuid 65533 --regid 65533 --clear-groups "$@"; }
chmod 755 .
mkdir bin && cp "$ASSAY" bin/assay && chmod 755 bin bin/assay
as test -r "$TOP/tests/e2e/lib/common.sh" && as test -x "$TOOLS/fault" || skip_all "other users cannot read $TOP and $TOOLS"
scripts=(hostile/bombs hostile/sources hostile/second_signal fault/record_full fault/cover_killed
    fault/cover_tracer fault/damaged fault/outputs fault/probes_tracer fault/sweep e2e/hostile_names e2e/trouble e2e/programs_32bit)
[ -z "${NIGHTLY_SAMPLE:-}" ] || scripts=(hostile/sources e2e/hostile_names)
for script in "${scripts[@]}"; do
    folder=${script##*/}
    mkdir -p "$folder/tmp" && chown -R 65533:65533 "$folder" || exit 1
    (cd "$folder" && as env -u XDG_CACHE_HOME HOME="$PWD" TMPDIR="$PWD/tmp" PATH="$OLDPWD/bin:$PATH" ASSAY="$OLDPWD/bin/assay" bash "$TOP/tests/$script.sh" >../script.out 2>../script.err)
    status=$?
    case $status in
    0) ok "$script: $(grep -c '^ok' script.out) checks" ;;
    77) skip "$script" "$(tail -n 1 script.out)" ;;
    *) not_ok "$script: status $status" <(grep -A 6 '^not ok' script.out; tail -n 5 script.err) ;;
    esac
done
finish
