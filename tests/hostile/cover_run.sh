#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs of a coverage run write raw profiles at their end. What another user plants, before the
# run or as a process of it that gave up root, never leads a program of root to a file; it is named;
# and the counts of a program that continues as another user are there.
# beside others: 5 s
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'only root can be other users'
clang=$(compiler clang)
# shellcheck disable=SC2046 # flags are words
"$clang" -w $("$ASSAY" cover flags clang) -o drops "$TOP/tests/programs/cover_drops.c" 2>build.log ||
    skip_all 'no clang with its profile runtime'
gcc=$(compiler gcc)
"$gcc" -w --coverage -O0 -o gdrops "$TOP/tests/programs/cover_drops.c" || exit 1
chmod 755 . && chmod 644 ./*.gcno
victim=$PWD/victim
cover() { timeout -k 5 60 "$ASSAY" cover run -q -f -o "$@" >out 2>err </dev/null; }
count_of() { "$ASSAY" cover show -I "$TOP" "$1" 2>/dev/null | grep -F "$2" | awk '{ print $1; exit }'; }
as_other() { setpriv --reuid 65533 --regid 65533 --clear-groups "$@"; }
# The place must keep its modes while programs run: one waits and looks.
untouched() { [ ! -e "$victim" ] || { echo 'the file behind the link was made'; ls -l "$victim"; return 1; }; }

drops_root() { # WHERE
    rm -f "$victim"
    cover "$1" -- ./drops "$victim" || { cat err; return 1; }
    [ "$(count_of "$1" '// as another user')" = 1 ] && [ "$(count_of "$1" '// as root')" = 1 ] ||
        { "$ASSAY" cover show -I "$TOP" "$1"; cat err; return 1; }
}
check 'a program that gives up root counts' drops_root res
mkdir -m 700 private
check 'also in a folder that only root may pass' drops_root private/res
plants() { # KIND
    rm -f "$victim"
    PLANT=$1 cover res -- ./drops "$victim"
    [ $? -le 1 ] || { cat err; return 1; } # 1: without a profile there may be no counts
    untouched || return 1
    [ "$1" = none ] || grep -q 'left out: .*\(is a symbolic link\|not a regular file\|belongs\)' err || { echo 'it is not named'; cat err; return 1; }
}
check 'a link planted by a process that gave up root' plants link
check 'a FIFO planted by it' plants fifo

# Whoever is not of the run: cannot list, cannot add.
stranger() {
    rm -rf looked
    mkdir -m 777 looked
    timeout -k 5 60 "$ASSAY" cover run -q -f -o res -- bash -c 'echo "$LLVM_PROFILE_FILE" >looked/pattern; until [ -e looked/done ]; do sleep 0.02; done; exec ./drops none' >out 2>err </dev/null &
    eventually [ -s looked/pattern ] || return 1
    as_other bash -c 'ls res/raw && exit 1; touch res/raw/x && exit 1; for f in res/raw/*; do [ -e "$f" ] && exit 1; done; exit 0' 2>/dev/null
    local status=$?
    find res/raw -mindepth 1 -maxdepth 1 -type d | awk -F/ '{ if (length($NF) < 32) bad = 1 } END { exit bad || NR == 0 }' || { echo 'the name can be guessed'; status=1; }
    touch looked/done
    wait $! || status=1
    return $status
}
check 'others can neither list nor add' stranger

# A folder of results below one of another user's: he may exchange what lies there at any time.
foreign() { # HOW
    rm -rf theirs "$victim" elsewhere
    mkdir -m 777 elsewhere
    as_other true
    mkdir theirs && chown 65533 theirs
    as_other env victim="$victim" elsewhere="$PWD/elsewhere" bash -c "cd theirs && $1" || return 1
    cover theirs/res -- ./drops "$victim" || { cat err; return 1; }
    untouched && [ -z "$(ls elsewhere)" ] || { ls elsewhere; return 1; }
    [ "$(count_of theirs/res '// as root')" = 1 ] || { cat err; return 1; }
    cover theirs/gres -- ./gdrops "$victim" || { cat err; return 1; }
    [ "$(count_of theirs/gres '// as root')" = 1 ] && [ -z "$(ls elsewhere)" ] || { cat err; ls elsewhere; return 1; }
    [ -z "$(find . -maxdepth 1 -name 'assay-*')" ] || { echo 'folders are left'; ls; return 1; }
}
check 'results in the folder of another user' foreign true
# shellcheck disable=SC2016
check 'who has planted a link for raw profiles' foreign 'mkdir res gres; ln -s $elsewhere res/raw; ln -s $elsewhere gres/raw'
# Our folder, but raw was made by another user when it was open to all.
planted_raw() {
    rm -rf res && mkdir res && mkdir res/raw && chown 65533 res/raw
    ! cover res -- ./drops none && grep -q "raw' belongs to user id 65533" err || { cat err; return 1; }
    rm -rf res/raw && ln -s "$PWD" res/raw
    ! cover res -- ./drops none && grep -q "raw' is a link" err || { cat err; return 1; }
    rm -rf res
}
check 'a folder for raw profiles of another user is named' planted_raw
# A user without rights has his folder to himself.
user() {
    rm -rf mine && mkdir mine && chown 65534 mine && cp "$ASSAY" drops mine
    (cd mine && setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/dev/null timeout -k 5 60 ./assay cover run -q -o res -- \
        bash -c 'stat -c %a res/raw res/raw/* >modes; exec ./drops none') >out 2>err || { cat err; return 1; }
    [ "$(sort -u mine/modes)" = 700 ] && [ ! -e mine/res/raw ] || { cat mine/modes; ls mine/res; return 1; }
}
check "a user's folder is his alone" user
finish
