#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Profiles of Firefox are read as the Firefox Profiler's own command line reads them, and it reads
# what we export. ALL=1 takes every version and kind: each takes their command line some seconds.
# beside others: 9 s
set -u
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
readers=$TOP/build/readers/firefox # tools/foreign-readers installs it
[ -d "$readers/node_modules/@firefox-devtools" ] || skip_all "the Firefox Profiler's command line is not installed: tools/foreign-readers"
"$readers/node_modules/.bin/node" --version >/dev/null 2>&1 || skip_all "its Node does not run"
# theirs FILE, ours FILE: self and total by name. They add a root and name addresses by the address.
theirs() { python3 "$TOP/tests/tools/firefox_cli.py" "$readers" "$1" 2>err | grep -vE '^(\(root\)|0x|\[)'; }
ours() {
    "$ASSAY" report "$1" --json --limit 0 2>err | python3 -c '
import json, sys
names, scale = {}, float(sys.argv[1])
for row in json.load(sys.stdin)["rows"]:
    sums = names.setdefault(row["name"], [0, 0])
    sums[0] += row["self"] * scale
    sums[1] += row["total"] * scale
for name, (self, total) in sorted(names.items()):
    if not name.startswith("["):
        print(f"{name}\t{self:.6g}\t{total:.6g}")' "${2:-1}"
}
python3 "$TOP/tests/tools/make_firefox.py" . || exit 1
files="gecko-28 processed-56 processed-58" kinds="two-metrics"
if [ -n "${ALL:-}" ]; then
    files+=" processed-50 processed-57 processed-59 processed-61" kinds+=" plain"
fi
for file in $files; do
    theirs $file.json >theirs.txt && ours $file.json >ours.txt && [ -s ours.txt ] && diff theirs.txt ours.txt >out
    verdict "$file is read as by the Firefox Profiler" $?
done
ours gecko-old.json >out && printf 'leaf\t2\t2\nmain\t1\t3\n' | diff - out
verdict "samples with frames in them are read" $?

for kind in $kinds; do
    "$TOOLS/make_profile" $kind $kind.assay && "$ASSAY" export $kind.assay --format firefox -o $kind.json 2>err &&
        theirs $kind.json >theirs.txt && ours $kind.assay 1e-6 >ours.txt &&
        diff theirs.txt ours.txt >out
    verdict "it reads our export of $kind" $?
done
# Code without names has the same samples there.
"$TOOLS/make_profile" nameless nameless.assay && "$ASSAY" export nameless.assay --format firefox -o nameless.json 2>err &&
    python3 "$TOP/tests/tools/firefox_cli.py" "$readers" nameless.json 2>err >theirs.txt &&
    ours=$("$ASSAY" report nameless.assay --json | python3 -c '
import json, sys
print(next("%g" % (r["self"] / 1e6) for r in json.load(sys.stdin)["rows"] if r["name"] == "[unknown in stripped]"))') &&
    [ "$(awk -F "\t" '$1 == "[unknown in stripped]" { print $2 + 0 }' theirs.txt)" = "$ours" ]
verdict "it reads our export of code without names" $?
# It takes samples that are half a millisecond apart or more, without weights; names in brackets are left out here.
"$TOOLS/make_profile" plain plain.assay && "$ASSAY" export plain.assay --format chrome -o plain.trace &&
    python3 -c '
import json
trace = json.load(open("plain.trace"))
print(sum(len(e["args"]["data"]["cpuProfile"]["samples"]) for e in trace["traceEvents"] if e["name"] == "ProfileChunk"))
' >count && theirs plain.trace >theirs.txt &&
    awk -F "\t" -v count="$(cat count)" '{ self += $2 } END { exit !(self >= count * 0.95 && self <= count) }' theirs.txt &&
    grep -q '^malloc' theirs.txt
verdict "it shows the samples of our Chrome trace" $?
"$TOOLS/make_profile" hostile hostile.assay && "$ASSAY" export hostile.assay --format firefox -o hostile.json &&
    theirs hostile.json >out && grep -q 'semi;colon' out
verdict "it reads our export of hostile names" $?
# States of threads: markers with the stack of their wait.
if [ "$(id -u)" = 0 ] && gcc -g -O2 -pthread -o waits "$TOP/tests/programs/waits.c" &&
    "$ASSAY" record --wait -q -o waits.assay -- ./waits >/dev/null 2>err; then
    "$ASSAY" export waits.assay --format firefox -o waits.json &&
        python3 "$TOP/tests/tools/firefox_cli.py" "$readers" waits.json --markers >out 2>err &&
        grep -Eq '^ *lock cache_lock +[0-9]+ markers' out && grep -q 'waits!lookup' out
    verdict "it shows the states of threads, and the stack of a wait" $?
else
    skip "it shows the states of threads" "no waits by BPF: $(tail -n 1 err)"
fi
finish
