#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The recording cannot be written any more: a full disk, a limit on file sizes, an I/O
# error. What was recorded until then stays and opens; the program runs to its end as
# it would alone; the status is the program's own if that is not 0, else 1; the words
# name the failure and the file that stays.
# beside others: 25 s
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
cc=$(compiler gcc)
# Stacks of all shapes, so that a second of samples takes tens of kilobytes.
cat >shapes.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
static unsigned long walk(unsigned long path, int depth);
__attribute__((noinline)) static unsigned long left(unsigned long path, int depth) { return walk(path >> 1, depth - 1) + 1; }
__attribute__((noinline)) static unsigned long right(unsigned long path, int depth) { return walk(path >> 1, depth - 1) + 2; }
__attribute__((noinline)) static unsigned long walk(unsigned long path, int depth)
{
    for (int i = 0; i < 200; i++)
        sink += path;
    if (depth == 0)
        return path;
    return path & 1 ? left(path, depth) : right(path, depth);
}
int main(int argc, char **argv)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    long end = now.tv_sec * 1000 + now.tv_nsec / 1000000 + atol(argv[1]);
    unsigned long path = 88172645463325252ul;
    do {
        for (int i = 0; i < 100; i++) {
            path ^= path << 13, path ^= path >> 7, path ^= path << 17;
            sink += walk(path, 40);
        }
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < end);
    puts("ran to its end");
    fflush(stdout);
    return argc > 2 ? atoi(argv[2]) : 0;
}
C
"$cc" -O1 -fno-optimize-sibling-calls -o shapes shapes.c || exit 1

# kept WANT FOLDER FAILURE COMMAND…: the command fails as described at the top.
kept() {
    local want=$1 folder=$2 failure=$3 status
    shift 3
    "$@" >out 2>err </dev/null
    status=$?
    [ $status -eq "$want" ] || { echo "status $status, not $want"; cat err; return 1; }
    grep -q "$failure" err && grep -q "$folder/run.assay.part" err || { echo 'does not say it:'; cat err; return 1; }
    grep -qx 'ran to its end' out || { echo 'the program did not run to its end'; cat err; return 1; }
    ! pgrep -x shapes >/dev/null || { echo 'the program still runs'; return 1; }
    [ -e "$folder/run.assay.part" ] && [ ! -e "$folder/run.assay" ] || { ls "$folder"; return 1; }
    "$ASSAY" report --json "$folder/run.assay.part" >report.json 2>err || { cat err; return 1; }
    python3 -c 'import json; r = json.load(open("report.json")); s = r["truth"]["samples"]; print(s); assert s > 100' || return 1
    rm -f "$folder"/run.assay*
}
mkdir -p full plain
# About 30 kB a second: what is written after the first second fits, that of five seconds does not.
record() { "$ASSAY" record -q -F 3000 "$@"; }
if mount -t tmpfs -o size=96k none full 2>/dev/null; then
    trap 'umount full' EXIT
    check 'a full disk: the status is the program'\''s' kept 7 full 'No space left' record -o full/run.assay -- ./shapes 5000 7
    check 'a full disk: status 1 of a program that ends well' kept 1 full 'No space left' record -o full/run.assay -- ./shapes 5000
else
    skip 'a full disk' 'no right to mount a small file system'
fi
limited() { (ulimit -f 96 && record -o plain/run.assay -- ./shapes 5000 "$1"); }
check 'a limit on file sizes: the status is the program'\''s' kept 9 plain 'File too large' limited 9
# The program gets the limit's signal as if nobody recorded it.
default_signal() {
    (ulimit -f 64 && "$ASSAY" record -q -F 999 -o plain/run.assay -- sh -c 'exec dd if=/dev/zero of=plain/large bs=64k count=10' >/dev/null 2>&1)
    local status=$?
    rm -f plain/*
    [ $status -eq 153 ] || { echo "status $status, not 128 + SIGXFSZ"; false; }
}
check 'the program still has the default action of SIGXFSZ' default_signal

if [ "$(uname -m)" = x86_64 ] && [ -x "$TOOLS/fault" ] && "$TOOLS/fault" read=EIO 0 count true; then
    # Blocks are written once a second and at the end: half of the writes are behind the first samples.
    "$TOOLS/fault" write=EIO 0 count "$ASSAY" record -q -F 5000 -o plain/run.assay -- ./shapes 4000 >out 2>err
    rm -f plain/*
    broken_disk() { "$TOOLS/fault" write=EIO $(($(cat count) / 2)) fired "$ASSAY" record -q -F 5000 -o plain/run.assay -- ./shapes 4000 4; }
    check 'an I/O error: the status is the program'\''s' kept 4 plain 'Input/output error' broken_disk
else
    skip 'an I/O error' 'no fault can be put into system calls here'
fi
finish
