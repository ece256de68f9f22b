#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every choice of fields of `perf script -F` is read right or refused by name: an eighth of the
# pairs of 14 fields; PART=0/1 takes all, and perf's own choice with each pair added.
# beside others: 4 s
set -u
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
command -v perf >/dev/null || skip_all "no perf"
"$(compiler gcc)" -g -O1 -fno-omit-frame-pointer -pthread -o named "$TOP/tests/programs/named_threads.c" || exit 1
perf record -q -F 1999 -e cpu-clock -e page-faults:u -g -d --sample-cpu -T -P -o small.data ./named 2>perf.log ||
    skip_all "perf record: $(tail -n 1 perf.log)"
perf script -i small.data -F comm,pid,tid,cpu,time,event,period,ip,sym,dso >probe.txt 2>perf.log ||
    skip_all "perf script: $(tail -n 1 perf.log)"
fields() { python3 "$TOP/tests/tools/perf_script_fields.py" "$ASSAY" small.data --part "${PART:-1/8}" "$@" >out; }
fields
verdict "pairs of fields are read by their shape" $?
fields --others
verdict "fields that are not imported are passed over or named" $?
if [ -n "${PART:-}" ]; then
    fields --with-default
    verdict "pairs of fields beside perf's own choice" $?
fi
perf script -i small.data --show-task-events --show-mmap-events >records.txt 2>/dev/null
"$ASSAY" report records.txt --json | python3 -c '
import json, sys
notes = json.load(sys.stdin)["notes"]
sys.exit(any("perf script" in n["text"] for n in notes))' 2>err
verdict "records that are not samples are passed over" $?
finish
