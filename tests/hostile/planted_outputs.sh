#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every command that writes a file, as root and as a user without rights: what --force replaces
# keeps its mode and its owner, a recording is its owner's alone, and in a folder that all
# users share no planted link, FIFO, device or file decides where the output goes.
# beside others: 20 s
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ -x "$TOOLS/make_profile" ] || skip_all "no $TOOLS/make_profile: run make dev"
[ "$(id -u)" -eq 0 ] || skip_all 'only root can be other users'
"$TOOLS/make_profile" plain in.assay
printf 'main;work;hot 7\nmain;idle 1\n' >in.folded
cp "$TOP"/tests/golden/cover/cover.{covmapping,proftext} .
cp "$TOP/tests/fuzz/corpus/tracefile/go-cover" in.out
chmod 755 . && chmod 644 in.* cover.* && cp "$ASSAY" assay
mkdir -m 1777 shared
victim=$PWD/victim
umask 022
as() { # UID COMMAND…
    local uid=$1
    shift
    timeout 20 setpriv --reuid "$uid" --regid "$uid" --clear-groups env HOME=/dev/null XDG_CACHE_HOME= "$@" </dev/null
}
modes_of() { stat -c '%a %u %g' "$1"; }

keeps() { # WHO OWNER MODE COMMAND…
    local who=$1 owner=$2 mode=$3
    shift 3
    rm -rf own && mkdir -m 777 own && echo older >own/out && chown "$owner:$owner" own/out && chmod "$mode" own/out || return 1
    as "$who" "$@" --force -o own/out >out 2>err || { cat err; return 1; }
    [ "$(cat own/out 2>/dev/null | head -c 5)" != older ] || { echo 'it was not replaced'; return 1; }
    [ "$(modes_of own/out)" = "$mode $owner $owner" ] || { modes_of own/out; return 1; }
    [ "$(ls own)" = out ] || { ls own; return 1; }
}
new_file_has() { # WHO MODE COMMAND…
    local who=$1 mode=$2
    shift 2
    rm -rf own && mkdir -m 777 own || return 1
    as "$who" "$@" -o own/out >out 2>err && [ "$(modes_of own/out)" = "$mode $who $who" ] || { cat err; modes_of own/out; return 1; }
}
refused() { # WHO HOW COMMAND…: HOW plants shared/out
    local who=$1 how=$2 status
    shift 2
    rm -rf shared/out
    echo precious >"$victim" && chown "$who" "$victim"
    as 65533 env victim="$victim" bash -c "cd shared && $how" || return 1
    as "$who" "$@" --force -o shared/out >out 2>err
    status=$?
    [ $status -eq 1 ] && grep -q '^assay: ' err || { echo "status $status"; cat err; return 1; }
    [ "$(cat "$victim")" = precious ] || { echo 'the file behind the link was replaced'; return 1; }
    [ "$(ls shared)" = out ] && [ "$(stat -c %u shared/out)" = 65533 ] || { ls -la shared; return 1; }
}
writes() { # NAME MODE COMMAND…: MODE of a new file
    local name=$1 mode=$2 who
    shift 2
    for who in 0 65534; do
        check "$name as $who keeps mode 600" keeps $who $who 600 "$@"
        check "$name as $who keeps mode 640" keeps $who $who 640 "$@"
        check "$name as $who makes a file of mode $mode" new_file_has $who "$mode" "$@"
        # shellcheck disable=SC2016
        check "$name as $who follows no planted link" refused $who 'ln -s "$victim" out' "$@"
        check "$name as $who does not wait for a planted FIFO" refused $who 'mkfifo -m 666 out' "$@"
        check "$name as $who does not write into another user's file" refused $who 'touch out && chmod 666 out' "$@"
    done
    check "$name as 0 keeps the owner" keeps 0 65534 600 "$@"
}
writes report 644 ./assay report in.assay
writes annotate 644 ./assay annotate in.assay main
writes flame 644 ./assay flame in.assay
writes diff 644 ./assay diff in.assay in.folded
# view names its output by another option.
printf '#!/bin/sh\n[ "$1" = --force ] && shift && set -- --force --html "$2" || set -- --html "$2"\nexec ./assay view --no-open in.assay "$@"\n' >viewer && chmod 755 viewer
writes view 644 ./viewer
writes export 644 ./assay export in.assay --format folded
writes import 600 ./assay import in.folded
writes 'cover export' 644 ./assay cover export cover.covmapping cover.proftext --format lcov
writes 'cover merge' 644 ./assay cover merge cover.proftext
writes 'cover export of Go blocks' 644 ./assay cover export in.out --format clover
printf '#!/bin/sh\nexec ./assay heap -q "$@" -- true\n' >heaps && chmod 755 heaps
writes heap 600 ./heaps
if reason=$("$TOP/tests/e2e/lib/perf_allowed.py"); then
    # Options end at the command to record.
    printf '#!/bin/sh\nexec ./assay record -q "$@" -- true\n' >recorder && chmod 755 recorder
    writes record 600 ./recorder
else
    skip record "$reason"
fi
finish
