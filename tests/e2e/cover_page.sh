#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The page of coverage in a browser: files in their folders, whose shares are sums; sorted flat; a search leaves the
# folders of what it found.
set -u
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
driver=$(command -v chromedriver || true)
if [ -z "$browser" ] || [ -z "$driver" ]; then
    skip_all 'no Chromium with chromedriver (tools/install-deps --dev)'
fi
{
    printf 'SF:/p/x/src/a/one.c\nDA:1,1\nDA:2,0\nend_of_record\nSF:/p/x/src/a/two.c\nFN:1,f\nFNDA:1,f\nDA:1,1\nend_of_record\n'
    printf 'SF:/p/x/lib/deep/er/three.c\nDA:1,0\nend_of_record\nSF:/p/x/main.c\nDA:1,5\nBRDA:1,0,0,1\nBRDA:1,0,1,0\nend_of_record\n'
} >tree.info
"$ASSAY" cover export --format html tree.info -o tree.html 2>err
"$TOP/tests/tools/cover_page_in_browser.py" "$driver" "$browser" tree.html >out 2>&1
cat >want <<'E'
0 lib/deep/er/ 0.00% 0/1 - -
1 three.c 0.00% 0/1 - -
0 main.c 100.00% 1/1 - 50.00% 1/2
0 src/a/ 66.67% 2/3 100.00% 1/1 -
1 one.c 50.00% 1/2 - -
1 two.c 100.00% 1/1 100.00% 1/1 -
--- by lines
0 lib/deep/er/three.c 0.00% 0/1 - -
0 src/a/one.c 50.00% 1/2 - -
0 main.c 100.00% 1/1 - 50.00% 1/2
0 src/a/two.c 100.00% 1/1 100.00% 1/1 -
--- two.c
0 src/a/ 66.67% 2/3 100.00% 1/1 -
1 two.c 100.00% 1/1 100.00% 1/1 -
--- labelled True
E
cmp want out
verdict "files stand in their folders with short names" $?
printf 'SF:one.c\nDA:1,1\nend_of_record\nSF:/usr/two.c\nDA:1,1\nend_of_record\n' >mixed.info
"$ASSAY" cover export --format html mixed.info -o mixed.html 2>err &&
    "$TOP/tests/tools/cover_page_in_browser.py" "$driver" "$browser" mixed.html >out 2>&1 && grep -qx '0 one.c 100.00% 1/1 - -' out && grep -qx '1 two.c 100.00% 1/1 - -' out
verdict "files without a common folder" $?
finish
