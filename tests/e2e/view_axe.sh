#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every view of the page for those who do not see, or use no mouse: axe-core, Tab, forced colours, reduced motion.
# beside others: 8 s
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
driver=$(command -v chromedriver || true)
if [ -z "$browser" ] || [ -z "$driver" ]; then skip_all 'no Chromium with its driver here (tools/install-deps --dev)'; fi
axe=$TOP/viewer/node_modules/axe-core/axe.min.js
[ -s "$axe" ] || skip_all 'viewer/node_modules has no axe-core: npm ci in viewer'
printf '%s\n' '#include <stdlib.h>' 'static volatile unsigned sink;' 'int main(void)' '{' '    char *volatile block = malloc(1000);' '    block[0] = 1;' \
    '    for (unsigned i = 0; i < 30000000; i++)' '        sink += i;' '    return 0;' '}' >work.c
gcc -g -O1 -o work work.c && printf 'SF:%s/work.c\nDA:7,30000001\nDA:8,30000000\nDA:9,0\nBRDA:7,0,0,1\nBRDA:7,0,1,0\nend_of_record\n' "$PWD" >work.info &&
    "$ASSAY" record -o old.assay -- ./work >out 2>err && "$ASSAY" record -o new.assay -- ./work >out 2>err && "$ASSAY" heap -o heap.assay -- ./work >out 2>err &&
    "$ASSAY" view --no-open new.assay heap.assay work.info --html all.html 2>err && "$ASSAY" diff old.assay new.assay --html diff.html >out 2>err &&
    "$ASSAY" bench -N -r 6 true false -i --html bench.html >out 2>err && "$ASSAY" stat -r 3 -e task-clock,page-faults --html stat.html true >out 2>err
verdict 'pages with every view are written' $?
check 'axe-core finds nothing in any view; Tab, forced colours, reduced motion' \
    "$TOP/tests/tools/axe_in_browser.py" "$driver" "$browser" "$axe" all.html diff.html bench.html stat.html
finish
