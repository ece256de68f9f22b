#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads' lives and marks on the time lines of chrome and firefox: whole, cut to a part of the
# time, and without names. Threads that have no sample in the selection are left out.
. "$TOP/tests/golden/report/profile.inc"
make intervals
events() { python3 -c '
import json, sys
for event in json.load(sys.stdin)["traceEvents"]:
    if event["ph"] not in "MP":
        print(event)'; }
markers() { python3 -c '
import json, sys
profile = json.load(sys.stdin)
strings, schema = profile["shared"]["stringArray"], profile["meta"]["markerSchema"]
for thread in profile["threads"]:
    m = thread["markers"]
    assert all(len(m[c]) == m["length"] for c in m if c != "length"), m
    for i in range(m["length"]):
        assert m["data"][i]["type"] == schema[0]["name"]
        print(thread["tid"], strings[m["name"][i]], m["phase"][i], m["startTime"][i], m["endTime"][i], repr(m["data"][i]["detail"]))'; }
for how in "" "--time 0.0025..0.006" "--tid 4712" "--anonymise"; do
    echo "-- $how"
    # shellcheck disable=SC2086
    "$ASSAY" export intervals.assay -f chrome $how | events
    # shellcheck disable=SC2086
    "$ASSAY" export intervals.assay -f firefox $how | markers
done
"$ASSAY" export intervals.assay -f sqlite -o i.db
python3 -c '
import sqlite3
for row in sqlite3.connect("i.db").execute("SELECT tid, i.start_ns, i.end_ns, i.name, detail FROM intervals i JOIN threads t ON t.id = thread_id"):
    print(row)'
"$ASSAY" report intervals.assay | head -n 1
