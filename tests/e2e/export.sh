#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every export says what the report says, to readers that are not ours: those of
# tests/tools/check_export.py, and pprof and callgrind_annotate where installed.
# Formats that can be imported again give the same report.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
make_profile="$(dirname "$ASSAY")/../tests/tools/make_profile"
[ -x "$make_profile" ] || make_profile="$TOP/build/dev/tests/tools/make_profile"
[ -x "$make_profile" ] || { echo "no make_profile: make dev builds it"; exit 77; }
cd "$folder" || exit 1
formats="folded perf-script pprof firefox speedscope callgrind chrome csv json"
count=0
result() { # STATUS NAME
    count=$((count + 1))
    if [ "$1" = 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; fi
}
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
        result $? "$kind as $format"
    done
done

# The reports of what was exported and read again.
for format in folded perf-script pprof firefox speedscope; do
    shares() { "$ASSAY" report "$1" "${@:2}" --json | python3 -c '
import json, sys
for row in json.load(sys.stdin)["rows"]:
    if "[stack cut" not in row["name"]:
        print("%.6f %.6f %s" % (row["self_share"], row["total_share"], row["name"]))' | sort; }
    again=()
    if [ "$format" = pprof ]; then again=(-e cpu); fi
    shares plain.assay >want
    # folded and perf script have the thread, or only the name, as a frame of its own
    shares "plain.$format" "${again[@]}" | grep -vE ' (prog|worker|\[unknown\])$' >got
    grep -vE ' \[unknown' got >a
    grep -vE ' \[unknown' want >b
    diff a b >&2
    result $? "import of $format gives the report again"
done

if command -v callgrind_annotate >/dev/null; then
    callgrind_annotate plain.callgrind 2>&1 | grep -q '420,420,420 (40.86%).*_Hashtable'
    result $? "callgrind_annotate reads it"
else
    echo "ok $((count += 1)) - callgrind_annotate # SKIP not installed"
fi
if command -v go >/dev/null && go tool pprof -h >/dev/null 2>&1; then
    HOME=$folder go tool pprof -top plain.pprof 2>&1 | grep -q '40.86%.*_Hashtable'
    result $? "pprof reads it"
else
    echo "ok $((count += 1)) - pprof # SKIP not installed"
fi
echo "1..$count"
