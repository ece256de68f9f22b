#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tracepoints with their fields and filters. Truth: a program writes a known number of blocks of
# known sizes, by system calls whose arguments the tracepoint has.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
[ "$(id -u)" = 0 ] || skip_all 'tracepoints need root'
if [ ! -e /sys/kernel/tracing/events ] && [ -z "${OWN_MOUNTS:-}" ]; then
    unshare -m mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null || skip_all 'tracefs cannot be mounted here'
    # shellcheck disable=SC2016 # expanded by the inner shell
    OWN_MOUNTS=yes exec unshare -m bash -c 'mount -t tracefs tracefs /sys/kernel/tracing && exec bash "$0"' "$0"
fi
[ -e /sys/kernel/tracing/events/syscalls/sys_enter_write ] || skip_all 'this kernel has no tracepoints of system calls'
cat >writes.c <<'E2'
#include <unistd.h>
static char block[1000];
int main(void)
{
    for (int i = 0; i < 300; i++)
        if (write(1, block, i % 3 ? 10 : 1000) < 0)
            return 1;
}
E2
gcc -O1 -g -o writes writes.c || exit 1
event=syscalls:sys_enter_write
rec() { assay record -q -f -m 64M -o run.assay "$@" >/dev/null; } # the burst fits into the ring
has() { assay report run.assay >report.txt && tr -s ' ' <report.txt >narrow.txt && grep -q -- "$1" narrow.txt; }

check 'a tracepoint with its fields' rec -e $event -- ./writes
check 'each occurrence is a sample' has '300 samples'
check 'a field has its values' has "^ 10 200 66.7%"
check 'each of them' has "^ 1000 100 33.3%"
check 'under its name' has "^$event count: 300 values"
check 'other fields, too' has "^$event fd: 300 values, 1 to 1"
check 'fields that are chosen' rec -e "$event count" -- ./writes
check 'are there' has "^$event count: 300 values"
check 'and no other' eval "! has '$event fd'"
check 'a filter' rec -e $event --filter 'count > 10' -- ./writes
check 'lets through only what matches' has '100 samples'
check 'a filter belongs to the event before it' rec -e $event --filter 'count == 10' -e syscalls:sys_exit_write -- ./writes
check 'and to no other' eval "assay report -e syscalls:sys_exit_write run.assay >other.txt && grep -q ' 300 samples' other.txt"
check 'a period with fields' rec -e $event -c 10 -- ./writes
check 'takes each tenth' has '30 samples'
check 'in children, too' rec -e $event --filter 'count == 1000' -- sh -c './writes; ./writes'
check 'the filter goes with them' has '200 samples'
check 'a refused filter is an error' status_is 2 assay record -f -e $event --filter 'nonsense > 1' -- touch ran
check 'before the command runs' test ! -e ran
check 'a field that is not there is an error' status_is 2 assay record -f -e "$event nonsense" -- touch ran
check 'which names the others' eval "assay record -f -e '$event nonsense' -- true 2>&1 | grep -q 'it has .*fd.*count'"
check 'a filter without an event is an error' status_is 2 assay record -f --filter 'count > 10' -- touch ran
check 'a filter of another event is an error' status_is 2 assay record -f -e cpu-clock --filter 'count > 10' -- touch ran
check 'stat has filters as before' eval "assay stat -x, -e $event --filter 'count > 10' -- ./writes 2>&1 >/dev/null | grep -q '^100,'"
finish
