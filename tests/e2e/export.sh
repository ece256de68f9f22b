#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every export says what the report says, to readers that are not ours: those of
# tests/tools/check_export.py, and pprof and callgrind_annotate where installed.
# Formats that can be imported again give the same report.
# beside others: 87 s
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
make_profile="$(dirname "$ASSAY")/../tests/tools/make_profile"
[ -x "$make_profile" ] || make_profile="$TOP/build/dev/tests/tools/make_profile"
[ -x "$make_profile" ] || { echo "no make_profile: make dev builds it"; exit 77; }
cd "$folder" || exit 1
formats="folded perf-script pprof firefox speedscope callgrind chrome otlp csv json sqlite"
readers=$TOP/build/readers # tools/foreign-readers installs them
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
for kind in plain two-metrics nameless hostile; do
    "$make_profile" "$kind" "$kind.assay"
    "$ASSAY" report "$kind.assay" --json >"$kind.report"
    for format in $formats; do
        how=()
        if [ "$kind" = hostile ]; then how=(--structure); fi
        metric=()
        # Two metrics in one file of lines cannot be told apart by name alone.
        if [ "$format" = perf-script ]; then metric=(-e 0); fi
        "$ASSAY" export "$kind.assay" --format "$format" "${metric[@]}" -o "$kind.$format" &&
            python3 "$TOP/tests/tools/check_export.py" "$kind.report" "$format" "$kind.$format" "${how[@]}" >&2
        verdict "$kind as $format" $?
    done
done

# The reports of what was exported and read again.
for format in folded perf-script pprof firefox speedscope callgrind chrome; do
    shares() { "$ASSAY" report "$1" "${@:2}" --json | python3 -c '
import json, sys
for row in json.load(sys.stdin)["rows"]:
    if "[stack cut" not in row["name"]:
        print("%.6f %.6f %s" % (row["self_share"], row["total_share"], row["name"]))' | sort; }
    shares plain.assay >want
    # folded and perf script have the thread, or only the name, as a frame of its own
    shares "plain.$format" | grep -vE ' (prog|worker|\[unknown\])$' >got
    grep -vE ' \[unknown' got >a
    grep -vE ' \[unknown' want >b
    diff a b >&2
    verdict "import of $format gives the report again" $?
done

printf '%s\n' 'idle 1' 'main 0.5' 'main;a 1.25' 'main;a;sys_[k] 3' 'main;b%41;c_[i] 2' 'main;x_[j] 7' 'main;Ärger in 日本語 9' >same.folded
"$ASSAY" export same.folded --format folded -o - | diff same.folded - >out
verdict "folded stacks stay as they are" $?

"$ASSAY" export plain.assay -o - >dash && [ ! -e ./- ] && cmp -s dash plain.folded &&
    "$ASSAY" report plain.assay --json -o - | cmp -s - plain.report && [ ! -e ./- ]
verdict "-o - is standard output" $?

# What valgrind's callgrind writes: every self cost, and the calls.
calls_of_callgrind() {
    cat >calls.c <<'C'
#include <stdio.h>
__attribute__((noinline)) long leaf(long n) { long s = 0; for (long i = 0; i < n; i++) s += i ^ n; return s; }
__attribute__((noinline)) long fib(long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) long often(void) { long s = 0; for (int i = 0; i < 300; i++) s += leaf(1000 + i); return s; }
int main(void) { printf("%ld\\n", often() + fib(15)); }
C
    gcc -g -O1 -fno-optimize-sibling-calls -o calls calls.c &&
        valgrind -q --tool=callgrind --callgrind-out-file=calls.cg "$@" ./calls >/dev/null 2>valgrind.log || return 1
    "$ASSAY" report calls.cg --json >calls.report && "$ASSAY" report --prof --json calls.cg >calls.prof &&
        callgrind_annotate --threshold=100 --auto=no calls.cg >calls.txt && python3 - <<'P'
import json, re
report, prof = json.load(open("calls.report")), json.load(open("calls.prof"))
# "summary:" counts instructions outside of every function too.
total = int(next(l.split()[1] for l in open("calls.cg") if l.startswith("totals:")))
assert report["metric"]["total"] == total, (report["metric"]["total"], total)
theirs = {}
for line in open("calls.txt"):
    row = re.match(r" *([0-9,]+) \( *[0-9.]+%\).*?[^ ]*calls\.c:(\S+)", line)
    if row and "file:function" not in line:
        theirs[row[2]] = theirs.get(row[2], 0) + int(row[1].replace(",", ""))
ours = {row["name"]: row for row in report["rows"]}
assert {"leaf", "often"} <= set(theirs), theirs
for name, self in theirs.items():
    assert ours[name]["self"] == self, (name, ours[name]["self"], self)
assert ours["often"]["total"] >= ours["leaf"]["self"]
calls = {row["name"]: row["calls"] for row in prof["rows"]}
assert (calls["leaf"], calls["often"]) == (300, 1), (calls["leaf"], calls["often"])
P
}
if command -v valgrind >/dev/null && command -v callgrind_annotate >/dev/null; then
    calls_of_callgrind >&2
    verdict "callgrind's costs and calls are read" $?
    calls_of_callgrind --dump-instr=yes --collect-jumps=yes --cache-sim=yes >&2
    verdict "with instructions, jumps and caches too" $?
else
    skip valgrind "not installed"
fi

if command -v callgrind_annotate >/dev/null; then
    callgrind_annotate plain.callgrind 2>&1 | grep -q '420,420,420 (40.86%).*_Hashtable'
    verdict "callgrind_annotate reads it" $?
else
    skip callgrind_annotate "not installed"
fi

# self FILE REPORT: a foreign reader's self values are the report's.
self() { python3 "$TOP/tests/tools/check_export.py" "$2" self "$1" "${@:3}" >&2; }

# Google's pprof, or an older Go's with its copy.
pprof=()
if [ -x "$readers/bin/pprof" ]; then
    pprof=("$readers/bin/pprof")
elif command -v go >/dev/null && go tool pprof -h >/dev/null 2>&1; then
    pprof=(go tool pprof)
fi
if [ ${#pprof[@]} -gt 0 ]; then
    HOME=$folder "${pprof[@]}" -top plain.pprof 2>&1 | grep -q '40.86%.*_Hashtable'
    verdict "pprof reads it" $?
    HOME=$folder "${pprof[@]}" -top plain.pprof 2>/dev/null | grep -q '^File: prog$'
    verdict "pprof takes the program for the file" $?
    HOME=$folder "${pprof[@]}" -raw hostile.pprof >raw.txt 2>&1 && grep -q 'semi;colon' raw.txt
    verdict "pprof reads hostile names" $?
else
    skip "pprof reads it" "not installed: tools/foreign-readers"
fi

speedscope="$readers/node_modules/speedscope"
if command -v node >/dev/null && [ -d "$speedscope" ]; then
    import() { node "$TOP/tests/tools/speedscope_import.mjs" "$speedscope" "$1" >"$1.self"; }
    for format in folded speedscope callgrind; do
        how=()
        # A call graph does not say how deep a recursion went: it spreads that over the cycle.
        if [ "$format" = callgrind ]; then how=(--structure); fi
        import "plain.$format" && self "plain.$format.self" plain.report "${how[@]}"
        verdict "speedscope reads $format" $?
        import "hostile.$format" && self "hostile.$format.self" hostile.report --structure
        verdict "speedscope reads $format with hostile names" $?
    done
    # What node writes: its own time of each named function, as we read it.
    cat >busy.js <<'JS'
function leaf(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i ^ n); return s; }
function middle(n) { let s = 0; for (let i = 0; i < 40; i++) s += leaf(n); return s; }
function recurse(n, depth) { return depth ? recurse(n, depth - 1) + leaf(9) : middle(n); }
let sum = 0;
const end = Date.now() + 300;
while (Date.now() < end) sum += recurse(20000, 6);
if (sum < 0) console.log(sum);
JS
    if node --cpu-prof --cpu-prof-name=busy.cpuprofile busy.js && [ -s busy.cpuprofile ]; then
        import busy.cpuprofile && "$ASSAY" report busy.cpuprofile --json >busy.json &&
            python3 - busy.cpuprofile.self busy.json <<'PY' >&2
import collections
import json
import sys

theirs = json.load(open(sys.argv[1]))[0]
ours = collections.Counter()
for row in json.load(open(sys.argv[2]))["rows"]:
    ours[row["name"]] += row["self"] / 1e3
# speedscope gives the collector's and V8's own time to what ran before, and the last sample none.
names = [n for n in theirs if isinstance(theirs[n], int) and not n.startswith("(")]
assert {"leaf", "middle"} & set(names) and ours["leaf"] > 0, names
assert sum(abs(ours[n] - theirs[n]) > 1 for n in names) <= 1, [(n, ours[n], theirs[n]) for n in names]
PY
        verdict "V8's CPU profile gives speedscope's times" $?
    else
        skip "V8's CPU profile" "this node has no --cpu-prof"
    fi
    # It weighs these by the time between samples, and takes one line of a location.
    for format in pprof perf-script chrome; do
        import "plain.$format" && grep -q malloc "plain.$format.self"
        verdict "speedscope reads $format" $?
    done
else
    skip "speedscope's importer" "not installed: tools/foreign-readers"
fi

if [ -x "$readers/python/bin/python" ]; then
    for kind in plain two-metrics hostile; do
        how=()
        if [ "$kind" = hostile ]; then how=(--structure); fi
        "$readers/python/bin/python" "$TOP/tests/tools/read_otlp.py" "$kind.otlp" >"$kind.otlp.self" &&
            self "$kind.otlp.self" "$kind.report" "${how[@]}"
        verdict "protobuf with OpenTelemetry's schema reads $kind" $?
    done
else
    skip "protobuf with OpenTelemetry's schema" "not installed: tools/foreign-readers"
fi

if [ -x "$readers/bin/inferno-collapse-perf" ]; then
    "$readers/bin/inferno-collapse-perf" plain.perf-script >inferno.folded 2>/dev/null &&
        awk '{ sum += $NF } END { exit sum != 1028 * 1001001 }' inferno.folded && grep -q ';malloc ' inferno.folded
    verdict "inferno collapses the perf script text" $?
    "$readers/bin/inferno-flamegraph" plain.folded >inferno.svg 2>/dev/null && grep -q '40.86%' inferno.svg
    verdict "inferno draws the folded stacks" $?
else
    skip "inferno" "not installed: tools/foreign-readers --all"
fi

if command -v sqlite3 >/dev/null; then
    [ "$(sqlite3 plain.sqlite 'SELECT self FROM hottest_functions LIMIT 1')" = 420420420 ] &&
        [ "$(sqlite3 hostile.sqlite 'PRAGMA integrity_check')" = ok ] &&
        [ "$(sqlite3 plain.sqlite "SELECT total FROM calls WHERE caller LIKE 'csv::Field%' AND callee = 'malloc'")" = 180180180 ]
    verdict "the sqlite3 shell asks it" $?
else
    skip "the sqlite3 shell" "not installed"
fi
finish
