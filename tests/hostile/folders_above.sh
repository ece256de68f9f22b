#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Another user plants a checkout or a CMake build in a folder like /tmp, below which we work: the paths
# in coverage stay as they are without it, no command waits, and the revision is not taken from there.
# beside others: 8 s
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'only root can be other users'
chmod 755 . && cp "$ASSAY" assay && mkdir -m 1777 shared || exit 1
as() { # UID COMMAND…
    local uid=$1
    shift
    timeout -k 5 20 setpriv --reuid "$uid" --regid "$uid" --clear-groups env HOME=/dev/null XDG_CACHE_HOME= here="$PWD" "$@" </dev/null
}
prepare() { # WHO
    rm -rf shared && mkdir -m 1777 shared && as "$1" mkdir -p shared/mine/src/x shared/mine/src/y &&
        as "$1" sh -c 'cd shared/mine && printf "int a;\n" >src/x/a.c && cp src/x/a.c src/y/b.c &&
            printf "SF:%s/src/x/a.c\nDA:1,1\nend_of_record\nSF:%s/src/y/b.c\nDA:1,0\nend_of_record\n" "$PWD" "$PWD" >in.info'
}
exported() { # WHO
    (cd shared/mine && as "$1" ../../assay cover export in.info --format cobertura -f -o out.xml >out 2>err) || { cat shared/mine/err; return 1; }
    sed 's/timestamp="[0-9]*"//' shared/mine/out.xml
}
same_paths() { # WHO PLANTER HOW
    prepare "$1" && exported "$1" >expected || return 1
    grep -q 'a\.c' expected || { cat expected; return 1; }
    as "$2" bash -c "cd shared && $3" && exported "$1" >got || { cat got; return 1; }
    diff expected got
}
# shellcheck disable=SC2016 # the planter expands it
for who in 0 65534; do
    check "as $who: a planted checkout" same_paths $who 65533 'git init -q . 2>/dev/null || mkdir .git'
    check "as $who: a planted file that names a checkout" same_paths $who 65533 'echo "gitdir: /etc" >.git'
    check "as $who: a planted CMake build" same_paths $who 65533 'echo "CMAKE_HOME_DIRECTORY:INTERNAL=$here/shared/mine/src" >CMakeCache.txt'
    check "as $who: a planted FIFO" same_paths $who 65533 'mkfifo -m 666 CMakeCache.txt .git'
    check "as $who: a planted link" same_paths $who 65533 'ln -s "$here" .git'
done
own_counts() {
    prepare 65534 && exported 65534 >expected && as 65534 mkdir shared/.git && exported 65534 >got && ! cmp -s expected got
}
check 'a checkout of the user counts' own_counts
finish
