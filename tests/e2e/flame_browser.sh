#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A tall flame graph: recursion is folded, and a browser opens the picture at its root, with what the
# recursion leads to on the screen and every box within reach.
# beside others: 8 s
set -u
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
python3 - <<'P'
with open("deep.folded", "w", encoding="utf-8") as out:
    for depth in range(1, 3000, 7):
        out.write("prog;main;parse;" + ";".join(["walk(Node*)"] * depth) + ";leaf 3\n")
    for depth in range(1, 500, 5): # three functions in a circle
        out.write("prog;main;eval;" + ";".join(["expr;term;factor"] * depth) + ";number 9\n")
    # 8 are too few, and so are 8 rounds of two
    out.write("prog;main;few;" + ";".join(["eight"] * 8) + ";" + ";".join(["a;b"] * 8) + " 500\n")
    out.write("prog;main;nine;" + ";".join(["nine_times"] * 9) + ";end 500\n")
    out.write("prog;main;tall;" + ";".join(f"unique_{i}" for i in range(150)) + " 2000\n")
P
shown() { python3 - "$1" <<'P'
import sys
import xml.etree.ElementTree as ET
SVG = "{http://www.w3.org/2000/svg}"
root = ET.parse(sys.argv[1]).getroot()
folded = [t.text for t in root.iter(SVG + "text") if t.text and "×" in t.text]
print(root.get("height"), *sorted(folded), sep="\n")
P
}
for form in "" --icicle; do
    # shellcheck disable=SC2086
    "$ASSAY" flame deep.folded $form -o "deep$form.svg" 2>err && "$TOP/tests/tools/check_flame.py" "deep$form.svg" && shown "deep$form.svg" >out
    # 4 frames lead to the tall stack; nothing is taller.
    cmp out - <<E
$((94 + (4 + 150) * 16 + 8))
expr ×496
factor ×496
nine_times ×9
term ×496
walk(Node*) ×2997
E
    verdict "recursion is folded ${form:-}" $?
done
"$ASSAY" flame deep.folded --inverted -o inverted.svg 2>err && "$TOP/tests/tools/check_flame.py" inverted.svg
verdict "so is that of callers" $?
title() { "$ASSAY" flame "$1" -o - | sed -n 's/.*<text id="title"[^>]*>\(.*\)<\/text>/\1/p'; }
if "$ASSAY" record -q -o ls.assay -- /bin/ls -l / >out 2>err && "$ASSAY" report ls.assay >out 2>&1; then
    [ "$(title ls.assay)" = 'ls -l /' ]
    verdict "the program's name is first in the title" $?
else
    skip "the program's name is first in the title" "no sample was taken here"
fi
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
driver=$(command -v chromedriver || true)
if [ -n "$browser" ] && [ -n "$driver" ]; then
    for page in deep.svg deep--icicle.svg; do
        "$TOP/tests/tools/flame_in_browser.py" "$driver" "$browser" $page --deep >out 2>&1
        verdict "a browser opens $page at its root and reaches each box" $?
    done
else
    skip "a tall picture in a browser" "no chromium with chromedriver (tools/install-deps --dev)"
fi
finish
