#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# record as root gives up the rights that it does not need, and does what it did before:
# other users' processes and folders, the symbol cache, signals to a command of another user.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'needs root, who has rights to give up'
[ "$(uname -m)" = x86_64 ] || [ "$(uname -m)" = aarch64 ] || skip_all 'no filter for this machine'
need_perf
gcc -g -O1 -pthread -o spin "$TOP/tests/programs/spin.c" || exit 1
as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
"${as_nobody[@]}" true 2>/dev/null || skip_all 'cannot become another user here'
chmod 755 . # the other user runs programs from here
export XDG_CACHE_HOME=$PWD/cache
allowed=$((1 << 38 | 1 << 19 | 1 << 2 | 1 << 34 | 1 << 40))

# Every thread of the recorder: no capability beyond those, no new rights, a filter. The main thread of a flight recorder, which makes files
# and processes, is left out.
is_reduced() { # PID CAPABILITIES [but-main]
    local task caps
    for task in "/proc/$1/task"/*; do
        [ "${3:-}" != but-main ] || [ "${task##*/}" != "$1" ] || continue
        caps=$((0x$(awk '$1 == "CapPrm:" { print $2 }' "$task/status")))
        [ $((caps & ~$2)) -eq 0 ] && grep -q 'NoNewPrivs:	1' "$task/status" &&
            grep -q 'Seccomp:	2' "$task/status" || return 1
    done
}
attached_gives_up() {
    "${as_nobody[@]}" ./spin 30000 & local target=$! recorder status=0
    "$ASSAY" record -q -f -p $target --duration 30 -o other.assay 2>err.log & recorder=$!
    eventually is_reduced $recorder "$allowed" || { grep -E 'Cap|Seccomp|NoNew' /proc/$recorder/status; status=1; }
    # Some samples, whatever the machine is busy with.
    eventually child_time "$target" 50
    kill -INT $recorder
    wait $recorder
    kill $target
    wait $target 2>/dev/null
    return $status
}
child_time() { awk -v ms="$2" '{ sub(/.*\) /, ""); exit ($12 + $13) * 10 < ms }' "/proc/$1/stat"; }
check 'a recorder of another user'"'"'s process gives up its rights' attached_gives_up
named() { "$ASSAY" report other.assay --tree >tree.txt && grep -q 'main' tree.txt && "$ASSAY" report other.assay --by line | grep -q 'spin.c'; }
check 'and names its functions and lines' named
cached() { ls cache/assay/*.sym && [ -z "$(find cache -name '*.tmp')" ]; }
check 'the symbol cache is written' cached

own_rights() {
    "$ASSAY" record -q -f -o own.assay -- cat /proc/self/status >inside && cat /proc/self/status >outside || return 1
    diff <(grep -E '^(Cap|NoNewPrivs|Seccomp|Uid|Gid|Groups)' outside) <(grep -E '^(Cap|NoNewPrivs|Seccomp|Uid|Gid|Groups)' inside)
}
check 'the command keeps all rights' own_rights

mkdir -m 700 theirs && chown 65534:65534 theirs
in_their_folder() { "$ASSAY" record -q -o theirs/x.assay -- ./spin 20 && "$ASSAY" report theirs/x.assay >/dev/null; }
check 'a recording in a folder that only another user may write' in_their_folder
replaces() {
    chown 65534:65534 theirs/x.assay && chmod 640 theirs/x.assay && "$ASSAY" record -q -f -o theirs/x.assay -- ./spin 20 &&
        [ "$(stat -c '%u %a' theirs/x.assay)" = '65534 640' ] && [ "$(ls theirs)" = x.assay ]
}
check 'a replaced recording keeps owner and mode' replaces
kept_meanwhile() { # a file that appears while it records
    "$ASSAY" record -q -o late.assay -- sh -c 'echo mine >late.assay' 2>err.log
    [ $? -eq 1 ] && [ "$(cat late.assay)" = mine ] && grep -q 'kept under the first name' err.log &&
        "$ASSAY" report late.assay.part >/dev/null
}
check 'a file that appeared meanwhile is kept, and the error says so' kept_meanwhile

flight_gives_up() { # the thread that reads the records; dumps go where root's rights are needed
    "${as_nobody[@]}" ./spin 60000 & local target=$! recorder status=1
    rm -f theirs/*
    "$ASSAY" record -q --flight -p $target -o theirs/flight.assay 2>err.log & recorder=$!
    eventually has_worker $recorder && eventually is_reduced $recorder "$allowed" but-main && eventually child_time "$target" 50 &&
        "$ASSAY" dump -q $recorder && eventually [ -s theirs/flight-1.assay ] && status=0
    [ $status = 0 ] || { cat err.log; grep -E 'Cap|Seccomp|NoNew' /proc/$recorder/task/*/status; }
    kill -INT $recorder
    wait $recorder
    kill $target
    wait $target 2>/dev/null
    [ $status = 0 ] && grep -q main <("$ASSAY" report --tree theirs/flight-1.assay) && grep -q main <("$ASSAY" report --tree theirs/flight.assay)
}
has_worker() { [ "$(ls "/proc/$1/task" | wc -l)" -ge 2 ]; }
check 'a flight recorder gives up the rights of the thread that reads, and still writes its dumps' flight_gives_up

signalled() { # a signal that is sent to the recorder alone
    "$ASSAY" record -q -f -o sig.assay -- "${as_nobody[@]}" ./spin 60000 2>err.log & local recorder=$! status
    eventually child_used $recorder 20
    kill -TERM $recorder
    wait $recorder
    status=$?
    [ $status -eq 143 ] || { echo "status $status"; cat err.log; return 1; }
}
check 'a command of another user gets the recorder'"'"'s signal' signalled

keepers() { pgrep -f "record -q -f -o only-here.assay" >/dev/null; }
nothing_left() {
    "$ASSAY" record -q -f -o only-here.assay -- ./spin 60000 & local recorder=$!
    eventually child_used $recorder 20
    pkill -KILL -P $recorder
    kill -KILL $recorder
    wait $recorder 2>/dev/null
    eventually gone_all
}
gone_all() { ! keepers; }
check 'a killed recorder leaves no process' nothing_left

# What strace shows of the process that set the last filter, behind it.
behind_filter() {
    python3 - <<'P'
import re
lines = open("trace").read().splitlines()
at = max((i for i, l in enumerate(lines) if "seccomp(SECCOMP_SET_MODE_FILTER" in l), default=None)
if at is None:
    raise SystemExit("no filter is set")
# Calls of a thread that another's call cut in two stand in two lines: "resumed" has the result.
own = lines[at].split()[0]
bad = [l for l in lines[at + 1:] if l.split()[0] == own
       and ("EPERM" in l or re.search(r"O_WRONLY|O_RDWR|O_CREAT|execve\(|rename|link|socket\(", l))]
print("\n".join(bad))
raise SystemExit(1 if bad else 0)
P
}
traced_calls=openat,open,seccomp,execve,rename,renameat2,linkat,unlink,socket,connect
traced() { strace -f -o trace -e trace=$traced_calls "$ASSAY" record -q -f -o traced.assay -- ./spin 20 && behind_filter; }
# The process of a dump looks up the names, and so does the recorder at its end.
traced_flight() { # dump, or end
    local recorder status file=flight.assay
    [ "$1" = end ] || file=flight-1.assay
    rm -f trace flight*
    strace -f -o trace -e trace=$traced_calls "$ASSAY" record -q -f --flight -o flight.assay -- ./spin 60000 2>err.log & local tracer=$!
    eventually eval 'recorder=$(pgrep -P $tracer -f "record -q -f --flight")' && eventually child_used "$recorder" 50 || return 1
    if [ "$1" = dump ]; then
        "$ASSAY" dump -q "$recorder" && eventually [ -s $file ] && behind_filter
        status=$?
    fi
    pkill -KILL -P "$recorder" -f './spin 60000'
    wait $tracer
    if [ "$1" = end ]; then
        behind_filter
        status=$?
    fi
    [ $status -eq 0 ] && "$ASSAY" report --tree $file | grep -q main
}
if ! command -v strace >/dev/null; then
    skip 'it opens nothing for writing, and tries nothing that is refused' 'no strace: run tools/install-deps --dev'
elif ! strace -qq -o probe.log true; then
    skip 'it opens nothing for writing, and tries nothing that is refused' 'one process may not trace another here'
else
    # After the filter is there, no file is opened for writing in the recorder.
    check 'it opens nothing for writing, and tries nothing that is refused' traced
    check 'nor does the process that looks up the names of a dump' traced_flight dump
    check 'nor does a flight recorder that looks up the last names' traced_flight end
fi
finish
