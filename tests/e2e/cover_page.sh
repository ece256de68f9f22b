#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The page of coverage in a browser: files in their folders, whose shares are sums; sorted flat; a search leaves the
# folders of what it found.
# beside others: 5 s
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
# ---- Beside a baseline -------------------------------------------------------------
mkdir -p p/src/a p/lib
printf 'int f(int x)\n{\n    if (x)\n        return 1;\n    return 2;\n}\n' >p/src/a/one.c
printf 'int g(void)\n{\n    return 3;\n}\n' >p/lib/two.c
{
    printf 'SF:%s/p/src/a/was.c\nFN:1,f\nFNDA:1,f\nDA:1,1\nDA:3,1\nDA:4,0\nend_of_record\n' "$PWD"
    printf 'SF:%s/p/lib/two.c\nDA:1,1\nDA:3,1\nBRDA:3,0,0,1\nBRDA:3,0,1,1\nend_of_record\n' "$PWD"
    printf 'SF:%s/p/lib/gone.c\nDA:1,1\nDA:3,0\nend_of_record\n' "$PWD"
} >old.info
{
    printf 'SF:%s/p/src/a/one.c\nFN:1,f\nFNDA:1,f\nDA:1,1\nDA:3,1\nDA:4,1\nDA:5,0\nend_of_record\n' "$PWD"
    printf 'SF:%s/p/lib/two.c\nDA:1,0\nDA:3,1\nBRDA:3,0,0,1\nBRDA:3,0,1,0\nend_of_record\n' "$PWD"
    printf 'SF:%s/p/src/a/new.c\nDA:1,2\nDA:2,0\nend_of_record\n' "$PWD"
} >new.info
# The change added line 5 to a file that it renamed.
printf -- '--- a/p/src/a/was.c\n+++ b/p/src/a/one.c\n@@ -4,0 +5,1 @@\n+    return 2;\n' >change.diff
beside=(new.info --baseline old.info --diff-file change.diff)
"$ASSAY" cover export --format html "${beside[@]}" -o beside.html 2>err
"$TOP/tests/tools/cover_page_in_browser.py" "$driver" "$browser" beside.html --lines one.c two.c >out 2>&1
cat >want <<'E'
0 lib/ 50.00% 1/2 -25.00 - 50.00% 1/2 -50.00 1 lost
1 gone.c - - - gone
1 two.c 50.00% 1/2 -50.00 - 50.00% 1/2 -50.00 1 lost
0 src/a/ 66.67% 4/6 100.00% 1/1 - 2 new missed, 1 new ran, 1 gained
1 new.c 50.00% 1/2 new - - 1 new missed, 1 new ran
1 one.c 75.00% 3/4 +8.33 100.00% 1/1 - 1 new missed, 1 gained
--- by lines
0 lib/two.c 50.00% 1/2 -50.00 - 50.00% 1/2 -50.00 1 lost
0 src/a/new.c 50.00% 1/2 new - - 1 new missed, 1 new ran
0 src/a/one.c 75.00% 3/4 +8.33 100.00% 1/1 - 1 new missed, 1 gained
0 lib/gone.c - - - gone
--- two.c
0 lib/ 50.00% 1/2 -25.00 - 50.00% 1/2 -50.00 1 lost
1 two.c 50.00% 1/2 -50.00 - 50.00% 1/2 -50.00 1 lost
--- labelled True
--- lines of one.c
4 1 GBC
5 0 UNC
--- lines of two.c
1 0 LBC
--- changed
lib/two.c src/a/new.c src/a/one.c
E
cmp want out
verdict "a page beside a baseline shows how shares changed, and which lines" $?
"$ASSAY" cover report "${beside[@]}" --json 2>err | python3 -c '
import json, sys
d = json.load(sys.stdin)
rows = {r["path"].rsplit("/", 1)[1]: r for r in d["rows"]}
assert (d["total"]["before"]["lines"]["count"], d["total"]["before"]["lines"]["covered"]) == (7, 5), d["total"]
classes = {k: v for k, v in d["total"]["classes"].items() if v}
assert classes == {"UNC": 1, "LBC": 1, "UIC": 1, "GBC": 1, "GIC": 1, "CBC": 3, "EUB": 1, "ECB": 1}, classes
assert rows["gone.c"]["gone"] and rows["gone.c"]["lines"]["count"] == 0 and rows["gone.c"]["before"]["lines"]["count"] == 2
assert rows["one.c"]["before"]["lines"]["covered"] == 2 and rows["one.c"]["classes"]["UNC"] == 1 and not rows["one.c"]["gone"]
assert rows["two.c"]["classes"]["LBC"] == 1 and rows["two.c"]["before"]["branches"]["covered"] == 2'
verdict "the report beside it has the same as JSON" $?
"$ASSAY" cover report "${beside[@]}" --folders >out 2>err && grep -qE '^lib/ .* -25\.00 +1 +0$' out && grep -qE '^TOTAL .* -8\.93 +1 +2$' out &&
    "$ASSAY" cover report "${beside[@]}" --markdown >out && grep -q 'lib/gone.c | - | - | - | gone | 0 | 0 |' out
verdict "and as tables of files and folders" $?
"$ASSAY" cover report new.info --baseline new.info >out 2>err && grep -qE '^TOTAL .* = +0 +0$' out && [ ! -s err ]
verdict "nothing changed beside itself" $?
sed 's|^SF:.*/p/|SF:/ci/p/|' old.info >other.info
"$ASSAY" cover report new.info --baseline other.info >out 2>err && grep -q 'no file is in the coverage and in the baseline' err &&
    "$ASSAY" cover report new.info --baseline other.info --prefix-map "/ci=$PWD" >out 2>err && [ ! -s err ]
verdict "a baseline of other paths is said, and mapped" $?
finish
