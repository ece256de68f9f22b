#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay list says of every event what the kernel says of it.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf

"$ASSAY" list --json >list.json || skip_all "assay list failed"

# What list says opens for sampling or counting is what assay stat can count.
agrees_with_stat() {
    python3 - "$ASSAY" <<'PY'
import json, subprocess, sys
listed = json.load(open("list.json"))
assert listed["schema"] == 1
groups = [e["group"] for e in listed["events"]]
for group in ("hardware", "cache", "software", "raw", "breakpoint"):
    assert group in groups, group
for event in listed["events"]:
    assert event["opens"] in ("no", "sample", "count", "count-cpu"), event
    # What does not open says why and what would help.
    assert event["opens"] != "no" or (event["why"] and event["fix"]), event
    if event["group"] not in ("hardware", "software"):
        continue
    name = event["name"] + (":u" if event["user_only"] else "")
    run = subprocess.run([sys.argv[1], "stat", "--json", "-e", name, "true"],
                         capture_output=True, text=True)
    value = json.loads(run.stderr)["counter-value"] if run.returncode == 0 else "<not counted>"
    counted = not value.startswith("<not ")
    assert counted == (event["opens"] in ("sample", "count")), (event, run.stdout, run.stderr)
PY
}
check 'what opens can be counted, what does not cannot' agrees_with_stat

only_software() {
    "$ASSAY" list sw >sw.txt && grep -q cpu-clock sw.txt && ! grep -q cache- sw.txt
}
check 'a group can be asked for' only_software

by_glob() {
    "$ASSAY" list '*-faults' >faults.txt && grep -q minor-faults faults.txt &&
        ! grep -q cpu-clock faults.txt
}
check 'a glob chooses' by_glob

no_match() {
    "$ASSAY" list 'no-such-event' >out.txt 2>err.txt
    [ $? -eq 1 ] && [ ! -s out.txt ] && grep -q "no event of this machine matches" err.txt && ! grep -q "no file" err.txt &&
        "$ASSAY" list ./none >out.txt 2>err.txt
    [ $? -eq 1 ] && grep -q "and no file has this name" err.txt
}
check 'no match is an error' no_match

# What record -e takes is listed: programs of $PATH and libraries by their names.
by_name() {
    mkdir -p bin && echo 'int planted_function(void) { return 1; } int main(void) { return planted_function(); }' >planted.c &&
        gcc -g -O0 -o bin/planted_program planted.c && PATH=$PWD/bin:$PATH "$ASSAY" list planted_program >out.txt &&
        grep -q ' planted_function$' out.txt && PATH=$PWD/bin:$PATH "$ASSAY" list --json planted_program planted_f | grep -q '"planted_function"' &&
        "$ASSAY" list libc.so.6 malloc | grep -q ' malloc$' || return 1
    ! "$ASSAY" list libnone.so.9 2>err.txt && grep -q "no program or library 'libnone.so.9' is found" err.txt
}
check 'programs and libraries are found by their names' by_name

# Whoever may not see the kernel's part is told so for each event that works without.
for_user() {
    setpriv --reuid 65534 --regid 65534 --clear-groups "$ASSAY" list sw >user.txt &&
        grep -q '^  sample :u  *cpu-clock' user.txt && grep -q 'perf_event_paranoid=1' user.txt
}
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
if [ "$(id -u)" -eq 0 ] && [ "$paranoid" -eq 2 ] && command -v setpriv >/dev/null &&
    setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$ASSAY"; then
    check 'a user sees what is open to him' for_user
else
    skip 'a user sees what is open to him' 'needs root and perf_event_paranoid 2'
fi

tracepoints() {
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare -m bash -c '[ -e /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing || exit 77
        "$0" list >all.txt && "$0" list sched:sched_switch >one.txt' "$ASSAY"
}
folded() {
    grep -q 'sched:\*  *[0-9]* events' all.txt && grep -q 'sched:sched_switch' one.txt
}
if tracepoints >mount.log 2>&1; then
    check 'tracepoints are folded by system, or named' folded
else
    skip 'tracepoints are folded by system, or named' 'tracefs cannot be mounted here'
fi
finish
