#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Another user plants files where maps of generated code are looked for: the recording
# ends, takes no name from there, and says why. Both as root and as a user without rights.
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
[ "$(uname -m)" = x86_64 ] || skip_all 'the program that makes code is for x86-64'
[ "$(id -u)" -eq 0 ] || skip_all 'only root can be other users'
cc=$(compiler gcc)
chmod 755 . && mkdir -m 777 shared && cp "$ASSAY" shared/assay
"$cc" -O1 -o shared/jit "$TOP/tests/programs/jit.c" && "$cc" -O1 -o shared/jitdump "$TOP/tests/programs/jitdump.c" || exit 1
cd shared || exit 1
as() { # UID COMMAND…
    local uid=$1
    shift
    setpriv --reuid "$uid" --regid "$uid" --clear-groups env HOME="$PWD" XDG_CACHE_HOME="$PWD/cache-$uid" "$@"
}

# planted WHO PLANTER HOW WORDS: PLANTER makes a file at $map by the command HOW, and WHO
# records a program whose map that would be.
planted() {
    local who=$1 planter=$2 how=$3 words=$4 status=0 map
    rm -f run.assay* name
    as "$who" timeout -k 5 20 ./assay record -q -o run.assay -- bash -c 'echo $$ >pid
        until [ -e name ]; do sleep 0.02; done; exec ./jit 300000000 leave' >out 2>err </dev/null &
    eventually [ -s pid ]
    map=/tmp/perf-$(cat pid).map
    as "$planter" env map="$map" bash -c "$how" && touch name
    wait $! || { echo "status $?"; cat err; status=1; }
    rm -rf "$map" pid
    [ $status -eq 0 ] || return 1
    as "$who" env COLUMNS=400 ./assay report --notes run.assay >report.log 2>&1 || { cat report.log; return 1; }
    ! grep -q planted_name report.log || { echo 'the planted name is used:'; cat report.log; return 1; }
    grep -q -- "refused\|not used" report.log && grep -q -- "$words" report.log ||
        { echo "no '$words' in:"; cat report.log; return 1; }
}
for who in 0 65534; do
    case $who in 0) name=root ;; *) name='a user' ;; esac
    check "$name: a FIFO" planted $who 65533 'mkfifo -m 666 $map' 'is not a regular file'
    check "$name: a link to a device" planted $who 65533 'ln -s /dev/zero $map' 'is a symbolic link'
    check "$name: a link to a file of names" planted $who 65533 \
        'echo "0 7fffffffffff planted_name" >planted && ln -s $PWD/planted $map' 'is a symbolic link'
    check "$name: a folder" planted $who 65533 'mkdir $map' 'is not a regular file'
    check "$name: a file of another user" planted $who 65533 'echo "0 7fffffffffff planted_name" >$map && chmod 644 $map' 'belongs to user id 65533'
    check "$name: a file of 300 MiB" planted $who $who 'truncate -s 300M $map' 'more than 268435456'
done
check 'root: a device' planted 0 0 'mknod $map c 1 5' 'is not a regular file'

# The jitdump of a process is opened by the path that the process maps.
owned_dump() {
    rm -f run.assay* jit-*.dump
    as 65534 timeout -k 5 20 ./assay record -q -o run.assay -- ./jitdump 200000000 >out 2>err && ./assay report run.assay >report.log 2>&1 &&
        grep -q dumped_spin report.log || { cat err report.log; return 1; }
}
check "a user's own jitdump gives names" owned_dump
root_reads_the_users() {
    rm -f run.assay* jit-*.dump
    timeout -k 5 20 "$ASSAY" record -q -o run.assay -- setpriv --reuid 65534 --regid 65534 --clear-groups ./jitdump 200000000 >out 2>err &&
        ./assay report run.assay >report.log 2>&1 && grep -q dumped_spin report.log || { cat err report.log; return 1; }
}
check "root takes the names of a user's process from that user's jitdump" root_reads_the_users

finish
