#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# valgrind's dh_view.html opens a recording of the heap, in a browser.
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
nightly_only
viewer=/usr/libexec/valgrind/dh_view.html
[ -e "$viewer" ] || skip_all 'no dh_view.html of valgrind here'
command -v chromium >/dev/null || skip_all 'no chromium here'
gcc -g -O1 -fno-builtin -pthread -o truth "$TOP/tests/programs/heap_truth.c" || exit 1
"$ASSAY" heap -q -f -o heap.assay -- ./truth >out 2>&1
"$ASSAY" export -f dhat --force -o heap.json heap.assay
# The page as it is, and a script that gives it the file as a user does.
python3 - "$viewer" <<'PY'
import json, sys
html = open(sys.argv[1]).read().replace("dh_view.", "file:///usr/libexec/valgrind/dh_view.")
give = """<script>addEventListener("load", () => setTimeout(() => {
  const files = new DataTransfer(), input = document.querySelector("input[type=file]");
  files.items.add(new File([%s], "heap.json"));
  input.files = files.files;
  input.dispatchEvent(new Event("change"));
}, 300));</script></body>""" % json.dumps(open("heap.json").read()).replace("</", "<\\/")
open("page.html", "w").write(html.replace("</body>", give))
PY
timeout 120 chromium --headless --no-sandbox --disable-gpu --allow-file-access-from-files --virtual-time-budget=5000 \
    --dump-dom "file://$PWD/page.html" >dom.html 2>err
sed -e 's/<[^>]*>//g' dom.html >text
check 'totals' grep -q 'Total:.*10,263,727 bytes.*5,052 blocks' text
check "a stack's own maximum" grep -q '48 bytes in 1 blocks' text
check 'functions with their lines' grep -q 'churns (.*heap_truth.c:25)' text
finish
