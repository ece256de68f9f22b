#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The output of function benchmarks goes to a file without a name: what another user plants in
# $TMPDIR is neither followed nor written, nothing is left there, and a $TMPDIR that takes no
# files is not an obstacle.
# beside others: 8 s
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'only root can be other users'
chmod 755 . && cp "$ASSAY" assay || exit 1
"$(compiler gcc)" -O2 -I"$TOP/include" "$TOP/tests/programs/benches.c" -o benches || exit 1
mkdir -m 1777 shared && mkdir -m 555 closed && mkdir -m 777 sync
export victim=$PWD/victim
as() { # UID COMMAND…
    local uid=$1
    shift
    timeout -k 5 20 setpriv --reuid "$uid" --regid "$uid" --clear-groups env HOME=/dev/null XDG_CACHE_HOME= "$@" </dev/null
}
# bench WHO TMPDIR HOW: HOW plants, as another user, at the name that a process once used.
bench() {
    local who=$1 folder=$2 how=$3 pid
    rm -rf shared/* sync/*
    echo precious >victim && chown "$who" victim
    # shellcheck disable=SC2016
    TMPDIR=$folder as "$who" bash -c 'echo $$ >sync/pid; until [ -e sync/go ]; do sleep 0.02; done
        exec ./assay bench ./benches --processes 2 --function-time 0.01 --filter work_slow' >out 2>err &
    eventually [ -s sync/pid ] && pid=$(cat sync/pid) &&
        as 65533 env path="shared/assay-functions-$pid" bash -c "$how" || return 1
    touch sync/go
    wait $! || { cat err; return 1; }
    grep -q '2 processes' out || { cat out err; return 1; }
    [ "$(cat victim)" = precious ] || { echo 'the file behind the link was written'; return 1; }
    [ -z "$(find shared -mindepth 1 ! -uid 65533)" ] || { ls -la shared; return 1; }
}
for who in 0 65534; do
    # shellcheck disable=SC2016
    check "as $who: a planted link" bench $who "$PWD/shared" 'ln -s "$victim" "$path"'
    # shellcheck disable=SC2016
    check "as $who: a planted FIFO" bench $who "$PWD/shared" 'mkfifo -m 666 "$path"'
    check "as $who: a folder that takes no files" bench $who "$PWD/closed" true
    check "as $who: a file system that takes none" bench $who /proc true
done
finish
