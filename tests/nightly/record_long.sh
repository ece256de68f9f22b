#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# 30 minutes at 5 kHz over two busy threads: the recorder's memory stays flat. The sample takes 8 s.
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
seconds=1800 warm=120
[ -z "${NIGHTLY_SAMPLE:-}" ] || seconds=8 warm=3
[ -z "${LONG_SECONDS:-}" ] || seconds=$LONG_SECONDS warm=$((LONG_SECONDS / 10 + 2))
gcc -g -O2 -pthread -o chain "$TOP/tests/programs/chain.c" || exit 1
memory_kb() { awk '$1 == "RssAnon:" { print $2 }' "/proc/$1/status"; }

./chain $((seconds * 1000 * 2)) & program=$!
"$ASSAY" record -q -F 5000 -p $program --duration $seconds -o long.assay 2>err.log & recorder=$!
sleep "$warm"
early=$(memory_kb $recorder)
sleep $((seconds - warm - 1))
late=$(memory_kb $recorder)
wait $recorder
status=$?
kill $program
is_whole() { [ $status -eq 0 ] && "$ASSAY" report --json long.assay >report.json && grep -q '"hot"' report.json; }
# What grows is the table of new stacks, which a loop has few of.
is_flat() { echo "early $early KB, late $late KB, file $(stat -c %s long.assay)"; [ "$late" -le $((early + early / 4 + 4096)) ]; }
check "$seconds s at 5 kHz are recorded and open" is_whole
check "memory is flat: $early KB after $warm s, $late KB at the end" is_flat
finish
