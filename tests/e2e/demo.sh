#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make demo: time and counts of the CSV program on the same lines.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
[ -e /usr/share/unicode/UnicodeData.txt ] || skip_all 'no unicode-data here (tools/install-deps)'

check 'the demo runs to its end' sh -c '"$TOP/examples/csv/demo" >demo.txt 2>&1 || { tail demo.txt; false; }'
# 34 924 records or more, six passes of five questions, fifteen fields each.
lines_counted() {
    passes=$(sed -n 's/^ *\([0-9]*\) \[[0-9]*\] *static void map_put(.*/\1/p' demo.txt)
    echo "map_put $passes"
    [ "${passes:-0}" -ge $((34924 * 15 * 5)) ] &&
        [ "$(grep -c "^ *$passes \[[0-9]*\]" demo.txt)" -eq 8 ]
}
check 'each line of map_put ran as often' lines_counted
joined() { grep -q "^ *[0-9.]*% *[0-9.]*% *$passes .*must(strdup(key))" demo.txt; }
check 'beside its time stand the same executions' joined
check 'the fast form is proven faster' grep -q '^new is [0-9.]* times as fast as old, 95 % sure' demo.txt
check 'what changed stands line by line' grep -q 'gone  csv.c: entry->key = must(strdup(key));' demo.txt
check 'one page holds it all' eval 'grep -q "<h1>Survey</h1>" "$TOP/demo/csv.html" && grep -q "times as fast as old" "$TOP/demo/csv.html"'
# Two commands, each with samples, heap and counts.
parts() { grep -c "$1" "$TOP/demo/csv.survey/survey.json"; }
check 'of both programs' eval '[ "$(parts cpu.assay)" -ge 2 ] && [ "$(parts heap.assay)" -eq 2 ] && [ "$(parts counts.assay)" -eq 2 ]'
"$TOP/tools/readme-pictures" "$PWD" >pictures.txt 2>&1
case $? in
0) verdict 'the pictures of the README are drawn from it' 0 ;;
77) skip 'the pictures of the README' "$(cat pictures.txt)" ;;
*) cat pictures.txt && verdict 'the pictures of the README are drawn from it' 1 ;;
esac
finish
