#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# AFL++ over the whole command line, two minutes for each target. The sample is a few
# seconds of some targets.
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
command -v afl-fuzz >/dev/null || skip_all 'no afl++: run tools/install-deps --dev'
targets=() seconds=120
if [ -n "${NIGHTLY_SAMPLE:-}" ]; then
    [ -x "$TOP/build/afl/src/assay" ] || skip_all 'no build/afl: make nightly builds it'
    targets=(report symfs cover-report) seconds=5
fi
# The build's own settings, not those of the tests.
make -C "$TOP" --no-print-directory build-afl >build.log 2>&1 || { cat build.log; exit 1; }
"$TOP/tests/fuzz/cli/fuzz_cli.py" run "$TOP/build/afl" "$seconds" "${targets[@]}" >run.log 2>&1
status=$?
sed 's/^/# /' run.log
while IFS=: read -r name counts; do
    if [[ $counts == *' 0 crashes, 0 hangs' ]] && [[ $counts != ' 0 executions'* ]]; then
        ok "$name:$counts"
    else
        not_ok "$name:$counts"
    fi
done < <(grep -E '^[a-z-]+: [0-9]+ executions' run.log)
[ $status -eq 0 ] || [ "$tap_failed" -eq 1 ] || not_ok 'the run' run.log
finish
