#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a hit of a probe with its complete stack takes of the program's processor time, and how many
# hits come into the file, beside perf: at 100,000 hits a second, in turns.
# CALLS=N (300000), PAIRS=N (5), STACK=N: bytes that perf copies (8192, its default).
# shellcheck source=lib/common.sh
. "$TOP/bench/lib/common.sh"
calls=${CALLS:-300000} pairs=${PAIRS:-5} stack=${STACK:-8192}
[ "$(id -u)" = 0 ] || exit 0
gcc -O2 -g -fomit-frame-pointer -o hit "$TOP/bench/programs/hit.c"
event='' mounted=''
clean_up() {
    [ -z "$event" ] || perf probe -q --del "$event"
    [ -z "$mounted" ] || umount /sys/kernel/tracing
}
trap clean_up EXIT
if [ ! -d /sys/kernel/tracing/events ] && mount -t tracefs none /sys/kernel/tracing 2>/dev/null; then mounted=yes; fi
if command -v perf >/dev/null && perf probe -q -x ./hit probed 2>/dev/null; then
    event=$(perf probe --list 2>/dev/null | awk '/hit/ { print $1; exit }')
fi
median() { sort -n | awk '{ a[NR] = $1 } END { printf "%.2f", a[int((NR + 1) / 2)] / 1000 }'; }
for ((i = 0; i < pairs; i++)); do
    rm -f ours.assay
    "$ASSAY" record -q -o ours.assay -e ./hit:probed -- ./hit "$calls" 100 >>ours.txt 2>errors.txt
    "$ASSAY" report --json ours.assay | python3 -c 'import json, sys
r = json.load(sys.stdin)
print(r["truth"]["samples"], r["truth"]["samples_lost"], r["truth"]["complete_stacks"])' >>truth.txt
    [ -n "$event" ] || continue
    perf record -q -e "$event" --call-graph "dwarf,$stack" -o theirs.data -- ./hit "$calls" 100 >>theirs.txt 2>errors.txt
    perf script -i theirs.data -F event 2>/dev/null | wc -l >>hits.txt
    rm -f theirs.data
done
ours="$(cut -d' ' -f1 ours.txt | median) µs, $(awk -v all="$calls" '{ n += $1; lost += $2; whole += $1 * $3 } END {
    printf "%d lost, %.2f %% of %d calls in the file, %.2f %% of the stacks complete", lost, 100 * n / NR / all, all, 100 * whole / n }' truth.txt)"
ours+=", at $(cut -d' ' -f2 ours.txt | sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }') calls a second"
theirs='no perf here'
[ -z "$event" ] || theirs="perf record --call-graph dwarf,$stack: $(cut -d' ' -f1 theirs.txt | median) µs, $(
    awk -v all="$calls" '{ n += $1 } END { printf "%.1f %%", 100 * n / NR / all }' hits.txt) of the calls in the file"
row "a probed call with its complete stack, 100 calls each ms, median of $pairs pairs: CPU of the program a call" "$theirs" \
    '≤ 2.5 µs, 0 lost at 100,000 a second' "$ours (load $(cut -d' ' -f1 /proc/loadavg))" 'make bench BENCH=probes'
