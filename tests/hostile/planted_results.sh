#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In a folder where every user may make files another one plants the folder in which results are kept, so
# as to choose where they go, or which program is run as the last one; and the names of a flight recorder's
# dumps. Folders of our own there are used.
# beside others: 6 s
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'only root can be other users'
chmod 755 . && cp "$ASSAY" assay || exit 1
here=$PWD
"$(compiler gcc)" --coverage -O0 -w -o counted "$TOP/tests/programs/cover_life.c" &&
    "$(compiler gcc)" -g -O1 -o spin "$TOP/tests/programs/spin.c" || exit 1
# What the planter puts in the place of a program that is run again.
printf '#!/bin/sh\ntouch %s/evil/$(id -u)\n' "$here" >trojan && chmod 755 trojan && mkdir -m 777 evil
as() { # UID COMMAND…
    local uid=$1
    shift
    timeout -k 5 30 setpriv --reuid "$uid" --regid "$uid" --clear-groups env HOME=/dev/null XDG_CACHE_HOME= "$@" </dev/null
}
fresh() { rm -rf shared evil/* && mkdir -m 1777 shared; }
# refused WHO HOW COMMAND…: HOW plants, as another user, in the working folder.
refused() {
    local who=$1 how=$2 status
    shift 2
    fresh && (cd shared && as 65533 env here="$here" bash -c "$how") || return 1
    (cd shared && find . ! -name . | sort) >before
    (cd shared && as "$who" "$@" >../out 2>../err)
    status=$?
    [ $status -eq 1 ] && grep -q '^assay: .*belongs to user id 65533' err || { echo "status $status"; cat out err; return 1; }
    [ -z "$(ls evil)" ] || { echo 'the planted program ran'; return 1; }
    (cd shared && find . ! -name . | sort) | diff before - || return 1
}
used() { # WHO COMMAND…
    local who=$1
    shift
    fresh && (cd shared && as "$who" "$@" >../out 2>../err) || { cat out err; return 1; }
    [ "$(stat -c %u shared/.assay)" = "$who" ]
}
for who in 0 65534; do
    # shellcheck disable=SC2016 # the planter's shell expands them
    for how in 'mkdir -m 777 .assay' 'ln -s "$here/evil" .assay'; do
        check "as $who: cover run, $how" refused $who "$how" ../assay cover run ../counted exit
        check "as $who: bench --save, $how" refused $who "$how" ../assay bench -N -r 2 --save x true
        check "as $who: loop, $how" refused $who "$how" ../assay loop --no-build --rounds 1 --steps cpu -- ../spin 20
    done
    check "as $who: bench --baseline of another user's times" refused $who \
        'mkdir -p .assay/programs && ../assay bench -N -r 2 --db .assay/bench.db --save x ../trojan && for p in .assay/programs/*; do cp ../trojan "$p"; done; rm -f ../evil/*' \
        ../assay bench -N -r 2 --baseline x true
    check "as $who: loop where another user keeps a folder" refused $who 'mkdir -p mine && chmod 777 mine' \
        ../assay loop --no-build --rounds 1 --steps cpu -o mine/loop -- ../spin 20
    check "as $who: survey below a folder of another user" refused $who 'mkdir -p mine && chmod 777 mine' \
        ../assay survey --steps cpu -o mine/all -- ../spin 20
    check "as $who: a folder of the user's own" used $who ../assay bench -N -r 2 --save x true
done

# In a folder of another user, which is not one like /tmp, his links do not decide which file a saved
# bench makes or changes.
strangers_link() { # WHO HOW COMMAND…: the planter's folder, in which others may work
    local who=$1 how=$2 status
    shift 2
    rm -rf theirs evil/* && mkdir -m 777 theirs && chown 65533:65533 theirs || return 1
    (cd theirs && as 65533 env here="$here" bash -c "mkdir -m 777 .assay && $how") || return 1
    (cd theirs && as "$who" "$@" >../out 2>../err)
    status=$?
    [ -z "$(ls evil)" ] || { echo 'made:'; ls -l evil; cat err; return 1; }
    # A journal that is a link is not followed, and nothing can be saved then.
    [ $status -eq 1 ] && grep -qE '^assay: .*(is a link of user id 65533|unable to open database file)' err || { echo "status $status"; cat out err; return 1; }
}
for who in 0 65534; do
    # shellcheck disable=SC2016
    for how in 'ln -s "$here/evil/made" .assay/bench.db' 'rmdir .assay && ln -s "$here/evil" .assay' \
        'ln -s "$here/evil/made" .assay/bench.db-journal' 'ln -s "$here/evil" .assay/programs'; do
        check "as $who: bench --save at another user's, $how" strangers_link $who "$how" ../assay bench -N -r 2 --save x true
    done
    how='rmdir .assay && ln -s "$here/evil" .assay'
    check "as $who: cover run at another user's, $how" strangers_link $who "$how" ../assay cover run ../counted exit
    check "as $who: loop at another user's, $how" strangers_link $who "$how" ../assay loop --no-build --rounds 1 --steps cpu -- ../spin 20
done
own_link() { # WHO: one's own link is followed
    rm -rf theirs mine && mkdir -m 777 theirs mine && chown "$1" theirs mine && (cd theirs && mkdir .assay && ln -s ../../mine/saved.db .assay/bench.db && chown -hR "$1" .assay &&
        as "$1" ../assay bench -N -r 2 --save x true >../out 2>../err) || { cat err; return 1; }
    [ -s mine/saved.db ]
}
for who in 0 65534; do check "as $who: bench --save by one's own link" own_link $who; done

# A dump passes planted names over; what they lead to is not made.
dumps() { # WHO HOW
    local who=$1 recorder
    fresh && (cd shared && as 65533 env here="$here" bash -c "$2") || return 1
    rm -f err
    (cd shared && exec timeout -k 5 30 setpriv --reuid "$who" --regid "$who" --clear-groups env HOME=/dev/null XDG_CACHE_HOME= \
        "$here/assay" record --flight -o f.assay -- "$here/spin" 1000000 >../out 2>../err) &
    eventually eval 'recorder=$(pgrep -u "$who" -f "^$here/assay record --flight" | head -n 1); [ -n "$recorder" ]' || { cat err; return 1; }
    as "$who" ./assay dump -q "$recorder" 2>dump.err && eventually [ -s shared/f-2.assay ]
    status=$?
    kill -INT "$recorder" 2>/dev/null
    wait $!
    [ $status -eq 0 ] || { cat dump.err err; return 1; }
    [ -z "$(ls evil)" ] && [ "$(stat -c '%a %u' shared/f-2.assay)" = "600 $who" ] || { ls -l evil shared; return 1; }
}
if reason=$("$TOP/tests/e2e/lib/perf_allowed.py"); then
    for who in 0 65534; do
        # shellcheck disable=SC2016
        check "as $who: a dump, a link that leads nowhere" dumps $who 'ln -s "$here/evil/made" f-1.assay'
        check "as $who: a dump, a FIFO" dumps $who 'mkfifo -m 666 f-1.assay'
    done
else
    skip 'dumps' "$reason"
fi
finish
