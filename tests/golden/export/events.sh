#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Single calls and waits: on the time lines of chrome and firefox and as tables of sqlite (parquet's are read in
# tests/e2e/parquet.sh), whole, and cut to a time, a thread or a function. Other formats say that they leave them out.
. "$TOP/tests/golden/report/profile.inc"
make events
for how in "" "--time 0.0025..0.004" "--tid 4712" "--focus main" "--anonymise"; do
    echo "-- $how"
    # shellcheck disable=SC2086
    "$ASSAY" export events.assay -f chrome $how | python3 -c '
import json, sys
for e in json.load(sys.stdin)["traceEvents"]:
    if e["ph"] not in "MP":
        print(e["ph"], e["tid"], e["name"], e["ts"], e.get("dur", e.get("id")), e.get("args"))'
    # shellcheck disable=SC2086
    "$ASSAY" export events.assay -f sqlite -o e.db --force $how
    python3 -c '
import sqlite3
db = sqlite3.connect("e.db")
for table in ("recorded_calls", "recorded_call_values", "waits", "single_waits"):
    for row in db.execute(f"SELECT * FROM {table}"):
        print(table, row)'
done
"$ASSAY" export events.assay -f firefox | python3 -c '
import json, sys
profile = json.load(sys.stdin)
for thread in profile["threads"]:
    m = thread["markers"]
    for i in range(m["length"]):
        print(thread["tid"], thread["samples"]["length"], profile["shared"]["stringArray"][m["name"][i]], m["startTime"][i], m["endTime"][i],
              sorted(m["data"][i].items()))'
for format in folded perf-script pprof speedscope callgrind otlp csv json parquet; do
    "$ASSAY" export events.assay -f $format -o "out.$format"
done
"$ASSAY" export out.json -f json | cmp - out.json
"$ASSAY" import out.json -o again.assay
"$ASSAY" export again.assay -f json | cmp - out.json
"$ASSAY" report again.assay --calls | grep ': '
