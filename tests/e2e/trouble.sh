#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What goes wrong gets a clear error, status 1 or 2, and leaves nothing half done.
# beside others: 3 s
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
gcc -g -O2 -pthread -o spin "$TOP/tests/programs/spin.c" || exit 1

# fails_whole WORDS COMMAND…: and no partial output.
fails_whole() {
    fails "$@" || return 1
    [ ! -s out.log ] || { echo 'standard output is not empty:'; head -n 5 out.log; return 1; }
}
left_nothing() {
    local left
    left=$(find . -name 'no.assay*')
    [ -z "$left" ] || { echo "left: $left"; rm -f no.assay*; return 1; }
}

check 'a program that does not exist' fails_whole 'no-such-program' "$ASSAY" record -o no.assay -- ./no-such-program
check 'leaves no file' left_nothing
: >not_executable
check 'a file that is not executable' fails_whole 'not_executable' "$ASSAY" record -o no.assay -- ./not_executable
printf 'echo hi\n' >no_shebang
chmod +x no_shebang
check 'a script without a first line' fails_whole 'no_shebang' "$ASSAY" record -o no.assay -- ./no_shebang
check 'leaves no file' left_nothing
check 'no program at all' fails_whole 'assay' "$ASSAY" record -o no.assay
check 'a process that is gone' fails_whole '4194303' "$ASSAY" record -o no.assay -p 4194303
check 'an unknown event' fails_whole 'no-such-event' "$ASSAY" record -e no-such-event -o no.assay -- true
check 'a CPU that is not there' fails_whole 'CPU 999 is not online' "$ASSAY" record -C 999 -o no.assay -- true
check 'a period of nothing' fails_whole '-c takes a number of events from 1, not 0' "$ASSAY" record -c 0 -o no.assay -- true
check 'an unknown option' fails_whole 'no-such-option' "$ASSAY" record --no-such-option -- true
check 'an output folder that does not exist' fails_whole 'no-such-folder' "$ASSAY" record -o no-such-folder/a.assay -- true

"$ASSAY" record -q -o keep.assay -- ./spin 100 2>record.log || cat record.log
cp keep.assay before.assay
check 'an existing recording is kept' fails_whole 'keep.assay' "$ASSAY" record -o keep.assay -- ./spin 10
check 'byte for byte' cmp keep.assay before.assay
check '--force replaces it' "$ASSAY" record -q --force -o keep.assay -- ./spin 10
cp before.assay keep.assay

check 'a recording that does not exist' fails_whole 'absent.assay' "$ASSAY" report absent.assay
: >empty.assay
check 'an empty recording' fails_whole 'empty.assay' "$ASSAY" report empty.assay
check 'a file that is not a recording' fails_whole 'spin' "$ASSAY" report spin
check 'a folder' fails_whole '.' "$ASSAY" report .

# opens_or_fails FILE: a damaged recording opens with what is whole, or is refused.
opens_or_fails() {
    "$ASSAY" report "$1" >out.log 2>err.log </dev/null
    local status=$?
    [ $status -eq 0 ] && [ -s out.log ] && return
    [ $status -eq 1 ] && [ ! -s out.log ] && grep -q "^assay: .*$1" err.log && return
    echo "status $status"
    tail -n 5 err.log
    return 1
}
cut_everywhere() {
    local size step at
    size=$(stat -c %s before.assay)
    step=$((size / 60 + 1))
    for ((at = 0; at < size; at += step)); do
        head -c $at before.assay >damaged.assay
        opens_or_fails damaged.assay || { echo "cut at $at of $size"; return 1; }
    done
}
check 'a recording cut at 60 places' cut_everywhere
flip_everywhere() {
    python3 - before.assay <<'PY' || return 1
import sys
data = bytearray(open(sys.argv[1], "rb").read())
step = len(data) // 60 + 1
for n, at in enumerate(range(0, len(data), step)):
    flipped = bytearray(data)
    flipped[at] ^= 1 << n % 8
    open(f"flipped{n}.bin", "wb").write(flipped)
PY
    local file
    for file in flipped*.bin; do
        opens_or_fails "$file" || { echo "$file"; return 1; }
        rm "$file"
    done
}
check 'a recording with a flipped bit at 60 places' flip_everywhere

full_device() {
    "$ASSAY" report before.assay >/dev/full 2>err.log
    local status=$?
    [ $status -eq 1 ] && grep -q 'No space left' err.log || { echo "status $status"; cat err.log; return 1; }
}
check 'a report to a full device' full_device
mkdir full
if mount -t tmpfs -o size=64k,nr_inodes=16 none full 2>/dev/null; then
    dd if=/dev/zero of=full/filler bs=1k count=60 2>/dev/null
    check 'a full disk' fails_whole 'No space left' "$ASSAY" record -q -F 5000 -o full/a.assay -- ./spin 300
    umount full
else
    skip 'a full disk' 'no right to mount a small file system'
fi

few_files() (
    ulimit -n 8
    "$ASSAY" record -q -o few.assay -- ./spin 50 >out.log 2>err.log
    status=$?
    [ $status -eq 0 ] || { [ $status -eq 1 ] && grep -q '^assay: ' err.log; } || { echo "status $status"; cat err.log; return 1; }
)
check 'out of file descriptors' few_files

killed() {
    "$ASSAY" record -q -o killed.assay -- ./spin 60000 &
    local recorder=$! program
    eventually holds_samples killed.assay.part
    program=$(pgrep -P $recorder)
    kill -KILL $recorder
    wait $recorder
    kill -KILL "$program"
    [ ! -e killed.assay ] && holds_samples killed.assay.part
}
# Nobody has looked up names when the recorder is killed. The program is still there.
names_spin() {
    "$ASSAY" report --json "$1" >report.json 2>err.log || { cat err.log; return 1; }
    python3 -c 'import json; r = json.load(open("report.json")); print([x["name"] for x in r["rows"][:5]]); exit(not any(x["name"] == "burn" and x["total_share"] > 0.5 and x["file"].endswith("spin.c") for x in r["rows"]))'
}
killed_is_named() {
    names_spin killed.assay.part && "$ASSAY" import killed.assay.part -o saved.assay 2>err.log && names_spin saved.assay
}
# Once a second it writes what it has.
holds_samples() {
    "$ASSAY" report --json "$1" >report.json 2>err.log || { cat err.log; return 1; }
    python3 -c 'import json; r = json.load(open("report.json")); n = r["truth"]["samples"]; print(n, "samples"); exit(n < 50 or not r["truth"]["recording_incomplete"])'
}
check 'a recorder killed by SIGKILL leaves what it had, and says so' killed
check 'what it left is named when it is opened, and import keeps the names' killed_is_named

closed_pipe() {
    "$ASSAY" report before.assay 2>err.log | head -n 1 >/dev/null
    [ ! -s err.log ] || { cat err.log; return 1; }
}
check 'a reader that goes away is not an error' closed_pipe
finish
