#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench --output FILE where all users may make files: a link, a FIFO or a
# file that another user planted is refused, and what is behind it stays. Own links and files are
# written.
# beside others: 8 s
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'only root can be other users'
chmod 755 . && cp "$ASSAY" assay && mkdir -m 1777 shared || exit 1
victim=$PWD/victim
as() { # UID COMMAND…
    local uid=$1
    shift
    timeout -k 5 60 setpriv --reuid "$uid" --regid "$uid" --clear-groups env HOME=/dev/null XDG_CACHE_HOME= victim="$victim" "$@" </dev/null
}
bench() { # WHO OPTION…
    as "$1" ./assay bench -N --warmup 0 --runs 2 "${@:2}" --output shared/out 'echo new' '/bin/echo new' >out 2>err
}
prepare() { # WHO PLANTER HOW
    rm -rf shared/out && echo precious >"$victim" && chown "$1" "$victim" && as "$2" bash -c "cd shared && $3"
}
refused() { # WHO HOW OPTION…
    prepare "$1" 65533 "$2" || return 1
    ! bench "$1" "${@:3}" && grep -q "cannot write 'shared/out': it belongs to user id 65533" err || { cat err; return 1; }
    [ "$(cat "$victim")" = precious ] || { echo 'the file behind the link was written'; return 1; }
    [ "$(stat -c %u shared/out)" = 65533 ] && { [ -L shared/out ] || [ ! -s shared/out ]; } || { ls -la shared; return 1; }
}
written() { # WHO HOW FILE OPTION…
    prepare "$1" "$1" "$2" && bench "$1" "${@:4}" && [ "$(cat "$3")" = new ] || { cat err "$3"; return 1; }
}
for who in 0 65534; do
    # shellcheck disable=SC2016 # the planter expands it
    {
        check "as $who: a planted link" refused $who 'ln -s "$victim" out'
        check "as $who: a planted FIFO" refused $who 'mkfifo -m 666 out'
        check "as $who: a planted file" refused $who 'touch out && chmod 666 out'
        check "as $who: a new file" written $who true shared/out
        check "as $who: a file of its own, which is emptied" written $who 'echo something longer >out' shared/out
        check "as $who: a link of its own" written $who 'ln -s "$victim" out' victim
    }
done
if reason=$("$TOP/tests/e2e/lib/perf_allowed.py"); then
    check 'a new file with --profile' written 65534 true shared/out --profile
else
    skip 'a new file with --profile' "$reason"
fi
finish
